//! The samples of an instance in their order: from archive and topic log, or from a stream that is thinned.

use crate::{
    missing::Missing,
    positions::{Mark, position},
};
use bytes::Bytes;
use oasis_dac::{Dac, Delivery, DemandGuard, DeriveError, Instance, Options, StartAt, Wake};
use oasis_handler::{InstanceLog, StoredSamples};
use oasis_history::{Batch, HistoryPart, NextStep, Reader, Start};
use oasis_wire::{
    gap::Gap,
    loss::Cause,
    quantity::{Epoch, Hertz, Offset, Position},
    schema::ProbeType,
};
use std::{ops::Range, sync::Arc};
use tokio::runtime::Runtime;
use uuid::Uuid;

/// Bytes of batches that are read at once.
const READ_CHUNK_BYTES: usize = 64 * 1024;

/// The samples of an instance. While it lives, the log wakes its reader.
#[derive(Debug)]
pub struct Feed {
    /// The instance whose log is read: a thinned stream has one of its own.
    source: Arc<Instance>,
    reader: FeedReader,
    wake: Arc<dyn Wake>,
    /// Kept for its `Drop`: it ends the demand.
    _demand: DemandGuard,
}

#[derive(Debug)]
enum FeedReader {
    /// Each sample, and the position of the next one.
    Every(Box<Reader>, Position),
    /// A thinned stream, which has no past.
    Thinned(Options, Offset),
}

/// The next part of the samples.
#[derive(Debug)]
pub enum FeedPart {
    /// Samples.
    Batch(FeedBatch),
    /// Samples that neither log nor archive has, and the position after them.
    Missing(Missing, Position),
}

/// A batch.
#[derive(Debug)]
pub struct FeedBatch {
    /// The type of its samples.
    pub probe_type: Arc<ProbeType>,
    /// The run of the node; nil in a thinned stream.
    pub run: Uuid,
    /// The epoch of its offsets.
    pub epoch: Epoch,
    /// The native batch.
    pub bytes: Bytes,
    /// Offsets of the wanted samples.
    pub wanted: Range<Offset>,
    /// Samples that never reached the log between the part before and this batch.
    pub gaps_before: Option<Arc<[Gap]>>,
}

/// The parts that all feeds share.
pub struct Archive<'a> {
    /// The archive, if there is one.
    pub stored: Option<&'a Arc<dyn StoredSamples>>,
    /// The runtime that waits for it.
    pub runtime: &'a Runtime,
}

impl Feed {
    /// Reads each sample from a mark on, or from the first one that this run of the DAC received: what the log has evicted is in the archive, or missing.
    pub fn every(
        instance: &Arc<Instance>,
        mark: Option<Mark>,
        archive: Option<&Arc<dyn StoredSamples>>,
        wake: &Arc<dyn Wake>,
    ) -> Self {
        let log = &instance.log;
        let first = position(log.epoch(), log.start().0);
        let at = mark.map_or(first, |mark| mark.at);
        let reader = Reader::new(&instance.node, &instance.name, Start::Position(at))
            .with_archive(archive.map(|archive| archive.history()))
            .with_log(Arc::new(InstanceLog(instance.clone())));
        // Rules without readers send no samples. The rate of other probes is not raised.
        let least = Hertz::new(Hertz::MIN).unwrap_or(Hertz::ONE);
        let demand = instance.register_demand(Delivery::MaxHz(least));
        Self::of(instance.clone(), FeedReader::Every(Box::new(reader), at), wake, demand)
    }

    /// Reads a thinned stream from now on.
    ///
    /// # Errors
    /// If the DAC has too many of them, or the type allows none.
    pub fn thinned(
        dac: &Dac,
        instance: &Arc<Instance>,
        delivery: Delivery,
        wake: &Arc<dyn Wake>,
    ) -> Result<Self, DeriveError> {
        let stream = dac.derived.open(&dac.registry, instance, delivery)?;
        let (next, _) = stream.start(StartAt::Now, delivery);
        let options = Options { delivery, ..Options::default() };
        let demand = instance.register_demand(delivery);
        Ok(Self::of(stream, FeedReader::Thinned(options, next), wake, demand))
    }

    fn of(source: Arc<Instance>, reader: FeedReader, wake: &Arc<dyn Wake>, demand: DemandGuard) -> Self {
        source.log.add_reader(wake.clone());
        Self { source, reader, wake: wake.clone(), _demand: demand }
    }

    /// Whether it has each sample, so that a jump of the numbers is a gap.
    pub fn is_complete(&self) -> bool {
        matches!(self.reader, FeedReader::Every(..))
    }

