//! Makes roll-ups from the samples of a sealed segment file, and from other roll-ups.

use crate::{
    index::{self, Entry, ScannedFile, SeriesIndex},
    pace::Pace,
    record::{self, FileHeader, Kind, RECORD_HEADER},
    recovery::Finding,
    rolling::batches::CellBatches,
    rollups::file::{BadCells, CellBatchLocation, Draft, RolledSeries, RollupFile},
    series::Series,
    store::{ReadError, Store},
    walk::Walk,
};
use oasis_rollup::{
    cells::{Cells, Level, schema},
    points::{Points, Reach, Share, join_gaps},
};
use oasis_wire::{
    batch::Batch,
    loss::Cause,
    quantity::{Nanos, Offset},
    schema::ProbeType,
};
use std::{
    collections::BTreeMap,
    fs, io,
    path::Path,
    sync::{Arc, PoisonError},
    thread,
};

/// Most values of cells in memory; beyond that cells are written, and the rest of a cell becomes another one.
const MAX_VALUES_IN_MEMORY: usize = 200_000;
/// Values of cells on a level, for each byte that the samples of an instance have in a file. Beyond that its cells become wider: 10 kB can have
/// 4,000,000 values at 60,000 times, an hour apart.
const MAX_VALUES_PER_BYTE: usize = 8;
/// Values of cells on a level of a file, for all instances with few bytes together.
const MIN_VALUES: usize = 400_000;
/// Factor of the width of cells at each step.
const WIDENING_FACTOR: u64 = 4;
/// Samples or values of cells that are processed before the thread yields.
const YIELD_INTERVAL_VALUES: usize = 4_096;
/// Most gaps of an instance in a file; beyond that neighbors are merged.
const MAX_GAPS: usize = 1_024;

/// A sealed file to make roll-ups of.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its number.
    pub number: u64,
    /// Its path.
    pub path: &'a Path,
    /// When it was sealed.
    pub sealed: Nanos,
}

/// Makes drafts of these levels, from cached points of the file's series if there are any.
///
/// # Errors
/// If file or catalogue cannot be read.
pub fn of_segment(source: Source<'_>, levels: &[Level], store: &Store) -> Result<Vec<Draft>, ReadError> {
    let bytes = fs::read(source.path)?;
    let header = FileHeader::parse(&bytes).map_err(io::Error::other)?;
    let found: ScannedFile = index::build(Walk::new(&bytes, &header));
    let of_level = |level: &Level| Draft::new(*level, vec![source.number], source.sealed.0);
    let mut drafts: Vec<_> = levels.iter().map(of_level).collect();
    let least = MIN_VALUES / found.index.series.len().max(1);
    for (number, series) in (1..).zip(&found.index.series) {
        if series.entries.is_empty() {
            continue;
        }
        let mut parts = vec![Part::default(); drafts.len()];
        let probe_type = &series.series.probe_type;
        let recent = store.recent.get((source.number, number));
        let mut points = match recent.and_then(|share| all_of(&share, series)) {
            Some(points) => points,
            None => {
                let same = |one: &&RolledSeries| {
                    *one.node == *series.series.node && *one.instance == *series.series.instance
                };
                let earlier = drafts.first().and_then(|draft| draft.directory.series.iter().rfind(same));
                let before = earlier.map(|one| one.reach);
                let before = before.or_else(|| store.reach_before(&series.series, source.number));
                let put = |cells| put_levels(&mut drafts, &mut parts, probe_type, cells);
                let budget = Budget::of(&bytes, series, least);
                let points = gather(&bytes, series, before, store, budget, put);
                if points.cells.step() > Level::Second.width() {
                    note_wider(source.path, &series.series);
                    store.counters.lock().rollup_widened += 1;
                }
                points
            }
        };
        let Some(reach) = points.reach() else { continue };
        put_levels(&mut drafts, &mut parts, probe_type, points.cells.take());
        // While the causes are known: they are evicted with the samples.
        store.explain(&series.series.node, &series.series.instance, &mut points)?;
        join_gaps(&mut points.gaps, MAX_GAPS);
        for (draft, part) in drafts.iter_mut().zip(parts) {
            draft.directory.series.push(RolledSeries {
                node: series.series.node.clone(),
                instance: series.series.instance.clone(),
                type_at: part.type_at,
                first_segment: source.number,
                reach,
                gaps: points.gaps.clone(),
                batches: part.batches,
            });
        }
    }
    Ok(drafts)
}

