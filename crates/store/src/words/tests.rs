//! Batches that an index must never rule out, and those that it rules out.

use super::*;
use crate::{pace::Pace, record::FileHeader, segment_file, words::making::Draft};
use oasis_wire::{
    batch::{Encoder, Fields},
    quantity::{Epoch, Nanos},
    value::RowWriter,
};
use proptest::prelude::*;
use std::{fs, path::Path};
use tempfile::TempDir;

const SEGMENT: u64 = 7;
const NONCE: u64 = 99;

fn log_type() -> ProbeType {
    let json = r#"{"name": "Log", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d12", "version": "1.0", "metrics": [
        {"name": "Level", "type": "uint8", "enum": {"name": "Level", "values": [
            {"name": "INFO", "value": 9}, {"name": "WARN", "value": 13}, {"name": "ERROR", "value": 17}]}},
        {"name": "message", "type": "string"}]}"#;
    serde_json::from_str(json).unwrap()
}

fn batch(records: &[(u8, &str)]) -> Vec<u8> {
    let (mut encoder, mut row, mut batch) = (Encoder::new(&log_type()).unwrap(), Vec::new(), Vec::new());
    for (time, (level, message)) in (1..).zip(records) {
        row.clear();
        let mut writer = RowWriter::new(&mut row);
        writer.u8(*level);
        writer.string(message);
        encoder.push(time, &row).unwrap();
    }
    encoder.finish(Fields::default(), &mut batch);
    batch
}

/// An index of these batches, at positions of multiples of 10 MB.
fn written(batches: &[Vec<u8>]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let header = FileHeader {
        number: SEGMENT,
        nonce: NONCE,
        created: Nanos(0),
        epoch: Epoch(1),
        marks_syncs: true,
        has_groups: false,
    };
    fs::write(segment_file::path(folder.path(), SEGMENT), header.write()).unwrap();
    let (mut draft, mut pace) = (Draft::default(), Pace::every(1024));
    for (at, batch) in batches.iter().enumerate() {
        draft.add(position(at), batch, &log_type(), &mut pace);
    }
    file::write(folder.path(), SEGMENT, NONCE, &draft.parts, &draft.rows()).unwrap();
    folder
}

fn position(at: usize) -> u64 {
    64 + at as u64 * 10_000_000
}

/// Returns whether each of `batches` batches may contain these texts.
fn passing(folder: &Path, batches: usize, texts: &[&str]) -> Vec<bool> {
    let mut contents = Contents::default();
    texts.iter().for_each(|text| contents.add_text(text));
    let passing = WordIndex::open(folder, SEGMENT).unwrap().passing(&contents).unwrap();
    (0..batches).map(|at| passing.may_contain(position(at))).collect()
}

proptest! {
    #[test]
    fn a_part_of_a_text_is_never_ruled_out(
        texts in proptest::collection::vec("[ -~äKſ]{0,40}", 1..20),
        which in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        length in 0_usize..40,
        is_upper in any::<bool>(),
    ) {
        let batches: Vec<_> = texts.iter().map(|text| batch(&[(9, text)])).collect();
        let folder = written(&batches);
        let at = which.index(texts.len());
        let characters: Vec<char> = texts[at].chars().collect();
        let start = from.index(characters.len() + 1);
        let part: String = characters[start..characters.len().min(start + length)].iter().collect();
        let part = if is_upper { part.to_ascii_uppercase() } else { part };
        prop_assert!(passing(folder.path(), batches.len(), &[&part])[at]);
    }
}

#[test]
fn batches_without_a_word_are_ruled_out() {
    let noise = |at: usize| "abcdefgh".repeat(8_000 + at);
    let batches: Vec<_> = ["the pump runs", "the valve is open", "the pump stops"]
        .iter()
        .enumerate()
        .map(|(at, text)| batch(&[(9, text), (9, &noise(at))]))
        .collect();
    let folder = written(&batches);
    for (texts, expected) in [
        (&["PUMP"][..], [true, false, true]),
        (&["pump", "stops"], [false, false, true]),
        (&["zeppelin"], [false; 3]),
        (&["run"], [true; 3]),
        (&["äöü"], [true; 3]),
        (&[], [true; 3]),
    ] {
        assert_eq!(passing(folder.path(), 3, texts), expected, "{texts:?}");
    }
}

#[test]
fn a_word_at_the_edge_of_a_part_of_a_long_batch_is_found() {
    for before in (PART_BYTES - 150..PART_BYTES + 10).step_by(9) {
        let text = format!("{} watchdog {}", "-".repeat(before), "-".repeat(3 * PART_BYTES));
        let folder = written(&[batch(&[(9, &text)]), batch(&[(9, "valve")])]);
        assert!(passing(folder.path(), 2, &["watchdog"])[0], "{before}");
        assert_eq!(passing(folder.path(), 2, &["valve"]), [false, true]);
    }
}

#[test]
fn letters_that_a_search_takes_for_others_are_found() {
    let folder = written(&[batch(&[(9, "200 \u{212a}elvin, Mi\u{17f}t")])]);
    assert_eq!(passing(folder.path(), 1, &["kelvin", "MIST"]), [true]);
}

#[test]
fn a_level_rules_out_batches_without_a_record_of_it_or_above() {
    let long = "-".repeat(PART_BYTES);
    let batches = [9, 13, 17].map(|level| batch(&[(9, "x"), (level, &long)]));
    let folder = written(&batches);
    let reached = |least: i64| {
        let mut contents = Contents::default();
        contents.add_level(least);
        let passing = WordIndex::open(folder.path(), SEGMENT).unwrap().passing(&contents).unwrap();
        [0, 1, 2].map(|at| passing.may_contain(position(at)))
    };
    assert_eq!(reached(9), [true; 3]);
    assert_eq!(reached(13), [false, true, true]);
    assert_eq!(reached(17), [false, false, true]);
}

#[test]
fn an_index_that_is_damaged_or_of_another_file_is_not_used() {
    let folder = written(&[batch(&[(9, "the pump runs")])]);
    let path = path(folder.path(), SEGMENT);
    let good = fs::read(&path).unwrap();
    let mut contents = Contents::default();
    contents.add_text("pump");
    let ask = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        WordIndex::open(folder.path(), SEGMENT).and_then(|index| index.passing(&contents)).map(|_| ())
    };
    assert_eq!(ask(&good), Some(()));
    let row = grams::ROWS;
    for at in 0..32 {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert_eq!(ask(&bad), None, "byte {at}");
    }
    let mut bad = good.clone();
    let rows = good.len() - row * 5;
    (rows..good.len()).for_each(|at| bad[at] ^= 1);
    assert_eq!(ask(&bad), None);
    for length in [0, 10, 24, rows, good.len() / 2] {
        assert_eq!(ask(&good[..length]), None, "{length}");
    }
}
