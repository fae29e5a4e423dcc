//! Reads the samples of an instance in order: from its topic log, or from the archive if the log has evicted them.

use crate::{
    journal::{InstanceName, InstanceRecord, Progress},
    part::{Part, SentSample, SeriesEnd, SeriesSet},
    state::NotSent,
};
use oasis_dac::{Delivery, DemandGuard, Instance, now};
use oasis_handler::{InstanceLog, StoredSamples};
use oasis_history::{Batch, HistoryPart, NextStep, Reader, Start};
use oasis_store::ReadError;
use oasis_wire::{
    batch::{self, Sample},
    loss::Cause,
    quantity::{Hertz, PortablePosition, Position},
};
use std::{
    collections::{BTreeSet, VecDeque},
    ops::Range,
    ptr,
    sync::Arc,
};
use uuid::Uuid;

/// Bytes read from the archive at once.
const READ_CHUNK_BYTES: usize = 64 * 1024;
/// A sample further ahead of the DAC's clock is not sent: the server would refuse all that follow, until that time.
const MAX_AHEAD_MILLISECONDS: i64 = 600_000;
const NANOSECONDS_PER_MILLISECOND: u64 = 1_000_000;

/// Archive, and the runtime in which it is asked.
pub struct ArchiveAccess {
    pub archive: Option<Arc<dyn StoredSamples>>,
    pub runtime: tokio::runtime::Runtime,
}

/// The samples that a request takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleChoice {
    /// Samples of a request whose answer is unknown.
    InDoubt,
    /// Samples that were never sent.
    New,
}

/// A position in the samples of an instance.
#[derive(Debug)]
pub struct Source {
    pub instance: Arc<Instance>,
    reader: Reader,
    /// Position of the next sample.
    at: Position,
    /// The last sample that was taken.
    progress: Progress,
    /// The last sample of a request whose answer is unknown.
    in_doubt: Option<Progress>,
    pieces: VecDeque<(HistoryPart, Position)>,
    open: Option<OpenedBatch>,
    series: Option<Arc<SeriesSet>>,
    /// Whether samples are missing before the next batch, of unknown offsets.
    has_unknown_gap: bool,
    is_drained: bool,
    /// Series that have not ended.
    live: Option<LiveSeries>,
    _demand: DemandGuard,
}

/// A decoded batch, and the indexes of samples that were not taken yet.
#[derive(Debug)]
struct OpenedBatch {
    batch: batch::Batch,
    series: Arc<SeriesSet>,
    run: Uuid,
    epoch: u64,
    left: Range<usize>,
}

/// A sample with the run of its node, and the epoch of its offset.
struct NextSample {
    sample: Sample,
    run: Uuid,
    epoch: u64,
    series: Arc<SeriesSet>,
}

/// Series that have not ended.
#[derive(Debug)]
struct LiveSeries {
    series: Arc<SeriesSet>,
    has_values: Vec<bool>,
    causes: BTreeSet<&'static str>,
}

impl Source {
    /// Continues where an instance was sent up to, or begins at the first sample of this run of the DAC.
    pub fn new(instance: Arc<Instance>, record: InstanceRecord, access: &ArchiveAccess) -> Self {
        let log = &instance.log;
        // A log may have evicted samples before the handler saw it, as while a request is retried: they are read from the archive, or counted.
        let oldest = Position { epoch: log.epoch(), offset: log.start() };
        let begin = Progress {
            epoch: oldest.epoch.0,
            offset: oldest.offset.0,
            time: i64::MIN,
            ..Progress::default()
        };
        let progress = record.sent.unwrap_or(begin);
        let start = match progress.run {
            run if run.is_nil() => Start::Position(progress.position()),
            run => {
                let portable = PortablePosition { run, sequence: progress.sequence + 1 };
                Start::Resumed(Some(progress.position()), portable)
            }
        };
        let reader = Reader::new(&instance.node, &instance.name, start)
            .with_archive(access.archive.as_ref().map(|archive| archive.history()))
            .with_log(Arc::new(InstanceLog(instance.clone())));
        // Without readers some probes are slow, rules send nothing, and nothing comes through a relay.
        let delivery = if instance.is_relayed() { Delivery::Every } else { Delivery::MaxHz(Hertz::ONE) };
        Self {
            _demand: instance.register_demand(delivery),
            reader,
            at: progress.position(),
            progress,
            in_doubt: record.in_doubt,
            pieces: VecDeque::new(),
            open: None,
            series: None,
            has_unknown_gap: progress.epoch != log.epoch().0,
            is_drained: false,
            live: None,
            instance,
        }
    }

