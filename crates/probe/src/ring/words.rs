//! A bounded ring of records between one writer and one reader, in words of 64 bits.
//!
//! Two counts of words since the beginning describe its contents: `head`, after the newest record, and `tail`, before
//! the oldest. The writer moves `head`. The two kinds of ring differ in who moves `tail`:
//!
//! - **Keeping**: the reader moves it after it has copied a record. A writer that finds no room writes nothing. This
//!   is the usual ring: the release of `head` and the acquire of it order the words of a record, those of `tail` their
//!   reuse.
//! - **Overwriting**: the writer moves it past as many of the oldest records as the new one needs room for. It never
//!   waits for the reader, so it is as wait-free as the first kind. The reader copies a record and then checks whether
//!   it was still valid.
//!
//! # Why an overwriting ring never returns a torn record
//!
//! The writer stores `tail` (T), passes a release fence (F), and stores words over the dropped records (W). The
//! reader loads words (L), passes an acquire fence (G), and loads `tail` (U). If any L sees a W, then F synchronizes
//! with G (C++11 29.8: both are fences, and the atomic load before G sees the atomic store after F). So T happens
//! before U, and U sees a tail after the record: the reader discards its copy and continues from that tail. If no L
//! sees a W, the record is whole.
//! `head` is stored after the words (release) and loaded before them (acquire), so they are at least as new as the
//! record. Words are atomic, so reading one while it is written is no data race; the module needs no `unsafe`.
//!
//! The reader of an overwriting ring is not wait-free: a writer can overtake it again and again. It gives up after
//! [`TRIES`] and returns later; the sequence numbers in the records show what it missed.
//!
//! The models (`words_models.rs`, `make check-memory`) try every order of these steps, and every old value that a
//! load may still see. They fail without either fence, or without the release of `head`. Loom cannot model a store
//! that overtakes a load before it. So only the argument above shows that the reader's release of `tail` keeps the
//! writer from words that are being read.

#[cfg(not(loom))]
use crate::atomic::AtomicU64;
#[cfg(loom)]
use loom::sync::{
    Arc,
    atomic::{AtomicU64, Ordering, fence},
};
use std::collections::TryReserveError;
#[cfg(not(loom))]
use std::sync::{
    Arc,
    atomic::{Ordering, fence},
};

/// Number of immediate retries of an overtaken reader.
const TRIES: usize = 16;

/// Bytes of a word. Records consist of whole words.
pub const WORD: usize = 8;

/// State shared by both ends.
#[derive(Debug)]
struct Ring {
    words: Box<[AtomicU64]>,
    head: CachePadded<AtomicU64>,
    tail: CachePadded<AtomicU64>,
}

/// Padded to two cache lines of its own, because processors fetch pairs.
#[derive(Debug)]
#[repr(align(128))]
struct CachePadded<T>(T);

/// A count of words since the beginning, and the corresponding index in the ring.
#[derive(Debug, Clone, Copy, Default)]
struct WordPosition {
    count: u64,
    index: usize,
}

impl WordPosition {
    fn behind(self, words: usize, capacity: usize) -> Self {
        let index = self.index + words;
        Self {
            count: self.count + words as u64,
            index: if index < capacity { index } else { index - capacity },
        }
    }
}

/// The writing end.
#[derive(Debug)]
pub struct Writer {
    ring: Arc<Ring>,
    overwrites: bool,
    head: WordPosition,
    /// Keeping: the last known tail. Overwriting: the tail.
    tail: WordPosition,
}

/// The reading end.
#[derive(Debug)]
pub struct Reader {
    ring: Arc<Ring>,
    overwrites: bool,
    at: WordPosition,
}

/// Creates a ring of `words` words. Touches its memory, so that no write is the first to.
pub fn ring(words: usize, overwrites: bool) -> Result<(Writer, Reader), TryReserveError> {
    let mut slots = Vec::new();
    slots.try_reserve_exact(words)?;
    slots.extend((0..words).map(|_| AtomicU64::new(0)));
    let ring = Arc::new(Ring {
        words: slots.into_boxed_slice(),
        head: CachePadded(AtomicU64::new(0)),
        tail: CachePadded(AtomicU64::new(0)),
    });
    let writer = Writer {
        ring: ring.clone(),
        overwrites,
        head: WordPosition::default(),
        tail: WordPosition::default(),
    };
    Ok((writer, Reader { ring, overwrites, at: WordPosition::default() }))
}

