//! Counts what comes in over the data channel and who was turned away, by reason.

use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Counters of an entrance: the data channel, or the doors.
#[derive(Debug, Default)]
pub struct Doorkeeper {
    bytes: AtomicU64,
    /// By the codes of the reference pages, so it is bounded by their number.
    refused: Mutex<BTreeMap<String, u64>>,
}

/// A picture of the counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entrance {
    /// Bytes received.
    pub bytes: u64,
    /// Peers turned away or closed, by code.
    pub refused: BTreeMap<String, u64>,
}

impl Doorkeeper {
    /// Bytes have come in.
    pub fn received(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// A peer was turned away.
    pub fn refused(&self, code: &str) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused.entry(code.to_owned()).or_default() += 1;
    }

    /// All counters.
    pub fn entrance(&self) -> Entrance {
        Entrance {
            bytes: self.bytes.load(Ordering::Relaxed),
            refused: self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}
