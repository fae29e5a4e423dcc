//! Writes a backup.

use crate::{
    ABOUT, FORMAT, MANIFEST, MOST_FILES,
    entry_name::{self, BadName},
    header::{self, BLOCK, Entry},
    manifest::{FileSum, Manifest},
};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
    time::{SystemTime, UNIX_EPOCH},
};

/// Bytes copied at once.
const COPY_CHUNK_BYTES: usize = 256 * 1024;

/// Errors of writing a backup.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// I/O error of the backup, or of a file in it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A name of a file.
    #[error(transparent)]
    Name(#[from] BadName),
    /// More than a tar header can say.
    #[error("{0:?} is too large or its name too long for a backup")]
    TooLarge(String),
    /// Two files of one name, or more files than are allowed.
    #[error("{0:?} is one file too many for a backup")]
    TooMany(String),
}

/// Writes a backup to a stream.
#[derive(Debug)]
pub struct BackupWriter<W> {
    out: W,
    files: BTreeMap<String, FileSum>,
    time: u64,
    bytes: u64,
}

impl<W: Write> BackupWriter<W> {
    /// Begins a backup.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(out: W) -> Result<Self, WriteError> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut backup = Self { out, files: BTreeMap::new(), time, bytes: 0 };
        let about = format!("{FORMAT}\n");
        backup.put(ABOUT, about.len() as u64, about.as_bytes())?;
        Ok(backup)
    }

    /// Bytes of the files so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds `size` bytes of a file; zeros follow what it has less.
    ///
    /// # Errors
    /// If it cannot be read or written, or its name is refused.
    pub fn add(&mut self, name: &str, size: u64, from: impl Read) -> Result<(), WriteError> {
        if self.files.contains_key(name) || name == MANIFEST || self.files.len() >= MOST_FILES {
            return Err(WriteError::TooMany(name.to_owned()));
        }
        let sum = self.put(name, size, from)?;
        self.files.insert(name.to_owned(), sum);
        Ok(())
    }

    /// Writes the manifest, with the files. Returns the stream.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self, manifest: Manifest) -> Result<W, WriteError> {
        let files = std::mem::take(&mut self.files);
        let manifest = Manifest { files, created: self.time, ..manifest };
        let json = serde_json::to_vec(&manifest).map_err(io::Error::from)?;
        self.put(MANIFEST, json.len() as u64, &json[..])?;
        self.out.write_all(&[0; 2 * BLOCK])?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn put(&mut self, name: &str, size: u64, from: impl Read) -> Result<FileSum, WriteError> {
        entry_name::check(name)?;
        let entry = Entry { name: name.to_owned(), size };
        let block = header::encode(&entry, self.time).ok_or_else(|| WriteError::TooLarge(name.to_owned()))?;
        self.out.write_all(&block)?;
        let mut from = from.take(size).chain(io::repeat(0).take(size)).take(size);
        let (mut hash, mut piece) = (Sha256::new(), vec![0; COPY_CHUNK_BYTES]);
        loop {
            let read = match from.read(&mut piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                break;
            }
            hash.update(&piece[..read]);
            self.out.write_all(&piece[..read])?;
            self.bytes += read as u64;
        }
        self.out.write_all(&[0; BLOCK][..header::padding(size)])?;
        Ok(FileSum::new(size, &hash.finalize()))
    }
}
