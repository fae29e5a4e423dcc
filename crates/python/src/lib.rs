//! The native part of `sdk/python`: nodes and probes ([`node`]), log records and spans ([`texts`]), native batches ([`batch`]).
//! The Python modules `oasis.node`, `oasis.logging`, `oasis.spans` and `oasis.batch` wrap it.
//!
//! ```python
//! from oasis.node import NodeBuilder
//! from tank import Tank  # from `oasis pdl compile --lang python`
//!
//! builder = NodeBuilder("plant")
//! probe = builder.pushed("tank", Tank)
//! with builder.start("127.0.0.1:7071"):
//!     probe.flush(Tank(level=2.5))
//! ```

mod batch;
mod node;
mod texts;

use oasis_wire::{declared, schema::ProbeType};
use pyo3::{exceptions::PyValueError, prelude::*};

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::{
        batch::{decode_batch, decode_rows, encode_batch},
        declared_schema, log,
        node::{ForkedError, Node, NodeBuilder, PushedProbe, at_termination, end_at_once, now},
        texts::{Logger, Spans},
    };
}

/// Logs node events to standard error.
#[pyfunction]
fn log(wanted: &str) -> PyResult<()> {
    let refused = |error: String| PyValueError::new_err(format!("invalid log filter {wanted:?}: {error}"));
    let filter =
        tracing_subscriber::EnvFilter::try_new(wanted).map_err(|error| refused(error.to_string()))?;
    tracing_subscriber::fmt()
        .with_ansi(is_colored())
        .with_env_filter(filter)
        // Errors are ignored: otherwise a closed standard error would end the node's thread that writes to it.
        .log_internal_errors(false)
        .with_writer(|| oasis_probe::process::UnlockedStderr)
        .try_init()
        .map_err(|error| refused(error.to_string()))
}

/// Whether standard error shows colors: a file must not contain their codes.
fn is_colored() -> bool {
    std::io::IsTerminal::is_terminal(&std::io::stderr()) && std::env::var_os("NO_COLOR").is_none()
}

/// Parses a schema from any source. It is validated, because readers rely on its bounds.
fn schema(json: &str) -> PyResult<ProbeType> {
    declared::read(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Checks a schema without `uuid`, which a program declares, and returns it with the one that is computed from it.
#[pyfunction]
fn declared_schema(json: &str) -> PyResult<String> {
    let schema = serde_json::to_string(&schema(json)?);
    schema.map_err(|error| PyValueError::new_err(error.to_string()))
}