impl Writer {
    /// Returns its capacity in words.
    pub fn capacity(&self) -> usize {
        self.ring.words.len()
    }

    /// Writes a record of whole words; overwrites the low half of the first word with their number. Returns whether
    /// there was room.
    #[inline]
    pub fn push(&mut self, record: &mut [u8]) -> bool {
        let (record, rest) = record.as_chunks_mut::<WORD>();
        debug_assert!(rest.is_empty() && !record.is_empty());
        if record.len() > self.capacity() || !self.make_room(record.len()) {
            return false;
        }
        let first = u64::from_le_bytes(record[0]) & !u64::from(u32::MAX);
        record[0] = (first | record.len() as u64).to_le_bytes(); // at most the capacity, which fits
        let words = &self.ring.words;
        let straight = record.len().min(words.len() - self.head.index);
        store(&words[self.head.index..], &record[..straight]);
        store(words, &record[straight..]);
        self.head = self.head.behind(record.len(), words.len());
        self.ring.head.0.store(self.head.count, Ordering::Release);
        true
    }

    /// Returns whether a record of `words` words has room now.
    #[inline]
    fn make_room(&mut self, words: usize) -> bool {
        let capacity = self.capacity() as u64;
        let needed = self.head.count + words as u64;
        if needed - self.tail.count <= capacity {
            return true;
        }
        if self.overwrites {
            self.give_up(needed - capacity);
            return true;
        }
        self.tail.count = self.ring.tail.0.load(Ordering::Acquire);
        needed - self.tail.count <= capacity
    }

    /// Moves the tail past the oldest records, to `least` or further. Each record is dropped once, so in total this
    /// takes as many steps as there are records.
    fn give_up(&mut self, least: u64) {
        while self.tail.count < least {
            // Written by this thread, so it reads its own writes.
            let length = self.ring.words[self.tail.index].load(Ordering::Relaxed) as u32;
            self.tail = self.tail.behind(length as usize, self.capacity());
        }
        self.ring.tail.0.store(self.tail.count, Ordering::Relaxed);
        fence(Ordering::Release);
    }
}

impl Reader {
    /// Moves the oldest record into `record`, whose memory is reused. Returns whether there was one.
    pub fn pop(&mut self, record: &mut Vec<u8>) -> bool {
        if !self.overwrites {
            let Some(behind) = self.copy(record) else { return false };
            self.at = behind;
            self.ring.tail.0.store(behind.count, Ordering::Release);
            return true;
        }
        for _ in 0..TRIES {
            let copied = self.copy(record);
            fence(Ordering::Acquire);
            let tail = self.ring.tail.0.load(Ordering::Relaxed);
            if tail > self.at.count {
                let index = tail % self.ring.words.len() as u64;
                self.at = WordPosition { count: tail, index: index as usize };
                continue;
            }
            let Some(behind) = copied else { return false };
            self.at = behind;
            return true;
        }
        false
    }

    /// Returns its capacity in words.
    pub fn capacity(&self) -> usize {
        self.ring.words.len()
    }

    /// Whether all records were read, or overwritten.
    pub fn is_empty(&self) -> bool {
        self.ring.head.0.load(Ordering::Acquire) <= self.at.count
    }

    /// Copies the record at this place, which may be overwritten meanwhile. Returns the place after it.
    fn copy(&self, record: &mut Vec<u8>) -> Option<WordPosition> {
        let head = self.ring.head.0.load(Ordering::Acquire);
        // The tail may be seen before the head that it follows.
        let there = head.checked_sub(self.at.count).filter(|&words| words > 0)?;
        let words = &self.ring.words;
        let length = words[self.at.index].load(Ordering::Relaxed) as u32 as usize;
        // Otherwise the word belonged to another record, which the caller detects.
        if length == 0 || length as u64 > there || length > words.len() {
            return None;
        }
        record.clear();
        let straight = length.min(words.len() - self.at.index);
        load(&words[self.at.index..][..straight], record);
        load(&words[..length - straight], record);
        Some(self.at.behind(length, words.len()))
    }
}

fn store(words: &[AtomicU64], record: &[[u8; WORD]]) {
    for (word, bytes) in words.iter().zip(record) {
        word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
    }
}

fn load(words: &[AtomicU64], record: &mut Vec<u8>) {
    for word in words {
        record.extend_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
    }
}

#[cfg(test)]
#[cfg(not(loom))]
#[path = "words_tests.rs"]
mod tests;

#[cfg(test)]
#[cfg(loom)]
#[path = "words_models.rs"]
mod models;
