//! Points from what is stored: roll-ups where they are fine enough or all that is left, samples elsewhere.

use super::{
    Arrival, Points, Reach, Span,
    recent::{Key, Share},
};
use crate::{
    catalogue::Extent,
    index::Entry,
    rollups::{Level, RolledSeries, RollupFile},
    series::Series,
    store::{ReadError, Store, Unread},
};
use std::{
    io,
    sync::{Arc, PoisonError},
    thread,
};

/// Batches read at once.
const READ: usize = 1_024;
/// Samples put together before others go first, about: some tenths of a millisecond.
const PIECE: u64 = 4_096;
/// Batches in a file from which on reading them all keeps somebody waiting.
const MANY: usize = 2_000;

/// An instance's share of a file, as it can be read.
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

impl Store {
    /// An instance's past as so many points.
    ///
    /// # Errors
    /// If catalogue or files cannot be read.
    pub fn points(&self, node: &str, instance: &str, span: Span) -> Result<Points, ReadError> {
        // In this order: samples go once their roll-ups are there.
        let extents = self.extents(node, instance, 0)?;
        let levels = [Level::Raw, Level::Second, Level::Minute, Level::Hour];
        let shares = levels.map(|level| (level, self.shares(&extents, node, instance, level)));
        let level = choose(&shares, span);
        let mut points = Points::new(span, level);
        let shares = shares.into_iter().find(|(of, _)| *of == level).map(|(_, shares)| shares);
        for share in shares.unwrap_or_default() {
            match share {
                Part::Raw(extent) => self.add_share(&extent, &mut points)?,
                Part::Rolled(file, at) => self.add_rolled(&file, &file.directory.series[at], &mut points),
            }
        }
        self.explain(node, instance, &mut points)?;
        Ok(points)
    }

    /// Takes into `points` what is stored of an instance behind what was taken before.
    ///
    /// # Errors
    /// If catalogue or files cannot be read.
    pub fn add_points(&self, node: &str, instance: &str, points: &mut Points) -> Result<(), ReadError> {
        for extent in self.extents(node, instance, points.segment)? {
            self.add_share(&extent, points)?;
        }
        self.explain(node, instance, points)
    }

