//! Files that only their owner may read.

use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, fchown},
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// Time between two attempts to lock a file.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(2);

/// Creates a folder that only its owner can enter, with the folders above it.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens a file to append to, created with mode 0600 and the owner of its folder.
pub(crate) fn open_append(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path)?;
    give_to_owner_of_folder(&file, path)?;
    Ok(file)
}

/// Opens a file to write at any place, created with mode 0600 and the owner of its folder.
pub(crate) fn open_write(path: &Path) -> io::Result<File> {
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).read(true).mode(0o600).open(path)?;
    give_to_owner_of_folder(&file, path)?;
    Ok(file)
}

/// Replaces a file. A reader sees the old content or the new one, also after a power cut.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // Its mode is 0600 from the beginning.
    let mut file = tempfile::Builder::new().prefix(".access-").tempfile_in(folder)?;
    file.write_all(content)?;
    give_to_owner_of_folder(file.as_file(), path)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Syncs the names in a folder.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Whether another user than the owner can read or change a file.
pub(crate) fn is_open_to_others(metadata: &Metadata) -> bool {
    metadata.mode() & 0o077 != 0
}

/// Whether another user than the owner can exchange the files of a folder.
pub(crate) fn is_writable_by_others(metadata: &Metadata) -> bool {
    metadata.mode() & 0o022 != 0
}

/// Root works for the user who runs the DAC: a file of root's would be closed to that user.
fn give_to_owner_of_folder(file: &File, path: &Path) -> io::Result<()> {
    let folder = fs::metadata(path.parent().unwrap_or(Path::new(".")))?;
    let own = file.metadata()?;
    if own.uid() == folder.uid() {
        return Ok(());
    }
    fchown(file, Some(folder.uid()), Some(folder.gid()))
}

/// Locks a file against other processes. Whether that was possible within the time.
pub(crate) fn lock_within(file: &File, patience: Duration) -> io::Result<bool> {
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begin.elapsed() > patience => return Ok(false),
            Err(TryLockError::WouldBlock) => thread::park_timeout(LOCK_RETRY_INTERVAL),
        }
    }
}