/// Returns the cached points of a series if they are complete.
fn all_of(share: &Share, series: &SeriesIndex) -> Option<Points> {
    let points = share.lock().unwrap_or_else(PoisonError::into_inner);
    let end = series.entries.last()?.end();
    points.reach().filter(|reach| reach.epoch == series.series.epoch && reach.offset == end)?;
    (points.cells.step() == Level::Second.width()).then(|| points.clone())
}

/// Aggregates all samples of a series by the second; `put` receives cells when there are too many. Beyond the budget the rest has wider cells.
fn gather(
    bytes: &[u8],
    series: &SeriesIndex,
    before: Option<Reach>,
    store: &Store,
    mut budget: Budget,
    mut put: impl FnMut(Cells),
) -> Points {
    let mut points = Points::rolling(before);
    let first = series.entries.first().map_or(Offset(0), |entry| entry.first);
    let mut pace = Pace::every(YIELD_INTERVAL_VALUES);
    for entry in &series.entries {
        let batch = batch_at(bytes, entry).ok_or(Cause::Damaged);
        let why = |at| store.why_not_stored(&series.series, at, first);
        let arrival = entry.arrival(&series.series);
        points.add_with(&arrival, batch, why, &mut |cells| budget.make_room(cells, &mut put));
        pace.did(entry.count.into());
    }
    budget.make_room(&mut points.cells, &mut put);
    points
}

/// Values that the cells of a series may still have on each level.
#[derive(Debug)]
struct Budget(usize);

impl Budget {
    /// The budget of a series, at least this.
    fn of(bytes: &[u8], series: &SeriesIndex, least: usize) -> Self {
        let length = |entry: &Entry| record_at(bytes, entry).map_or(0, |(_, payload)| payload.len());
        let bytes: usize = series.entries.iter().map(length).sum();
        Self(bytes.saturating_mul(MAX_VALUES_PER_BYTE).max(least))
    }

    /// Writes cells while the budget has more than there can be in memory, then widens them instead.
    fn make_room(&mut self, cells: &mut Cells, put: &mut impl FnMut(Cells)) {
        if self.0 > 2 * MAX_VALUES_IN_MEMORY {
            if cells.size() > MAX_VALUES_IN_MEMORY {
                self.0 = self.0.saturating_sub(cells.size());
                put(cells.take());
            }
            return;
        }
        while cells.size() > self.0 && cells.cells().len() > 1 {
            cells.widen(cells.step().saturating_mul(WIDENING_FACTOR));
        }
    }
}

fn note_wider(path: &Path, series: &Series) {
    let (node, instance) = (&*series.node, &*series.instance);
    tracing::warn!(file = %path.display(), node, instance, "samples have too many different times for their bytes: some cells of their roll-ups are wider than a second");
}

/// The part of a series in a draft.
#[derive(Debug, Clone, Default)]
struct Part {
    type_at: usize,
    batches: Vec<CellBatchLocation>,
}

/// Puts cells of a second, or of more, into drafts of any level, finest first.
fn put_levels(drafts: &mut [Draft], parts: &mut [Part], probe_type: &ProbeType, mut cells: Cells) {
    for (draft, part) in drafts.iter_mut().zip(parts) {
        cells.widen(draft.directory.level.width().max(cells.step()));
        let cell_type =
            Arc::new(schema::rolled(probe_type, schema::fitting(cells.leaves()), draft.directory.level));
        part.type_at = draft.type_at(&cell_type);
        part.batches.extend(put_cells(draft, &cell_type, &cells));
    }
}

