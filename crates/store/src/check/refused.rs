//! Batches of a segment file that are intact and that readers refuse.

use super::{Damage, Lost, finding};
use crate::{
    group::{BadGroup, StoredBatch},
    index::{Entry, FileIndex, SeriesIndex, batch_in},
    record::{self, Kind},
    rolling::record_at,
};
use bytes::Bytes;
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

fn decode(bytes: &[u8], series: &SeriesIndex, entry: &Entry) -> Result<(), BatchRefusal> {
    let probe_type = &series.series.probe_type;
    let (kind, payload) = record_at(bytes, entry).unwrap_or((Kind::Batch, &[]));
    Batch::parse(batch_in(kind, payload).unwrap_or_default(), probe_type)?;
    match StoredBatch::of_group(Bytes::copy_from_slice(payload)).filter(|_| kind == Kind::Group) {
        Some(group) => Ok(group.arrived(probe_type).map(drop)?),
        None => Ok(()),
    }
}

/// Why a batch is refused.
#[derive(Debug, thiserror::Error)]
enum BatchRefusal {
    #[error(transparent)]
    Batch(#[from] BatchError),
    #[error(transparent)]
    Group(#[from] BadGroup),
}

fn record_end(bytes: &[u8], entry: &Entry) -> u64 {
    entry.position.saturating_add(record::size_of(
        record_at(bytes, entry).map_or(0, |(_, payload)| payload.len()),
    ) as u64)
}
