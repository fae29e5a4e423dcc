//! Looks after the log while a DAC runs: who cuts or changes records must not wait until somebody reads them.

use super::group::AuditLog;
use crate::repeat::Repeat;
use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

/// Time between two looks at the end of the log.
const PAUSE: Duration = Duration::from_secs(1);
/// The same after a problem: a look then reads up to two files.
const PAUSE_AFTER_PROBLEM: Duration = Duration::from_secs(10);
/// Time between two checks of all records, which read up to a gigabyte.
const BETWEEN_CHECKS: Duration = Duration::from_secs(24 * 3_600);

/// A thread that looks at the end of a log once a second, removes what has expired, and checks all records once a day, until this value is dropped.
#[derive(Debug)]
pub struct AuditWatch(#[expect(dead_code, reason = "ends when it is dropped")] Repeat);

impl AuditWatch {
    /// Starts the thread `oasis-audit`. It begins with a check of all records.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub fn start(log: Arc<AuditLog>) -> io::Result<Self> {
        let mut checked: Option<Instant> = None;
        let look = move || {
            let before = log.problem();
            // What it finds is kept in the log.
            let looked = log.look();
            if looked.is_ok() && checked.is_none_or(|checked| checked.elapsed() >= BETWEEN_CHECKS) {
                check(&log);
                checked = Some(Instant::now());
            }
            if let Some(problem) = log.problem().filter(|problem| Some(problem) != before.as_ref()) {
                tracing::error!("audit log: {problem}");
            }
            if looked.is_ok() { PAUSE } else { PAUSE_AFTER_PROBLEM }
        };
        Repeat::start("oasis-audit", look).map(Self)
    }
}

fn check(log: &AuditLog) {
    let done = log.remove_expired().and_then(|()| log.check().map(drop));
    if let Err(error) = done {
        tracing::warn!(%error, "the audit log cannot be checked");
    }
}
