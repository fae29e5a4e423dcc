//! Whether the path of an archive still names the folder that this process has opened and locked.
//!
//! A folder that was removed, renamed or covered by a mount can still be written through open files. What is written there has no name, so it is not stored.

use std::{
    fs::{File, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
};

/// Device and inode.
type FileId = (u64, u64);

/// The folder that was opened, and its lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FolderIdentity {
    folder: FileId,
    lock: FileId,
    /// Whether a file system was mounted at the folder.
    is_mount: bool,
}

/// The path of an archive does not name its folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FolderGone {
    /// Nothing has the name.
    #[error("the archive's folder or its lock file is gone: restore it, or restart the DAC ({0})")]
    Absent(String),
    /// Another folder has the name.
    #[error("another folder has the name of the archive's folder")]
    Replaced,
    /// Another lock file has the name.
    #[error("another lock file has the name of the archive's one")]
    Relocked,
    /// The file of the newest samples has lost its name.
    #[error("a segment file was removed while it was written")]
    SegmentRemoved,
    /// The disk of the archive is not mounted.
    #[error("nothing is mounted at the archive's folder any more")]
    Unmounted,
}

impl FolderIdentity {
    /// Identifies a folder, and the lock file that was opened in it.
    ///
    /// # Errors
    /// If the system cannot tell.
    pub fn of(directory: &Path, lock: &File) -> io::Result<Self> {
        let folder = id(&directory.metadata()?);
        Ok(Self { folder, lock: id(&lock.metadata()?), is_mount: is_mount(directory, folder) })
    }

    /// Whether the path still names them.
    ///
    /// # Errors
    /// If it does not.
    pub fn check(&self, directory: &Path) -> Result<(), FolderGone> {
        let found = |path: &Path| path.metadata().map_err(|error| FolderGone::Absent(error.to_string()));
        if id(&found(directory)?) != self.folder {
            return Err(FolderGone::Replaced);
        }
        if id(&found(&directory.join("lock"))?) != self.lock {
            return Err(FolderGone::Relocked);
        }
        Ok(())
    }

    /// Whether an archive may be opened at this path again. The folder below a disk that was unmounted is not meant.
    ///
    /// # Errors
    /// If there is no folder, or only the one below the disk.
    pub fn check_reopening(&self, directory: &Path) -> Result<(), FolderGone> {
        let found = directory.metadata().map_err(|error| FolderGone::Absent(error.to_string()))?;
        if self.is_mount && !is_mount(directory, id(&found)) {
            return Err(FolderGone::Unmounted);
        }
        Ok(())
    }
}

/// Whether a path names this open file.
pub fn names(path: &Path, file: &File) -> bool {
    match (path.metadata(), file.metadata()) {
        (Ok(named), Ok(open)) => id(&named) == id(&open),
        _ => false,
    }
}

fn id(metadata: &Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}

fn is_mount(directory: &Path, (device, _): FileId) -> bool {
    // `..` of a mounted folder is the folder around the mount.
    directory.join("..").metadata().is_ok_and(|around| around.dev() != device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn folder_in(around: &Path) -> (std::path::PathBuf, FolderIdentity) {
        let folder = around.join("archive");
        fs::create_dir(&folder).unwrap();
        let lock = File::create(folder.join("lock")).unwrap();
        let identity = FolderIdentity::of(&folder, &lock).unwrap();
        (folder, identity)
    }

    #[test]
    fn a_folder_that_is_renamed_and_returns_is_the_same() {
        let around = tempfile::tempdir().unwrap();
        let (folder, identity) = folder_in(around.path());
        identity.check(&folder).unwrap();
        let away = around.path().join("away");
        fs::rename(&folder, &away).unwrap();
        assert!(matches!(identity.check(&folder), Err(FolderGone::Absent(_))));
        assert!(matches!(identity.check_reopening(&folder), Err(FolderGone::Absent(_))));
        fs::create_dir(&folder).unwrap();
        assert_eq!(identity.check(&folder), Err(FolderGone::Replaced));
        assert_eq!(identity.check_reopening(&folder), Ok(()));
        fs::remove_dir(&folder).unwrap();
        fs::rename(&away, &folder).unwrap();
        identity.check(&folder).unwrap();
    }

    #[test]
    fn a_lock_file_that_is_removed_or_replaced_is_noticed() {
        let around = tempfile::tempdir().unwrap();
        let (folder, identity) = folder_in(around.path());
        let lock = folder.join("lock");
        fs::rename(&lock, folder.join("other")).unwrap();
        assert!(matches!(identity.check(&folder), Err(FolderGone::Absent(_))));
        fs::write(&lock, "").unwrap();
        assert_eq!(identity.check(&folder), Err(FolderGone::Relocked));
    }

    #[test]
    fn a_removed_file_has_no_name() {
        let around = tempfile::tempdir().unwrap();
        let path = around.path().join("file");
        let file = File::create(&path).unwrap();
        assert!(names(&path, &file));
        fs::remove_file(&path).unwrap();
        assert!(!names(&path, &file));
        fs::write(&path, "another").unwrap();
        assert!(!names(&path, &file));
    }

    #[test]
    fn the_folder_below_a_mount_is_not_opened_again() {
        let around = tempfile::tempdir().unwrap();
        let (folder, identity) = folder_in(around.path());
        let mounted = FolderIdentity { is_mount: true, ..identity };
        assert_eq!(mounted.check_reopening(&folder), Err(FolderGone::Unmounted));
    }
}
