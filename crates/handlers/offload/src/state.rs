//! The handler's state, for the API.

use crate::{destination::RequestCounts, error_text::shortened, segment_copy::CopiedSegment};
use oasis_handler::Reach;
use oasis_http_client::logged_url;
use serde::Serialize;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether segments reach the destination.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Nothing was asked yet.
    #[default]
    Connecting,
    /// Segments are copied.
    Copying,
    /// The destination or the archive fails; the handler retries.
    Failing,
}

/// State of the handler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct OffloadState {
    /// Whether segments reach the destination.
    #[serde(flatten)]
    pub reach: Reach<Condition>,
    /// Sealed segments that are not copied yet.
    pub waiting_segments: u64,
    /// Their bytes in the archive.
    pub waiting_bytes: u64,
    /// Seconds since the oldest of them was sealed.
    pub lag_seconds: u64,
    /// Segments of the archive that were copied before this start.
    pub found_segments: u64,
    /// Segments that were copied since the start.
    pub copied_segments: u64,
    /// Samples in their objects.
    pub samples: u64,
    /// Objects.
    pub objects: u64,
    /// Bytes of objects.
    pub object_bytes: u64,
    /// Requests to the destination.
    pub requests: u64,
    /// Requests that were refused or not answered.
    pub failed_requests: u64,
    /// Objects of interrupted attempts that were replaced or removed.
    pub replaced_objects: u64,
    /// Samples with times that Parquet cannot have: only the archive has them.
    pub left_out_samples: u64,
    /// Segments that retention evicted before they were copied.
    pub evicted_segments: u64,
    /// Segments that no object or manifest can have: they wait, and others are copied.
    pub refused_segments: u64,
    /// The last error, also if it is over.
    pub last_error: Option<String>,
}

/// The shared state. Locked for a few assignments.
#[derive(Debug)]
pub struct SharedState {
    /// The destination, for the log.
    url: String,
    state: Mutex<OffloadState>,
}

impl SharedState {
    /// Creates the state of a handler that has copied nothing.
    pub fn new(url: &str) -> Self {
        Self { url: logged_url(url).to_owned(), state: Mutex::default() }
    }

    /// Locks the state for reading or counting.
    pub fn lock(&self) -> MutexGuard<'_, OffloadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds requests, and starts to count them again.
    pub fn add_requests(&self, counts: &mut RequestCounts) {
        let RequestCounts { requests, failed } = std::mem::take(counts);
        let mut state = self.lock();
        state.requests += requests;
        state.failed_requests += failed;
    }

    /// Adds a segment.
    pub fn add_segment(&self, copied: CopiedSegment) {
        let mut state = self.lock();
        if copied.is_found {
            state.found_segments += 1;
            return;
        }
        state.copied_segments += 1;
        state.samples += copied.samples;
        state.objects += copied.objects;
        state.object_bytes += copied.bytes;
        state.replaced_objects += copied.replaced;
        state.left_out_samples += copied.left_out;
    }

    /// Records the condition.
    pub fn note(&self, condition: Condition, detail: Option<String>) {
        let detail = detail.map(|detail| shortened(&detail));
        let mut state = self.lock();
        let before = state.reach.condition;
        if detail.is_some() {
            state.last_error.clone_from(&detail);
        }
        let is_new = state.reach.note(condition, detail.clone());
        drop(state);
        let url = &self.url;
        match detail {
            _ if !is_new => {}
            Some(detail) => tracing::warn!(
                url,
                %detail,
                "segments are not copied (offload.url): the archive keeps them within its retention"
            ),
            None if before == Condition::Connecting => tracing::info!(url, "sealed segments are copied"),
            None => tracing::warn!(url, "sealed segments are copied again"),
        }
    }
}
