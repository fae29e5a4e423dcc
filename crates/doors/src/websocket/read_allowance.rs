//! Bound of the bytes that a client may send: a burst at once, and a rate in the long run.
//!
//! Bytes beyond that stay in its socket, so the system slows the client down instead of the shard. Requests are small: a client that makes a
//! thousand subscriptions at once stays within its burst. One that floods the shard with empty frames would otherwise take a processor.

use std::time::{Duration, Instant};

/// Bytes that a client may send at once.
const BURST_BYTES: u64 = 512 * 1024;
/// Time for a byte: 500 kB in a second.
const NANOS_PER_BYTE: u64 = 2_000;
/// Less is not worth a read.
const MIN_READ_BYTES: u64 = 4 * 1024;

/// Bytes that may be read from one connection.
#[derive(Debug)]
pub struct ReadAllowance {
    /// Bytes left at `since`.
    left: u64,
    since: Instant,
}

impl ReadAllowance {
    /// A whole burst.
    pub fn new(now: Instant) -> Self {
        Self { left: BURST_BYTES, since: now }
    }

    /// Returns how many bytes may be read now; 0 if it is too early.
    pub fn bytes(&mut self, now: Instant) -> usize {
        let nanos = u64::try_from(now.saturating_duration_since(self.since).as_nanos()).unwrap_or(u64::MAX);
        let earned = nanos / NANOS_PER_BYTE;
        // The time of a part of a byte counts the next time.
        self.since += Duration::from_nanos(earned * NANOS_PER_BYTE);
        self.left = self.left.saturating_add(earned).min(BURST_BYTES);
        if self.left < MIN_READ_BYTES { 0 } else { usize::try_from(self.left).unwrap_or(usize::MAX) }
    }

    /// Counts `bytes` as read.
    pub fn take(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_at_once_and_then_a_rate() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut allowance = ReadAllowance::new(start);
        assert_eq!(allowance.bytes(at(0)), 512 * 1024);
        allowance.take(512 * 1024);
        assert_eq!([allowance.bytes(at(0)), allowance.bytes(at(7))], [0, 0]);
        assert_eq!(allowance.bytes(at(500)), 250_000);
        allowance.take(250_000);
        for millis in 501..1_250 {
            allowance.bytes(at(millis));
        }
        assert_eq!(allowance.bytes(at(1_250)), 375_000, "small steps lose nothing");
        assert_eq!(allowance.bytes(at(60_000)), 512 * 1024, "no more than a burst");
    }
}
