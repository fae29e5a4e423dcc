//! Counters of the server, for API and page.

use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters since the DAC started.
#[derive(Debug, Default)]
pub struct ServerCounters {
    /// Connections that were accepted.
    pub accepted: AtomicU64,
    /// Connections that were refused because there were too many.
    pub refused: AtomicU64,
    /// Sign-ins that failed.
    pub failed_sign_ins: AtomicU64,
    /// Sessions that are open.
    pub open: AtomicU64,
    /// Queries that were run.
    pub queries: AtomicU64,
    /// Statements that failed.
    pub failed: AtomicU64,
    /// Statements that were canceled.
    pub canceled: AtomicU64,
    /// Requests to cancel with a wrong secret.
    pub wrong_cancels: AtomicU64,
    /// Connections that ended because of bytes that are no message.
    pub malformed: AtomicU64,
    /// Rows that were sent.
    pub rows: AtomicU64,
}

/// Adds one.
pub fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl ServerCounters {
    /// Returns the counters by name.
    pub fn state(&self, address: &str, answer_bytes: usize) -> Value {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        json!({
            "address": address,
            "accepted": read(&self.accepted),
            "refused": read(&self.refused),
            "failed_sign_ins": read(&self.failed_sign_ins),
            "open": read(&self.open),
            "queries": read(&self.queries),
            "failed": read(&self.failed),
            "canceled": read(&self.canceled),
            "wrong_cancels": read(&self.wrong_cancels),
            "malformed": read(&self.malformed),
            "rows": read(&self.rows),
            "answer_bytes": answer_bytes,
        })
    }
}
