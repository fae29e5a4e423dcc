//! Number of samples that a node has generated: a file of eight bytes, which survives a killed process.

use anyhow::Context;
use std::{fs::File, io, os::unix::fs::FileExt, path::Path};

/// The writing side.
#[derive(Debug)]
pub struct Journal(File);

impl Journal {
    /// Starts at 0.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
        let journal = Self(file);
        journal.note(0)?;
        Ok(journal)
    }

    /// Notes how many samples were generated.
    pub fn note(&self, samples: u64) -> io::Result<()> {
        self.0.write_all_at(&samples.to_le_bytes(), 0)
    }
}

/// The last number that was noted; 0 before the first.
pub fn read(path: &Path) -> u64 {
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes.try_into().map(u64::from_le_bytes).unwrap_or_default()
}
