//! An instance's past in a bounded number of points: from roll-ups where they are fine enough or all that is left, from samples elsewhere.

pub use oasis_rollup::points::{Missing, Points, Span};

use oasis_rollup::{
    cells::Level,
    points::{Key, Share},
};
use oasis_store::{
    History, ReadError,
    catalogue::{ExpiredSamples, Extent},
    rollups::{RolledSeries, RollupFile},
    store::Store,
};
use oasis_wire::loss::Cause;
use std::sync::{Arc, PoisonError};

/// The samples of an instance in one file: as stored, or rolled up.
enum Part {
    Raw(Extent),
    Rolled(Arc<RollupFile>, usize),
}

impl Part {
    /// Number of the first segment file that it stands for.
    fn first_segment(&self) -> u64 {
        match self {
            Self::Raw(extent) => extent.segment,
            Self::Rolled(file, at) => file.directory.series[*at].first_segment,
        }
    }

    /// About from when to when its samples are.
    fn times(&self) -> (u64, u64) {
        match self {
            Self::Raw(extent) => (extent.min_time, extent.max_time),
            Self::Rolled(file, at) => {
                let batches = &file.directory.series[*at].batches;
                let least = batches.iter().map(|place| place.min_time).min().unwrap_or_default();
                (least, batches.iter().map(|place| place.max_time).max().unwrap_or_default())
            }
        }
    }
}

/// An instance's past as this many points.
///
/// # Errors
/// If catalogue or files cannot be read.
pub fn points(history: &History, node: &str, instance: &str, span: Span) -> Result<Points, ReadError> {
    let store = &*history.0;
    // In this order, because samples are evicted only after their roll-ups are made.
    let extents = store.extents(node, instance, 0)?;
    let levels = [Level::Raw, Level::Second, Level::Minute, Level::Hour];
    let shares = levels.map(|level| (level, shares(store, &extents, node, instance, level)));
    let level = choose(&shares, span);
    let mut points = Points::new(span, level);
    let shares = shares.into_iter().find(|(of, _)| *of == level).map(|(_, shares)| shares);
    let shares = shares.unwrap_or_default();
    if let Some(expired) = store.expired(node, instance)? {
        miss_expired(&expired, &shares, &mut points);
    }
    for share in shares {
        match share {
            Part::Raw(extent) => add_share(store, &extent, &mut points)?,
            Part::Rolled(file, at) => add_rolled(store, &file, &file.directory.series[at], &mut points),
        }
    }
    store.explain(node, instance, &mut points)?;
    Ok(points)
}

/// Reports what retention has evicted before the first samples and roll-ups of a level.
fn miss_expired(expired: &ExpiredSamples, shares: &[Part], points: &mut Points) {
    let (least, greatest) = expired.times;
    let first = shares.iter().map(|share| share.times().0).min();
    // A cell has the time of its last sample.
    let covered = first.map(|first| first.saturating_sub(points.level.width()));
    if covered.is_some_and(|covered| covered <= least) {
        return;
    }
    let to = first.map_or(greatest, |first| first.min(greatest));
    let samples = if first.is_none() { expired.samples } else { 0 };
    points.miss(Missing { from: least, to, samples, cause: Cause::ArchiveRetention, numbers: None });
}

/// Adds to `points` the stored samples of an instance after those that were added before.
///
/// # Errors
/// If catalogue or files cannot be read.
pub fn add_points(
    history: &History,
    node: &str,
    instance: &str,
    points: &mut Points,
) -> Result<(), ReadError> {
    let store = &*history.0;
    for extent in store.extents(node, instance, points.segment)? {
        add_share(store, &extent, points)?;
    }
    store.explain(node, instance, points)
}

