//! A file under `/proc` that is read again and again: opened once, read in one system call, no allocation.

use std::{fs::File, io, os::unix::fs::FileExt, path::PathBuf};

/// An open `/proc` file and room for what is read of it.
#[derive(Debug)]
pub struct ProcFile {
    path: PathBuf,
    file: Option<File>,
    buffer: Vec<u8>,
}

impl ProcFile {
    /// `room` is how much of the file is wanted; it need not exist yet.
    pub fn new(path: impl Into<PathBuf>, room: usize) -> Self {
        Self { path: path.into(), file: None, buffer: vec![0; room] }
    }

    /// The file's first `room` bytes as they are now. After an error the file is opened anew.
    pub fn read(&mut self) -> io::Result<&str> {
        let path = self.path.display();
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
        let file = match self.file.take() {
            Some(file) => file,
            None => File::open(&self.path).map_err(named)?,
        };
        let length = file.read_at(&mut self.buffer, 0).map_err(named)?;
        self.file = Some(file);
        // A cut in the middle of a character can only be behind what is looked for.
        let text = &self.buffer[..length];
        Ok(str::from_utf8(text)
            .unwrap_or_else(|error| str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default()))
    }
}

/// What is wrong with a file's content.
pub fn unexpected(path: &str, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{path}: {what}"))
}
