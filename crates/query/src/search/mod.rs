//! Finds records by level, text and field, newest or oldest first, over all stored samples and the newest ones of topic logs.
//!
//! A sealed segment file has a [word index](oasis_store::words), which rules out most batches for a rare word. A batch holds the texts of its samples as they
//! are, so that one scan of its bytes says whether a word can be in it, and only batches that pass are decoded. Batches are taken in the order of their times over all instances, so that a search ends with the first page.

mod cursor;
mod matcher;
mod shares;
mod wanted;

pub use cursor::{Cursor, CursorError};
pub use matcher::{has_records, levels_of};
pub use wanted::{Order, SearchError, SearchQuery};

use cursor::Key;
use matcher::Matcher;
use oasis_history::Log;
use oasis_store::{History, ReadError, Series};
use oasis_wire::{
    batch::{Batch, Sample},
    schema::ProbeType,
    value::Value,
};
use shares::{NextBatch, Shares};
use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Bytes of batches that one search reads at most.
pub const MOST_BYTES: u64 = 1024 * 1024 * 1024;

/// Bytes of the values of a page; a page has one record at least.
const MOST_PAGE_BYTES: usize = 4 * 1024 * 1024;

/// An instance to search, and its topic log if it has one.
pub struct Searched {
    /// The name of its node.
    pub node: String,
    /// Its name.
    pub instance: String,
    /// Samples that the archive may not have yet.
    pub log: Option<Arc<dyn Log>>,
}

/// A record that was found.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its node, instance, run and type.
    pub series: Arc<Series>,
    /// The state of its probe.
    pub state: u16,
    /// Its sequence number, time and values.
    pub sample: Sample,
}

impl Record {
    /// Memory of its values, about.
    fn bytes(&self) -> usize {
        self.sample.values.iter().map(bytes_of).sum()
    }
}

fn bytes_of(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::String(text) => text.len(),
            Value::Blob(bytes) => bytes.len(),
            Value::Vector(values) | Value::Struct(values) => values.iter().map(bytes_of).sum(),
            _ => 0,
        }
}

/// A page of records.
#[derive(Debug, Default)]
pub struct FoundRecords {
    /// In the wanted order.
    pub records: Vec<Record>,
    /// Samples whose batches were examined, or ruled out by an index.
    pub searched: u64,
    /// Batches that are damaged, or could not be read.
    pub unreadable: u64,
    /// Beginning of the next page; none at the end. With fewer records than wanted the search ended at its bound of bytes.
    pub next: Option<Cursor>,
    /// Time up to which it has searched, in nanoseconds since 1970 on the nodes' clocks; none if it has searched everything.
    pub reached: Option<u64>,
}

/// Searches until a page is full, `most_bytes` were read, or `has_left`. Without an archive it searches topic logs alone. Reads files: do not call it on a
/// thread that must not block.
///
/// # Errors
/// If the archive cannot be read.
pub fn search(
    archive: Option<&History>,
    instances: &[Searched],
    wanted: &SearchQuery,
    most_bytes: u64,
    has_left: &AtomicBool,
) -> Result<FoundRecords, ReadError> {
    let mut page = Page::new(wanted);
    let mut shares = Shares::new(archive, instances, wanted, |of| page.matcher(of).map(Matcher::contents))?;
    let begin = shares.next_time();
    let mut bytes = 0;
    while let Some(time) = shares.next_time() {
        let is_over = bytes >= most_bytes && Some(time) != begin || has_left.load(Ordering::Relaxed);
        if is_over || page.is_full_before(time) {
            page.found.reached = Some(time);
            break;
        }
        match shares.take()? {
            NextBatch::Batch(series, batch, rows) => {
                bytes += batch.len() as u64;
                page.examine(&series, &batch, rows);
            }
            NextBatch::Unreadable(batches) => page.found.unreadable += batches,
            NextBatch::Nothing => {}
        }
    }
    page.found.searched += shares.ruled_out;
    Ok(page.finish())
}

