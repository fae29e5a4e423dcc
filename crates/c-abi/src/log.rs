//! Log output of the node.

use crate::{
    arguments::text,
    status::{Problem, Status, answer},
};
use oasis_probe::{
    Failure,
    process::{self, UnlockedStderr},
};
use std::{
    env,
    ffi::c_char,
    io::{self, IsTerminal},
    sync::atomic::{AtomicBool, Ordering},
};
use tracing_subscriber::EnvFilter;

/// Whether the node's log says why the DAC refuses it.
static IS_LOGGING: AtomicBool = AtomicBool::new(false);

/// Writes to standard error that the DAC refuses a node, unless the log does.
pub fn report_refusal(node: &str, refusal: &Failure) {
    if !IS_LOGGING.load(Ordering::Relaxed) {
        process::write_to_stderr(&format!(
            "the DAC refuses node {node:?}, and receives none of its samples: {refusal}"
        ));
    }
}

/// Logs node events to standard error (connections, refusals, failing probes). `filter` is for example "info" or
/// "oasis_probe=debug". Null selects the environment variable OASIS_LOG, or "warn" without it. Without this call
/// only a refusal of the node is written there, once. Call it once in a process; later calls are refused.
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
        let refused = |error: String| Problem::Argument(format!("invalid log filter {wanted:?}: {error}"));
        let filter = EnvFilter::try_new(&wanted).map_err(|error| refused(error.to_string()))?;
        tracing_subscriber::fmt()
            .with_ansi(is_colored())
            .with_env_filter(filter)
            // Errors are ignored: otherwise a closed standard error would end the node's thread that writes to it.
            .log_internal_errors(false)
            .with_writer(|| UnlockedStderr)
            .try_init()
            .map_err(|error| refused(error.to_string()))?;
        IS_LOGGING.store(true, Ordering::Relaxed);
        Ok(Status::Ok)
    })
}

/// Whether standard error shows colors: a file must not contain their codes.
fn is_colored() -> bool {
    io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none()
}
