//! The ring between a pushed probe and its node: its size, and its policy when full.

use std::time::Duration;

/// The largest ring, in bytes.
pub const MAX_RING_BYTES: usize = 1 << 30;

/// The ring of a pushed probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingConfig {
    /// Its size in bytes, at most 1 GiB. A sample needs its row, rounded up to eight bytes, and 24 bytes. The memory
    /// is touched when the probe is added.
    pub bytes: usize,
    /// The policy when it is full.
    pub overflow: Overflow,
}

impl From<usize> for RingConfig {
    /// A ring of this many bytes that drops the newest.
    fn from(bytes: usize) -> Self {
        Self { bytes, overflow: Overflow::default() }
    }
}

/// Policy for a sample when the ring is full. Dropped samples are counted, and reported with the next sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Overflow {
    /// The new sample is dropped. Wait-free.
    #[default]
    DropNewest,
    /// The oldest samples are dropped: the node always receives the newest. Wait-free.
    DropOldest,
    /// The application waits for the node to make room, at most this long; then the new sample is dropped. Only for
    /// threads that may wait: the node reads its rings every two milliseconds.
    Block(Duration),
}
