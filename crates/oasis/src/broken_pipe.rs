//! Detects closed pipes: `oasis … | head` is not an error.

use std::{error::Error, io};

/// Whether the error is a closed pipe.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(is_cause)
}

/// Finds errors of the system within others, which do not all return them as their source.
fn is_cause(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| {
        error.kind() == io::ErrorKind::BrokenPipe || error.get_ref().is_some_and(|inner| is_cause(inner))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;
    use oasis_format::WriteError;

    #[test]
    fn a_broken_pipe_is_found_wherever_it_is() {
        let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        for error in [
            pipe().into(),
            io::Error::other(pipe()).into(),
            WriteError::from(pipe()).into(),
            Err::<(), _>(WriteError::from(pipe())).context("exporting").unwrap_err(),
        ] {
            assert!(is_broken_pipe(&error), "{error:?}");
        }
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        assert!(!is_broken_pipe(&full().into()) && !is_broken_pipe(&WriteError::from(full()).into()));
    }
}
