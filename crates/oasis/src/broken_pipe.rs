//! Readers that have seen enough: `oasis … | head` is no error.

use std::io;

/// Whether this is why nothing more could be written.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(kind))
}
