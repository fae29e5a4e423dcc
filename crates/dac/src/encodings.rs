//! Encodings of a topic's newest segments, each made once for all readers at the head of the log. The log knows their size, not their content.
//!
//! An encoding can take many times the memory of its batch. Kept with each segment it would evict samples, and a reader that catches
//! up would evict the very samples it needs; so encodings have a small bound of their own, and a reader that lags far makes its own.

use bytes::Bytes;
use oasis_wire::quantity::Offset;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

/// Number of an encoding, chosen by the caller that makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EncodingId(pub u8);

/// Cost of an entry besides its bytes.
const ENTRY_OVERHEAD_BYTES: usize = 128;

/// The encodings of one topic.
#[derive(Debug)]
pub(crate) struct Encodings {
    capacity: usize,
    /// Never locked while an encoding is made.
    held: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    made: BTreeMap<(Offset, EncodingId), Slot>,
    bytes: usize,
}

/// Filled by the first reader that wants it; the others wait for that.
type Slot = Arc<OnceLock<Bytes>>;

impl Encodings {
    /// Bounds memory to `capacity` bytes. An encoding that costs more by itself is not kept.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, held: Mutex::default() }
    }

    /// Returns the encoding of the segment that begins at `first`, and by how much the memory in use has changed.
    pub fn get(&self, first: Offset, id: EncodingId, make: impl FnOnce() -> Bytes) -> (Bytes, isize) {
        let key = (first, id);
        let Some(slot) = self.slot(key) else { return (make(), 0) };
        let mut is_new = false;
        let encoded = slot.get_or_init(|| {
            is_new = true;
            make()
        });
        let grown = if is_new { self.account(key, &slot, encoded.len() + ENTRY_OVERHEAD_BYTES) } else { 0 };
        (encoded.clone(), grown)
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.held().bytes
    }

    fn slot(&self, key: (Offset, EncodingId)) -> Option<Slot> {
        let mut held = self.held();
        let full = held.bytes >= self.capacity / 2;
        let oldest = held.made.first_key_value().map(|(&oldest, _)| oldest);
        if full && oldest.is_some_and(|oldest| key < oldest) {
            return None;
        }
        Some(held.made.entry(key).or_default().clone())
    }

    fn account(&self, key: (Offset, EncodingId), slot: &Slot, cost: usize) -> isize {
        let mut held = self.held();
        if !held.made.get(&key).is_some_and(|there| Arc::ptr_eq(there, slot)) {
            return 0;
        }
        if cost > self.capacity {
            held.made.remove(&key);
            return 0;
        }
        let before = held.bytes;
        held.bytes += cost;
        while held.bytes > self.capacity {
            let Some((_, oldest)) = held.made.pop_first() else { break };
            held.bytes -= oldest.get().map_or(0, |encoded| encoded.len() + ENTRY_OVERHEAD_BYTES);
        }
        held.bytes as isize - before as isize
    }

    fn held(&self) -> MutexGuard<'_, Slots> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST_ENCODING: EncodingId = EncodingId(0);

    fn encoded(length: usize) -> Bytes {
        vec![7; length].into()
    }

    #[test]
    fn an_encoding_is_made_once_for_each_id() {
        let encodings = Encodings::new(10_000);
        let made = std::cell::Cell::new(0);
        for id in [FIRST_ENCODING, EncodingId(1), FIRST_ENCODING, EncodingId(1)] {
            encodings.get(Offset(5), id, || {
                made.set(made.get() + 1);
                encoded(10)
            });
        }
        assert_eq!((made.get(), encodings.bytes()), (2, 2 * (10 + ENTRY_OVERHEAD_BYTES)));
    }

    #[test]
    fn memory_stays_within_the_bound_and_the_newest_encoding_stays() {
        let encodings = Encodings::new(1_000);
        let sum: isize =
            (0..50).map(|first| encodings.get(Offset(first), FIRST_ENCODING, || encoded(100)).1).sum();
        assert_eq!(sum, encodings.bytes() as isize);
        assert!(encodings.bytes() <= 1_000);
        let before = encodings.bytes();
        let (large, grown) = encodings.get(Offset(50), FIRST_ENCODING, || encoded(5_000));
        assert_eq!((large.len(), grown, encodings.bytes()), (5_000, 0, before));
    }

    #[test]
    fn a_reader_that_lags_far_evicts_nothing() {
        let encodings = Encodings::new(1_000);
        (100..110).for_each(|first| drop(encodings.get(Offset(first), FIRST_ENCODING, || encoded(100))));
        let before = encodings.bytes();
        let (own, grown) = encodings.get(Offset(0), FIRST_ENCODING, || encoded(100));
        assert_eq!((own.len(), grown, encodings.bytes()), (100, 0, before));
    }
}
