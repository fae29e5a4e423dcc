//! The folder of accounts: `access.toml`, read and changed by several processes.

use crate::{
    document::{ChangeError, Document},
    nodes::NodeChangeError,
    private_file,
};
use serde::Serialize;
use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

/// Name of the file.
pub const FILE: &str = "access.toml";
const LOCK: &str = "access.lock";
const ABOUT: &str = "# Accounts of OASIS: see docs/reference/permissions.md. `oasis user`, `oasis token` and\n# `oasis role` change this file, and keep no comments.\n";
/// Longest lock file, bytes: two names.
const MAX_LOCK_BYTES: u64 = 256;
/// Largest file, bytes: all that its bounds allow takes less.
const MAX_FILE_BYTES: u64 = 8 << 20;
/// Time that a change waits for another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Why accounts cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused.
    #[error("cannot {doing} {path}: {error}", path = .path.display())]
    Io {
        /// The attempted operation.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// Its secrets are not secret.
    #[error("others can read {path} (mode {mode:03o}): check who did, then run `chmod 600 {path}`", path = .path.display())]
    OpenToOthers {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// Other users could put another file there.
    #[error("others can change the folder {path} (mode {mode:03o}): run `chmod 700 {path}`", path = .path.display())]
    FolderOpenToOthers {
        /// The folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// Larger than all that is allowed in it.
    #[error("{path} has more bytes than its bounds allow", path = .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// Not TOML, or not of this form.
    #[error("{path} cannot be read: {reason}", path = .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Place and reason.
        reason: String,
    },
    /// A name or a bound in it is wrong.
    #[error("in {path}: {error}", path = .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: ChangeError,
    },
    /// The file was there before.
    #[error("{path} is gone: restore it from a copy, or remove {LOCK} beside it to begin without", path = .path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// Another process changes accounts for too long.
    #[error("another process has locked {path} for {} s: end it, then try again", LOCK_TIMEOUT.as_secs(), path = .path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// The accounts are a copy.
    #[error("the accounts of this DAC are a copy: change them at {from}")]
    Follows {
        /// Address that the copy is from.
        from: String,
    },
    /// The accounts are a copy, and another DAC asks for them.
    #[error(
        "the accounts of this DAC are a copy of those of {from}, and a copy is not copied again: name the DAC that keeps them (access.follow)"
    )]
    CopyOfCopy {
        /// Address that the copy is from.
        from: String,
    },
    /// There are accounts where a copy would be.
    #[error("{path} has accounts that are no copy: name another folder (access.directory), or move access.toml, nodes.toml and access.lock away", path = .path.display())]
    NotACopy {
        /// The folder.
        path: PathBuf,
    },
    /// A copy, and nothing that it is renewed from.
    #[error("the accounts in {path} are a copy of those of {from}: follow it (access.follow), or remove copy.toml there to keep the accounts here from now on", path = .path.display())]
    CopyWithoutSource {
        /// The folder.
        path: PathBuf,
        /// Address that the copy is from.
        from: String,
    },
    /// A copy that is not trusted any more.
    #[error("the accounts of this DAC are a copy that was not renewed for too long: see its health")]
    Outdated,
    /// Nothing to follow.
    #[error("the accounts are in memory: start the DAC with a folder for them (--access DIR)")]
    InMemory,
    /// The change itself was refused.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The file of nodes is wrong, or a change of it was refused.
    #[error("nodes: {0}")]
    Node(#[from] NodeChangeError),
}

/// Tells two states of the file apart: each change makes another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

/// The folder.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
}