/// Records found so far.
struct Page<'a> {
    wanted: &'a SearchQuery,
    /// In the wanted order, at most `most`.
    records: BTreeMap<Key, Record>,
    /// Fewer than wanted if these are large.
    most: usize,
    /// Bytes of their values.
    bytes: usize,
    matchers: HashMap<*const ProbeType, (Arc<ProbeType>, Option<Matcher>)>,
    found: FoundRecords,
    /// Whether records had no room.
    has_more: bool,
}

impl<'a> Page<'a> {
    fn new(wanted: &'a SearchQuery) -> Self {
        let (records, matchers, found) = (BTreeMap::new(), HashMap::new(), FoundRecords::default());
        Self { wanted, records, most: wanted.most, bytes: 0, matchers, found, has_more: false }
    }

    /// None if no record of the type can be found.
    fn matcher(&mut self, of: &Arc<ProbeType>) -> Option<&Matcher> {
        let wanted = self.wanted;
        let known = self.matchers.entry(Arc::as_ptr(of));
        // The type is kept, so that no other one gets its address.
        let (_, matcher) = known.or_insert_with(|| (of.clone(), Matcher::new(of, wanted)));
        matcher.as_ref()
    }

    /// Whether records of this time and beyond cannot be on the page.
    fn is_full_before(&self, time: u64) -> bool {
        let last = self.records.last_key_value().filter(|_| self.records.len() >= self.most);
        last.is_some_and(|(key, _)| self.wanted.order.is_before(key.time, time))
    }

    fn examine(&mut self, series: &Arc<Series>, bytes: &[u8], rows: Range<usize>) {
        self.found.searched += rows.len() as u64;
        let wanted = self.wanted;
        let Some(matcher) = self.matcher(&series.probe_type).filter(|matcher| matcher.may_match(bytes))
        else {
            return;
        };
        let Ok(batch) = Batch::parse(bytes, &series.probe_type) else {
            self.found.unreadable += 1;
            return;
        };
        let first = batch.header().first_sequence;
        let timed = rows.filter_map(|row| Some((row, *batch.times().get(row)?)));
        let keyed = timed
            .filter(|(_, time)| wanted.times.contains(time))
            .map(|(row, time)| (row, Key::new(wanted.order, series, time, first.wrapping_add(row as u64))));
        let new = keyed.filter(|(_, key)| wanted.is_after_cursor(key));
        let samples = new.filter_map(|(row, key)| Some((key, batch.get(row)?)));
        let matching: Vec<_> = samples.filter(|(_, sample)| matcher.matches(&sample.values)).collect();
        for (key, sample) in matching {
            self.add(key, Record { series: series.clone(), state: batch.header().state, sample });
        }
    }

    fn add(&mut self, key: Key, record: Record) {
        self.bytes += record.bytes();
        self.records.insert(key, record);
        while self.records.len() > self.most || (self.bytes > MOST_PAGE_BYTES && self.records.len() > 1) {
            let Some((_, last)) = self.records.pop_last() else { break };
            self.bytes = self.bytes.saturating_sub(last.bytes());
            self.most = self.most.min(self.records.len()).max(1);
            self.has_more = true;
        }
    }

    /// Records beyond the time that was reached may not be all: the next page finds them.
    fn finish(self) -> FoundRecords {
        let Self { wanted, mut records, most, mut found, has_more, .. } = self;
        if let Some(reached) = found.reached {
            records.retain(|key, _| wanted.order.is_before(key.time, reached));
        }
        let is_full = records.len() >= most;
        let last = records.last_key_value().map(|(key, _)| key.cursor());
        found.next = match found.reached {
            Some(reached) if !is_full => Some(Cursor::at(reached)),
            Some(_) => last,
            None => last.filter(|_| has_more),
        };
        found.records = records.into_values().collect();
        found
    }
}

#[cfg(test)]
mod tests;
