//! A reader of segment files that shares no code with the archive: written from `docs/reference/archive-files.md` and `native-batch.md`. It counts.

use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// Node, instance and run.
pub type RunOf = (String, String, String);

/// Sequence numbers of one run, by the epoch of the DAC that has stored them.
pub type Runs = BTreeMap<RunOf, BTreeMap<u64, BTreeSet<u64>>>;

const FILE_HEADER: usize = 64;
const RECORD_HEAD: usize = 40;
const BATCH_HEADER: usize = 48;
const SERIES: u8 = 2;
const BATCH: u8 = 3;
const INDEX: u8 = 5;
const GROUP: u8 = 7;

/// Reads all segment files of a folder.
pub fn read(folder: &Path) -> Runs {
    let mut runs = Runs::new();
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "oseg"));
    paths.sort();
    for path in paths {
        // A file that retention evicts meanwhile is not there.
        if let Ok(bytes) = fs::read(&path) {
            read_file(&bytes, &path, &mut runs);
        }
    }
    runs
}

fn number<const BYTES: usize>(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number[..BYTES].copy_from_slice(&bytes[at..at + BYTES]);
    u64::from_le_bytes(number)
}

fn read_file(file: &[u8], path: &Path, runs: &mut Runs) {
    let name = path.display();
    assert_eq!(&file[..8], b"OASISSEG", "{name}");
    assert_eq!(number::<4>(file, 60), u64::from(crc(&[&file[..60]])), "CRC of the header of {name}");
    let (nonce, epoch) = (&file[24..32], number::<8>(file, 40));
    let mut series: BTreeMap<u64, RunOf> = BTreeMap::new();
    let mut at = FILE_HEADER;
    while file.len() >= at + RECORD_HEAD && file[at..at + 4] == *b"OREC" {
        let head = &file[at..at + RECORD_HEAD];
        let position = (at as u64).to_le_bytes();
        let found = crc(&[nonce, &position, &head[..8], &head[12..]]);
        assert_eq!(number::<4>(head, 8), u64::from(found), "CRC of a head in {name} at {at}");
        let length = number::<4>(head, 4) as usize;
        let end = at + (RECORD_HEAD + length).next_multiple_of(8);
        let padded = &file[at + RECORD_HEAD..end];
        assert_eq!(number::<4>(head, 20), u64::from(crc(&[padded])), "CRC of a payload in {name} at {at}");
        let (payload, of) = (&padded[..length], number::<4>(head, 16));
        match head[12] {
            SERIES => {
                let json: Value = serde_json::from_slice(payload).unwrap();
                let text = |key: &str| json[key].as_str().unwrap().to_owned();
                series.insert(of, (text("node"), text("instance"), text("run")));
            }
            BATCH => add(payload, &series[&of], epoch, runs),
            GROUP => {
                let arrivals = number::<4>(payload, 4) as usize;
                add(&payload[8 + arrivals..], &series[&of], epoch, runs);
            }
            INDEX => return,
            _ => {}
        }
        at = end;
    }
}

/// Adds the sequence numbers of a batch. Each sample is stored once.
fn add(batch: &[u8], of: &RunOf, epoch: u64, runs: &mut Runs) {
    assert!(batch.len() >= BATCH_HEADER && batch[..2] == [1, 1], "a batch of {of:?}");
    let (first, count) = (number::<8>(batch, 8), number::<2>(batch, 44));
    let known = runs.entry(of.clone()).or_default().entry(epoch).or_default();
    for sequence in first..first + count {
        assert!(known.insert(sequence), "sample {sequence} of {of:?} is stored twice");
    }
}

/// CRC-32 as in Ethernet and zip, of these parts one after another.
fn crc(parts: &[&[u8]]) -> u32 {
    let mut crc = u32::MAX;
    for byte in parts.iter().flat_map(|part| part.iter()) {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

#[test]
fn the_checksum_is_that_of_ethernet_and_zip() {
    assert_eq!(crc(&[b"1234", b"56789"]), 0xCBF4_3926);
}
