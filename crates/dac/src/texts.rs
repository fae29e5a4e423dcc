//! Textual forms of a topic's newest segments, encoded once for all readers that keep up.
//!
//! Text needs many times the memory of a batch. Kept with each segment, it would evict samples: a reader that catches
//! up would evict those it is about to read. So the space for text is small, and a reader that lags far encodes its
//! own.

use bytes::Bytes;
use oasis_wire::quantity::Offset;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

/// Number of a textual form, assigned by its encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Form(pub u8);

/// Memory of an entry besides its bytes.
const OVERHEAD: usize = 128;

/// The cached texts of one topic.
#[derive(Debug)]
pub(crate) struct Texts {
    capacity: usize,
    /// Never locked while a text is encoded.
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    made: BTreeMap<(Offset, Form), Slot>,
    bytes: usize,
}

/// Filled by the first reader that wants it; the others wait for that.
type Slot = Arc<OnceLock<Bytes>>;

impl Texts {
    /// Creates a cache of at most `capacity` bytes. It always keeps the newest text, whatever its size.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, inner: Mutex::default() }
    }

    /// Returns the text of the segment that begins at `first`, and by how many bytes the memory in use has changed.
    pub fn get(&self, first: Offset, form: Form, make: impl FnOnce() -> Bytes) -> (Bytes, isize) {
        let key = (first, form);
        let Some(slot) = self.slot(key) else { return (make(), 0) };
        let mut is_new = false;
        let text = slot.get_or_init(|| {
            is_new = true;
            make()
        });
        let grown = if is_new { self.account(key, &slot, text.len() + OVERHEAD) } else { 0 };
        (text.clone(), grown)
    }

    /// Returns the bytes in use.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn slot(&self, key: (Offset, Form)) -> Option<Slot> {
        let mut inner = self.lock();
        let full = inner.bytes >= self.capacity / 2;
        let oldest = inner.made.first_key_value().map(|(&oldest, _)| oldest);
        if full && oldest.is_some_and(|oldest| key < oldest) {
            return None;
        }
        Some(inner.made.entry(key).or_default().clone())
    }

    fn account(&self, key: (Offset, Form), slot: &Slot, cost: usize) -> isize {
        let mut inner = self.lock();
        if !inner.made.get(&key).is_some_and(|there| Arc::ptr_eq(there, slot)) {
            return 0;
        }
        let before = inner.bytes;
        inner.bytes += cost;
        while inner.bytes > self.capacity && inner.made.len() > 1 {
            let Some((_, oldest)) = inner.made.pop_first() else { break };
            inner.bytes -= oldest.get().map_or(0, |text| text.len() + OVERHEAD);
        }
        inner.bytes as isize - before as isize
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: Form = Form(0);

    fn text(length: usize) -> Bytes {
        vec![7; length].into()
    }

    #[test]
    fn a_text_is_made_once_for_each_form() {
        let texts = Texts::new(10_000);
        let made = std::cell::Cell::new(0);
        for form in [JSON, Form(1), JSON, Form(1)] {
            texts.get(Offset(5), form, || {
                made.set(made.get() + 1);
                text(10)
            });
        }
        assert_eq!((made.get(), texts.bytes()), (2, 2 * (10 + OVERHEAD)));
    }

    #[test]
    fn memory_stays_within_the_bound_and_the_newest_text_stays() {
        let texts = Texts::new(1_000);
        let sum: isize = (0..50).map(|first| texts.get(Offset(first), JSON, || text(100)).1).sum();
        assert_eq!(sum, texts.bytes() as isize);
        assert!(texts.bytes() <= 1_000);
        texts.get(Offset(50), JSON, || text(5_000));
        assert_eq!(texts.bytes(), 5_000 + OVERHEAD);
    }

    #[test]
    fn a_reader_that_lags_far_evicts_no_text() {
        let texts = Texts::new(1_000);
        (100..110).for_each(|first| drop(texts.get(Offset(first), JSON, || text(100))));
        let before = texts.bytes();
        let (own, grown) = texts.get(Offset(0), JSON, || text(100));
        assert_eq!((own.len(), grown, texts.bytes()), (100, 0, before));
    }
}
