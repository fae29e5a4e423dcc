//! The ring compared with a queue, and with itself on two threads.

use super::*;
use proptest::prelude::*;
use std::{collections::VecDeque, thread};

/// Fewer under Miri, which takes a thousand times as long.
const RECORDS: u64 = if cfg!(miri) { 300 } else { 200_000 };

/// Returns a record of `words` words that all contain its number.
fn record(words: usize, number: u64) -> Vec<u8> {
    let word = (number << 32 | words as u64).to_le_bytes();
    word.repeat(words)
}

/// Returns the number in a record, whose words must be equal.
fn number(record: &[u8]) -> u64 {
    let words: Vec<u64> = record.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    assert!(words.iter().all(|&word| word == words[0]), "torn: {words:x?}");
    assert_eq!(words[0] & 0xffff_ffff, words.len() as u64);
    words[0] >> 32
}

/// The expected behavior of the ring, modelled with a queue.
struct Queue {
    capacity: usize,
    overwrites: bool,
    records: VecDeque<Vec<u8>>,
}

impl Queue {
    fn words(&self) -> usize {
        self.records.iter().map(Vec::len).sum::<usize>() / WORD
    }

    /// In an overwriting ring a read record keeps its words until they are overwritten: the writer is not notified.
    fn push(&mut self, record: Vec<u8>) -> bool {
        let words = record.len() / WORD;
        if words > self.capacity || (!self.overwrites && self.words() + words > self.capacity) {
            return false;
        }
        while self.words() + words > self.capacity {
            self.records.pop_front();
        }
        self.records.push_back(record);
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: if cfg!(miri) { 4 } else { 256 }, ..ProptestConfig::default() })]

    #[test]
    fn it_behaves_like_a_queue(
        capacity in 1_usize..40,
        overwrites: bool,
        steps in prop::collection::vec(prop::option::weighted(0.6, 1_usize..12), 1..200),
    ) {
        let (mut writer, mut reader) = ring(capacity, overwrites).unwrap();
        let mut queue = Queue { capacity, overwrites, records: VecDeque::new() };
        let mut popped = Vec::new();
        for (at, step) in steps.into_iter().enumerate() {
            match step {
                Some(words) => {
                    let mut record = record(words, at as u64);
                    prop_assert_eq!(writer.push(&mut record), queue.push(record.clone()));
                }
                None => {
                    let expected = queue.records.pop_front();
                    prop_assert_eq!(reader.pop(&mut popped).then_some(&popped), expected.as_ref());
                }
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri ends where memory does")]
fn a_ring_larger_than_memory_is_an_error() {
    assert!(ring(usize::MAX / 64, false).is_err());
}

#[test]
fn two_threads_keep_every_record_that_had_room() {
    let (mut writer, mut reader) = ring(37, false).unwrap();
    let writing = thread::spawn(move || {
        (1..=RECORDS).filter(|&at| writer.push(&mut record(1 + at as usize % 5, at))).collect::<Vec<_>>()
    });
    let mut read = Vec::new();
    let mut popped = Vec::new();
    loop {
        let ended = writing.is_finished();
        while reader.pop(&mut popped) {
            read.push(number(&popped));
        }
        if ended {
            break;
        }
        thread::yield_now();
    }
    assert_eq!(read, writing.join().unwrap());
}

#[test]
fn two_threads_overwrite_the_oldest_and_tear_nothing() {
    let (mut writer, mut reader) = ring(37, true).unwrap();
    let writing = thread::spawn(move || {
        (1..=RECORDS).for_each(|at| assert!(writer.push(&mut record(1 + at as usize % 5, at))));
    });
    let mut last = 0;
    let mut popped = Vec::new();
    loop {
        let ended = writing.is_finished();
        while reader.pop(&mut popped) {
            let number = number(&popped);
            assert!(number > last, "{number} behind {last}");
            last = number;
        }
        if ended {
            break;
        }
    }
    assert_eq!(last, RECORDS, "the newest is there");
}
