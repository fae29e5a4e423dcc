//! The index of a segment file: the positions of the batches of each series. In memory while the file is open, at its end once it is sealed.

use crate::{
    gap::Gap,
    group,
    newest::ListedBatch,
    pace::Pace,
    plausible::{TimeWindow, joined},
    record::{Head, Kind},
    series::{Series, SeriesRecord},
    walk::{Step, Walk},
};
use oasis_rollup::points::Arrival;
use oasis_wire::{
    batch::Header,
    quantity::Offset,
    reader::{Malformed, Reader},
    schema::ProbeType,
    varint::{put, unzigzag, zigzag},
};
use std::{collections::HashMap, ops::Range, sync::Arc};

/// Bytes of a file that are scanned before the thread yields.
const SCAN_CHUNK_BYTES: usize = 256 * 1024;

/// One batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Start of its record.
    pub position: u64,
    /// Offset of its first sample.
    pub first: Offset,
    /// Samples.
    pub count: u16,
    /// Least time of its samples.
    pub min_time: u64,
    /// Greatest time of its samples.
    pub max_time: u64,
    /// Sequence number of its last sample.
    pub last_sequence: u64,
}

impl Entry {
    /// Offset after its last sample.
    pub fn end(&self) -> Offset {
        Offset(self.first.0.saturating_add(u64::from(self.count)))
    }

    /// Describes it as an arrival at points.
    pub fn arrival<'a>(&self, series: &'a Series) -> Arrival<'a> {
        Arrival {
            epoch: series.epoch,
            run: series.run,
            probe_type: &series.probe_type,
            first: self.first,
            times: (self.min_time, self.max_time),
            count: self.count.into(),
            last_sequence: self.last_sequence,
            gaps_before: &[],
        }
    }

    /// Its offsets before `end`, and its times; of a group, some of its batches may follow `end`.
    pub fn listed_before(&self, end: Offset) -> ListedBatch {
        let count = u64::from(self.count).min(end.0.saturating_sub(self.first.0));
        ListedBatch { first: self.first, count, times: (self.min_time, self.max_time) }
    }
}

/// One series of a file.
#[derive(Debug, Clone)]
pub struct SeriesIndex {
    /// The series.
    pub series: Arc<Series>,
    /// Its batches, in order.
    pub entries: Vec<Entry>,
    /// Least and greatest time of all of them, cached because there may be hundreds of thousands.
    pub times: (u64, u64),
    /// The same without implausible times; `None` if there are no others.
    pub plausible: Option<(u64, u64)>,
    window: TimeWindow,
    /// Its gaps, in order.
    pub gaps: Vec<Gap>,
}

impl SeriesIndex {
    /// Creates an empty index.
    pub fn new(series: Arc<Series>) -> Self {
        Self::within(series, TimeWindow::ALL)
    }

    /// Creates an empty index of a file with these plausible times.
    pub fn within(series: Arc<Series>, window: TimeWindow) -> Self {
        Self { series, entries: Vec::new(), times: (u64::MAX, 0), plausible: None, window, gaps: Vec::new() }
    }

    /// Adds the next batch.
    pub fn push(&mut self, entry: Entry) {
        self.times = (self.times.0.min(entry.min_time), self.times.1.max(entry.max_time));
        self.plausible = joined(self.plausible, self.window.of((entry.min_time, entry.max_time)));
        self.entries.push(entry);
    }
}

/// All series of a file; the number of a series in the file is its index here plus one.
#[derive(Debug, Clone, Default)]
pub struct FileIndex {
    /// In the order of their first records.
    pub series: Vec<SeriesIndex>,
}

impl FileIndex {
    /// The series with the file's number `number`.
    pub fn get(&self, number: u32) -> Option<&SeriesIndex> {
        self.series.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// Returns the bytes that the batches of each series take in a file whose records end at `end`. Other records count for the batch before.
    pub fn bytes_by_series(&self, end: u64) -> Vec<u64> {
        let entries = self.series.iter().enumerate();
        let mut starts: Vec<(u64, usize)> = entries
            .flat_map(|(at, series)| series.entries.iter().map(move |entry| (entry.position, at)))
            .collect();
        starts.sort_unstable();
        let mut bytes = vec![0; self.series.len()];
        let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([end]);
        for ((start, at), end) in starts.iter().zip(ends) {
            bytes[*at] += end.saturating_sub(*start);
        }
        bytes
    }

    /// As [`FileIndex::get`], mutable.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut SeriesIndex> {
        self.series.get_mut(usize::try_from(number).ok()?.checked_sub(1)?)
    }
}

