//! Makes roll-ups: of a sealed segment file's samples, and of other roll-ups.

use super::{
    file::{Draft, Place, RolledSeries, RollupFile},
    level::Level,
    schema,
};
use crate::{
    index::{self, Entry, Found, SeriesIndex},
    points::{Arrival, Cells, Points, Reach, join_gaps},
    record::{self, FileHeader, RECORD_HEADER},
    series::Series,
    walk::Walk,
};
use oasis_wire::{
    batch::{Encoder, Fields, stamp},
    quantity::{Nanos, Offset},
    schema::ProbeType,
    value,
};
use std::{collections::BTreeMap, fs, io, path::Path, sync::Arc};

/// Cells in a batch, at most.
const CELLS: usize = 4_096;
/// Gaps of an instance in a file; beyond that neighbours become one.
const GAPS: usize = 1_024;
/// Values in a batch, about, at most.
const VALUES: usize = 256 * 1_024;

/// A sealed file to make roll-ups of.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its number.
    pub number: u64,
    /// Where it lies.
    pub path: &'a Path,
    /// When it was sealed.
    pub sealed: Nanos,
}

/// Makes drafts of these levels. `before` says how far the samples of an instance go before the file.
///
/// # Errors
/// If the file cannot be read.
pub fn of_segment(
    source: Source<'_>,
    levels: &[Level],
    before: impl Fn(&Series) -> Option<Reach>,
) -> io::Result<Vec<Draft>> {
    let bytes = fs::read(source.path)?;
    let header = FileHeader::parse(&bytes).map_err(io::Error::other)?;
    let found: Found = index::build(Walk::new(&bytes, &header));
    let of_level = |level: &Level| Draft::new(*level, vec![source.number], source.sealed.0);
    let mut drafts: Vec<_> = levels.iter().map(of_level).collect();
    for series in &found.index.series {
        if series.entries.is_empty() {
            continue;
        }
        let known = drafts.first().and_then(|draft| {
            let same = |one: &&RolledSeries| {
                *one.node == *series.series.node && *one.instance == *series.series.instance
            };
            draft.directory.series.iter().rfind(same).map(|one| one.reach)
        });
        let before = known.or_else(|| before(&series.series));
        let (cells, mut points) = gather(&bytes, series, before);
        let Some(reach) = points.reach() else { continue };
        join_gaps(&mut points.gaps, GAPS);
        let probe_type = &series.series.probe_type;
        let mut cells = cells;
        for draft in &mut drafts {
            cells = cells.coarser(draft.directory.level.width());
            let cell_type = Arc::new(schema::rolled(probe_type, cells.leaves(), draft.directory.level));
            let type_at = draft.type_at(&cell_type);
            let batches = put_cells(draft, &cell_type, &cells);
            draft.directory.series.push(RolledSeries {
                node: series.series.node.clone(),
                instance: series.series.instance.clone(),
                type_at,
                first_segment: source.number,
                reach,
                gaps: points.gaps.clone(),
                batches,
            });
        }
    }
    Ok(drafts)
}

/// All of a series' samples by the second, and what is missing.
fn gather(bytes: &[u8], series: &SeriesIndex, before: Option<Reach>) -> (Cells, Points) {
    let mut points = Points::rolling(Level::Second.width(), before);
    for entry in &series.entries {
        let batch = batch_at(bytes, entry);
        let known = |at: Offset| series.gaps.iter().find(|gap| gap.from <= at && at < gap.to);
        let why = |at| known(at).map_or("archive_behind", |gap| gap.cause.word());
        points.add(&Arrival::of(&series.series, entry), batch, why);
    }
    (std::mem::replace(&mut points.cells, Cells::new(1, 0..0)), points)
}

fn batch_at<'a>(bytes: &'a [u8], entry: &Entry) -> Option<&'a [u8]> {
    // The walk has checked it.
    let at = usize::try_from(entry.position).ok()?;
    let length = record::length_at(bytes.get(at..)?)?;
    bytes.get(at + RECORD_HEADER..at + RECORD_HEADER + length)
}

