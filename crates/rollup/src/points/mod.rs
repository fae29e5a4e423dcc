//! Points: samples of an instance aggregated to cells of one width, with missing samples and the position reached.
//!
//! Roll-ups are written from points of one second. A request for a long time in few points fills them from roll-ups and samples.

mod recent;

pub use recent::{Key, PointsCache, Share};

use crate::cells::{Cells, Level};
use oasis_wire::{
    batch::Header,
    gap::Gap,
    loss::Cause,
    quantity::{Epoch, Offset, Position},
    schema::ProbeType,
};
use serde::{Deserialize, Serialize};
use std::{ops::Range, sync::Arc};
use uuid::Uuid;

/// A requested time span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Nanoseconds since 1970 on the node's clock.
    pub from: u64,
    /// After the last one.
    pub to: u64,
    /// Whether samples after `to` are included: `to` is the current time, and the node's clock may be ahead.
    pub is_open: bool,
    /// Most points.
    pub points: u32,
}

impl Span {
    fn end(&self) -> u64 {
        self.to.max(self.from.saturating_add(1))
    }

    /// Width of a point, if it needs no rounding.
    pub fn step(&self) -> u64 {
        (self.end() - self.from).div_ceil(self.points.max(1).into()).max(1)
    }
}

/// The aggregated history of an instance.
#[derive(Debug, Clone)]
pub struct Points {
    /// The preferred level of their source.
    pub level: Level,
    /// One cell for each point.
    pub cells: Cells,
    /// Missing samples.
    pub gaps: Vec<Missing>,
    is_open: bool,
    /// The position after the last sample.
    reach: Option<Reach>,
    /// Number of the segment file that was read last.
    pub segment: u64,
    /// Most values: beyond that cells become wider.
    most_values: usize,
}

/// Missing samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Time of the last sample before them, nanoseconds.
    pub from: u64,
    /// Time of the first sample after them.
    pub to: u64,
    /// Their number, as far as known; 0 if unknown.
    pub samples: u64,
    /// Why.
    #[serde(deserialize_with = "oasis_wire::loss::lenient")]
    pub cause: Cause,
    /// Run and sequence numbers, if only these show that samples are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<(Uuid, Range<u64>)>,
}

/// The position after the last sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// The epoch of the offsets.
    pub epoch: Epoch,
    /// The run of the sequence numbers.
    pub run: Uuid,
    /// Offset after the last sample.
    pub offset: Offset,
    /// Sequence number after the last sample.
    pub sequence: u64,
    /// Time of the last sample, nanoseconds.
    pub time: u64,
}

/// A batch to be added to points.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// The epoch of its offsets.
    pub epoch: Epoch,
    /// The run of its sequence numbers.
    pub run: Uuid,
    /// Its type.
    pub probe_type: &'a Arc<ProbeType>,
    /// Offset of its first sample.
    pub first: Offset,
    /// Least and greatest time of its samples, possibly rounded outwards.
    pub times: (u64, u64),
    /// Samples.
    pub count: u64,
    /// Sequence number of its last sample.
    pub last_sequence: u64,
    /// Gaps before its first sample with known causes.
    pub gaps_before: &'a [Gap],
}

impl Points {
    /// Creates empty points for a source of this level.
    pub fn new(span: Span, level: Level) -> Self {
        let points = u64::from(span.points.max(1));
        // Cells start at multiples of their width, so that they do not change as the span moves; cells at the ends may be partial.
        let whole = |step: u64| step.checked_next_multiple_of(level.width()).unwrap_or(u64::MAX);
        let mut step = whole(span.step());
        let wanted = |step: u64| span.from / step..span.end().div_ceil(step);
        while wanted(step).end - wanted(step).start > points {
            step = step.saturating_add(whole(step.div_ceil(points * 2)));
        }
        let cells = Cells::new(step, wanted(step));
        Self::with(level, cells, span.is_open, None)
    }

    /// Creates points of one second for all samples after `before`.
    pub fn rolling(before: Option<Reach>) -> Self {
        Self::with(Level::Raw, Cells::new(Level::Second.width(), 0..u64::MAX), true, before)
    }

    /// As [`Points::rolling`], with cells of a minute or an hour if there would be more than `most_values`.
    pub fn limited(before: Option<Reach>, most_values: usize) -> Self {
        Self { most_values, ..Self::rolling(before) }
    }

    fn with(level: Level, cells: Cells, is_open: bool, reach: Option<Reach>) -> Self {
        Self { level, cells, gaps: Vec::new(), is_open, reach, segment: 0, most_values: usize::MAX }
    }

    /// The approximate number of values and gaps.
    pub fn size(&self) -> usize {
        self.cells.size() + self.gaps.len()
    }

    /// The position after the last added sample; `None` before the first.
    pub fn reach(&self) -> Option<Reach> {
        self.reach
    }

    /// The position after the last sample that was read; `None` before the first.
    pub fn position(&self) -> Option<Position> {
        self.reach.map(|place| Position { epoch: place.epoch, offset: place.offset })
    }

