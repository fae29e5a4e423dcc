//! The ring between a pushed probe and its node, as the application wants it: how large, and what happens when it is full.

use std::time::Duration;

/// The largest ring.
pub const MAX_RING_BYTES: usize = 1 << 30;

/// The ring of a pushed probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingConfig {
    /// Its size, 1 GiB at most. A sample takes its row, rounded up to eight bytes, and 24 bytes. The memory is touched when the probe is added.
    pub bytes: usize,
    /// What happens when it is full.
    pub overflow: Overflow,
}

impl From<usize> for RingConfig {
    /// A ring of so many bytes that drops the newest.
    fn from(bytes: usize) -> Self {
        Self { bytes, overflow: Overflow::default() }
    }
}

/// What happens to a sample that finds the ring full. Whatever is lost is counted, and told with the next sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Overflow {
    /// It is dropped, and what is in the ring stays. Wait-free.
    #[default]
    DropNewest,
    /// It takes the place of the oldest ones: the node always gets the newest. Wait-free.
    DropOldest,
    /// The application waits for the node to make room, so long at most; then the sample is dropped. Only for threads that may wait:
    /// the node looks into its rings every two milliseconds.
    Block(Duration),
}
