//! Makes the word index of a sealed segment file.

use super::{
    PART_BYTES, PART_OVERLAP_BYTES,
    file::{self, Parts},
    grams::{self, ROWS},
    has_texts, level_of,
};
use crate::{
    index::{self, SeriesIndex},
    pace::Pace,
    record::{FileHeader, RECORD_HEADER},
    rolling::batch_at,
    segment_file,
    walk::Walk,
};
use oasis_wire::{
    batch::{Batch, Values},
    schema::ProbeType,
};
use std::{fs, io, path::Path};

/// Bytes that are processed before the thread yields.
const YIELD_INTERVAL_BYTES: usize = 16 * 1024;

/// Makes the index of a segment file, and writes it to the archive's folder. A damaged file gets none: each search says again what it cannot read.
///
/// # Errors
/// If a file cannot be read or written.
pub fn of_segment(directory: &Path, segment: u64) -> io::Result<()> {
    let bytes = fs::read(segment_file::path(directory, segment))?;
    let header = FileHeader::parse(&bytes).map_err(io::Error::other)?;
    let scanned = index::build(Walk::new(&bytes, &header));
    if !scanned.damage.is_empty() || scanned.orphans > 0 || !scanned.is_sealed {
        return Ok(());
    }
    let found = scanned.index;
    let texts = |series: &&SeriesIndex| has_texts(&series.series.probe_type);
    let with_texts = found.series.iter().filter(texts);
    let mut batches: Vec<_> =
        with_texts.flat_map(|of| of.entries.iter().map(|entry| (entry, &*of.series.probe_type))).collect();
    batches.sort_by_key(|(entry, _)| entry.position);
    let (mut draft, mut pace) = (Draft::default(), Pace::every(YIELD_INTERVAL_BYTES));
    for (entry, probe_type) in batches {
        if let Some(batch) = batch_at(&bytes, entry) {
            draft.add(entry.position, batch, probe_type, &mut pace);
        }
    }
    file::write(directory, segment, header.nonce, &draft.parts, &draft.rows())
}

/// The bits of a part: one for each row.
type Bits = Box<[u8; ROWS / 8]>;

/// An index in the making.
#[derive(Default)]
pub(super) struct Draft {
    pub parts: Parts,
    bits: Vec<Bits>,
    /// Bytes in the last part.
    filled: usize,
}

impl Draft {
    /// Adds a batch. One that is longer than a part has several of its own.
    pub fn add(&mut self, position: u64, batch: &[u8], probe_type: &ProbeType, pace: &mut Pace) {
        if self.bits.is_empty() || self.filled + batch.len() > PART_BYTES {
            self.begin(position, false);
        }
        self.filled += batch.len();
        self.add_levels(batch, probe_type);
        for from in (0..batch.len()).step_by(PART_BYTES) {
            if from > 0 {
                self.begin(position + (RECORD_HEADER + from) as u64, true);
            }
            let end = batch.len().min(from + PART_BYTES);
            let with_rest = &batch[from..batch.len().min(end + PART_OVERLAP_BYTES)];
            grams::each(with_rest, |row| self.set(row));
            pace.did(end - from);
        }
        // The rest of a long one leaves no room for others: they would be taken for a part of it.
        if batch.len() > PART_BYTES {
            self.filled = PART_BYTES;
        }
    }

    fn begin(&mut self, position: u64, is_inside: bool) {
        if let Some(goes_on) = self.parts.goes_on.last_mut() {
            *goes_on = is_inside;
        }
        self.parts.starts.push(position);
        self.parts.goes_on.push(false);
        self.bits.push(Box::new([0; ROWS / 8]));
        self.filled = 0;
    }

    /// Notes the severities that a record of the batch reaches. Of a batch whose values cannot be read, all.
    fn add_levels(&mut self, batch: &[u8], probe_type: &ProbeType) {
        let Some((place, metric)) = level_of(probe_type) else { return };
        let greatest = match Batch::parse_first(batch, probe_type, place + 1)
            .as_ref()
            .map(|batch| batch.values(place))
        {
            Ok(Some(Values::Fixed(values))) => values.iter().map(|value| value.cast_signed()).max(),
            _ => Some(i64::MAX),
        };
        for named in metric.enumeration.iter().flat_map(|of| &of.values) {
            if greatest.is_some_and(|greatest| greatest >= named.value) {
                grams::rows_of_level(named.value).into_iter().for_each(|row| self.set(row));
            }
        }
    }

    fn set(&mut self, row: u16) {
        let Some(byte) = self.bits.last_mut().and_then(|bits| bits.get_mut(usize::from(row / 8))) else {
            return;
        };
        *byte |= 1 << (row % 8);
    }

    /// The bits of all parts, row after row.
    pub fn rows(&self) -> Vec<u8> {
        let width = self.bits.len().div_ceil(8);
        let mut rows = vec![0; ROWS * width];
        for (part, bits) in self.bits.iter().enumerate() {
            for row in 0..ROWS {
                rows[row * width + part / 8] |= (bits[row / 8] >> (row % 8) & 1) << (part % 8);
            }
        }
        rows
    }
}
