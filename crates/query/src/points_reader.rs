//! Points of an instance: samples of the archive, then newer ones of the topic log.

use crate::points::{Points, Span, add_points, points};
use oasis_history::{Log, LogBatch};
use oasis_rollup::{cells::Level, points::Arrival};
use oasis_store::{Gap, History, ReadError};
use oasis_wire::{
    batch::{self, Header},
    loss::Cause,
    quantity::{Offset, Position},
};
use std::{collections::VecDeque, fmt, sync::Arc};

/// Reads the history of an instance as points, over the seam between archive and log.
pub struct PointsReader {
    node: Arc<str>,
    instance: Arc<str>,
    span: Span,
    archive: Option<History>,
    log: Arc<dyn Log>,
    /// The result of reading the archive before its flush.
    stored: Option<Points>,
}

/// Result of a read.
#[derive(Debug)]
pub enum PointsRead {
    /// The next samples may not be stored yet: let the archive store everything it has received, then read again.
    Flush,
    /// All points, and the position where the log continues.
    Done(Box<Points>, Position),
}

impl PointsReader {
    /// Creates a reader of an instance.
    pub fn new(node: &str, instance: &str, span: Span, archive: Option<History>, log: Arc<dyn Log>) -> Self {
        Self { node: node.into(), instance: instance.into(), span, archive, log, stored: None }
    }

    /// Reads all points. Reads files: not for a thread that must not block.
    ///
    /// # Errors
    /// If catalogue or files cannot be read.
    pub fn read(&mut self) -> Result<PointsRead, ReadError> {
        let mut all = match (&self.archive, self.stored.take()) {
            (None, _) => Points::new(self.span, Level::Raw),
            (Some(archive), Some(mut stored)) => {
                add_points(archive, &self.node, &self.instance, &mut stored)?;
                stored
            }
            (Some(archive), None) => {
                let stored = points(archive, &self.node, &self.instance, self.span)?;
                if self.starts_after_the_log(archive, &stored) {
                    self.stored = Some(stored);
                    return Ok(PointsRead::Flush);
                }
                stored
            }
        };
        let offset = self.add_log(&mut all);
        Ok(PointsRead::Done(Box::new(all), Position { epoch: self.log.epoch(), offset }))
    }

    /// Returns whether the log has evicted the next sample: it will be stored, or is lost.
    fn starts_after_the_log(&self, archive: &History, points: &Points) -> bool {
        let next = match points.position().filter(|at| at.epoch == self.log.epoch()) {
            Some(at) => at.offset,
            None => {
                let stored = archive.0.account(self.log.topic()).map(|account| account.stored_offset);
                stored.unwrap_or(self.log.start())
            }
        };
        next < self.log.first()
    }

    /// Adds the samples of the log after the stored ones. Returns the next position of the reader.
    fn add_log(&self, points: &mut Points) -> Offset {
        let log = &*self.log;
        let account = self.archive.as_ref().and_then(|archive| archive.0.account(log.topic()));
        let not_stored = account.unwrap_or_default().gaps;
        let known = points.position().filter(|at| at.epoch == log.epoch());
        let from = known.map_or_else(|| log.first(), |at| at.offset);
        let batches = log.read(from, usize::MAX).batches;
        for held in &batches {
            add_held(points, held, &not_stored);
        }
        batches.last().map_or(from, |last| last.offsets.end)
    }
}

/// Adds a batch of the log; `not_stored` are the samples before it that the archive could not store.
fn add_held(points: &mut Points, held: &LogBatch, not_stored: &VecDeque<Gap>) {
    let Ok(header) = Header::parse(&held.batch) else { return };
    let count = held.offsets.end.0 - held.offsets.start.0;
    let arrival = Arrival {
        epoch: held.series.epoch,
        run: held.series.run,
        probe_type: &held.series.probe_type,
        first: held.offsets.start,
        times: batch::time_range(&held.batch).unwrap_or((header.dac_time, header.dac_time)),
        count,
        last_sequence: header.first_sequence.saturating_add(count.saturating_sub(1)),
        gaps_before: held.gaps_before.as_deref().unwrap_or_default(),
    };
    points.add(&arrival, Ok(&held.batch), |at| why_not_stored(not_stored, at));
}

/// Up to where the samples from an offset on are missing for one cause, and that cause.
fn why_not_stored(not_stored: &VecDeque<Gap>, at: Offset) -> (Offset, Cause) {
    match not_stored.iter().find(|gap| at < gap.to) {
        Some(gap) if gap.from <= at => (gap.to, gap.cause),
        Some(gap) => (gap.from, Cause::LogRetention),
        None => (Offset(u64::MAX), Cause::LogRetention),
    }
}

impl fmt::Debug for PointsReader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PointsReader({}/{}, {:?})", self.node, self.instance, self.span)
    }
}
