//! The file of a word index: a head, and rows of bits with a checksum each, of which a search reads a few.

use super::{Contents, grams::ROWS};
use crate::{
    record::{FILE_HEADER, FileHeader},
    segment_file,
};
use std::{
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

const MAGIC: [u8; 8] = *b"OASISWRD";
const VERSION: u32 = 1;
/// Magic, version, number of parts, nonce of the segment file.
const HEADER_BYTES: usize = 24;
const CHECKSUM_BYTES: usize = 4;
/// Parts of a file, at most: those of a segment file as large as may be configured.
const MAX_PARTS: usize = 1 << 20;

/// Name of the index of a segment file in the archive's folder.
pub fn path(directory: &Path, segment: u64) -> PathBuf {
    directory.join(format!("{segment:010}.owords"))
}

/// Removes the index of a segment file, if there is one.
pub fn remove(directory: &Path, segment: u64) -> io::Result<()> {
    match fs::remove_file(path(directory, segment)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The index of a sealed segment file.
#[derive(Debug)]
pub struct WordIndex {
    file: File,
    parts: Parts,
    /// Start of the rows.
    rows: u64,
}

/// Start of each part of a segment file.
#[derive(Debug, Default)]
pub struct Parts {
    /// Positions in the file, ascending.
    pub starts: Vec<u64>,
    /// Whether the batch at the end of a part continues in the next one.
    pub goes_on: Vec<bool>,
}

/// Which parts may contain what is wanted.
#[derive(Debug)]
pub struct PassingParts {
    parts: Parts,
    /// For each content, a bit for each part.
    bits: Vec<Vec<u8>>,
}

impl WordIndex {
    /// Opens the index of a segment file; none if there is none that fits to it, or it is damaged: then all of the file has to be read.
    pub fn open(directory: &Path, segment: u64) -> Option<Self> {
        let mut file = File::open(path(directory, segment)).ok()?;
        let mut head = [0; HEADER_BYTES];
        file.read_exact(&mut head).ok()?;
        let count = usize::try_from(u32::from_le_bytes(head[12..16].try_into().ok()?)).ok()?;
        if head[..8] != MAGIC || head[8..12] != VERSION.to_le_bytes() || count > MAX_PARTS {
            return None;
        }
        if head[16..24] != nonce_of(directory, segment).ok()?.to_le_bytes() {
            return None;
        }
        let mut rest = vec![0; count * 9 + CHECKSUM_BYTES];
        file.read_exact(&mut rest).ok()?;
        let (listed, checksum) = rest.split_at(count * 9);
        if checksum != checksum_of(&[&head, listed]) {
            return None;
        }
        let (starts, goes_on) = listed.split_at(count * 8);
        let (starts, _) = starts.as_chunks();
        let starts = starts.iter().copied().map(u64::from_le_bytes);
        let parts =
            Parts { starts: starts.collect(), goes_on: goes_on.iter().map(|byte| *byte != 0).collect() };
        Some(Self { file, parts, rows: (HEADER_BYTES + rest.len()) as u64 })
    }

    /// Returns the parts that may contain all of it; none if the index is damaged.
    pub fn passing(self, wanted: &Contents) -> Option<PassingParts> {
        let width = self.parts.starts.len().div_ceil(8);
        let mut row = vec![0; width + CHECKSUM_BYTES];
        let mut bits = Vec::with_capacity(wanted.0.len());
        for rows in &wanted.0 {
            let mut all = vec![u8::MAX; width];
            for number in rows {
                let at = self.rows + u64::from(*number) * (width + CHECKSUM_BYTES) as u64;
                self.file.read_exact_at(&mut row, at).ok()?;
                let (of_row, checksum) = row.split_at(width);
                if checksum != checksum_of(&[of_row]) {
                    return None;
                }
                all.iter_mut().zip(of_row).for_each(|(all, of_row)| *all &= of_row);
            }
            bits.push(all);
        }
        Some(PassingParts { parts: self.parts, bits })
    }
}

impl PassingParts {
    /// Whether the batch at this position of the segment file may contain it.
    pub fn may_contain(&self, position: u64) -> bool {
        // A batch before the first part has no texts.
        let Some(first) = self.parts.starts.partition_point(|start| *start <= position).checked_sub(1) else {
            return false;
        };
        let goes_on = self.parts.goes_on.iter().skip(first).take_while(|goes_on| **goes_on).count();
        let has = |bits: &Vec<u8>| {
            (first..=first + goes_on)
                .any(|part| bits.get(part / 8).is_some_and(|byte| byte >> (part % 8) & 1 == 1))
        };
        self.bits.iter().all(has)
    }

    /// Whether no part may.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().any(|bits| bits.iter().all(|byte| *byte == 0))
    }
}

/// Writes an index. `rows` has a bit for each part, row after row.
///
/// # Errors
/// If it cannot be written.
pub fn write(directory: &Path, segment: u64, nonce: u64, parts: &Parts, rows: &[u8]) -> io::Result<()> {
    let (count, width) = (parts.starts.len(), parts.starts.len().div_ceil(8));
    let mut bytes =
        Vec::with_capacity(HEADER_BYTES + count * 9 + CHECKSUM_BYTES + ROWS * (width + CHECKSUM_BYTES));
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(u32::try_from(count).map_err(io::Error::other)?.to_le_bytes());
    bytes.extend(nonce.to_le_bytes());
    parts.starts.iter().for_each(|start| bytes.extend(start.to_le_bytes()));
    bytes.extend(parts.goes_on.iter().map(|goes_on| u8::from(*goes_on)));
    bytes.extend(checksum_of(&[&bytes]));
    for row in rows.chunks_exact(width.max(1)) {
        bytes.extend(row);
        bytes.extend(checksum_of(&[row]));
    }
    let path = path(directory, segment);
    let part = path.with_extension("owords.part");
    let written = fs::write(&part, &bytes).and_then(|()| File::open(&part)?.sync_all());
    let written = written
        .and_then(|()| fs::rename(&part, &path))
        .and_then(|()| segment_file::sync_directory(directory));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    } else if nonce_of(directory, segment).ok() != Some(nonce) {
        // The segment file was written again without something, or is gone.
        return remove(directory, segment);
    }
    written
}

fn nonce_of(directory: &Path, segment: u64) -> io::Result<u64> {
    let mut header = [0; FILE_HEADER];
    File::open(segment_file::path(directory, segment))?.read_exact(&mut header)?;
    FileHeader::parse(&header).map(|header| header.nonce).map_err(io::Error::other)
}

fn checksum_of(pieces: &[&[u8]]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = crc32fast::Hasher::new();
    pieces.iter().for_each(|piece| hasher.update(piece));
    hasher.finalize().to_le_bytes()
}
