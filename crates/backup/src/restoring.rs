//! Reads a backup into a folder.

use crate::{
    ABOUT, FORMAT, LARGEST_MANIFEST, MANIFEST, MOST_FILES,
    header::{self, BLOCK, BadHeader, Entry},
    manifest::{FileSum, Manifest, Setting},
};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// Bytes copied at once.
const COPY_CHUNK_BYTES: usize = 256 * 1024;

/// Why a backup is not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// Something is there already.
    #[error("{path} is not an empty folder: a backup is restored into a new one", path = .0.display())]
    NotEmpty(PathBuf),
    /// Another file.
    #[error("it is not a backup of OASIS (oasis backup)")]
    NotABackup,
    /// The file ends too early.
    #[error(
        "the backup is truncated: it ends after {at} bytes, within {within}; before that {files} files with {bytes} bytes are complete. Nothing was restored: \
         copy or make the backup again"
    )]
    Truncated {
        /// Its bytes.
        at: u64,
        /// The part that is cut off, for people.
        within: String,
        /// Files before that part.
        files: usize,
        /// Their bytes.
        bytes: u64,
    },
    /// A later release wrote it.
    #[error("it has format {0}, and this release reads {FORMAT}: update oasis")]
    Version(u32),
    /// A header.
    #[error("the backup is damaged: {0}")]
    Header(#[from] BadHeader),
    /// Content, or the manifest.
    #[error("the backup is damaged: {0}")]
    Damaged(String),
    /// The backup cannot be read, or the folder cannot be written.
    #[error("cannot {doing} {path}: {error}", path = .path.display())]
    Io {
        /// Operation that failed.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// First part of the name of the folder that a backup is read into.
const STAGING: &str = ".oasis-restore-";

/// Restores a backup into a folder that does not exist or is empty. Files are readable for their owner only. `settle` completes the folder, by its present
/// path, before it gets its name; `progress` gets the bytes read. If anything is wrong nothing is left.
///
/// # Errors
/// Whatever is wrong with backup or folder.
pub fn restore(
    from: impl Read,
    target: &Path,
    settle: impl FnOnce(&Path, &Manifest) -> io::Result<()>,
    progress: impl FnMut(u64),
) -> Result<Manifest, RestoreError> {
    check_empty(target)?;
    let beside = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let doing = |doing, path: &Path| {
        let path = path.to_owned();
        move |error| RestoreError::Io { doing, path, error }
    };
    remove_abandoned(beside);
    let private = Permissions::from_mode(0o700);
    let staging = tempfile::Builder::new().prefix(STAGING).permissions(private).tempdir_in(beside);
    let staging = staging.map_err(doing("make a folder in", beside))?;
    // As long as this process lives: others leave the folder alone.
    let held = File::open(staging.path()).map_err(doing("open", staging.path()))?;
    held.try_lock().map_err(|error| doing("lock", staging.path())(error.into()))?;
    let mut extracting =
        Extracting { from, folder: staging.path(), files: BTreeMap::new(), read: 0, within: None, progress };
    let manifest = extracting.run()?;
    settle(staging.path(), &manifest).map_err(doing("complete", target))?;
    // An empty folder is replaced; anything else refuses the rename.
    fs::rename(staging.path(), target).map_err(doing("rename the restored folder to", target))?;
    // The folder has another name now.
    let _ = staging.keep();
    File::open(beside).and_then(|folder| folder.sync_all()).map_err(doing("sync", beside))?;
    Ok(manifest)
}

/// Removes what restores have left that were killed: their lock is gone with them.
fn remove_abandoned(beside: &Path) {
    let entries = fs::read_dir(beside).into_iter().flatten().flatten();
    for folder in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(STAGING)) {
        let is_folder = folder.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && File::open(folder.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            // Folders of another user are not removed.
            let _ = fs::remove_dir_all(folder.path());
        }
    }
}

/// Writes a new file that only its owner can read, and syncs it.
///
/// # Errors
/// If it exists or cannot be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create_private(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn check_empty(target: &Path) -> Result<(), RestoreError> {
    let is_free = match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_free { Ok(()) } else { Err(RestoreError::NotEmpty(target.to_owned())) }
}

/// A backup that is being read.
struct Extracting<'a, R, P> {
    from: R,
    folder: &'a Path,
    files: BTreeMap<String, FileSum>,
    read: u64,
    /// The file that is being read; none between two.
    within: Option<String>,
    progress: P,
}

