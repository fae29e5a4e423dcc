//! Bounds of what the writer of the channel keeps, and of its rate.
//!
//! RustDDS bounds the messages of a writer but not their bytes. It keeps what a reader has not acknowledged, and frees the rest only once in 6 s. So bytes count
//! until a moment at which all readers have all of them. What is acknowledged and not yet freed is what was written in some seconds, which the pace bounds. Pauses
//! are short: a connection whose writer waits for seconds seems dead.

use std::time::{Duration, Instant};

/// Upper bound of bytes that not all readers have acknowledged.
const MAX_UNACKNOWLEDGED_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of a slice of time: 3.2 MB/s.
const MOST_OF_SLICE: usize = 320 * 1024;
const SLICE: Duration = Duration::from_millis(100);
/// Bytes that a message takes besides its own.
const MESSAGE_OVERHEAD_BYTES: usize = 256;

/// The bytes of a writer.
#[derive(Debug)]
pub struct Pace {
    unacknowledged: usize,
    of_slice: usize,
    slice: Instant,
}

/// Whether a writer may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayWrite {
    /// Now.
    Now,
    /// After a part of a second.
    Soon,
    /// When readers have acknowledged what was written.
    Full,
}

impl Pace {
    /// A writer that has written nothing.
    pub fn new(now: Instant) -> Self {
        Self { unacknowledged: 0, of_slice: 0, slice: now }
    }

    /// Returns whether a message may be written. The last one may be longer than the rest of the room.
    pub fn may_write(&mut self, now: Instant, is_acknowledged: impl FnOnce() -> bool) -> MayWrite {
        let is_new_slice = now.saturating_duration_since(self.slice) >= SLICE;
        if is_new_slice {
            (self.slice, self.of_slice) = (now, 0);
        }
        if (is_new_slice || self.unacknowledged >= MAX_UNACKNOWLEDGED_BYTES) && is_acknowledged() {
            self.unacknowledged = 0;
        }
        if self.unacknowledged >= MAX_UNACKNOWLEDGED_BYTES {
            MayWrite::Full
        } else if self.of_slice >= MOST_OF_SLICE {
            MayWrite::Soon
        } else {
            MayWrite::Now
        }
    }

    /// Notes that a message of this length was written.
    pub fn take(&mut self, length: usize) {
        self.unacknowledged += length + MESSAGE_OVERHEAD_BYTES;
        self.of_slice += length + MESSAGE_OVERHEAD_BYTES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_keeps_its_pace() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        pace.take(MOST_OF_SLICE);
        assert_eq!(pace.may_write(start + SLICE / 2, || true), MayWrite::Soon);
        assert_eq!(pace.may_write(start + SLICE, || true), MayWrite::Now);
    }

    #[test]
    fn a_writer_whose_readers_acknowledge_nothing_is_full_until_they_do() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let slices = (1..).take_while(|slice| {
            pace.take(MOST_OF_SLICE);
            pace.may_write(start + SLICE * *slice, || false) == MayWrite::Now
        });
        let slices = slices.count();
        assert!((90..110).contains(&slices), "{slices}: 32 MiB last for ten seconds");
        assert_eq!(pace.may_write(start + SLICE * 1_000, || false), MayWrite::Full);
        assert_eq!(pace.may_write(start + SLICE * 1_001, || true), MayWrite::Now);
    }
}