/// The result of reading a whole file.
#[derive(Debug, Default)]
pub struct ScannedFile {
    /// The index.
    pub index: FileIndex,
    /// Damaged bytes between valid records.
    pub damage: Vec<Range<u64>>,
    /// Valid records that cannot be used, such as those of a series whose own record is damaged.
    pub orphans: u64,
    /// End of the last valid record.
    pub end: u64,
    /// All bytes before this position were synced; later ones may be, too.
    pub synced: u64,
    /// Whether it ends with its index.
    pub is_sealed: bool,
    /// Start of its index, if it ends with it.
    pub index_position: u64,
}

impl ScannedFile {
    /// Returns where the first damage begins that a power cut may have left: it loses any of the bytes that were not synced.
    pub fn first_unsynced_damage(&self) -> Option<u64> {
        self.damage.iter().map(|damage| damage.start).find(|start| *start >= self.synced)
    }
}

/// Reads all of a file's bytes.
pub fn build(mut walk: Walk<'_>) -> ScannedFile {
    let mut found = ScannedFile::default();
    let mut types: HashMap<u32, Arc<ProbeType>> = HashMap::new();
    // A series with a damaged record leaves a gap in the numbers.
    let mut numbers: HashMap<u32, usize> = HashMap::new();
    let mut pace = Pace::every(SCAN_CHUNK_BYTES);
    for step in walk.by_ref() {
        let (position, head, payload) = match step {
            Step::Record { position, head, payload } => {
                pace.did(payload.len());
                (position, head, payload)
            }
            Step::Damage { from, to } => {
                found.damage.push(from..to);
                continue;
            }
        };
        if head.follows_sync {
            found.synced = position;
        }
        let series = numbers.get(&head.number).and_then(|&place| found.index.series.get_mut(place));
        let is_known = match head.kind {
            Kind::Type => serde_json::from_slice::<ProbeType>(payload)
                .ok()
                .filter(|probe_type| probe_type.validate().is_ok())
                .map(|probe_type| drop(types.insert(head.number, Arc::new(probe_type))))
                .is_some(),
            Kind::Series => {
                let record = serde_json::from_slice::<SeriesRecord>(payload).ok();
                let typed = record.and_then(|record| {
                    let probe_type = types.get(&record.type_number)?.clone();
                    Some(Arc::new(record.with_type(probe_type)))
                });
                typed.is_some_and(|series| {
                    numbers.insert(head.number, found.index.series.len());
                    found.index.series.push(SeriesIndex::new(series));
                    true
                })
            }
            Kind::Batch | Kind::Group => series
                .zip(entry(position, &head, payload))
                .map(|(series, entry)| series.push(entry))
                .is_some(),
            Kind::Gap => series.zip(Gap::parse(payload)).map(|(series, gap)| series.gaps.push(gap)).is_some(),
            Kind::Index => {
                found.index_position = position;
                true
            }
            Kind::Directory => true,
        };
        found.orphans += u64::from(!is_known);
    }
    (found.end, found.is_sealed) = (walk.end(), walk.is_sealed());
    found
}

/// Returns the index entry of a record of a batch or a group.
pub fn entry(position: u64, head: &Head, payload: &[u8]) -> Option<Entry> {
    let header = Header::parse(batch_in(head.kind, payload)?).ok()?;
    Some(Entry {
        position,
        first: Offset(header.offset),
        count: header.count,
        min_time: head.min_time,
        max_time: head.max_time,
        last_sequence: header.first_sequence.saturating_add(u64::from(header.count) - 1),
    })
}

/// Returns the batch in the payload of a record: of a group, all its samples.
pub fn batch_in(kind: Kind, payload: &[u8]) -> Option<&[u8]> {
    match kind {
        Kind::Batch => Some(payload),
        Kind::Group => payload.get(group::whole(payload)?),
        _ => None,
    }
}

const MILLISECOND: u64 = 1_000_000;