impl Store {
    /// Opens a folder, created with mode 0700 if it does not exist.
    ///
    /// # Errors
    /// If it cannot be created, or others can change it.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let failed = |doing| move |error| StoreError::Io { doing, path: directory.to_owned(), error };
        private_file::create_folder(directory).map_err(failed("create"))?;
        let metadata = fs::metadata(directory).map_err(failed("read"))?;
        if private_file::is_writable_by_others(&metadata) {
            let (path, mode) = (directory.to_owned(), metadata.mode() & 0o777);
            return Err(StoreError::FolderOpenToOthers { path, mode });
        }
        Ok(Self { directory: directory.to_owned() })
    }

    /// Returns the folder.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the file of accounts.
    pub fn file(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// Reads the accounts; none if there is no file yet.
    ///
    /// # Errors
    /// If the file is open to others, or its content is wrong.
    pub fn read(&self) -> Result<Document, StoreError> {
        self.read_marked().map(|(document, _)| document)
    }

    /// The same, with what tells whether it has changed since; none if there is no file.
    pub(crate) fn read_marked(&self) -> Result<(Document, Option<Fingerprint>), StoreError> {
        let path = self.file();
        match Self::read_private(&path, MAX_FILE_BYTES)? {
            Some((bytes, seen)) => Ok((parse(&path, &bytes)?, Some(seen))),
            None if self.has_had(FILE)? => Err(StoreError::Gone { path }),
            None => Ok((Document::default(), None)),
        }
    }

    /// Whether a file was written before. The lock file says so: a file that is gone must not count as one that never was, because rights and
    /// revocations would be gone with it.
    pub(crate) fn has_had(&self, file: &str) -> Result<bool, StoreError> {
        let path = self.directory.join(LOCK);
        let known = Self::read_private(&path, MAX_LOCK_BYTES)?.map(|(bytes, _)| bytes).unwrap_or_default();
        Ok(String::from_utf8_lossy(&known).lines().any(|line| line == file))
    }

    /// Notes that a file has been written.
    fn remember(&self, mut lock: &File, file: &str) -> Result<(), StoreError> {
        if self.has_had(file)? {
            return Ok(());
        }
        let path = self.directory.join(LOCK);
        let noted = lock.seek(SeekFrom::End(0)).and_then(|_| writeln!(lock, "{file}"));
        noted.and_then(|()| lock.sync_all()).map_err(|error| StoreError::Io { doing: "write", path, error })
    }

    /// Reads a file that only its owner may read, and at most one byte more than the largest; none if there is no file.
    pub(crate) fn read_private(
        path: &Path,
        largest: u64,
    ) -> Result<Option<(Vec<u8>, Fingerprint)>, StoreError> {
        let failed = |error| StoreError::Io { doing: "read", path: path.to_owned(), error };
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let metadata = file.metadata().map_err(failed)?;
        if private_file::is_open_to_others(&metadata) {
            return Err(StoreError::OpenToOthers { mode: metadata.mode() & 0o777, path: path.to_owned() });
        }
        let mut bytes = Vec::new();
        (&mut file).take(largest + 1).read_to_end(&mut bytes).map_err(failed)?;
        Ok(Some((bytes, Fingerprint::of(&metadata))))
    }

    /// Returns what tells states of the file apart; none if there is no file.
    pub(crate) fn fingerprint(path: &Path) -> Result<Option<Fingerprint>, StoreError> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(Fingerprint::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::Io { doing: "read", path: path.to_owned(), error }),
        }
    }

    /// Changes the accounts: reads the file, applies the change, checks, and replaces the file. Two processes that
    /// change it do so one after the other. Blocks while another one does, and while the file is synced.
    ///
    /// # Errors
    /// If the change is refused, or the file cannot be read or written; it is then as before.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut Document) -> Result<T, ChangeError>,
    ) -> Result<T, StoreError> {
        let lock = self.lock()?;
        self.check_own()?;
        let mut document = self.read()?;
        let result = change(&mut document)?;
        document.check()?;
        self.write_accounts(&lock, &document)?;
        Ok(result)
    }

    /// Replaces the accounts.
    pub(crate) fn write_accounts(&self, lock: &File, document: &Document) -> Result<(), StoreError> {
        self.write(lock, FILE, MAX_FILE_BYTES, ABOUT, document)
    }

    /// Replaces a file by another content, below lines about it. Only with the lock, and not with more bytes than can be read again.
    pub(crate) fn write(
        &self,
        lock: &File,
        file: &str,
        largest: u64,
        about: &str,
        content: &impl Serialize,
    ) -> Result<(), StoreError> {
        let path = self.directory.join(file);
        let text = toml::to_string(content)
            .map_err(|error| StoreError::Format { path: path.clone(), reason: error.to_string() })?;
        let text = format!("{about}{text}");
        if text.len() as u64 > largest {
            return Err(StoreError::TooLarge { path });
        }
        private_file::replace(&path, text.as_bytes()).map_err(|error| StoreError::Io {
            doing: "write",
            path,
            error,
        })?;
        self.remember(lock, file)
    }

    /// Excludes other writers until it is dropped.
    pub(crate) fn lock(&self) -> Result<File, StoreError> {
        let path = self.directory.join(LOCK);
        let failed = |error| StoreError::Io { doing: "lock", path: path.clone(), error };
        let file = private_file::open_write(&path).map_err(failed)?;
        match private_file::lock_within(&file, LOCK_TIMEOUT).map_err(failed)? {
            true => Ok(file),
            false => Err(StoreError::Locked { path }),
        }
    }
}

