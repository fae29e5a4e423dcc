//! Numbers of new segment files, which all writers of an archive share.

use std::sync::atomic::{AtomicU64, Ordering};

/// Gives each segment file its number: a live writer and an import never get the same one.
///
/// A file that could not be created leaves its number unused.
#[derive(Debug)]
pub struct SegmentNumbers(AtomicU64);

impl SegmentNumbers {
    /// Creates numbers that begin at `next`.
    pub fn new(next: u64) -> Self {
        Self(AtomicU64::new(next))
    }

    /// Returns the number of a new file.
    pub fn take(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    /// Continues at `next`, after the folder was opened again. Never gives a number twice.
    pub fn continue_at(&self, next: u64) {
        self.0.fetch_max(next, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, thread};

    #[test]
    fn writers_on_several_threads_get_different_numbers() {
        let numbers = SegmentNumbers::new(7);
        let taken: BTreeSet<u64> = thread::scope(|scope| {
            let take = || (0..1_000).map(|_| numbers.take()).collect::<Vec<_>>();
            let writers: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
        });
        assert_eq!(taken, (7..4_007).collect());
    }

    #[test]
    fn numbers_never_go_back() {
        let numbers = SegmentNumbers::new(7);
        numbers.continue_at(3);
        assert_eq!(numbers.take(), 7);
        numbers.continue_at(20);
        assert_eq!(numbers.take(), 20);
    }
}
