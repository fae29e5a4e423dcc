//! The newest batch of an instance that its node sent ahead of a backlog, for readers that ask for it.
//!
//! The batch is in no topic log yet, so it has no offset. A reader receives the same samples once more in their turn.

use crate::memory::HeldMemory;
use bytes::Bytes;
use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

/// The offset in a batch that is shown ahead of its turn.
pub const NO_OFFSET: u64 = u64::MAX;

/// The place for the newest batch of one instance.
#[derive(Debug, Default)]
pub struct Ahead {
    /// Number of batches shown so far. Written only while `newest` is locked.
    version: AtomicU64,
    /// Guards the batch. Locked for a few assignments.
    newest: Mutex<Option<Newest>>,
}

#[derive(Debug)]
struct Newest {
    /// Sequence number of its last sample.
    last: u64,
    batch: Bytes,
    /// Kept for its `Drop`.
    _memory: HeldMemory,
}

impl Ahead {
    /// Shows a batch in the place of the one before.
    pub(crate) fn show(&self, batch: Vec<u8>, last: u64, memory: HeldMemory) {
        let mut newest = self.lock();
        *newest = Some(Newest { last, batch: batch.into(), _memory: memory });
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Forgets the batch if its samples have arrived up to this sequence number.
    pub(crate) fn forget(&self, last: u64) {
        if self.version.load(Ordering::Acquire) > 0 {
            self.lock().take_if(|newest| newest.last <= last);
        }
    }

    /// Returns the batch and its version, unless the reader has seen this version.
    pub fn newer_than(&self, seen: u64) -> Option<(u64, Bytes)> {
        if self.version.load(Ordering::Acquire) <= seen {
            return None;
        }
        let newest = self.lock();
        Some((self.version.load(Ordering::Relaxed), newest.as_ref()?.batch.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Newest>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryAccount;

    #[test]
    fn a_reader_sees_each_version_once_and_nothing_that_has_arrived() {
        let (ahead, account) = (Ahead::default(), MemoryAccount::new(100));
        assert_eq!(ahead.newer_than(0), None);
        ahead.show(vec![1], 5, account.hold());
        ahead.show(vec![2], 7, account.hold());
        assert_eq!(ahead.newer_than(0), Some((2, Bytes::from_static(&[2]))));
        assert_eq!((ahead.newer_than(2), ahead.newer_than(u64::MAX)), (None, None));
        ahead.forget(6);
        assert!(ahead.newer_than(1).is_some());
        ahead.forget(7);
        assert_eq!(ahead.newer_than(1), None);
    }
}