    /// Whether samples of these times are requested.
    pub fn wants(&self, times: (u64, u64)) -> bool {
        let span = self.cells.span();
        times.1 >= span.start && (self.is_open || times.0 < span.end)
    }

    /// Whether the next batch affects the span, by its samples or by missing samples before it.
    pub fn looks_at(&self, place: Option<Reach>, arrival: &Arrival<'_>) -> bool {
        let hole = place.filter(|place| place.is_gap_before(arrival));
        self.wants(arrival.times) || hole.is_some_and(|place| self.wants((place.time, arrival.times.0)))
    }

    /// Whether a batch has the epoch of the last one.
    pub fn is_within(&self, arrival: &Arrival<'_>) -> bool {
        self.reach.is_some_and(|place| place.epoch == arrival.epoch)
    }

    /// Whether the whole batch was already added.
    pub fn has_passed(&self, arrival: &Arrival<'_>) -> bool {
        self.reach.is_some_and(|place| self.is_within(arrival) && arrival.end() <= place.offset)
    }

    /// Adds the new, requested samples of a batch, or the cause why it cannot be read. `why` returns the cause of a missing offset before it, and
    /// the end of the gap. Cells become wider if there are too many.
    pub fn add(
        &mut self,
        arrival: &Arrival<'_>,
        batch: Result<&[u8], Cause>,
        why: impl Fn(Offset) -> (Offset, Cause),
    ) {
        let most = self.most_values;
        self.add_with(arrival, batch, why, &mut |cells| widen_to_level(cells, most));
        self.widen_if_too_large();
    }

    /// As [`Points::add`], with `make_room` instead of wider cells: it is called before each cell, and may take or widen them.
    pub fn add_with(
        &mut self,
        arrival: &Arrival<'_>,
        batch: Result<&[u8], Cause>,
        why: impl Fn(Offset) -> (Offset, Cause),
        make_room: &mut dyn FnMut(&mut Cells),
    ) {
        if self.has_passed(arrival) {
            return;
        }
        let seen = self.reach.filter(|_| self.is_within(arrival)).map_or(arrival.first, |place| place.offset);
        let seen = seen.max(arrival.first);
        self.note_gap(arrival, batch.ok(), why);
        if self.wants(arrival.times) {
            let skip = usize::try_from(seen.0.saturating_sub(arrival.first.0)).unwrap_or(usize::MAX);
            if self.is_open {
                self.cells.extend_to(arrival.times.1);
            }
            let added = batch.map(|batch| self.cells.add_batch(arrival.probe_type, batch, skip, make_room));
            let cause = match added {
                Ok(Ok(())) => None,
                Ok(Err(_)) => Some(Cause::Unreadable),
                Err(cause) => Some(cause),
            };
            if let Some(cause) = cause {
                return self.lose(arrival, cause);
            }
        }
        self.pass(arrival);
    }

    fn widen_if_too_large(&mut self) {
        while self.size() > self.most_values {
            let before = self.cells.step();
            widen_to_level(&mut self.cells, self.most_values.saturating_sub(self.gaps.len()));
            if self.cells.step() == before {
                return;
            }
            let gaps = std::mem::take(&mut self.gaps);
            gaps.into_iter().for_each(|gap| self.miss(gap));
        }
    }

    /// Skips everything up to a batch, and the batch.
    pub fn pass(&mut self, arrival: &Arrival<'_>) {
        self.reach = Some(Reach::after(arrival));
    }

    /// Counts everything up to the end of a batch as missing.
    pub fn lose(&mut self, arrival: &Arrival<'_>, cause: Cause) {
        let seen = self.reach.filter(|_| self.is_within(arrival)).map_or(arrival.first, |place| place.offset);
        let samples = arrival.end().0.saturating_sub(seen.0);
        let (from, to) = arrival.times;
        self.miss(Missing { from, to, samples, cause, numbers: None });
        self.pass(arrival);
    }

    /// Counts cells that cannot be read as missing; their number of samples is unknown.
    pub fn lose_cells(&mut self, (from, to): (u64, u64)) {
        self.miss(Missing { from, to, samples: 0, cause: Cause::Damaged, numbers: None });
    }