/// Returns everything of a level, oldest first: samples where they have no roll-ups.
fn shares(store: &Store, extents: &[Extent], node: &str, instance: &str, level: Level) -> Vec<Part> {
    let files = store.rollups.of_level(level);
    let covers = |file: &Arc<RollupFile>, number: u64| file.directory.segments.binary_search(&number).is_ok();
    let is_left = |extent: &&Extent| !files.iter().any(|file| covers(file, extent.segment));
    let mut shares: Vec<_> = extents.iter().filter(is_left).cloned().map(Part::Raw).collect();
    for file in &files {
        for (at, series) in file.directory.series.iter().enumerate() {
            if *series.node == *node && *series.instance == *instance {
                shares.push(Part::Rolled(file.clone(), at));
            }
        }
    }
    shares.sort_by_key(Part::first_segment);
    shares
}

fn add_rolled(store: &Store, file: &RollupFile, series: &RolledSeries, points: &mut Points) {
    let (cell_type, plan) = file.plan(series);
    for place in &series.batches {
        if !points.wants((place.min_time, place.max_time)) {
            continue;
        }
        match file.cells(series, place) {
            Ok(batch) => points.cells.add_rolled(plan, cell_type, &batch),
            Err(bad) => {
                store.counters.report(file.note_damage(place, &bad));
                points.lose_cells((place.min_time, place.max_time));
            }
        }
    }
    points.absorb(&series.gaps, series.reach);
    points.segment = points.segment.max(file.directory.segments.last().copied().unwrap_or_default());
}

fn add_share(store: &Store, extent: &Extent, points: &mut Points) -> Result<(), ReadError> {
    let all = extent.as_one();
    if points.has_passed(&all) {
        return Ok(());
    }
    points.segment = points.segment.max(extent.segment);
    if !points.looks_at(points.reach(), &all) {
        points.pass(&all);
        return Ok(());
    }
    let is_begun = points.reach().is_some_and(|reach| points.is_within(&all) && reach.offset > all.first);
    if points.level == Level::Raw || is_begun {
        return store.add_extent(extent, points);
    }
    add_recent(store, extent, points)
}

/// Puts samples that are not rolled up yet together by the second first, and keeps the result for the next question.
fn add_recent(store: &Store, extent: &Extent, points: &mut Points) -> Result<(), ReadError> {
    let key = (extent.segment, extent.number);
    let Some(share) = store.recent.get(key).or_else(|| begin_recent(store, key, extent, points)) else {
        return store.add_extent(extent, points);
    };
    let mut recent = share.lock().unwrap_or_else(PoisonError::into_inner);
    store.add_extent(extent, &mut recent)?;
    if store.recent.limit(key, &recent) && recent.cells.step() <= points.level.width() {
        points.join(&recent);
        return Ok(());
    }
    drop(recent);
    store.add_extent(extent, points)
}

/// Begins a share that is worth keeping: a question for a small part does not put all of it together.
fn begin_recent(store: &Store, key: Key, extent: &Extent, points: &Points) -> Option<Share> {
    let span = points.cells.span();
    let wanted = extent.max_time.min(span.end).saturating_sub(extent.min_time.max(span.start));
    let is_much = wanted >= extent.max_time.saturating_sub(extent.min_time) / 2;
    is_much.then(|| store.recent.begin(key, points.reach())).flatten()
}

/// Returns the coarsest level that is fine enough, or the finest one with the oldest samples.
fn choose(shares: &[(Level, Vec<Part>)], span: Span) -> Level {
    let overlaps = |share: &&Part| {
        let (least, greatest) = share.times();
        greatest >= span.from && (span.is_open || least < span.to)
    };
    let first =
        |shares: &[Part]| shares.iter().filter(overlaps).map(Part::first_segment).min().unwrap_or(u64::MAX);
    let oldest = shares.iter().map(|(_, shares)| first(shares)).min().unwrap_or(u64::MAX);
    let wished = Level::for_step(span.step());
    let fine = shares.iter().filter(|(level, _)| *level >= wished);
    fine.clone().find(|(_, shares)| first(shares) == oldest).map_or(wished, |(level, _)| *level)
}
