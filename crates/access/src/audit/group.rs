//! Lets several threads share one sync of the disk.

use super::{
    error::AuditError,
    record::Event,
    verify::{Report, verify},
    writer::{AuditLimits, OWN_ACTIONS, Receipt, Writer},
};
use std::{
    collections::HashMap,
    mem,
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

/// Most records that wait for the disk.
const MAX_WAITING_RECORDS: usize = 4_096;

/// The audit log of a folder. Shared by all threads of a process; other processes may write to the same folder.
#[derive(Debug)]
pub struct AuditLog {
    folder: PathBuf,
    /// Taken by the one thread that writes, for as long as that takes; never under `queue`.
    writer: Mutex<Writer>,
    /// Held for moving records.
    queue: Mutex<Queue>,
    written: Condvar,
    problems: Mutex<Problems>,
}

/// The problems found last.
#[derive(Debug, Default)]
struct Problems {
    /// Found by a writer, or by a check of the end.
    end: Option<String>,
    /// By who read all of it.
    chain: Option<String>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<(u64, Event)>,
    results: HashMap<u64, Result<Receipt, AuditError>>,
    last_place: u64,
    is_writing: bool,
}

impl AuditLog {
    /// Opens a folder, created with mode 0700 if it does not exist. Repairs what a crash left at the end: a torn line is
    /// cut, and a record says so.
    ///
    /// # Errors
    /// If the folder cannot be written, or synced records were changed or are gone.
    pub fn open(folder: &Path, limits: AuditLimits) -> Result<Self, AuditError> {
        let writer = Mutex::new(Writer::open(folder, limits)?);
        let (queue, written, problems) = (Mutex::default(), Condvar::new(), Mutex::default());
        Ok(Self { folder: folder.to_owned(), writer, queue, written, problems })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends a record, and returns when it is synced. Blocks for a sync of the disk, which records of several threads
    /// share; an async caller runs it where blocking is allowed. Secrets are redacted, and long texts cut.
    ///
    /// # Errors
    /// If the record is not on the disk. The action that it describes must not happen.
    pub fn append(&self, event: Event) -> Result<Receipt, AuditError> {
        if event.action.starts_with(OWN_ACTIONS) {
            return Err(AuditError::Reserved(event.action.chars().take(64).collect()));
        }
        let mut queue = self.queue();
        if queue.waiting.len() >= MAX_WAITING_RECORDS {
            return Err(AuditError::Busy);
        }
        queue.last_place += 1;
        let place = queue.last_place;
        queue.waiting.push((place, event.bounded()));
        loop {
            if let Some(result) = queue.results.remove(&place) {
                return result;
            }
            queue = match queue.is_writing {
                true => self.written.wait(queue).unwrap_or_else(PoisonError::into_inner),
                false => self.write_all(queue),
            };
        }
    }

    /// Returns what was found wrong last: records cannot be written, or some were changed or are gone.
    pub fn problem(&self) -> Option<String> {
        let problems = self.problems();
        problems.end.clone().or_else(|| problems.chain.clone())
    }

    /// Checks whether the newest records are on the disk as they were synced, and keeps the problem. Reads little if
    /// all is well.
    ///
    /// # Errors
    /// The problem found.
    pub fn check_end(&self) -> Result<(), AuditError> {
        let looked = self.writer().check_end();
        self.note_end(looked.as_ref().err());
        looked
    }

    /// Checks all records as [`verify`] does, and remembers what is wrong.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn check(&self) -> Result<Report, AuditError> {
        let report = verify(&self.folder, None)?;
        self.problems().chain = report.findings.first().map(|first| {
            let others = report.findings.len() as u64 + report.more - 1;
            let others = if others == 0 { String::new() } else { format!(", and {others} more") };
            format!("records were changed or are gone: {first}{others}; see `oasis audit-log verify`")
        });
        Ok(report)
    }

    fn note_end(&self, error: Option<&AuditError>) {
        self.problems().end = error.map(AuditError::to_string);
    }

    fn problems(&self) -> MutexGuard<'_, Problems> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes files that are too old or too many. To be called once a day or so; a new file does the same.
    ///
    /// # Errors
    /// If that cannot be recorded, or a file cannot be removed.
    pub fn remove_expired(&self) -> Result<(), AuditError> {
        self.writer().remove_expired()
    }

    /// Writes all that waits, on behalf of the threads that wait.
    fn write_all<'a>(&'a self, mut queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        queue.is_writing = true;
        let (places, events): (Vec<u64>, Vec<Event>) = mem::take(&mut queue.waiting).into_iter().unzip();
        drop(queue);
        let written = self.writer().append(&events);
        self.note_end(written.as_ref().err());
        let mut queue = self.queue();
        queue.is_writing = false;
        match written {
            Ok(receipts) => queue.results.extend(places.into_iter().zip(receipts.into_iter().map(Ok))),
            Err(error) => {
                queue.results.extend(places.into_iter().map(|place| (place, Err(error.clone()))));
            }
        }
        self.written.notify_all();
        queue
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
