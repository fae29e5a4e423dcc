//! Readers that have seen enough: `oasis … | head` is no error.

use std::{error::Error, io};

/// Whether this is why nothing more could be written.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(is_cause)
}

/// Errors of the system within others, which do not all show them as their source.
fn is_cause(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return error.kind() == io::ErrorKind::BrokenPipe
            || error.get_ref().is_some_and(|inner| is_cause(inner));
    }
    match error.downcast_ref::<csv::Error>().map(csv::Error::kind) {
        Some(csv::ErrorKind::Io(error)) => is_cause(error),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_broken_pipe_is_found_wherever_it_is() {
        let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        for error in [
            pipe().into(),
            anyhow::Error::from(csv::Error::from(pipe())),
            io::Error::from(csv::Error::from(pipe())).into(),
            Err::<(), _>(csv::Error::from(pipe())).context("exporting").unwrap_err(),
        ] {
            assert!(is_broken_pipe(&error), "{error:?}");
        }
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        assert!(!is_broken_pipe(&full().into()) && !is_broken_pipe(&csv::Error::from(full()).into()));
    }
}
