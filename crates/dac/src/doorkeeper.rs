//! Lets peers in while there are places, counts what they bring and who was turned away, by reason.

use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Counters of an entrance: the data channel, or the doors.
#[derive(Debug)]
pub struct Doorkeeper {
    places: Arc<Semaphore>,
    capacity: usize,
    bytes: AtomicU64,
    /// By the codes of the reference pages, so it is bounded by their number.
    refused: Mutex<BTreeMap<String, u64>>,
}

/// A picture of the counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entrance {
    /// Peers connected now.
    pub open: usize,
    /// Bytes received.
    pub bytes: u64,
    /// Peers turned away or closed, by code.
    pub refused: BTreeMap<String, u64>,
}

impl Doorkeeper {
    /// A doorkeeper who lets in so many peers at a time.
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.min(Semaphore::MAX_PERMITS);
        let places = Arc::new(Semaphore::new(capacity));
        Self { places, capacity, bytes: AtomicU64::default(), refused: Mutex::default() }
    }

    /// A place, as long as there is one; it is free again when the value is dropped.
    pub fn enter(&self) -> Option<OwnedSemaphorePermit> {
        self.places.clone().try_acquire_owned().ok()
    }

    /// Waits until nobody is left.
    pub async fn all_gone(&self) {
        // An error would mean a closed semaphore, and nobody closes it.
        let _ = self.places.acquire_many(u32::try_from(self.capacity).unwrap_or(u32::MAX)).await;
    }

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
            open: self.capacity - self.places.available_permits(),
            bytes: self.bytes.load(Ordering::Relaxed),
            refused: self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}
