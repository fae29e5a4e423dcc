//! A segment file of an archive: any records, with right checksums, so that their content is read.
//!
//! Each record is its kind, its number, the length of its payload (two bytes) and the payload. The first byte is the
//! number of bytes to cut off the end of the file.

use oasis_store::{
    ArchiveConfig, History, PastItem, check,
    record::{self, FILE_HEADER, FileHeader, Kind, Start},
    segment_file,
};
use oasis_wire::quantity::{Epoch, Nanos};
use std::{fs, io};
use tempfile::TempDir;

const NONCE: u64 = 7;
const KINDS: [Kind; 6] = [Kind::Type, Kind::Series, Kind::Batch, Kind::Gap, Kind::Index, Kind::Group];

pub fn run(input: &[u8]) {
    samples(input);
}

/// Returns how many samples a reader finds before the DAC recovers the file.
pub fn samples(input: &[u8]) -> usize {
    let Some((&cut, records)) = input.split_first() else { return 0 };
    let folder = folder().expect("a folder");
    let config = || ArchiveConfig {
        directory: folder.path().to_string_lossy().into_owned(),
        ..ArchiveConfig::default()
    };
    // Makes the catalogue.
    drop(oasis_store::open(config()).expect("an empty archive"));
    let mut bytes = file(records);
    bytes.truncate(bytes.len().saturating_sub(cut.into()).max(FILE_HEADER));
    fs::write(segment_file::path(folder.path(), 1), &bytes).expect("a file");
    // As a reader finds it, as a check finds it, and as the DAC recovers it.
    let samples = History::open(folder.path()).map_or(0, |history| read(&history));
    let _ = check(folder.path(), |_| {});
    if let Ok(opened) = oasis_store::open(config()) {
        read(&opened.history());
    }
    samples
}

/// A folder in memory, if the system has such: each input syncs a catalogue twice.
fn folder() -> io::Result<TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

fn read(history: &History) -> usize {
    let mut samples = 0;
    for (node, instance) in history.instances().unwrap_or_default() {
        let Ok(Some(mut past)) = history.past_from(&node, &instance, 0, None) else { continue };
        while !past.is_over() {
            match past.read(64 * 1024) {
                Ok(pieces) if !pieces.is_empty() => samples += pieces.iter().map(count).sum::<usize>(),
                _ => break,
            }
        }
    }
    samples
}

fn count(piece: &PastItem) -> usize {
    match piece {
        PastItem::Samples { wanted, .. } => (wanted.end.0 - wanted.start.0) as usize,
        _ => 0,
    }
}

fn file(mut input: &[u8]) -> Vec<u8> {
    let mut records = Vec::new();
    while let Some((&[kind, number, low, high], rest)) = input.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (payload, rest) = rest.split_at(length);
        input = rest;
        records.push((KINDS[usize::from(kind) % KINDS.len()], number, payload));
    }
    let (number, created, epoch) = (1, Nanos(1), Epoch(1));
    // Only a file with groups is of the version that has them.
    let has_groups = records.iter().any(|(kind, ..)| *kind == Kind::Group);
    let header = FileHeader { number, nonce: NONCE, created, epoch, marks_syncs: true, has_groups };
    let mut bytes = header.write().to_vec();
    let mut index = None;
    for (kind, number, payload) in records {
        let position = bytes.len() as u64;
        let start = Start { nonce: NONCE, position, follows_sync: kind as u8 == number };
        index = (kind == Kind::Index).then_some(position);
        record::put(&mut bytes, start, (kind, number.into()), (1, u64::from(number)), payload);
    }
    // A file that ends with an index is sealed.
    bytes.extend(index.map(record::trailer).into_iter().flatten());
    bytes
}