impl Fingerprint {
    fn of(metadata: &fs::Metadata) -> Self {
        Self {
            inode: metadata.ino(),
            size: metadata.len(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// Parses and checks the content of the file.
fn parse(path: &Path, bytes: &[u8]) -> Result<Document, StoreError> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(StoreError::TooLarge { path: path.to_owned() });
    }
    let format = |reason: String| StoreError::Format { path: path.to_owned(), reason };
    let text = std::str::from_utf8(bytes).map_err(|error| format(error.to_string()))?;
    let document: Document = toml::from_str(text).map_err(|error| format(without_content(text, &error)))?;
    document.check().map_err(|error| StoreError::Content { path: path.to_owned(), error })?;
    Ok(document)
}

/// Line and reason of an error. The line itself may contain a hash, so it is not shown.
fn without_content(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    match before {
        Some(before) => format!("line {}: {}", before.matches('\n').count() + 1, error.message()),
        None => error.message().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::quantity::Nanos;
    use proptest::prelude::*;
    use std::{collections::BTreeSet, os::unix::fs::PermissionsExt};

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("state/access")).unwrap();
        (folder, store)
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn add(store: &Store, user: &str) {
        let name = user.parse().unwrap();
        store.change(|document| document.add_user(name, None, BTreeSet::new(), Nanos(0))).unwrap();
    }

    #[test]
    fn the_file_is_only_for_its_owner() {
        let (_folder, store) = store();
        add(&store, "ada");
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&store.file()), mode(store.directory())), (0o600, 0o700));
        for open in [0o640, 0o604, 0o620, 0o601] {
            set_mode(&store.file(), open);
            assert!(matches!(store.read(), Err(StoreError::OpenToOthers { mode, .. }) if mode == open));
        }
        set_mode(store.directory(), 0o770);
        assert!(matches!(Store::open(store.directory()), Err(StoreError::FolderOpenToOthers { .. })));
    }

    #[test]
    fn writers_do_not_lose_each_others_change() {
        let (_folder, store) = store();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let directory = store.directory();
                scope.spawn(move || {
                    let store = Store::open(directory).unwrap();
                    (0..8).for_each(|at| add(&store, &format!("user-{writer}-{at}")));
                });
            }
        });
        assert_eq!(store.read().unwrap().users().len(), 32);
        let left = fs::read_dir(store.directory()).unwrap().count();
        assert_eq!(left, 2, "the file and the lock");
    }

    #[test]
    fn a_refused_change_leaves_the_file() {
        let (_folder, store) = store();
        add(&store, "ada");
        let before = fs::read(store.file()).unwrap();
        let role = store.change(|document| document.set_role("empty".parse()?, Vec::new()));
        assert!(matches!(role, Err(StoreError::Change(ChangeError::Empty(..)))));
        assert_eq!(fs::read(store.file()).unwrap(), before);
    }

    #[test]
    fn an_error_names_the_line_but_not_what_is_in_it() {
        let path = Path::new("access.toml");
        let said = |text: &str| parse(path, text.as_bytes()).unwrap_err().to_string();
        let said_of_hash = said("version = 1\n[users.ada]\nroles = []\npassword = \"$secret$\"\n");
        assert!(said_of_hash.contains("line 4") || said_of_hash.contains("line 2"), "{said_of_hash}");
        assert!(!said_of_hash.contains("$secret$"), "{said_of_hash}");
        assert!(said("version = 2").contains("version 2 of the file is unknown"));
        assert!(said("version = 1\nstranger = [\"boss\"]\n").contains("stranger has the role boss"));
        assert!(said("version = 1\nusers = 3\n").contains("line 2"));
    }

    fn full() -> String {
        let (_folder, store) = store();
        add(&store, "ada");
        store
            .change(|document| {
                document.set_role("fitter".parse()?, vec!["read a/*".parse().unwrap()])?;
                document.set_roles("ada", BTreeSet::from(["fitter".parse()?]))
            })
            .unwrap();
        fs::read_to_string(store.file()).unwrap()
    }

    proptest! {
        /// Whatever bytes are in the file, they are read, or refused with the name of the file.
        #[test]
        fn any_bytes_are_read_or_refused(at in 0_usize..400, with in prop::collection::vec(any::<u8>(), 0..12), keep in 0_usize..8) {
            let mut bytes = full().into_bytes();
            let at = at.min(bytes.len());
            let end = (at + keep).min(bytes.len());
            bytes.splice(at..end, with);
            match parse(Path::new("access.toml"), &bytes) {
                Ok(document) => prop_assert!(document.check().is_ok()),
                Err(error) => prop_assert!(error.to_string().contains("access.toml")),
            }
        }
    }
}
