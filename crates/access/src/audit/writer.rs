//! Writes the log: appends records, syncs them, begins new files, and removes old ones.

use super::{
    chain::{Chain, Damage},
    error::AuditError,
    files::LogFile,
    head::{self, Head},
    record::{Event, MAX_LINE_BYTES, Record},
};
use crate::{moment::Moment, private_file};
use oasis_wire::quantity::Nanos;
use serde_json::json;
use std::{
    fs::{self, File},
    io::{BufReader, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// Principal of the log's own records, and their actions.
pub(crate) const OWN: &str = "oasis";
pub(crate) const OWN_ACTIONS: &str = "audit-log:";
pub(crate) const EXPIRE: &str = "audit-log:expire";
const REPAIR: &str = "audit-log:repair";
/// The lock file.
pub(crate) const LOCK: &str = "lock";
/// Time that a writer waits for another process.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// Age at which a file is complete.
const MAX_FILE_AGE_NANOS: u64 = 7 * DAY_NANOS;
const DAY_NANOS: u64 = 24 * 3_600 * 1_000_000_000;

/// Bounds of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditLimits {
    /// Size at which the next file is begun, in bytes.
    pub file_bytes: u64,
    /// Most bytes of all files: beyond it the oldest one is removed.
    pub bytes: u64,
    /// Longest that a file is kept after its last record, in days; 0 for no limit.
    pub days: u64,
}

/// 16 MiB a file, 1 GiB, 400 days.
impl Default for AuditLimits {
    fn default() -> Self {
        Self { file_bytes: 16 << 20, bytes: 1 << 30, days: 400 }
    }
}

/// Proof that a record is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// Number of the record.
    pub seq: u64,
}

/// The end of the log, as one process sees it.
#[derive(Debug)]
pub(crate) struct Writer {
    folder: PathBuf,
    limits: AuditLimits,
    lock: File,
    head_file: File,
    /// None if it must be read again: at first, and after a failure.
    end: Option<End>,
}

/// Position of the next record.
#[derive(Debug)]
struct End {
    head: Head,
    file: File,
    log: LogFile,
    size: u64,
    /// Time of the file's first record.
    begun: Nanos,
}

impl End {
    /// Whether the file is still there, with the size that it must have. It may have been removed or cut.
    fn is_on_disk(&self) -> bool {
        let is_same = |found: fs::Metadata| {
            let is_same_file = self.file.metadata().is_ok_and(|own| own.ino() == found.ino());
            is_same_file && found.len() == self.size
        };
        fs::metadata(&self.log.path).is_ok_and(is_same)
    }
}

impl Writer {
    /// Opens a folder, created if it does not exist, and repairs what a crash left at its end.
    pub(crate) fn open(folder: &Path, limits: AuditLimits) -> Result<Self, AuditError> {
        private_file::create_folder(folder).map_err(AuditError::io("create", folder))?;
        let open = |name: &str| {
            let path = folder.join(name);
            private_file::open_write(&path).map_err(AuditError::io("open", path))
        };
        let (lock, head_file) = (open(LOCK)?, open(head::FILE)?);
        let mut writer = Self { folder: folder.to_owned(), limits, lock, head_file, end: None };
        writer.locked(|writer| {
            writer.find_end()?;
            writer.expire()
        })?;
        Ok(writer)
    }

    /// Appends records and syncs them. Returns the numbers.
    pub(crate) fn append(&mut self, events: &[Event]) -> Result<Vec<Receipt>, AuditError> {
        self.locked(|writer| {
            writer.find_end()?;
            if writer.is_file_complete(events.len()) {
                writer.begin_file()?;
                writer.expire()?;
            }
            writer.write(events)
        })
    }

    /// Checks whether the end is there as it was synced.
    pub(crate) fn check_end(&mut self) -> Result<(), AuditError> {
        self.locked(Self::find_end)
    }

    /// Removes files that are too old or too many.
    pub(crate) fn remove_expired(&mut self) -> Result<(), AuditError> {
        self.locked(|writer| {
            writer.find_end()?;
            writer.expire()
        })
    }

