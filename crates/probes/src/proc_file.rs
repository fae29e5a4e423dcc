//! A file under `/proc` that is read repeatedly: opened once, without allocation.

use std::{fs::File, io, os::unix::fs::FileExt, path::PathBuf};

/// An open `/proc` file and a buffer for its content.
#[derive(Debug)]
pub struct ProcFile {
    path: PathBuf,
    file: Option<File>,
    buffer: Vec<u8>,
}

impl ProcFile {
    /// `room` is the number of bytes to read. The file need not exist yet.
    pub fn new(path: impl Into<PathBuf>, room: usize) -> Self {
        Self { path: path.into(), file: None, buffer: vec![0; room] }
    }

    /// Reads the first `room` bytes of the file. After an error the file is opened again.
    pub fn read(&mut self) -> io::Result<&str> {
        let path = self.path.display();
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
        let file = match self.file.take() {
            Some(file) => file,
            None => File::open(&self.path).map_err(named)?,
        };
        let length = fill(&file, &mut self.buffer).map_err(named)?;
        self.file = Some(file);
        // A character can only be cut after the needed text.
        let text = &self.buffer[..length];
        Ok(str::from_utf8(text)
            .unwrap_or_else(|error| str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default()))
    }
}

/// The kernel returns long lists in pieces of a page, whatever the size of the buffer.
fn fill(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while let Some(room) = buffer.get_mut(length..).filter(|room| !room.is_empty()) {
        match file.read_at(room, length as u64)? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}

/// Returns the error for unexpected content of a file.
pub fn unexpected(path: &str, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{path}: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_longer_than_a_page_is_read_up_to_its_end_or_the_buffer_size() {
        let mut whole = ProcFile::new("/proc/self/smaps", 1024 * 1024);
        assert!(whole.read().unwrap().len() > 5_000);
        assert_eq!(ProcFile::new("/proc/self/smaps", 5_000).read().unwrap().len(), 5_000);
    }

    #[test]
    fn a_missing_file_is_an_error_that_names_it() {
        let error = ProcFile::new("/proc/nonesuch", 8).read().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("/proc/nonesuch"), "{error}");
    }
}