/// Encodes the entries as the payload of an index record. Gaps have their own records.
pub fn write(index: &FileIndex) -> Vec<u8> {
    let mut out = Vec::new();
    put(index.series.len() as u64, &mut out);
    for series in &index.series {
        put(series.entries.len() as u64, &mut out);
        let mut before =
            Entry { position: 0, first: Offset(0), count: 0, min_time: 0, max_time: 0, last_sequence: 0 };
        for entry in &series.entries {
            put(entry.position.wrapping_sub(before.position) / 8, &mut out);
            // Offsets and sequence numbers of a series only grow.
            put(entry.first.0.wrapping_sub(before.end().0), &mut out);
            put(u64::from(entry.count), &mut out);
            put(entry.last_sequence.wrapping_sub(before.last_sequence), &mut out);
            // Rounded outwards to milliseconds; samples have exact times.
            let (least, before_least) = (entry.min_time / MILLISECOND, before.min_time / MILLISECOND);
            put(zigzag(least.wrapping_sub(before_least)), &mut out);
            put((entry.max_time.div_ceil(MILLISECOND)).saturating_sub(least), &mut out);
            before = *entry;
        }
    }
    out
}

/// Decodes the entries of one series from the payload of an index record.
///
/// # Errors
/// If the bytes are invalid.
pub fn read(payload: &[u8], number: u32) -> Result<Vec<Entry>, Malformed> {
    let Some(mut mark) = Bookmark::first(payload, number)? else { return Ok(Vec::new()) };
    let mut read = Vec::new();
    while let Some(entry) = mark.next(payload)? {
        read.push(entry);
    }
    Ok(read)
}

/// Returns how many entries the payload of an index record has.
///
/// # Errors
/// If the bytes are invalid.
pub fn count(payload: &[u8]) -> Result<u64, Malformed> {
    let mut from = Reader::new(payload, 0);
    let mut all = 0_u64;
    for _ in 0..from.varint()? {
        let of_series = from.varint()?;
        all = all.saturating_add(of_series);
        for _ in 0..of_series.saturating_mul(6) {
            from.varint()?;
        }
    }
    Ok(all)
}

/// Decodes at most `most` entries of a series from an offset on. Continues from a bookmark, if there is one.
///
/// # Errors
/// If the bytes are invalid.
pub fn read_on(
    payload: &[u8],
    number: u32,
    (from, most): (Offset, usize),
    mark: &mut Option<Bookmark>,
) -> Result<Vec<Entry>, Malformed> {
    let start = match mark.take() {
        Some(mark) => Some(mark),
        None => Bookmark::first(payload, number)?,
    };
    let (Some(mut at), mut entries) = (start, Vec::new()) else { return Ok(Vec::new()) };
    while entries.len() < most
        && let Some(entry) = at.next(payload)?
    {
        if entry.end() > from {
            entries.push(entry);
        }
    }
    *mark = Some(at);
    Ok(entries)
}

/// A position among the entries of one series in the payload of an index record. Each entry is coded relative to the one before.
#[derive(Debug, Clone)]
pub struct Bookmark {
    at: usize,
    left: u64,
    before: Option<Entry>,
}

impl Bookmark {
    /// Returns the position of the first entry of a series; `None` if there is no such series.
    ///
    /// # Errors
    /// If the bytes are invalid.
    pub fn first(payload: &[u8], number: u32) -> Result<Option<Self>, Malformed> {
        let mut from = Reader::new(payload, 0);
        for at in 1..=from.varint()? {
            let left = from.varint()?;
            if at == u64::from(number) {
                return Ok(Some(Self { at: from.at(), left, before: None }));
            }
            for _ in 0..left.saturating_mul(6) {
                from.varint()?;
            }
        }
        Ok(None)
    }

    /// Returns the next entry; `None` after the last one.
    ///
    /// # Errors
    /// If the bytes are invalid.
    pub fn next(&mut self, payload: &[u8]) -> Result<Option<Entry>, Malformed> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut from = Reader::new(payload, self.at);
        let entry = read_entry(self.before.as_ref(), &mut from)?;
        *self = Self { at: from.at(), left: self.left - 1, before: Some(entry) };
        Ok(Some(entry))
    }
}