impl<R: Read, P: FnMut(u64)> Extracting<'_, R, P> {
    fn run(&mut self) -> Result<Manifest, RestoreError> {
        self.check_version()?;
        loop {
            let Some(entry) = self.next_header()? else {
                // Zeros, such as those of a disk that was full.
                return Err(self.truncated(self.read));
            };
            if entry.name == MANIFEST {
                return self.manifest(&entry);
            }
            if self.files.len() >= MOST_FILES || self.files.contains_key(&entry.name) {
                return Err(RestoreError::Damaged(format!("{:?} is one file too many", entry.name)));
            }
            let sum = self.extract(&entry)?;
            self.files.insert(entry.name, sum);
        }
    }

    /// Reads the first file.
    fn check_version(&mut self) -> Result<(), RestoreError> {
        let mut block = [0; BLOCK];
        let read = self.fill_some(&mut block)?;
        // The first bytes tell a backup from another file, however few there are.
        let begin = &block[..read.min(ABOUT.len())];
        if !ABOUT.as_bytes().starts_with(begin) {
            return Err(RestoreError::NotABackup);
        }
        if read < BLOCK {
            return Err(self.truncated(self.read));
        }
        let first = header::decode(&block).map_err(|_| RestoreError::NotABackup)?;
        let first =
            first.filter(|entry| entry.name == ABOUT && entry.size <= 16).ok_or(RestoreError::NotABackup)?;
        let text = self.bytes(&first)?;
        let version = std::str::from_utf8(&text).ok().and_then(|text| text.trim().parse().ok());
        match version {
            Some(FORMAT) => Ok(()),
            Some(other) => Err(RestoreError::Version(other)),
            None => Err(RestoreError::NotABackup),
        }
    }

    fn next_header(&mut self) -> Result<Option<Entry>, RestoreError> {
        self.within = None;
        let mut block = [0; BLOCK];
        self.fill(&mut block)?;
        let entry = header::decode(&block)?;
        self.within = entry.as_ref().map(|entry| entry.name.clone());
        Ok(entry)
    }

    /// Reads all of these bytes.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), RestoreError> {
        let read = self.fill_some(bytes)?;
        if read == bytes.len() { Ok(()) } else { Err(self.truncated(self.read)) }
    }

    /// Reads these bytes, or as many as there are. Returns how many.
    fn fill_some(&mut self, bytes: &mut [u8]) -> Result<usize, RestoreError> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.from.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(RestoreError::Io { doing: "read", path: "the backup".into(), error });
                }
            }
        }
        self.read += filled as u64;
        (self.progress)(self.read);
        Ok(filled)
    }

    fn truncated(&self, at: u64) -> RestoreError {
        let within = match &self.within {
            Some(name) => format!("the file {name:?}"),
            None if self.files.is_empty() => "its beginning".into(),
            None => "the header of a file".into(),
        };
        let bytes = self.files.values().map(|sum| sum.bytes).sum();
        RestoreError::Truncated { at, within, files: self.files.len(), bytes }
    }

    fn bytes(&mut self, entry: &Entry) -> Result<Vec<u8>, RestoreError> {
        let mut bytes = vec![0; usize::try_from(entry.size).unwrap_or(usize::MAX)];
        self.fill(&mut bytes)?;
        self.fill(&mut [0; BLOCK][..header::padding(entry.size)])?;
        Ok(bytes)
    }

    /// Writes a file below the folder, which no other user can change.
    fn extract(&mut self, entry: &Entry) -> Result<FileSum, RestoreError> {
        let path = self.folder.join(&entry.name);
        let failed = |error| RestoreError::Io { doing: "write", path: PathBuf::from(&entry.name), error };
        if let Some(parent) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
        }
        let mut file = create_private(&path).map_err(failed)?;
        let (mut hash, mut left) = (Sha256::new(), entry.size);
        let mut piece = vec![0; COPY_CHUNK_BYTES];
        while left > 0 {
            let some = usize::try_from(left).unwrap_or(usize::MAX).min(COPY_CHUNK_BYTES);
            self.fill(&mut piece[..some])?;
            hash.update(&piece[..some]);
            file.write_all(&piece[..some]).map_err(failed)?;
            left -= some as u64;
        }
        file.sync_all().map_err(failed)?;
        self.fill(&mut [0; BLOCK][..header::padding(entry.size)])?;
        Ok(FileSum::new(entry.size, &hash.finalize()))
    }

    /// Reads the manifest, and compares it with what was read.
    fn manifest(&mut self, entry: &Entry) -> Result<Manifest, RestoreError> {
        let damaged = |what: &str| RestoreError::Damaged(what.to_owned());
        if entry.size > LARGEST_MANIFEST {
            return Err(damaged("its manifest is too large"));
        }
        let bytes = self.bytes(entry)?;
        let manifest: Manifest =
            serde_json::from_slice(&bytes).map_err(|_| damaged("its manifest is not one"))?;
        let differs = |(name, sum): &(&String, &FileSum)| manifest.files.get(*name) != Some(*sum);
        if let Some((name, _)) = self.files.iter().find(differs) {
            return Err(RestoreError::Damaged(format!("{name:?} does not match its checksum")));
        }
        if let Some(name) = manifest.files.keys().find(|name| !self.files.contains_key(*name)) {
            return Err(RestoreError::Damaged(format!("{name:?} is missing")));
        }
        if !manifest.settings.values().all(Setting::is_within) {
            return Err(damaged("a setting leads out of it"));
        }
        Ok(manifest)
    }
}

#[cfg(test)]
mod tests;