    /// All that there is at a level, oldest first: samples where they were not rolled up.
    fn shares(&self, extents: &[Extent], node: &str, instance: &str, level: Level) -> Vec<Part> {
        let files = self.rollups.of_level(level);
        let covers =
            |file: &Arc<RollupFile>, number: u64| file.directory.segments.binary_search(&number).is_ok();
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

    fn add_rolled(&self, file: &RollupFile, series: &RolledSeries, points: &mut Points) {
        let (cell_type, plan) = file.plan(series);
        for place in &series.batches {
            if !points.wants((place.min_time, place.max_time)) {
                continue;
            }
            let added = file.batch(place).map(|batch| points.cells.add_rolled(plan, cell_type, &batch));
            if !matches!(added, Some(Ok(()))) {
                self.book.find(file.note_damage(place));
                points.lose_cells((place.min_time, place.max_time));
            }
        }
        points.absorb(&series.gaps, series.reach);
        points.segment = points.segment.max(file.directory.segments.last().copied().unwrap_or_default());
    }

    fn add_share(&self, extent: &Extent, points: &mut Points) -> Result<(), ReadError> {
        let all = extent.as_one();
        if points.has_passed(&all) {
            return Ok(());
        }
        points.segment = points.segment.max(extent.segment);
        if !points.looks_at(points.reach, &all) {
            points.pass(&all);
            return Ok(());
        }
        let is_begun = points.reach.is_some_and(|reach| points.is_within(&all) && reach.offset > all.first);
        if points.level == Level::Raw || is_begun {
            return self.add_extent(extent, points);
        }
        self.add_recent(extent, points)
    }

    /// Puts samples that are not rolled up yet together by the second first, and keeps that for who asks again.
    fn add_recent(&self, extent: &Extent, points: &mut Points) -> Result<(), ReadError> {
        let key = (extent.segment, extent.number);
        let Some(share) = self.recent.get(key).or_else(|| self.begin_recent(key, extent, points)) else {
            return self.add_extent(extent, points);
        };
        let mut recent = share.lock().unwrap_or_else(PoisonError::into_inner);
        self.add_extent(extent, &mut recent)?;
        if self.recent.limit(key, &recent) && recent.cells.step() <= points.level.width() {
            points.join(&recent);
            return Ok(());
        }
        drop(recent);
        self.add_extent(extent, points)
    }

    /// A share that is worth keeping: who wants little of it does not put all of it together.
    fn begin_recent(&self, key: Key, extent: &Extent, points: &Points) -> Option<Share> {
        let span = points.cells.span();
        let wanted = extent.max_time.min(span.end).saturating_sub(extent.min_time.max(span.start));
        let is_much = wanted >= extent.max_time.saturating_sub(extent.min_time) / 2;
        is_much.then(|| self.recent.begin(key, points.reach)).flatten()
    }

    /// Puts together what is being written much of, so that nobody who asks for it has to wait.
    ///
    /// # Errors
    /// If files cannot be read.
    pub fn put_together(&self) -> Result<(), ReadError> {
        for extent in self.busy_extents(MANY) {
            let key = (extent.segment, extent.number);
            let share = match self.recent.get(key) {
                Some(share) => Some(share),
                None if self.recent.has_room() => {
                    self.recent.begin(key, self.reach_before(&extent.series, extent.segment))
                }
                None => None,
            };
            let Some(share) = share else { continue };
            loop {
                // Some at a time, and then others go first: whoever waits for this share goes on with it.
                thread::yield_now();
                let mut recent = share.lock().unwrap_or_else(PoisonError::into_inner);
                let is_more = self.add_piece(&extent, &mut recent)?;
                if !self.recent.limit(key, &recent) || !is_more {
                    break;
                }
            }
        }
        Ok(())
    }

    /// How far an instance's samples went before a segment file.
    pub fn reach_before(&self, series: &Series, segment: u64) -> Option<Reach> {
        let extents = self.extents(&series.node, &series.instance, 0).ok()?;
        let stored = extents.iter().rfind(|extent| extent.segment < segment).map(|extent| extent.reach());
        stored.or_else(|| {
            let files = self.rollups.of_level(Level::Hour);
            let before = files.iter().filter(|file| file.directory.segments.last() < Some(&segment));
            let of_instance = before.flat_map(|file| &file.directory.series);
            let same =
                of_instance.filter(|one| *one.node == *series.node && *one.instance == *series.instance);
            same.map(|one| one.reach).next_back()
        })
    }

    fn add_extent(&self, extent: &Extent, points: &mut Points) -> Result<(), ReadError> {
        for some in self.entries_behind(points, extent, usize::MAX)?.chunks(READ) {
            self.add_entries(extent, some, points)?;
        }
        let all = extent.as_one();
        // What the catalogue lists and the file has not is lost.
        if !points.has_passed(&all) {
            points.lose(&all, "damaged");
        }
        Ok(())
    }

    /// Takes in the batches of a share that come next, of [`PIECE`] samples. Answers whether there may be more.
    fn add_piece(&self, extent: &Extent, points: &mut Points) -> Result<bool, ReadError> {
        let entries = self.entries_behind(points, extent, READ)?;
        let mut samples = 0;
        let some = entries.iter().take_while(|entry| {
            let is_wanted = samples < PIECE;
            samples += u64::from(entry.count);
            is_wanted
        });
        let some = some.count();
        self.add_entries(extent, &entries[..some], points)?;
        Ok(some < entries.len() || some == READ)
    }

    /// The batches of a share that were not taken in yet, so many of them at most.
    fn entries_behind(&self, points: &Points, extent: &Extent, most: usize) -> Result<Vec<Entry>, ReadError> {
        let all = extent.as_one();
        let seen = points.reach.filter(|_| points.is_within(&all)).map_or(extent.first, |reach| reach.offset);
        match self.entries(extent, seen, most) {
            Err(ReadError::Io(error)) if is_gone(&error) => Ok(Vec::new()),
            other => other,
        }
    }

    fn add_entries(&self, extent: &Extent, entries: &[Entry], points: &mut Points) -> Result<(), ReadError> {
        let series = &extent.series;
        let mut reach = points.reach;
        let mut is_read = Vec::with_capacity(entries.len());
        for entry in entries {
            let arrival = Arrival::of(series, entry);
            is_read.push(points.looks_at(reach, &arrival));
            reach = Some(Reach::behind(&arrival));
        }
        let read = entries.iter().zip(&is_read).filter(|(_, is_read)| **is_read);
        let read: Vec<_> = read.map(|(entry, _)| *entry).collect();
        let mut batches = match self.batches(extent.segment, &read) {
            Err(ReadError::Io(error)) if is_gone(&error) => Vec::new(),
            batches => batches?,
        }
        .into_iter();
        for (entry, is_read) in entries.iter().zip(is_read) {
            let arrival = Arrival::of(series, entry);
            if is_read {
                let batch = batches.next().unwrap_or(Err(Unread::Damaged));
                points.add(&arrival, batch.as_deref().map_err(Unread::cause), extent.why(self));
            } else {
                points.pass(&arrival);
            }
        }
        Ok(())
    }
}

/// Whether a file is not there any more, as retention was faster, or ends too early.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof)
}

/// The coarsest level that is good enough, or the finest that goes as far back as any.
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

impl Extent {
    /// All of it, as if it were one batch without a hole.
    fn as_one(&self) -> Arrival<'_> {
        Arrival {
            epoch: self.series.epoch,
            run: self.series.run,
            probe_type: &self.series.probe_type,
            first: self.first,
            times: (self.min_time, self.max_time),
            count: self.end.0.saturating_sub(self.first.0),
            last_sequence: self.last_sequence,
        }
    }

    /// How far its samples go.
    pub fn reach(&self) -> Reach {
        Reach::behind(&self.as_one())
    }
}
