//! Counters of a line, shared by the thread that reads it and the probe that reports them.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Counters since the process began.
#[derive(Debug, Default)]
pub struct LineStats {
    /// Bytes that have arrived.
    pub received: AtomicU64,
    /// Bytes that were sent.
    pub sent: AtomicU64,
    /// Whole frames.
    pub frames: AtomicU64,
    /// Damaged frames.
    pub damaged_frames: AtomicU64,
    /// Frames that did not arrive, by the numbers of those that did.
    pub lost_frames: AtomicU64,
    /// Whole frames that were not used.
    pub refused_frames: AtomicU64,
    /// Samples that did not arrive.
    pub lost_samples: AtomicU64,
    /// Restarts of devices.
    pub restarts: AtomicU64,
    /// Events after which the number of lost samples is unknown.
    pub unknown_restarts: AtomicU64,
    /// Devices that are heard.
    pub devices: AtomicU32,
    /// Whether the line is open.
    pub is_open: AtomicBool,
    /// When a refusal was first logged.
    first_refusal: OnceLock<Instant>,
    /// Milliseconds from then to when it is logged again.
    next_refusal: AtomicU64,
}

impl LineStats {
    /// Whether a refused device is to be logged; no more than once in this time.
    pub fn is_refusal_due(&self, now: Instant, again: Duration) -> bool {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let since = millis(now.saturating_duration_since(*self.first_refusal.get_or_init(|| now)));
        let next = self.next_refusal.load(Ordering::Relaxed);
        let later = since.saturating_add(millis(again));
        since >= next
            && self.next_refusal.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Adds to a counter.
    pub fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_all_connections_are_logged_once_in_a_while() {
        let (stats, now, hour) = (LineStats::default(), Instant::now(), Duration::from_secs(3_600));
        let due: Vec<bool> = [0, 1, 3_599, 3_600, 3_601, 7_200]
            .map(|seconds| stats.is_refusal_due(now + Duration::from_secs(seconds), hour))
            .into();
        assert_eq!(due, [true, false, false, true, false, true]);
        assert!(!stats.is_refusal_due(now, hour), "an earlier time changes nothing");
    }
}