    /// The type of samples to come.
    pub fn probe_type(&self) -> &Arc<ProbeType> {
        &self.source.probe_type
    }

    /// The position of the next sample.
    pub fn position(&self) -> Position {
        match &self.reader {
            FeedReader::Every(_, at) => *at,
            FeedReader::Thinned(_, next) => Position { epoch: self.source.log.epoch(), offset: *next },
        }
    }

    /// The number of samples in the log that are not read.
    pub fn unread(&self) -> u64 {
        let (at, log) = (self.position(), &self.source.log);
        let from = if at.epoch == log.epoch() { at.offset } else { log.state().first_offset };
        log.next().0.saturating_sub(from.0)
    }

    /// Whether there is something to read.
    pub fn has_unread(&self) -> bool {
        let at = self.position();
        at.epoch != self.source.log.epoch() || at.offset < self.source.log.next()
    }

    /// Continues at a position.
    pub fn seek(&mut self, to: Position) {
        match &mut self.reader {
            FeedReader::Every(reader, at) => {
                *at = to;
                reader.seek(to);
            }
            FeedReader::Thinned(_, next) => *next = to.offset,
        }
    }

    /// Reads the next parts.
    pub fn read(&mut self, archive: &Archive<'_>) -> Vec<FeedPart> {
        match &mut self.reader {
            FeedReader::Every(reader, at) => match read_every(reader, archive) {
                Ok((begin, parts)) => {
                    *at = parts.last().map_or(begin, |(_, after)| *after);
                    parts.into_iter().filter_map(|(part, after)| every_part(part, after)).collect()
                }
                Err(why) => {
                    tracing::warn!(why, "the archive cannot be read for MQTT, continuing in the log");
                    let log = &self.source.log;
                    let to = position(log.epoch(), log.state().first_offset.0);
                    self.seek(to);
                    vec![FeedPart::Missing(unknown(Cause::ReadError), to)]
                }
            },
            FeedReader::Thinned(options, next) => {
                let turn = self.source.turn(*next, *options, 1);
                *next = turn.next;
                let epoch = self.source.log.epoch();
                let skipped = turn.skipped.map(|skipped| {
                    let missing = Missing { samples: Some(skipped.count()), ..unknown(skipped.cause) };
                    FeedPart::Missing(missing, Position { epoch, offset: skipped.to })
                });
                let batches = turn.segments.into_iter().map(|segment| {
                    let is_begun = turn.wanted > segment.first_held();
                    FeedPart::Batch(FeedBatch {
                        probe_type: self.source.probe_type.clone(),
                        run: segment.run(),
                        epoch,
                        bytes: segment.batch().clone(),
                        wanted: turn.wanted.max(segment.first_held())..segment.end(),
                        gaps_before: segment.gaps_before().filter(|_| !is_begun).cloned(),
                    })
                });
                skipped.into_iter().chain(batches).collect()
            }
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.source.log.remove_reader(&self.wake);
    }
}

type PartsRead = (Position, Vec<(HistoryPart, Position)>);

fn read_every(reader: &mut Reader, archive: &Archive<'_>) -> Result<PartsRead, String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let mut read = reader.read(READ_CHUNK_BYTES).map_err(|error| failed(&error))?;
    while let (NextStep::Flush, Some(stored)) = (read.then, archive.stored) {
        // A sample that could not be stored is not found, and the reader learns why.
        drop(archive.runtime.block_on(stored.flush()));
        read = reader.read(READ_CHUNK_BYTES).map_err(|error| failed(&error))?;
    }
    Ok((read.begin, read.pieces))
}

fn every_part(part: HistoryPart, after: Position) -> Option<FeedPart> {
    match part {
        HistoryPart::Samples(Batch { series, bytes, wanted, gaps_before, .. }) => {
            let (probe_type, run, epoch) = (series.probe_type.clone(), series.run, series.epoch);
            Some(FeedPart::Batch(FeedBatch { probe_type, run, epoch, bytes, wanted, gaps_before }))
        }
        HistoryPart::Gap { offsets, cause, run } => {
            let samples = offsets.map(|offsets| offsets.end.0.saturating_sub(offsets.start.0));
            Some(FeedPart::Missing(Missing { run, samples, numbers: None, cause }, after))
        }
        HistoryPart::Epoch | HistoryPart::Type(_) => None,
    }
}

/// Missing samples of which nothing is known.
fn unknown(cause: Cause) -> Missing {
    Missing { run: None, samples: None, numbers: None, cause }
}
