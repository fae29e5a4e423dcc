//! What the node has to say.

use crate::{
    arguments::text,
    status::{Problem, Status, answer},
};
use std::{env, ffi::c_char, io};
use tracing_subscriber::EnvFilter;

/// Prints on standard error what happens to nodes (connections, refusals, probes that fail): `filter` is such as "info" or "oasis_probe=debug"; null
/// means the environment variable OASIS_LOG, or "warn" without it. Without this call nothing is printed. Once a process; calls after the first are refused.
///
/// # Safety
/// `filter` is null or ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_log(filter: *const c_char) -> Status {
    answer(|| {
        let wanted = if filter.is_null() {
            env::var("OASIS_LOG").unwrap_or_else(|_| "warn".into())
        } else {
            // SAFETY: not null, and the caller promises its end.
            unsafe { text(filter, "filter") }?.to_owned()
        };
        let refused = |error: String| Problem::Argument(format!("the log filter {wanted:?}: {error}"));
        let filter = EnvFilter::try_new(&wanted).map_err(|error| refused(error.to_string()))?;
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            // A log that cannot be written would otherwise end the node's thread that writes it.
            .log_internal_errors(false)
            .with_writer(io::stderr)
            .try_init()
            .map_err(|error| refused(error.to_string()))?;
        Ok(Status::Ok)
    })
}