fn put_cells(draft: &mut Draft, cell_type: &ProbeType, cells: &Cells) -> Vec<Place> {
    let mut places = Vec::new();
    let Ok(mut encoder) = Encoder::new(cell_type) else { return places };
    let most = (VALUES / cell_type.metrics.len().max(1)).clamp(1, CELLS);
    let (mut row, mut count, mut total) = (Vec::new(), 0, 0);
    let mut times: (u64, u64) = (u64::MAX, 0);
    let all = cells.cells().len();
    for (index, (_, cell)) in cells.cells().enumerate() {
        let values = schema::values(cell, cells.leaves());
        value::write_row(cell_type, &values, &mut row);
        if encoder.push(cell.last_time, &row).is_err() {
            continue;
        }
        count += 1;
        times = (times.0.min(cell.last_time), times.1.max(cell.last_time));
        if count == most || index + 1 == all {
            let mut batch = Vec::new();
            encoder.finish(Fields { first_sequence: total + 1, ..Fields::default() }, &mut batch);
            stamp(&mut batch, total, 0);
            places.push(draft.put(&batch, times));
            total += count as u64;
            (count, times) = (0, (u64::MAX, 0));
        }
    }
    places
}

/// Makes one file of several of one level, oldest first.
pub fn of_rollups(files: &[Arc<RollupFile>], level: Level) -> Draft {
    let mut segments: Vec<u64> =
        files.iter().flat_map(|file| file.directory.segments.iter().copied()).collect();
    segments.sort_unstable();
    let sealed = files.iter().map(|file| file.directory.sealed).max().unwrap_or_default();
    let mut draft = Draft::new(level, segments, sealed);
    for ((node, instance, cell_type), parts) in by_instance(files) {
        let type_at = draft.type_at(&cell_type);
        let mut cells = Cells::new(level.width(), 0..u64::MAX);
        let mut gaps = Vec::new();
        let (mut first_segment, mut reach) = (u64::MAX, None);
        for (file, series) in parts {
            let (_, plan) = file.plan(series);
            for place in &series.batches {
                // What is damaged was told, and cannot be made again.
                if let Some(batch) = file.batch(place) {
                    let _ = cells.add_rolled(plan, &cell_type, &batch);
                }
            }
            gaps.extend(series.gaps.iter().cloned());
            first_segment = first_segment.min(series.first_segment);
            reach = Some(series.reach);
        }
        join_gaps(&mut gaps, GAPS);
        let batches = put_cells(&mut draft, &cell_type, &cells);
        let Some(reach) = reach else { continue };
        let series = RolledSeries { node, instance, type_at, first_segment, reach, gaps, batches };
        draft.directory.series.push(series);
    }
    draft
}

type Key = (Arc<str>, Arc<str>, Arc<ProbeType>);

/// In the order in which they first came.
fn by_instance(files: &[Arc<RollupFile>]) -> Vec<(Key, Vec<(&RollupFile, &RolledSeries)>)> {
    let mut all: Vec<(Key, Vec<(&RollupFile, &RolledSeries)>)> = Vec::new();
    let mut known: BTreeMap<(Arc<str>, Arc<str>), Vec<usize>> = BTreeMap::new();
    for file in files {
        for series in &file.directory.series {
            let (cell_type, _) = file.plan(series);
            let places = known.entry((series.node.clone(), series.instance.clone())).or_default();
            let same = places.iter().copied().find(|&place| all[place].0.2 == *cell_type);
            let place = same.unwrap_or_else(|| {
                places.push(all.len());
                all.push(((series.node.clone(), series.instance.clone(), cell_type.clone()), Vec::new()));
                all.len() - 1
            });
            all[place].1.push((file, series));
        }
    }
    all
}
