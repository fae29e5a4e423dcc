//! The head: number and hash of the newest synced record, in a file beside the log. Without it a removal of the newest
//! records would not be detected.

use crate::secret::Digest;
use std::{
    fmt,
    fs::File,
    io::{self, Read, Seek},
    os::unix::fs::FileExt,
    path::Path,
    str::FromStr,
};

/// Name of the file.
pub(crate) const FILE: &str = "head";

/// Number and hash of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Number of the record; 0 before the first one.
    pub seq: u64,
    /// Its hash; zeros before the first one.
    pub hash: Digest,
}

impl Head {
    /// Before the first record.
    pub(crate) const START: Self = Self { seq: 0, hash: Digest::ZERO };

    /// Reads the file. None if its content is damaged.
    pub(crate) fn read(file: &mut File) -> io::Result<Option<Self>> {
        file.rewind()?;
        let mut text = String::new();
        match file.take(256).read_to_string(&mut text) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
            Err(error) => Err(error),
            Ok(_) => Ok(text.trim_end().parse().ok()),
        }
    }

    /// Reads the file of a folder. None if there is none, or it is damaged.
    pub(crate) fn of_folder(folder: &Path) -> io::Result<Option<Self>> {
        match File::open(folder.join(FILE)) {
            Ok(mut file) => Self::read(&mut file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes it in place; it always has the same length.
    pub(crate) fn write(self, file: &File) -> io::Result<()> {
        file.write_all_at(format!("{:020}:{}\n", self.seq, self.hash).as_bytes(), 0)
    }
}

/// `SEQ:HASH`, to keep it elsewhere.
impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

/// A text that is not a head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("write SEQ:HASH as `oasis audit-log verify` prints it: a number, a colon and 64 hexadecimal digits")]
pub struct HeadError;

impl FromStr for Head {
    type Err = HeadError;
    fn from_str(text: &str) -> Result<Self, HeadError> {
        let (seq, hash) = text.split_once(':').ok_or(HeadError)?;
        let seq = seq.parse().map_err(|_| HeadError)?;
        Ok(Self { seq, hash: Digest::parse(hash).ok_or(HeadError)? })
    }
}
