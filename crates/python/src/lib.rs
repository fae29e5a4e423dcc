//! The native part of `sdk/python`: nodes and probes ([`node`]), log records and spans ([`texts`]), native batches ([`batch`]).
//! Its Python face is `oasis.node`, `oasis.logging`, `oasis.spans` and `oasis.batch`.

mod batch;
mod node;
mod texts;

use oasis_wire::schema::ProbeType;
use pyo3::{exceptions::PyValueError, prelude::*};

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::{
        batch::{decode_batch, decode_rows, encode_batch},
        log,
        node::{Node, NodeBuilder, PushedProbe, now},
        texts::{Logger, Spans},
    };
}

/// Prints on standard error what happens to nodes.
#[pyfunction]
fn log(wanted: &str) -> PyResult<()> {
    let refused = |error: String| PyValueError::new_err(format!("the log filter {wanted:?}: {error}"));
    let filter =
        tracing_subscriber::EnvFilter::try_new(wanted).map_err(|error| refused(error.to_string()))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        // A log that cannot be written would otherwise end the node's thread that writes it.
        .log_internal_errors(false)
        .with_writer(std::io::stderr)
        .try_init()
        .map_err(|error| refused(error.to_string()))
}

/// A schema that may be from anywhere: checked, as readers rely on its bounds.
fn schema(json: &str) -> PyResult<ProbeType> {
    let probe_type: ProbeType = serde_json::from_str(json)
        .map_err(|error| PyValueError::new_err(format!("the schema is no JSON of a probe type: {error}")))?;
    let refused = |error| PyValueError::new_err(format!("the schema cannot be used: {error}"));
    probe_type.validate().map_err(refused)?;
    Ok(probe_type)
}
