//! The samples of an archive one by one, with what is missing between them.

use crate::{
    piece::{Batch, HistoryPart, NextStep},
    reader::{Reader, Start},
};
use oasis_store::{History, LossTracker, Missing, ReadError, Series};
use oasis_wire::{
    batch::{self, BatchError, Sample},
    loss::Cause,
    quantity::Offset,
};
use std::{collections::VecDeque, ops::Range, sync::Arc};

/// A sample, or missing ones.
#[derive(Debug)]
pub enum SampleOrMissing {
    /// A sample: its series, the state of its probe, and its values.
    Sample(Arc<Series>, u16, Sample),
    /// Samples that are missing at this place, and why.
    Missing(Missing),
}

/// The stored samples of one instance between two times.
#[derive(Debug)]
pub struct Samples {
    node: String,
    instance: String,
    reader: Reader,
    /// The least and the end of the wanted times.
    times: (u64, Option<u64>),
    bytes: usize,
    losses: LossTracker,
    pieces: VecDeque<HistoryPart>,
    open: Option<OpenBatch>,
    found: VecDeque<SampleOrMissing>,
    unreadable: Option<BatchError>,
    is_over: bool,
}

/// A decoded batch, and the indexes of the samples that were not read yet.
#[derive(Debug)]
struct OpenBatch {
    series: Arc<Series>,
    batch: batch::Batch,
    left: Range<usize>,
}

impl Samples {
    /// Reads the samples that are not older than `from` and older than `until`, nanoseconds since 1970 on the node's clock, in the order in which they were
    /// received. Late ones, and those of a clock that was set back, are among them. Keeps about `bytes` of batches in memory.
    pub fn new(
        archive: &History,
        (node, instance): (&str, &str),
        from: u64,
        until: Option<u64>,
        bytes: usize,
    ) -> Self {
        Self {
            node: node.into(),
            instance: instance.into(),
            reader: Reader::new(node, instance, Start::Time(from))
                .with_archive(archive.clone())
                .until(until)
                .with_groups(),
            times: (from, until),
            bytes,
            losses: LossTracker::new(archive, from),
            pieces: VecDeque::new(),
            open: None,
            found: VecDeque::new(),
            unreadable: None,
            is_over: false,
        }
    }

    /// Returns the next sample, or what is missing before it; nothing at the end.
    ///
    /// # Errors
    /// If the archive cannot be read.
    #[allow(clippy::should_implement_trait, reason = "an iterator of results would go on after an error")]
    pub fn next(&mut self) -> Result<Option<SampleOrMissing>, ReadError> {
        loop {
            if let Some(found) = self.found.pop_front() {
                return Ok(Some(found));
            }
            if let Some(open) = &mut self.open {
                let Some(sample) = open.left.next().and_then(|index| open.batch.get(index)) else {
                    self.open = None;
                    continue;
                };
                let missing = self.losses.before(&open.series, sample.sequence)?;
                let (from, until) = self.times;
                if sample.time < from || until.is_some_and(|until| sample.time >= until) {
                    self.found.extend(missing.into_iter().map(SampleOrMissing::Missing));
                    continue;
                }
                let sample = SampleOrMissing::Sample(open.series.clone(), open.batch.header().state, sample);
                if missing.is_empty() {
                    return Ok(Some(sample));
                }
                self.found.extend(missing.into_iter().map(SampleOrMissing::Missing).chain([sample]));
            } else if let Some(piece) = self.pieces.pop_front() {
                self.take(piece);
            } else if self.is_over {
                return Ok(None);
            } else {
                self.read()?;
            }
        }
    }

    /// Returns why the first of the batches that do not fit their schema does not, once.
    pub fn take_unreadable(&mut self) -> Option<BatchError> {
        self.unreadable.take()
    }

    fn read(&mut self) -> Result<(), ReadError> {
        let read = self.reader.read(self.bytes)?;
        if read.pieces.is_empty() && matches!(read.then, NextStep::TimeEnd | NextStep::ArchiveEnd) {
            self.is_over = true;
            let more_follow = read.then == NextStep::TimeEnd;
            let missing = self.losses.after_last(&self.node, &self.instance, more_follow)?;
            self.found.extend(missing.into_iter().map(SampleOrMissing::Missing));
        }
        self.pieces.extend(read.pieces.into_iter().map(|(piece, _)| piece));
        Ok(())
    }

    fn take(&mut self, piece: HistoryPart) {
        match piece {
            HistoryPart::Gap { offsets: Some(offsets), cause, run } => {
                self.losses.skip(offsets.end.0 - offsets.start.0, cause, run);
            }
            HistoryPart::Samples(batch) => self.decode(batch),
            HistoryPart::Gap { offsets: None, .. } | HistoryPart::Epoch | HistoryPart::Type(_) => {}
        }
    }

    fn decode(&mut self, Batch { series, bytes, offsets, wanted, .. }: Batch) {
        match batch::Batch::parse(&bytes, &series.probe_type) {
            Ok(batch) => {
                let index = |offset: Offset| (offset.0 - offsets.start.0) as usize;
                let left = index(wanted.start)..index(wanted.end);
                self.open = Some(OpenBatch { series, batch, left });
            }
            Err(error) => {
                self.unreadable.get_or_insert(error);
                self.losses.skip(wanted.end.0 - wanted.start.0, Cause::Damaged, Some(series.run));
            }
        }
    }
}
