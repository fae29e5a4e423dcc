//! Every order of steps of both threads that the memory model allows, for rings of a few words: `make check-memory`.

use super::*;
use loom::thread;

/// Returns a record of two words that both contain its number.
fn record(number: u64) -> Vec<u8> {
    [(number << 32).to_le_bytes(), number.to_le_bytes()].concat()
}

/// Returns the number of the oldest record, whose words must be equal.
fn pop(reader: &mut Reader) -> Option<u64> {
    let mut record = Vec::new();
    if !reader.pop(&mut record) {
        return None;
    }
    let (words, rest) = record.as_chunks();
    assert!(words.len() == 2 && rest.is_empty());
    let [first, second] = [words[0], words[1]].map(u64::from_le_bytes);
    assert_eq!(first, second << 32 | 2, "torn");
    Some(second)
}

/// Writes `records` to a ring of `words` on one thread while the other reads `tries` times, then reads the rest.
/// Returns which records had room and which were read.
fn run(words: usize, overwrites: bool, records: u64, tries: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut writer, mut reader) = ring(words, overwrites).unwrap();
    let writing = thread::spawn(move || (1..=records).filter(|&at| writer.push(&mut record(at))).collect());
    let mut read: Vec<u64> = (0..tries).filter_map(|_| pop(&mut reader)).collect();
    let written = writing.join().unwrap();
    read.extend(std::iter::from_fn(|| pop(&mut reader)));
    (written, read)
}

#[test]
fn a_keeping_ring_returns_every_record_that_had_room() {
    loom::model(|| {
        // Five words, so that the third record wraps around the end.
        let (written, read) = run(5, false, 4, 2);
        assert_eq!(written, read);
        assert_eq!(written[..2], [1, 2]);
    });
}

#[test]
fn an_overwriting_ring_never_refuses_never_tears_and_has_the_newest() {
    loom::model(|| {
        let (written, read) = run(5, true, 3, 1);
        assert_eq!(written, [1, 2, 3]);
        assert!(read.is_sorted() && read.ends_with(&[2, 3]), "{read:?}");
    });
}

#[test]
fn an_overwriting_ring_of_one_record_is_overtaken_and_recovers() {
    loom::model(|| {
        let (_, read) = run(2, true, 3, 2);
        assert!(read.is_sorted() && read.ends_with(&[3]), "{read:?}");
    });
}
