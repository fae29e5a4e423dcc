//! Conditions that stop a query: its time is up, its client is gone, or it needs too much memory.

use super::SqlError;
use rusqlite::ffi;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    time::{Duration, Instant},
};

/// Limits of a query whose author is not trusted.
#[derive(Debug, Clone)]
pub struct SqlLimits {
    /// Longest time of a query.
    pub time: Duration,
    /// Memory of SQLite in this process at which a query stops, bytes.
    pub memory: u64,
    /// Bytes that it may copy from the catalogue to temporary tables.
    pub copied: u64,
    /// Becomes true when the client no longer waits for the answer.
    pub has_left: Arc<AtomicBool>,
}

/// Stops a query.
#[derive(Debug, Clone)]
pub struct Stop(Option<Arc<State>>);

#[derive(Debug)]
struct State {
    limits: SqlLimits,
    deadline: Instant,
    /// The reason, once there is one: 1 for time, 2 for memory, 3 for an author who has left.
    reason: AtomicU8,
}

impl Stop {
    /// Never stops it.
    pub fn never() -> Self {
        Self(None)
    }

    /// Stops it at these limits; the time begins now.
    pub fn at(limits: SqlLimits) -> Self {
        let deadline = Instant::now() + limits.time;
        Self(Some(Arc::new(State { limits, deadline, reason: AtomicU8::new(0) })))
    }

    /// Returns whether the query has to stop. Cheap enough to be called often.
    pub fn is_due(&self) -> bool {
        let Some(state) = &self.0 else { return false };
        let reason = match () {
            () if state.limits.has_left.load(Ordering::Relaxed) => 3,
            () if memory_used() > state.limits.memory => 2,
            () if Instant::now() >= state.deadline => 1,
            () => return false,
        };
        state.reason.store(reason, Ordering::Relaxed);
        true
    }

    /// Returns why the query was stopped, if it was.
    pub fn reason(&self) -> Option<SqlError> {
        let state = self.0.as_ref()?;
        match state.reason.load(Ordering::Relaxed) {
            1 => Some(SqlError::TimeUp(state.limits.time)),
            2 => Some(SqlError::Memory(state.limits.memory)),
            3 => Some(SqlError::Left),
            _ => None,
        }
    }

    /// Returns how many bytes may be copied from the catalogue.
    pub fn most_copied(&self) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |state| state.limits.copied)
    }
}

/// Bytes that SQLite has allocated in this process, the catalogue's included.
fn memory_used() -> u64 {
    // SAFETY: the function has no preconditions; it reads a counter of the library.
    let used = unsafe { ffi::sqlite3_memory_used() };
    u64::try_from(used).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> SqlLimits {
        SqlLimits { time: Duration::from_secs(600), memory: u64::MAX, copied: 1, has_left: Arc::default() }
    }

    #[test]
    fn each_limit_has_its_reason() {
        assert!(!Stop::never().is_due());
        let stop = Stop::at(limits());
        assert!(!stop.is_due() && stop.reason().is_none());
        let late = Stop::at(SqlLimits { time: Duration::ZERO, ..limits() });
        assert!(late.is_due() && matches!(late.reason(), Some(SqlError::TimeUp(_))));
        let _connection = rusqlite::Connection::open_in_memory().unwrap();
        let large = Stop::at(SqlLimits { memory: 0, ..limits() });
        assert!(large.is_due() && matches!(large.reason(), Some(SqlError::Memory(0))));
        let left = Stop::at(SqlLimits { has_left: Arc::new(true.into()), ..limits() });
        assert!(left.is_due() && matches!(left.reason(), Some(SqlError::Left)));
    }
}
