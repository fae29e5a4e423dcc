//! Admission control: limits how many peers are connected, and counts their bytes and the refused peers by code.

use crate::{
    log_limit::{LeftOut, LogLimit},
    repeats::Repeats,
};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Log lines of each kind in one [`LOG_PERIOD`]: enough for the nodes of a plant that start at the same time.
const MAX_LINES: u32 = 100;
const LOG_PERIOD: Duration = Duration::from_secs(10);

/// Time between two log lines about HTTP clients of the data channel.
const HTTP_PERIOD: Duration = Duration::from_secs(60);

/// Kinds of log lines about a peer; each has a limit of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerLine {
    /// The peer has connected.
    Came,
    /// The peer has left, or was lost.
    Left,
    /// The peer was refused, or closed by the DAC.
    Refused,
    /// The peer speaks HTTP on the data channel, and may retry each second without end.
    Http,
}

/// A bounded number of permits with counters, for the data channel or the doors.
#[derive(Debug)]
pub struct Admission {
    permits: Arc<Semaphore>,
    capacity: usize,
    bytes: AtomicU64,
    /// Keyed by the codes of the reference pages, whose number bounds the map.
    refused: Mutex<BTreeMap<String, u64>>,
    /// Limit of each [`PeerLine`].
    log: [LogLimit; 4],
    /// Refusals of nodes, by name and code: a node tries again each second.
    refusals: Repeats,
}

/// A snapshot of the counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdmissionCounters {
    /// Peers connected now.
    pub open: usize,
    /// Bytes received.
    pub bytes: u64,
    /// Peers refused or closed by the DAC, by code.
    pub refused: BTreeMap<String, u64>,
}

impl Admission {
    /// Admits at most `capacity` peers at the same time.
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.min(Semaphore::MAX_PERMITS);
        let permits = Arc::new(Semaphore::new(capacity));
        let peers = || LogLimit::new(MAX_LINES, LOG_PERIOD);
        let log = [peers(), peers(), peers(), LogLimit::new(1, HTTP_PERIOD)];
        Self {
            permits,
            capacity,
            bytes: AtomicU64::default(),
            refused: Mutex::default(),
            log,
            refusals: Repeats::default(),
        }
    }

    /// Returns a permit, or `None` at capacity. Dropping the permit frees it.
    pub fn try_admit(&self) -> Option<OwnedSemaphorePermit> {
        self.permits.clone().try_acquire_owned().ok()
    }

    /// Waits until every permit has been returned.
    pub async fn wait_until_empty(&self) {
        // Fails only if the semaphore is closed, which never happens.
        let _ = self.permits.acquire_many(u32::try_from(self.capacity).unwrap_or(u32::MAX)).await;
    }

    /// Adds to the bytes received.
    pub fn count_received(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts a refused peer under `code`.
    pub fn count_refused(&self, code: &str) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused.entry(code.to_owned()).or_default() += 1;
    }

    /// Whether one more line of this kind may be logged.
    pub fn may_log(&self, line: PeerLine) -> Option<LeftOut> {
        self.log[line as usize].admit(Instant::now())
    }

    /// Whether one more line about this refusal may be logged, and how many were left out.
    pub fn may_log_refusal(&self, node: &str, code: &str) -> Option<u64> {
        self.refusals.admit(&format!("{code} {node}"), Instant::now())
    }

    /// Returns all counters.
    pub fn counters(&self) -> AdmissionCounters {
        AdmissionCounters {
            open: self.capacity - self.permits.available_permits(),
            bytes: self.bytes.load(Ordering::Relaxed),
            refused: self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}