    /// Returns node and instance.
    pub fn name(&self) -> InstanceName {
        (self.instance.node.clone(), self.instance.name.clone())
    }

    /// Returns where the instance is read up to.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Returns whether the last read has found nothing.
    pub fn is_drained(&self) -> bool {
        self.is_drained
    }

    /// Returns whether it has read all of a retired topic.
    pub fn is_over(&self) -> bool {
        self.is_drained && self.instance.ends_at(self.at.offset)
    }

    /// Returns the number of unread samples in the log.
    pub fn behind(&self) -> u64 {
        let log = &self.instance.log;
        let from = if self.at.epoch == log.epoch() { self.at.offset } else { log.state().first_offset };
        log.next().0.saturating_sub(from.0)
    }

    /// Takes samples of one type, about `max_values` values; `None` if there are none of these.
    ///
    /// # Errors
    /// If the archive cannot be read; the position stays.
    pub fn take(
        &mut self,
        wanted: SampleChoice,
        max_values: usize,
        access: &ArchiveAccess,
        not_sent: &mut NotSent,
    ) -> Result<Option<Part>, ReadError> {
        if wanted == SampleChoice::InDoubt && self.in_doubt.is_none() {
            return Ok(None);
        }
        let mut part: Option<Part> = None;
        loop {
            let Some(next) = self.next(access, not_sent)? else { break };
            let NextSample { sample, run, epoch, series } = next;
            let is_sent = run == self.progress.run && sample.sequence <= self.progress.sequence;
            if !is_sent {
                let is_in_doubt = self.is_in_doubt(run, sample.sequence);
                let is_of_part = part.as_ref().is_none_or(|part| Arc::ptr_eq(&part.series, &series));
                let is_full = part.as_ref().is_some_and(|part| part.values() >= max_values);
                if is_in_doubt != (wanted == SampleChoice::InDoubt) || !is_of_part || is_full {
                    break;
                }
                if !is_in_doubt {
                    self.in_doubt = None;
                }
                let part = part.get_or_insert_with(|| self.empty_part(series.clone()));
                self.progress = Progress { run, sequence: sample.sequence, ..self.progress };
                push(&sample, &mut self.progress.time, part, not_sent);
            }
            (self.progress.epoch, self.progress.offset) = (epoch, sample.offset + 1);
            self.pass();
        }
        let part = part.map(|part| Part { missing: self.missing(), progress: self.progress, ..part });
        Ok(part.filter(|part| !part.samples.is_empty()))
    }

    /// Returns the end of all series, if they have not ended.
    pub fn end(&mut self) -> Option<Part> {
        let LiveSeries { series, has_values, causes } = self.live.take()?;
        // Just after the last sample: samples that the node has kept meanwhile are sent when it returns, and must be newer.
        self.progress.time += 1;
        let end = Some(SeriesEnd { time: self.progress.time, has_values });
        let missing = causes.into_iter().map(|cause| (cause, 0)).collect();
        Some(Part { missing, end, progress: self.progress, ..self.empty_part(series) })
    }

    /// Notes that the samples of a part are sent.
    pub fn note_sent(&mut self, part: &Part) {
        if part.end.is_some() {
            self.live = None;
            return;
        }
        let known = self.live.take().filter(|live| Arc::ptr_eq(&live.series, &part.series));
        let mut live = known.unwrap_or_else(|| LiveSeries {
            series: part.series.clone(),
            has_values: Vec::new(),
            causes: BTreeSet::new(),
        });
        live.has_values.resize(part.series.series.len(), false);
        live.has_values.iter_mut().zip(part.has_values()).for_each(|(known, new)| *known |= new);
        live.causes.extend(part.missing.iter().map(|(cause, _)| *cause));
        self.live = Some(live);
    }

    fn empty_part(&self, series: Arc<SeriesSet>) -> Part {
        let (node, instance) = self.name();
        Part {
            node,
            instance,
            series,
            samples: Vec::new(),
            missing: Vec::new(),
            end: None,
            progress: self.progress,
        }
    }

    fn is_in_doubt(&self, run: Uuid, sequence: u64) -> bool {
        self.in_doubt.is_some_and(|end| match run == end.run {
            true => sequence <= end.sequence,
            false => run == self.progress.run,
        })
    }

    fn missing(&self) -> Vec<(&'static str, u64)> {
        self.instance.ledger().causes.iter().map(|(cause, count)| (cause.word(), *count)).collect()
    }

