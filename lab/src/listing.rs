//! Output of commands: `oasis lab list | head` is not an error.

use std::io::{self, ErrorKind, Write};

/// Writes a text to the standard output, or as much as its reader wants.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
