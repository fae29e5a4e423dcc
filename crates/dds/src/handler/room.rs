//! Bound of the bytes that a writer of DDS keeps.
//!
//! RustDDS bounds the samples of a writer but not their bytes, and frees what is acknowledged only once in a while. So a topic counts in two halves: what was
//! written since the last look, and what was written before. When subscribers have acknowledged all of it and the writer has cleaned since, the older half is
//! free.

use crate::CLEANING;
use std::time::Instant;

/// Bytes that a sample takes besides its own.
const SAMPLE_OVERHEAD_BYTES: usize = 256;

/// The bytes of one writer.
#[derive(Debug)]
pub struct Room {
    most: usize,
    older: usize,
    newer: usize,
    looked: Instant,
}

impl Room {
    /// Creates the room of a writer that has written nothing and may keep `most` bytes.
    pub fn new(most: usize, now: Instant) -> Self {
        Self { most, older: 0, newer: 0, looked: now }
    }

    /// Returns how many bytes the writer keeps at most.
    pub fn used(&self) -> usize {
        self.older + self.newer
    }

    /// Frees what was written long enough ago, if subscribers have acknowledged all.
    pub fn free_acknowledged(&mut self, now: Instant, is_acknowledged: impl FnOnce() -> bool) {
        if self.used() > 0 && now.saturating_duration_since(self.looked) >= CLEANING && is_acknowledged() {
            (self.older, self.newer, self.looked) = (self.newer, 0, now);
        }
    }

    /// Returns whether a sample may be written. The last one may be longer than the rest of the room.
    pub fn has_room(&self) -> bool {
        self.used() < self.most
    }

    /// Notes that a sample of this length was written.
    pub fn take(&mut self, length: usize) {
        self.newer += length + SAMPLE_OVERHEAD_BYTES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_writer_waits_until_all_is_acknowledged_and_cleaned_twice() {
        let start = Instant::now();
        let mut room = Room::new(1_000, start);
        room.free_acknowledged(start, || panic!("nothing was written"));
        assert!(room.has_room());
        room.take(900);
        room.free_acknowledged(start, || true);
        assert!(!room.has_room(), "it has not cleaned");
        room.free_acknowledged(start + CLEANING, || false);
        room.free_acknowledged(start + CLEANING, || true);
        assert_eq!(room.used(), 1_156, "it cleans after this");
        assert!(!room.has_room());
        room.free_acknowledged(start + CLEANING * 2, || true);
        assert_eq!(room.used(), 0);
    }

    #[test]
    fn a_sample_that_is_longer_than_the_room_is_written_alone() {
        let mut room = Room::new(10, Instant::now());
        assert!(room.has_room());
        room.take(1 << 20);
        assert!(!room.has_room());
    }
}
