//! Samples one by one: those of the archive, then newer ones of the topic log, up to now.

use super::{answer::failed, memory::AnswerMemory};
use crate::{Doors, past::times::Begin, text::query::Request};
use oasis_format::{Order, Source};
use oasis_handler::InstanceLog;
use oasis_history::{Batch, HistoryPart, NextStep, Reader, Start};
use oasis_http::Problem;
use oasis_store::{LossTracker, Missing, Series};
use oasis_wire::{
    batch::{self, Header, Sample},
    gap::Gap,
    loss::Cause,
    quantity::{Offset, Position},
};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    mem,
    ops::Range,
    sync::Arc,
};

/// Bytes of batches read at once, of all instances together.
const READ_CHUNK_BYTES: usize = 1024 * 1024;
/// The least that is read of one instance.
const LEAST_READ: usize = 16 * 1024;

/// The next item.
pub enum Item {
    /// A sample, and the state of its probe.
    Sample(Arc<Source>, u16, Sample),
    /// Samples of an instance that are missing, and the time of the sample after them.
    Missing(Arc<Source>, Missing, u64),
}

/// The samples of a request, in an order.
pub struct Samples<'a> {
    doors: &'a Doors,
    request: &'a Request,
    order: Order,
    /// Topics that were not begun.
    left: VecDeque<&'a (String, String)>,
    begun: Vec<OfInstance>,
    /// The number of the next one to read, by the time of its next item.
    next: BinaryHeap<Reverse<(u64, usize)>>,
}

impl<'a> Samples<'a> {
    /// Creates the samples of the instances of a request.
    pub fn new(doors: &'a Doors, request: &'a Request, order: Order) -> Self {
        let (left, begun) = (request.topics.iter().collect(), Vec::new());
        Self { doors, request, order, left, begun, next: BinaryHeap::new() }
    }

    /// Returns what comes next; nothing at the end.
    ///
    /// # Errors
    /// If the archive cannot be read, or there is no memory for a batch.
    pub fn next(&mut self, memory: &mut AnswerMemory) -> Result<Option<Item>, Problem> {
        let most = if self.order == Order::ByTime { usize::MAX } else { 1 };
        while self.next.len() < most
            && let Some(topic) = self.left.pop_front()
        {
            let share = if self.order == Order::ByTime { self.request.topics.len() } else { 1 };
            self.begun.push(OfInstance::new(self.doors, self.request, topic, READ_CHUNK_BYTES / share));
            self.advance(self.begun.len() - 1, memory)?;
        }
        let Some(Reverse((_, at))) = self.next.pop() else { return Ok(None) };
        let item = self.begun[at].ready.pop_front();
        self.advance(at, memory)?;
        Ok(item)
    }

    /// Makes the next item of an instance ready.
    fn advance(&mut self, at: usize, memory: &mut AnswerMemory) -> Result<(), Problem> {
        if let Some(time) = self.begun[at].prepare(self.doors, memory)? {
            self.next.push(Reverse((time, at)));
        }
        Ok(())
    }
}

/// The samples of one instance.
struct OfInstance {
    reader: Reader,
    /// The least and the end of the wanted times.
    times: (u64, Option<u64>),
    bytes: usize,
    /// Samples that arrive while the file is sent are not part of it.
    end: Option<Position>,
    /// Finds missing samples, if there is an archive.
    losses: Option<LossTracker>,
    /// Whether samples before the first one are not reported.
    is_cut: bool,
    /// Pieces with the position after each.
    pieces: VecDeque<(HistoryPart, Position)>,
    open: Option<OpenBatch>,
    ready: VecDeque<Item>,
    /// The series read last, and the same for a format.
    source: Option<(Arc<Series>, Arc<Source>)>,
    is_over: bool,
}

/// A decoded batch, and the indexes of the samples that were not read yet.
struct OpenBatch {
    series: Arc<Series>,
    batch: batch::Batch,
    left: Range<usize>,
    /// Memory that it takes.
    held: usize,
}

impl OfInstance {
    fn new(doors: &Doors, request: &Request, (node, name): &(String, String), bytes: usize) -> Self {
        let instance = doors.dac.registry.find(node, name);
        let end = instance
            .as_ref()
            .map(|instance| Position { epoch: instance.log.epoch(), offset: instance.log.next() });
        let history = doors.archived.history();
        let from = if let Begin::Time(time) = request.times.from { time } else { 0 };
        let losses = history.as_ref().map(|history| LossTracker::new(history, from));
        let reader =
            Reader::new(node, name, Start::Time(from)).with_archive(history).until(request.times.until);
        let reader = match instance {
            Some(instance) => reader.with_log(Arc::new(InstanceLog(instance))),
            None => reader,
        };
        Self {
            reader,
            times: (from, request.times.until),
            bytes: bytes.max(LEAST_READ),
            end,
            losses,
            is_cut: from > 0,
            pieces: VecDeque::new(),
            open: None,
            ready: VecDeque::new(),
            source: None,
            is_over: false,
        }
    }

