//! A small disk: a `tmpfs` of a few megabytes.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// Mounted as long as it lives.
pub struct SmallDisk(TempDir);

impl SmallDisk {
    /// None where nothing may be mounted: that is said.
    pub fn of(megabytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={megabytes}m");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()).output();
        match mounted {
            Ok(mounted) if mounted.status.success() => Some(Self(folder)),
            other => {
                // Not by a macro, whose words are kept back for tests that fail.
                let _ = writeln!(io::stderr(), "SKIPPED: a small disk cannot be mounted: {other:?}");
                None
            }
        }
    }

    /// Returns the path of the disk.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }

    /// Fills the disk but for this many bytes.
    pub fn fill_but(&self, bytes: u64) {
        let mut filler = fs::File::options().create(true).append(true).open(self.filler()).unwrap();
        while filler.write_all(&[1; 4_096]).is_ok() {}
        let length = filler.metadata().unwrap().len();
        filler.set_len(length.saturating_sub(bytes)).unwrap();
    }

    /// Removes the files of others.
    pub fn make_room(&self) {
        fs::remove_file(self.filler()).unwrap();
    }

    /// Forbids all writes.
    pub fn forbid_writing(&self) {
        let done = Command::new("mount").args(["-o", "remount,ro"]).arg(self.path()).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, in case that a process still ends.
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}