    /// Returns the next sample.
    fn next(
        &mut self,
        access: &ArchiveAccess,
        not_sent: &mut NotSent,
    ) -> Result<Option<NextSample>, ReadError> {
        loop {
            if let Some(open) = &self.open {
                if let Some(sample) = open.batch.get(open.left.start).filter(|_| !open.left.is_empty()) {
                    let (run, epoch, series) = (open.run, open.epoch, open.series.clone());
                    return Ok(Some(NextSample { sample, run, epoch, series }));
                }
                self.open = None;
            }
            if let Some((piece, after)) = self.pieces.pop_front() {
                self.at = after;
                self.open_piece(piece, after, not_sent);
            } else if !self.read(access)? {
                return Ok(None);
            }
        }
    }

    /// Passes the sample that [`Source::next`] has returned.
    fn pass(&mut self) {
        if let Some(open) = &mut self.open {
            open.left.start += 1;
        }
    }

    fn read(&mut self, access: &ArchiveAccess) -> Result<bool, ReadError> {
        let mut read = self.reader.read(READ_CHUNK_BYTES)?;
        while let (NextStep::Flush, Some(archive)) = (read.then, &access.archive) {
            // A sample that could not be stored is not found, and the reader learns why.
            drop(access.runtime.block_on(archive.flush()));
            read = self.reader.read(READ_CHUNK_BYTES)?;
        }
        self.is_drained = read.pieces.is_empty() && !matches!(read.then, NextStep::More);
        let has_more = !self.is_drained;
        self.pieces.extend(read.pieces);
        Ok(has_more)
    }

    fn open_piece(&mut self, piece: HistoryPart, after: Position, not_sent: &mut NotSent) {
        match piece {
            HistoryPart::Gap { offsets: Some(offsets), cause, .. } => {
                not_sent.count(cause.word(), offsets.end.0.saturating_sub(offsets.start.0));
            }
            HistoryPart::Gap { offsets: None, .. } | HistoryPart::Epoch => self.has_unknown_gap = true,
            HistoryPart::Type(_) => {}
            HistoryPart::Samples(batch) => self.open_batch(batch, after, not_sent),
        }
    }

    fn open_batch(&mut self, found: Batch, after: Position, not_sent: &mut NotSent) {
        let Batch { series, bytes, offsets, wanted, gaps_before } = found;
        let Ok(batch) = batch::Batch::parse(&bytes, &series.probe_type) else {
            return not_sent.count(Cause::Damaged.word(), wanted.end.0.saturating_sub(wanted.start.0));
        };
        let index =
            |offset: u64| usize::try_from(offset.saturating_sub(offsets.start.0)).unwrap_or(usize::MAX);
        let left = index(wanted.start.0)..index(wanted.end.0);
        if std::mem::take(&mut self.has_unknown_gap) && series.run == self.progress.run {
            let first = batch.get(left.start).map_or(0, |sample| sample.sequence);
            let jump = first.saturating_sub(self.progress.sequence + 1);
            let explained: u64 = gaps_before.iter().flat_map(|gaps| gaps.iter()).map(|gap| gap.count).sum();
            not_sent.count(Cause::EpochChanged.word(), jump.saturating_sub(explained));
        }
        let known = self.series.take().filter(|known| {
            ptr::eq(known.probe_type(), &*series.probe_type) || *known.probe_type() == *series.probe_type
        });
        let set = known.unwrap_or_else(|| Arc::new(SeriesSet::new(&series.probe_type)));
        self.series = Some(set.clone());
        self.open = Some(OpenedBatch { batch, series: set, run: series.run, epoch: after.epoch.0, left });
    }
}

/// Adds a sample whose time is newer than all before it. `newest` is the time of the newest one.
fn push(sample: &Sample, newest: &mut i64, part: &mut Part, not_sent: &mut NotSent) {
    let time = i64::try_from(sample.time / NANOSECONDS_PER_MILLISECOND).unwrap_or(i64::MAX);
    let present = i64::try_from(now().0 / NANOSECONDS_PER_MILLISECOND).unwrap_or(i64::MAX);
    if time > present.saturating_add(MAX_AHEAD_MILLISECONDS) {
        return not_sent.count("time_ahead", 1);
    }
    let new = SentSample { time, sequence: sample.sequence, values: part.series.values(&sample.values) };
    match part.samples.last_mut().filter(|last| last.time == time) {
        Some(last) => {
            // A series has one value in a millisecond: the newer one.
            *last = new;
            not_sent.count("same_millisecond", 1);
        }
        None if time == *newest => not_sent.count("same_millisecond", 1),
        None if time < *newest => not_sent.count("time_backwards", 1),
        None => {
            *newest = time;
            part.samples.push(new);
        }
    }
}
