//! How much a client may send: a burst at once, and a rate in the long run.
//!
//! What it sends beyond that stays in its socket, so the system slows the client down instead of the shard. Requests are small: a client that makes a
//! thousand subscriptions at once stays within its burst. One that floods the shard with empty frames would otherwise take a processor.

use std::time::Instant;

/// Bytes that a client may send at once.
const BURST: u64 = 512 * 1024;
/// Bytes in a second.
const RATE: u64 = 512 * 1024;
/// Less is not worth a read.
const GRAIN: u64 = 4 * 1024;

/// What may be read from one connection.
#[derive(Debug)]
pub struct ReadAllowance {
    /// Bytes left at `since`.
    left: u64,
    since: Instant,
}

impl ReadAllowance {
    /// A whole burst.
    pub fn new(now: Instant) -> Self {
        Self { left: BURST, since: now }
    }

    /// Returns how many bytes may be read now; 0 if it is too early.
    pub fn bytes(&mut self, now: Instant) -> usize {
        let micros = now.saturating_duration_since(self.since).as_micros();
        let earned = u64::try_from(micros).unwrap_or(u64::MAX).saturating_mul(RATE) / 1_000_000;
        // A fraction of a byte is not lost: it counts the next time.
        if earned > 0 {
            (self.left, self.since) = ((self.left.saturating_add(earned)).min(BURST), now);
        }
        if self.left < GRAIN { 0 } else { usize::try_from(self.left).unwrap_or(usize::MAX) }
    }

    /// So many bytes have been read.
    pub fn take(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_burst_is_allowed_at_once_and_then_a_rate() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut allowance = ReadAllowance::new(start);
        assert_eq!(allowance.bytes(at(0)), 512 * 1024);
        allowance.take(512 * 1024);
        assert_eq!([allowance.bytes(at(0)), allowance.bytes(at(7))], [0, 0]);
        assert_eq!(allowance.bytes(at(500)), 256 * 1024);
        allowance.take(256 * 1024);
        for millis in 501..1_250 {
            allowance.bytes(at(millis));
        }
        let earned = allowance.bytes(at(1_250)) / 1024;
        assert!((382..=384).contains(&earned), "small steps lose nothing: {earned} KiB");
        assert_eq!(allowance.bytes(at(60_000)), 512 * 1024, "no more than a burst");
    }
}