    fn note_gap(
        &mut self,
        arrival: &Arrival<'_>,
        batch: Option<&[u8]>,
        why: impl Fn(Offset) -> (Offset, Cause),
    ) {
        let Some(place) = self.reach.filter(|place| place.is_gap_before(arrival)) else { return };
        let (from, to) = (place.time.min(arrival.times.0), arrival.times.0);
        let gap = |samples, cause, numbers| Missing { from, to, samples, cause, numbers };
        // Received by the DAC, but not stored.
        let mut not_stored = 0;
        if place.epoch == arrival.epoch {
            let mut at = place.offset;
            while at < arrival.first {
                let (end, cause) = why(at);
                let end = end.clamp(Offset(at.0 + 1), arrival.first);
                self.miss(gap(end.0 - at.0, cause, None));
                not_stored += end.0 - at.0;
                at = end;
            }
        }
        // Never received by the DAC. Sequence numbers do not show how many were lost at the end of a run.
        let is_same_run = place.run == arrival.run;
        if !is_same_run {
            self.miss(gap(0, Cause::NodeRestart, Some((place.run, place.sequence..u64::MAX))));
        }
        let expected = if is_same_run { place.sequence } else { 1 };
        let numbers = expected..arrival.first_sequence().max(expected);
        let lost = (numbers.end - numbers.start).saturating_sub(not_stored);
        if lost > 0 {
            let dropped =
                batch.and_then(|batch| Header::parse(batch).ok()).map_or(0, |header| header.dropped_before);
            let cause = match place.epoch == arrival.epoch {
                false => Cause::BeforeEpoch,
                true if u64::from(dropped) >= lost => Cause::NodeDropped,
                true => Cause::Unexplained,
            };
            let mut left = lost;
            for known in arrival.gaps_before.iter().filter(|known| known.run == arrival.run) {
                let known_numbers = known.from_sequence..known.to_sequence.saturating_add(1);
                let is_here = numbers.start <= known_numbers.start && known_numbers.end <= numbers.end;
                if is_here && known.count <= left {
                    left -= known.count;
                    self.miss(gap(known.count, known.cause, Some((arrival.run, known_numbers))));
                }
            }
            if left > 0 {
                self.miss(gap(left, cause, Some((arrival.run, numbers))));
            }
        }
    }

    /// Adds gaps and the position of rolled-up samples.
    pub fn absorb(&mut self, gaps: &[Missing], reach: Reach) {
        gaps.iter().for_each(|gap| self.miss(gap.clone()));
        self.reach = Some(reach);
    }

    /// Appends later points with narrower cells.
    pub fn join(&mut self, narrow: &Self) {
        if let (true, Some((last, _))) = (self.is_open, narrow.cells.cells().next_back()) {
            self.cells.extend_to(last.saturating_mul(narrow.cells.step()));
        }
        self.cells.add_cells(&narrow.cells);
        if let Some(reach) = narrow.reach {
            self.absorb(&narrow.gaps, reach);
        }
    }

    /// Adds a gap; merges gaps that begin and end in the same cells.
    pub fn miss(&mut self, missing: Missing) {
        if !self.wants((missing.from, missing.to)) {
            return;
        }
        let step = self.cells.step();
        let cells = |gap: &Missing| (gap.from / step, gap.to / step);
        let run = |gap: &Missing| gap.numbers.as_ref().map(|(run, _)| *run);
        let is_one = |last: &&mut Missing| {
            cells(last) == cells(&missing) && last.cause == missing.cause && run(last) == run(&missing)
        };
        if let Some(last) = self.gaps.last_mut().filter(is_one) {
            last.to = last.to.max(missing.to);
            last.samples = last.samples.saturating_add(missing.samples);
            if let (Some((_, all)), Some((_, numbers))) = (&mut last.numbers, missing.numbers) {
                all.end = numbers.end;
            }
            return;
        }
        self.gaps.push(missing);
    }
}

/// Widens cells to those of the next level while they have more than `most` values.
fn widen_to_level(cells: &mut Cells, most: usize) {
    while cells.size() > most {
        let wider = Level::ROLLED.into_iter().find(|level| level.width() > cells.step());
        let Some(wider) = wider else { return };
        cells.widen(wider.width());
    }
}

/// Merges neighboring gaps until there are at most `most`.
pub fn join_gaps(gaps: &mut Vec<Missing>, most: usize) {
    while gaps.len() > most.max(1) {
        let pairs = gaps.chunks(2).map(|pair| match pair {
            [one, other] => {
                let cause = if other.samples > one.samples { other.cause } else { one.cause };
                let (from, to) = (one.from.min(other.from), one.to.max(other.to));
                Missing { from, to, samples: one.samples.saturating_add(other.samples), cause, numbers: None }
            }
            rest => rest[0].clone(),
        });
        *gaps = pairs.collect();
    }
}

impl Reach {
    /// The position after this batch.
    pub fn after(arrival: &Arrival<'_>) -> Self {
        Self {
            epoch: arrival.epoch,
            run: arrival.run,
            offset: arrival.end(),
            sequence: arrival.last_sequence.saturating_add(1),
            time: arrival.times.1,
        }
    }

    fn is_gap_before(&self, arrival: &Arrival<'_>) -> bool {
        let skips_offsets = self.epoch == arrival.epoch && arrival.first > self.offset;
        self.run != arrival.run || skips_offsets || arrival.first_sequence() > self.sequence
    }
}

impl Arrival<'_> {
    fn end(&self) -> Offset {
        Offset(self.first.0.saturating_add(self.count))
    }

    fn first_sequence(&self) -> u64 {
        self.last_sequence.saturating_add(1).saturating_sub(self.count)
    }
}

#[cfg(test)]
mod tests;