    /// Makes an item ready, and returns its time; nothing at the end.
    fn prepare(&mut self, doors: &Doors, memory: &mut AnswerMemory) -> Result<Option<u64>, Problem> {
        loop {
            if let Some(Item::Sample(_, _, Sample { time, .. }) | Item::Missing(_, _, time)) =
                self.ready.front()
            {
                return Ok(Some(*time));
            }
            if self.open.is_some() {
                self.read_sample(doors, memory)?;
            } else if let Some((piece, after)) = self.pieces.pop_front() {
                self.take(piece, doors, memory)?;
                if self.end.is_some_and(|end| after.epoch == end.epoch && after.offset >= end.offset) {
                    self.pieces.clear();
                    self.is_over = true;
                }
            } else if self.is_over {
                return Ok(None);
            } else {
                let read = self.reader.read(self.bytes).map_err(|error| failed(&error.to_string()))?;
                self.is_over =
                    read.pieces.is_empty() && !matches!(read.then, NextStep::More | NextStep::Flush);
                self.pieces.extend(read.pieces);
            }
        }
    }

    fn read_sample(&mut self, doors: &Doors, memory: &mut AnswerMemory) -> Result<(), Problem> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let Some(sample) = open.left.next().and_then(|index| open.batch.get(index)) else {
            memory.replace_batch(doors, open.held, 0)?;
            self.open = None;
            return Ok(());
        };
        let (series, state) = (open.series.clone(), open.batch.header().state);
        let source = self.source(&series);
        if let Some(losses) = &mut self.losses {
            let missing =
                losses.before(&series, sample.sequence).map_err(|error| failed(&error.to_string()))?;
            let items =
                missing.into_iter().map(|missing| Item::Missing(source.clone(), missing, sample.time));
            self.ready.extend(items);
        }
        let (from, until) = self.times;
        // Between the wanted samples are others, where a clock was set back or samples were late.
        if sample.time >= from && until.is_none_or(|until| sample.time < until) {
            self.ready.push_back(Item::Sample(source, state, sample));
        }
        Ok(())
    }

    fn take(&mut self, piece: HistoryPart, doors: &Doors, memory: &mut AnswerMemory) -> Result<(), Problem> {
        match piece {
            HistoryPart::Gap { offsets: Some(offsets), cause, run } => {
                self.skip(offsets.end.0 - offsets.start.0, cause, run);
            }
            HistoryPart::Samples(batch) => self.open(batch, doors, memory)?,
            HistoryPart::Gap { offsets: None, .. } | HistoryPart::Epoch | HistoryPart::Type(_) => {}
        }
        Ok(())
    }

    fn open(&mut self, batch: Batch, doors: &Doors, memory: &mut AnswerMemory) -> Result<(), Problem> {
        let Batch { series, bytes, offsets, wanted, gaps_before } = batch;
        let held = decoded_bytes(&bytes, series.probe_type.metrics.len());
        memory.replace_batch(doors, 0, held)?;
        match batch::Batch::parse(&bytes, &series.probe_type) {
            Ok(batch) => {
                let index = |offset: Offset| (offset.0 - offsets.start.0) as usize;
                let left = index(wanted.start)..index(wanted.end);
                let time = batch.get(left.start).map_or(0, |first| first.time);
                self.report(&series, gaps_before.as_deref().unwrap_or_default(), time);
                self.open = Some(OpenBatch { series, batch, left, held });
            }
            // Readers of the other doors count these batches.
            Err(_) => {
                memory.replace_batch(doors, held, 0)?;
                self.skip(wanted.end.0 - wanted.start.0, Cause::Damaged, Some(series.run));
            }
        }
        Ok(())
    }

    /// Reports gaps before a batch of the log. With an archive, its list has all of them.
    fn report(&mut self, series: &Arc<Series>, gaps: &[Gap], time: u64) {
        if self.losses.is_some() || mem::take(&mut self.is_cut) {
            return;
        }
        let source = self.source(series);
        self.ready.extend(gaps.iter().map(|gap| {
            let numbers = gap.from_sequence..=gap.to_sequence;
            let is_all = gap.to_sequence.checked_sub(gap.from_sequence) == gap.count.checked_sub(1);
            let numbers = Some(numbers).filter(|_| is_all);
            let missing = Missing { run: gap.run, count: gap.count, cause: gap.cause, numbers };
            Item::Missing(source.clone(), missing, time)
        }));
    }

    fn skip(&mut self, count: u64, cause: Cause, run: Option<uuid::Uuid>) {
        if let Some(losses) = &mut self.losses {
            losses.skip(count, cause, run);
        }
    }

    fn source(&mut self, series: &Arc<Series>) -> Arc<Source> {
        if let Some((known, source)) = &self.source
            && Arc::ptr_eq(known, series)
        {
            return source.clone();
        }
        let Series { node, instance, kind, run, epoch, probe_type } = Series::clone(series);
        let source = Arc::new(Source { node, instance, kind, run, epoch, probe_type });
        self.source = Some((series.clone(), source.clone()));
        source
    }
}

/// Returns about how much memory the values of a batch take once they are decoded: constant columns have few bytes.
fn decoded_bytes(bytes: &[u8], metrics: usize) -> usize {
    let samples = Header::parse(bytes).map_or(0, |head| usize::from(head.count));
    (metrics + 1) * samples * size_of::<u64>() + bytes.len()
}