    /// Does something while no other process writes. After a failure the end is read again.
    fn locked<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T, AuditError>) -> Result<T, AuditError> {
        let path = self.folder.join(LOCK);
        let is_locked = private_file::lock_within(&self.lock, LOCK_TIMEOUT)
            .map_err(AuditError::io("lock", path.clone()))?;
        if !is_locked {
            return Err(AuditError::Locked { path });
        }
        let result = act(self);
        if result.is_err() {
            self.end = None;
        }
        // Fails only if it is not locked.
        let _ = self.lock.unlock();
        result
    }

    /// Makes sure that `end` is the end: another process may have appended.
    fn find_end(&mut self) -> Result<(), AuditError> {
        let synced =
            Head::read(&mut self.head_file).map_err(AuditError::io("read", self.folder.join(head::FILE)))?;
        if self.end.as_ref().is_some_and(|end| Some(end.head) == synced && end.is_on_disk()) {
            return Ok(());
        }
        let (end, repaired) = self.read_end(synced)?;
        if end.head == Head::START {
            // Before the first record, so that its absence later means something.
            end.head.write(&self.head_file).map_err(AuditError::io("write", self.folder.join(head::FILE)))?;
        }
        self.end = Some(end);
        if !repaired.is_null() {
            tracing::warn!(%repaired, folder = %self.folder.display(), "the end of the audit log was repaired");
            let event = Event { arguments: repaired, ..Event::new(OWN, REPAIR, "done") };
            self.write(&[event])?;
        }
        Ok(())
    }

    /// Reads the last file, and cuts what was never synced. Returns what was repaired, or null.
    fn read_end(&self, synced: Option<Head>) -> Result<(End, serde_json::Value), AuditError> {
        let files = LogFile::list(&self.folder).map_err(AuditError::io("list", &self.folder))?;
        let Some(last) = files.last() else {
            if synced.is_some_and(|head| head.seq > 0) {
                return Err(self.damaged(&self.folder, "all its files are gone".into()));
            }
            return Ok((self.create_file(Head::START)?, serde_json::Value::Null));
        };
        let before = match files.iter().rev().nth(1) {
            Some(file) => Some(self.read_file(file, None, synced)?.head_of_whole(self, file)?),
            None if last.first == 1 => Some(Head::START),
            None => None,
        };
        let read = self.read_file(last, before, synced)?;
        let head = read.head.or(before).ok_or_else(|| self.damaged(&last.path, "it has no record".into()))?;
        if let Some(synced) = synced
            && (head.seq < synced.seq
                || read.is_other_than_synced
                || (head.seq == synced.seq && head != synced))
        {
            let reason = read.damage.unwrap_or_else(|| format!("it ends with record {}", head.seq));
            return Err(self.damaged(&last.path, format!("{reason}, and record {} was synced", synced.seq)));
        }
        // Without a head it is unknown which records were synced: only an unfinished line certainly was not.
        if let (None, Some(damage), false) = (synced, &read.damage, read.is_torn) {
            return Err(
                self.damaged(&last.path, format!("{damage}, and the file `head` is missing or damaged"))
            );
        }
        let file = private_file::open_append(&last.path).map_err(AuditError::io("open", &last.path))?;
        let length = file.metadata().map_err(AuditError::io("read", &last.path))?.len();
        let torn = length - read.valid.min(length);
        if torn > 0 {
            file.set_len(read.valid)
                .and_then(|()| file.sync_all())
                .map_err(AuditError::io("cut", &last.path))?;
        }
        let repaired = match (torn, synced) {
            (0, Some(_)) => serde_json::Value::Null,
            (0, None) if head == Head::START => serde_json::Value::Null,
            (0, None) => json!({"head": "missing"}),
            (torn, _) => json!({"torn_bytes": torn}),
        };
        let end = End { head, file, log: last.clone(), size: read.valid, begun: read.begun };
        Ok((end, repaired))
    }

    /// Reads a file up to its first damage.
    fn read_file(
        &self,
        log: &LogFile,
        before: Option<Head>,
        synced: Option<Head>,
    ) -> Result<ReadFile, AuditError> {
        let failed = || AuditError::io("read", &log.path);
        let file = File::open(&log.path).map_err(failed())?;
        let mut chain = Chain::new(BufReader::new(file), before);
        let mut read = ReadFile { begun: Moment::now().wall, ..ReadFile::default() };
        while let Some(step) = chain.step().map_err(failed())? {
            if let Some(damage) = step.damage {
                read.is_torn = damage == Damage::Torn;
                read.damage = Some(format!("line {}: {damage}", step.line));
                break;
            }
            let Some((record, head)) = step.record else { break };
            if read.head.is_none() {
                read.begun = record.nanos().unwrap_or(read.begun);
            }
            read.is_other_than_synced |=
                synced.is_some_and(|synced| synced.seq == head.seq && synced != head);
            (read.head, read.valid) = (Some(head), step.end);
        }
        Ok(read)
    }

    fn damaged(&self, path: &Path, reason: String) -> AuditError {
        AuditError::Damaged { path: path.to_owned(), reason }
    }

    fn is_file_complete(&self, records: usize) -> bool {
        let Some(end) = &self.end else { return false };
        let age = Moment::now().wall.0.saturating_sub(end.begun.0);
        let is_full = end.size + (records * MAX_LINE_BYTES / 16) as u64 > self.limits.file_bytes;
        end.size > 0 && (is_full || age > MAX_FILE_AGE_NANOS)
    }

    fn begin_file(&mut self) -> Result<(), AuditError> {
        if let Some(end) = &self.end {
            self.end = Some(self.create_file(end.head)?);
        }
        Ok(())
    }

    fn create_file(&self, head: Head) -> Result<End, AuditError> {
        let log = LogFile::new(&self.folder, head.seq + 1);
        let file = private_file::open_append(&log.path).map_err(AuditError::io("create", &log.path))?;
        private_file::sync_folder(&self.folder).map_err(AuditError::io("sync", &self.folder))?;
        Ok(End { head, file, log, size: 0, begun: Moment::now().wall })
    }

    /// Writes records at the end, syncs them, and then moves the head.
    fn write(&mut self, events: &[Event]) -> Result<Vec<Receipt>, AuditError> {
        let folder = self.folder.clone();
        let Some(end) = &mut self.end else { return Err(self.damaged(&folder, "its end is unknown".into())) };
        let (mut lines, mut head, mut receipts) = (String::new(), end.head, Vec::new());
        let now = Moment::now().wall;
        for event in events {
            let path = &end.log.path;
            head = event
                .write(head, now, &mut lines)
                .map_err(|error| AuditError::io("write", path)(error.into()))?;
            receipts.push(Receipt { seq: head.seq });
        }
        let written = end.file.write_all(lines.as_bytes()).and_then(|()| end.file.sync_data());
        if let Err(error) = written {
            // The written records were not synced: the next attempt begins at the same place. If the file cannot be cut
            // now, the records are cut, or kept as records of actions that did not happen, when the end is read again.
            let _ = end.file.set_len(end.size);
            return Err(AuditError::io("write", &end.log.path)(error));
        }
        (end.head, end.size) = (head, end.size + lines.len() as u64);
        head.write(&self.head_file).map_err(AuditError::io("write", folder.join(head::FILE)))?;
        Ok(receipts)
    }

    /// Removes files beyond the limits. A record in the chain says first where the log begins then.
    fn expire(&mut self) -> Result<(), AuditError> {
        let files = LogFile::list(&self.folder).map_err(AuditError::io("list", &self.folder))?;
        let expired = self.expired(&files)?;
        let (Some(first_kept), true) = (files.get(expired), expired > 0) else { return Ok(()) };
        let Some((next, previous)) = self.beginning(first_kept)? else { return Ok(()) };
        let arguments = json!({"files": expired, "next": next, "previous": previous});
        self.write(&[Event { arguments, ..Event::new(OWN, EXPIRE, "begun") }])?;
        for file in &files[..expired] {
            fs::remove_file(&file.path).map_err(AuditError::io("remove", &file.path))?;
        }
        private_file::sync_folder(&self.folder).map_err(AuditError::io("sync", &self.folder))
    }

    /// Returns the number of oldest files to remove; never the last one.
    fn expired(&self, files: &[LogFile]) -> Result<usize, AuditError> {
        let mut sizes = Vec::new();
        let mut ages = Vec::new();
        for file in files {
            let metadata = fs::metadata(&file.path).map_err(AuditError::io("read", &file.path))?;
            let changed = metadata.modified().map_err(AuditError::io("read", &file.path))?;
            sizes.push(metadata.len());
            ages.push(SystemTime::now().duration_since(changed).unwrap_or_default());
        }
        let mut total: u64 = sizes.iter().sum();
        let longest = Duration::from_nanos(self.limits.days.saturating_mul(DAY_NANOS));
        let is_too_old = |age: Duration| self.limits.days > 0 && age > longest;
        let mut expired = 0;
        while expired + 1 < files.len() && (total > self.limits.bytes || is_too_old(ages[expired])) {
            total -= sizes[expired];
            expired += 1;
        }
        Ok(expired)
    }

    /// Number of the first record of a file, and the hash of the one before. None for a file without records.
    fn beginning(&self, log: &LogFile) -> Result<Option<(u64, String)>, AuditError> {
        let failed = || AuditError::io("read", &log.path);
        let file = File::open(&log.path).map_err(failed())?;
        let step = Chain::new(BufReader::new(file), None).step().map_err(failed())?;
        match step {
            None => Ok(self.end.as_ref().map(|end| (end.head.seq + 1, end.head.hash.to_string()))),
            Some(step) => Ok(step.record.map(|(Record { seq, previous, .. }, _)| (seq, previous))),
        }
    }
}

/// The content of a file up to its first damage.
#[derive(Debug, Default)]
struct ReadFile {
    head: Option<Head>,
    /// Bytes up to the end of its last good record.
    valid: u64,
    /// Time of its first record.
    begun: Nanos,
    damage: Option<String>,
    /// Whether the damage is a last line without its end.
    is_torn: bool,
    /// Whether the record of the head file is another one here.
    is_other_than_synced: bool,
}

impl ReadFile {
    /// The last record of a file that was complete before the next one was begun.
    fn head_of_whole(self, writer: &Writer, log: &LogFile) -> Result<Head, AuditError> {
        match (self.head, self.damage) {
            (Some(head), None) => Ok(head),
            (_, damage) => {
                Err(writer.damaged(&log.path, damage.unwrap_or_else(|| "it has no record".into())))
            }
        }
    }
}
