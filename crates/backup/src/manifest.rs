//! The last file of a backup: what it contains.

use crate::entry_name;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Place in the backup to which a path of the configuration leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// One file or folder.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Setting {
    /// Whether its places are in the backup.
    pub(crate) fn is_within(&self) -> bool {
        let places = match self {
            Self::One(place) => std::slice::from_ref(place),
            Self::Many(places) => places,
        };
        places.iter().all(|place| entry_name::check(place).is_ok())
    }
}

/// Contents of a backup.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The release that wrote it.
    pub software: String,
    /// When it was begun, seconds since 1970.
    pub created: u64,
    /// Paths of the configuration, such as `archive.directory`, with their places in the backup.
    pub settings: BTreeMap<String, Setting>,
    /// All other files by name; set by the writer.
    pub files: BTreeMap<String, FileSum>,
}

/// Size and checksum of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSum {
    /// Bytes.
    pub bytes: u64,
    /// SHA-256, hexadecimal.
    pub sha256: String,
}

impl FileSum {
    /// Creates the sum of bytes that were read.
    pub fn new(bytes: u64, hash: &[u8]) -> Self {
        Self { bytes, sha256: hash.iter().map(|byte| format!("{byte:02x}")).collect() }
    }
}
