//! Batches of a segment file that are intact and that readers refuse.

use super::{Damage, Lost, finding};
use crate::{
    index::{Entry, FileIndex, SeriesIndex},
    record::{self, RECORD_HEADER},
};
use oasis_wire::batch::{Batch, BatchError};
use std::path::Path;

/// Decodes all batches of a file. Returns what each series loses by batches that cannot be decoded.
pub fn batches(path: &Path, bytes: &[u8], index: &FileIndex) -> Vec<Damage> {
    index.series.iter().filter_map(|series| of_series(path, bytes, series)).collect()
}

fn of_series(path: &Path, bytes: &[u8], series: &SeriesIndex) -> Option<Damage> {
    let error = |entry: &Entry| decode(bytes, series, entry).err().map(|error| (*entry, error));
    let refused: Vec<_> = series.entries.iter().filter_map(error).collect();
    let (first, error) = refused.first()?;
    let last = refused.last().map_or(first, |(entry, _)| entry);
    let samples = refused.iter().map(|(entry, _)| u64::from(entry.count)).sum();
    let times = refused.iter().map(|(entry, _)| (entry.min_time, entry.max_time));
    let times = times.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap_or_default();
    let detail = format!("batches that readers refuse: {}, the first one because: {error}", refused.len());
    let lost =
        Lost { node: series.series.node.clone(), instance: series.series.instance.clone(), samples, times };
    Some(Damage { finding: finding(path, first.position..record_end(bytes, last), detail), lost: vec![lost] })
}

fn decode(bytes: &[u8], series: &SeriesIndex, entry: &Entry) -> Result<(), BatchError> {
    let payload = usize::try_from(entry.position).unwrap_or(usize::MAX).saturating_add(RECORD_HEADER);
    let end = payload.saturating_add(length(bytes, entry));
    Batch::parse(bytes.get(payload..end).unwrap_or_default(), &series.series.probe_type).map(drop)
}

fn record_end(bytes: &[u8], entry: &Entry) -> u64 {
    entry.position.saturating_add(record::size_of(length(bytes, entry)) as u64)
}

/// Length of the payload of a record, which was valid when the file was scanned.
fn length(bytes: &[u8], entry: &Entry) -> usize {
    let record = usize::try_from(entry.position).ok().and_then(|at| bytes.get(at..));
    record.and_then(record::length_at).unwrap_or_default()
}
