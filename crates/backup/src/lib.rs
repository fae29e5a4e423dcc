//! A backup: a tar file of what a DAC keeps, which ends with a manifest of checksums.
//!
//! [`BackupWriter`] writes one to any stream, [`restore`] reads one into a folder that gets its name only if all of it is intact.
//!
//! ```
//! use oasis_backup::{BackupWriter, restore};
//!
//! let mut backup = BackupWriter::begin(Vec::new())?;
//! backup.add("access/access.toml", 3, &b"a=1"[..])?;
//! let bytes = backup.finish(Default::default())?;
//!
//! let folder = tempfile::tempdir()?;
//! let target = folder.path().join("plant");
//! restore(&bytes[..], &target, |_, _| Ok(()), |_| {})?;
//! assert_eq!(std::fs::read(target.join("access/access.toml"))?, b"a=1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod entry_name;
mod header;
mod manifest;
mod restoring;
mod writing;

pub use entry_name::BadName;
pub use manifest::{Manifest, Setting};
pub use restoring::{RestoreError, restore, write_private};
pub use writing::{BackupWriter, WriteError};

/// The version of the format.
pub const FORMAT: u32 = 1;
/// The first file of a backup: its content is the version.
const ABOUT: &str = "oasis-backup";
/// The last file.
const MANIFEST: &str = "manifest.json";
/// Largest manifest, bytes.
const LARGEST_MANIFEST: u64 = 64 * 1024 * 1024;
/// Most files.
const MOST_FILES: usize = 200_000;
