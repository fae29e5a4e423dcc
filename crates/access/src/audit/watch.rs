//! Checks the log while a DAC runs: a cut or a change of records is detected before they are read.

use super::group::AuditLog;
use crate::repeat::Repeat;
use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

/// Time between two checks of the end of the log.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The same after a problem: a look then reads up to two files.
const PROBLEM_CHECK_INTERVAL: Duration = Duration::from_secs(10);
/// Time between two checks of all records, which read up to a gigabyte.
const FULL_CHECK_INTERVAL: Duration = Duration::from_secs(24 * 3_600);

/// A thread that checks the end of a log once a second, removes expired files, and checks all records once a day, until
/// this value is dropped.
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
            // The log keeps the problem found.
            let looked = log.check_end();
            if looked.is_ok() && checked.is_none_or(|checked| checked.elapsed() >= FULL_CHECK_INTERVAL) {
                check(&log);
                checked = Some(Instant::now());
            }
            if let Some(problem) = log.problem().filter(|problem| Some(problem) != before.as_ref()) {
                tracing::error!("audit log: {problem}");
            }
            if looked.is_ok() { CHECK_INTERVAL } else { PROBLEM_CHECK_INTERVAL }
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
