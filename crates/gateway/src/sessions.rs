//! State of devices that outlives the process of a gateway: their sessions, and up to where it has their samples. With that a device's
//! run continues when the gateway restarts.

use oasis_channel::ResumeSecret;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// Most devices that are remembered. Beyond it those that came last begin a new session after a restart of the gateway.
const MAX_SAVED_DEVICES: usize = 1_000;
/// Longest file, bytes.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// A device's session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownSession {
    /// Its number.
    pub session: u32,
    /// Last sequence number of each instance that was received or declared, when the gateway ended cleanly; empty otherwise.
    #[serde(default)]
    pub last: Vec<u64>,
}

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    secret: ResumeSecret,
    #[serde(default)]
    devices: BTreeMap<String, KnownSession>,
}

/// The sessions, for all devices of a gateway.
pub type SharedSessions = Arc<Mutex<Sessions>>;

/// Sessions of devices.
#[derive(Debug)]
pub struct Sessions {
    /// None: nothing outlives the process.
    file: Option<PathBuf>,
    remembered: Remembered,
    /// Devices of earlier runs.
    before: BTreeSet<String>,
    /// As long as it is open no other gateway writes the file.
    lock: Option<File>,
}

/// Unlocks for all copies of the descriptor: closing alone leaves the lock to a child that is between `fork` and `exec`.
impl Drop for Sessions {
    fn drop(&mut self) {
        let _ = self.lock.as_ref().map(File::unlock);
    }
}

impl Sessions {
    /// Reads `devices.json` of a folder, which is created if it does not exist. Without a folder, or if it cannot be used, sessions
    /// last as long as the process.
    pub fn open(folder: Option<&Path>) -> Self {
        let new = || Remembered { secret: ResumeSecret::random(), devices: BTreeMap::new() };
        let in_memory = || Self { file: None, remembered: new(), before: BTreeSet::new(), lock: None };
        let Some(folder) = folder else { return in_memory() };
        let file = folder.join("devices.json");
        let lock = match lock(folder) {
            Err(TryLockError::WouldBlock) => {
                tracing::warn!(file = %file.display(),
                    "another gateway has this file: after a restart of this one each device begins a new session (--state names a folder of its own)");
                return in_memory();
            }
            // If the file cannot be written, its present contents are the better source.
            Err(TryLockError::Error(_)) => None,
            Ok(lock) => Some(lock),
        };
        let remembered = match read(&file) {
            Ok(remembered) => remembered.unwrap_or_else(new),
            Err(error) => {
                tracing::warn!(file = %file.display(), %error,
                    "cannot read the sessions of devices: each device begins a new one");
                new()
            }
        };
        let before = remembered.devices.keys().cloned().collect();
        let mut sessions = Self { file: Some(file), remembered, before, lock };
        // Now: later it would be too late to learn that it cannot be written.
        sessions.write();
        sessions
    }

    /// The secret that those of all sessions are derived from.
    pub fn secret(&self) -> ResumeSecret {
        self.remembered.secret
    }

    /// Whether an earlier run has had a device.
    pub fn is_of_before(&self, device: &str) -> bool {
        self.before.contains(device)
    }

    /// Returns the session of a device.
    pub fn of(&self, device: &str) -> Option<&KnownSession> {
        self.remembered.devices.get(device)
    }

    /// Notes the session of a device.
    pub fn set(&mut self, device: &str, session: KnownSession) {
        let devices = &mut self.remembered.devices;
        if devices.get(device) == Some(&session)
            || (devices.len() >= MAX_SAVED_DEVICES && !devices.contains_key(device))
        {
            return;
        }
        devices.insert(device.into(), session);
        self.write();
    }

    /// Writes the file. Logs the first failure: after that nothing outlives the process.
    fn write(&mut self) {
        let Some(file) = &self.file else { return };
        if let Err(error) = write(file, &self.remembered) {
            tracing::warn!(file = %file.display(), %error,
                "cannot write the sessions of devices: after a restart of the gateway each device begins a new one (--state)");
            self.file = None;
        }
    }
}

/// Makes the folder and locks it for this process.
fn lock(folder: &Path) -> Result<File, TryLockError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let opened = made.and_then(|()| {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600).open(folder.join("devices.lock"))
    });
    let file = opened.map_err(TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

fn read(file: &Path) -> io::Result<Option<Remembered>> {
    let opened = match File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut bytes = Vec::new();
    opened.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(Some(serde_json::from_slice(&bytes)?))
}

/// Replaces the file at once, so that it is never half.
fn write(file: &Path, remembered: &Remembered) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let new = file.with_extension("new");
    if let Err(error) = fs::remove_file(&new)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    to.write_all(&serde_json::to_vec_pretty(remembered)?)?;
    to.sync_all()?;
    fs::rename(&new, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(session: u32) -> KnownSession {
        KnownSession { session, last: vec![7] }
    }

    #[test]
    fn sessions_outlive_the_process_in_a_file_that_others_cannot_read() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("new");
        let mut first = Sessions::open(Some(&state));
        first.set("pump", session(3));
        let secret = first.secret();
        drop(first);
        let second = Sessions::open(Some(&state));
        assert_eq!(second.of("pump"), Some(&session(3)));
        assert_eq!(second.secret(), secret);
        assert!(second.is_of_before("pump") && !second.is_of_before("valve"));
        let mode = fs::metadata(state.join("devices.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn two_gateways_do_not_write_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = Sessions::open(Some(folder.path()));
        let mut second = Sessions::open(Some(folder.path()));
        second.set("valve", session(1));
        first.set("pump", session(1));
        drop((first, second));
        let third = Sessions::open(Some(folder.path()));
        assert!(third.of("pump").is_some() && third.of("valve").is_none());
    }

    #[test]
    fn a_damaged_file_begins_anew_and_without_a_folder_all_is_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("devices.json"), "{").unwrap();
        let mut sessions = Sessions::open(Some(folder.path()));
        assert_eq!(sessions.of("pump"), None);
        sessions.set("pump", session(1));
        drop(sessions);
        assert!(Sessions::open(Some(folder.path())).of("pump").is_some());
        let mut sessions = Sessions::open(None);
        sessions.set("pump", session(1));
        assert_eq!(sessions.of("pump"), Some(&session(1)));
    }
}