fn read_entry(before: Option<&Entry>, from: &mut Reader<'_>) -> Result<Entry, Malformed> {
    let at = from.at();
    let position = before.map_or(0, |before| before.position).wrapping_add(from.varint()?.wrapping_mul(8));
    let first = Offset(before.map_or(0, |before| before.end().0).wrapping_add(from.varint()?));
    let count = u16::try_from(from.varint()?).map_err(|_| Malformed::Range { at })?;
    let last_sequence = before.map_or(0, |before| before.last_sequence).wrapping_add(from.varint()?);
    let before_least = before.map_or(0, |before| before.min_time / MILLISECOND);
    let least = before_least.wrapping_add(unzigzag(from.varint()?));
    let greatest = least.wrapping_add(from.varint()?);
    Ok(Entry {
        position,
        first,
        count,
        min_time: least.wrapping_mul(MILLISECOND),
        max_time: greatest.wrapping_mul(MILLISECOND),
        last_sequence,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::{probe_kind::ProbeKind, quantity::Epoch};
    use proptest::prelude::*;
    use uuid::Uuid;

    fn series() -> Arc<Series> {
        let probe_type = serde_json::from_str(
            r#"{"name": "T", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11",
            "version": "1.0", "metrics": []}"#,
        );
        Arc::new(Series {
            node: "n".into(),
            instance: "i".into(),
            kind: ProbeKind::Pushed,
            run: Uuid::nil(),
            epoch: Epoch(1),
            probe_type: Arc::new(probe_type.unwrap()),
        })
    }

    /// Batches of ten samples each, at whole milliseconds.
    fn entries(batches: u64) -> impl Iterator<Item = Entry> {
        (0..batches).map(|batch| Entry {
            position: 64 + 128 * batch,
            first: Offset(batch * 10),
            count: 10,
            min_time: batch * 1_000_000,
            max_time: batch * 1_000_000,
            last_sequence: batch * 10 + 10,
        })
    }

    proptest! {
        #[test]
        fn an_index_reads_back_with_times_to_the_millisecond(
            all in proptest::collection::vec(
                proptest::collection::vec((1_u64..1000, 0_u64..5, 1_u16.., 0_u64..1 << 62, 0_u64..1 << 40), 0..20), 0..5),
        ) {
            let mut index = FileIndex::default();
            for steps in &all {
                let (mut position, mut end, mut sequence) = (64, 0, 0);
                let entries = steps.iter().map(|&(size, skipped, count, min_time, lasts)| {
                    position += size * 8;
                    let first = Offset(end + skipped);
                    end = first.0 + u64::from(count);
                    sequence += u64::from(count);
                    Entry { position, first, count, min_time, max_time: min_time + lasts, last_sequence: sequence }
                });
                index.series.push(SeriesIndex::new(series()));
                entries.for_each(|entry| index.get_mut(index.series.len() as u32).unwrap().push(entry));
            }
            let bytes = write(&index);
            for (number, written) in (1..).zip(&index.series) {
                let read = read(&bytes, number).unwrap();
                prop_assert_eq!(read.len(), written.entries.len());
                for (read, written) in read.iter().zip(&written.entries) {
                    prop_assert!(read.min_time <= written.min_time && written.min_time - read.min_time < MILLISECOND);
                    prop_assert!(read.max_time >= written.max_time && read.max_time - written.max_time < MILLISECOND);
                    let times = (written.min_time, written.max_time);
                    prop_assert_eq!(Entry { min_time: times.0, max_time: times.1, ..*read }, *written);
                }
            }
        }

        #[test]
        fn a_reader_with_a_bookmark_gets_each_batch_once(
            batches in 0_u64..40, most in 1_usize..9, skips in proptest::collection::vec(0_u64..25, 1..8),
        ) {
            let mut index = FileIndex::default();
            for batches in [3, batches] {
                index.series.push(SeriesIndex::new(series()));
                entries(batches).for_each(|entry| index.get_mut(index.series.len() as u32).unwrap().push(entry));
            }
            let payload = write(&index);
            let (mut mark, mut from) = (None, 0);
            for skip in skips.iter().cycle().take(60) {
                let read = read_on(&payload, 2, (Offset(from), most), &mut mark).unwrap();
                let all: Vec<_> = entries(batches).collect();
                let wanted: Vec<_> = all.into_iter().filter(|entry| entry.end().0 > from).take(most).collect();
                prop_assert_eq!(&read, &wanted);
                from = read.last().map_or(from, |entry| entry.end().0) + skip;
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>, number in 0_u32..4) {
            let _ = read(&bytes, number);
        }
    }
}