/// Returns the bytes of a batch in a file's bytes: of a group, all its samples.
pub fn batch_at<'a>(bytes: &'a [u8], entry: &Entry) -> Option<&'a [u8]> {
    let (kind, payload) = record_at(bytes, entry)?;
    index::batch_in(kind, payload)
}

/// Returns the kind and the payload of a listed record in a file's bytes.
pub fn record_at<'a>(bytes: &'a [u8], entry: &Entry) -> Option<(Kind, &'a [u8])> {
    // Already checked by the walk.
    let at = usize::try_from(entry.position).ok()?;
    let (kind, length) = record::kind_and_length_at(bytes.get(at..)?)?;
    Some((kind, bytes.get(at + RECORD_HEADER..at + RECORD_HEADER + length)?))
}

fn put_cells(draft: &mut Draft, cell_type: &ProbeType, cells: &Cells) -> Vec<CellBatchLocation> {
    let Ok(mut batches) = CellBatches::new(draft, cell_type) else { return Vec::new() };
    let leaves = schema::fitting(cells.leaves());
    let mut pace = Pace::every(YIELD_INTERVAL_VALUES);
    for (_, cell) in cells.cells() {
        batches.push(cell, leaves);
        pace.did(cell_type.metrics.len());
    }
    batches.finish()
}

/// Makes one file of several of one level, oldest first.
///
/// # Errors
/// If one of them is damaged: the damage would not be visible in the new file.
pub fn of_rollups(files: &[Arc<RollupFile>], level: Level) -> Result<Draft, Finding> {
    combined(files, level, RollupFile::cells)
}

/// Makes a file again from its own cells, in batches that readers accept: the samples may have been evicted.
///
/// # Errors
/// If it is damaged.
pub fn again(file: &Arc<RollupFile>) -> Result<Draft, Finding> {
    combined(std::slice::from_ref(file), file.directory.level, RollupFile::oversized_cells)
}

fn combined(files: &[Arc<RollupFile>], level: Level, read: ReadCells) -> Result<Draft, Finding> {
    let mut segments: Vec<u64> =
        files.iter().flat_map(|file| file.directory.segments.iter().copied()).collect();
    segments.sort_unstable();
    let sealed = files.iter().map(|file| file.directory.sealed).max().unwrap_or_default();
    let mut draft = Draft::new(level, segments, sealed);
    for ((node, instance, cell_type), parts) in by_instance(files) {
        let type_at = draft.type_at(&cell_type);
        let mut cells = Cells::new(level.width(), 0..u64::MAX);
        let (mut gaps, mut batches) = (Vec::new(), Vec::new());
        let (mut first_segment, mut reach) = (u64::MAX, None);
        for (file, series) in parts {
            let (_, plan) = file.plan(series);
            for place in &series.batches {
                let batch = read(file, series, place).map_err(|bad| file.note_damage(place, &bad))?;
                cells.add_rolled(plan, &cell_type, &batch);
                // A batch is one piece of work.
                thread::yield_now();
                if cells.size() > MAX_VALUES_IN_MEMORY {
                    batches.extend(put_cells(&mut draft, &cell_type, &cells.take()));
                }
            }
            gaps.extend(series.gaps.iter().cloned());
            first_segment = first_segment.min(series.first_segment);
            reach = Some(series.reach);
        }
        join_gaps(&mut gaps, MAX_GAPS);
        batches.extend(put_cells(&mut draft, &cell_type, &cells));
        let Some(reach) = reach else { continue };
        let series = RolledSeries { node, instance, type_at, first_segment, reach, gaps, batches };
        draft.directory.series.push(series);
    }
    Ok(draft)
}

/// Reads the cells of a batch.
type ReadCells = fn(&RollupFile, &RolledSeries, &CellBatchLocation) -> Result<Batch, BadCells>;

type Key = (Arc<str>, Arc<str>, Arc<ProbeType>);

/// In the order of their first occurrence.
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
