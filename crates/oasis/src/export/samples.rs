//! An archive's samples, one after the other: of one instance, or of several in the order of their times.

use crate::target::Target;
use oasis_format::{Order, Source};
use oasis_history::{self as history, SampleOrMissing};
use oasis_store::{History, Missing, ReadError, Series};
use oasis_wire::batch::Sample;
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    sync::Arc,
};

/// Bytes of batches read at once, of all instances together.
const READ_CHUNK_BYTES: usize = 1024 * 1024;
/// The least that is read of one instance.
const MIN_READ_BYTES: usize = 16 * 1024;

/// The next item of an instance.
#[derive(Debug)]
pub enum Item {
    /// A sample, and the state of its probe.
    Sample(Arc<Source>, u16, Sample),
    /// Missing samples of an instance, and why; with the time of the sample before them, or after them if there is none.
    Missing(Arc<Target>, Missing, u64),
}

/// From when to when, nanoseconds on the node's clock.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    pub from: u64,
    pub to: Option<u64>,
}

/// The samples of one instance.
#[derive(Debug)]
struct OfInstance {
    target: Arc<Target>,
    samples: history::Samples,
    /// The series read last, and the same for a format.
    source: Option<(Arc<Series>, Arc<Source>)>,
    /// Time of the last sample.
    time: Option<u64>,
    /// Missing samples before the first one: they wait for its time.
    waiting: VecDeque<Item>,
    has_complained: bool,
}

impl OfInstance {
    fn open(archive: &History, target: &Target, span: Span, bytes: usize) -> Self {
        let names = (&*target.node, &*target.instance);
        Self {
            target: Arc::new(target.clone()),
            samples: history::Samples::new(archive, names, span.from, span.to, bytes),
            source: None,
            time: None,
            waiting: VecDeque::new(),
            has_complained: false,
        }
    }

    fn next(&mut self) -> Result<Option<Item>, ReadError> {
        if let Some(item) = self.waiting.pop_front() {
            return Ok(Some(item));
        }
        let mut first_missing = Vec::new();
        let item = loop {
            let found = self.samples.next()?;
            self.complain();
            match (found, self.time) {
                (Some(SampleOrMissing::Sample(series, state, sample)), _) => {
                    self.time = Some(sample.time);
                    break Some(Item::Sample(self.source(&series), state, sample));
                }
                (Some(SampleOrMissing::Missing(missing)), Some(time)) => {
                    break Some(self.missing(missing, time));
                }
                (Some(SampleOrMissing::Missing(missing)), None) => first_missing.push(missing),
                (None, _) => break None,
            }
        };
        let time = self.time.unwrap_or_default();
        let first_missing = first_missing.into_iter().map(|missing| self.missing(missing, time));
        self.waiting = first_missing.chain(item).collect();
        Ok(self.waiting.pop_front())
    }

    fn missing(&self, missing: Missing, time: u64) -> Item {
        Item::Missing(self.target.clone(), missing, time)
    }

    /// Reports the first batch that does not fit its schema.
    fn complain(&mut self) {
        if let Some(error) = self.samples.take_unreadable()
            && !std::mem::replace(&mut self.has_complained, true)
        {
            eprintln!("{}: a batch does not fit its schema: {error}", self.target);
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

/// The samples of instances.
#[derive(Debug)]
pub struct Samples {
    history: History,
    span: Span,
    order: Order,
    /// Instances that were not begun.
    left: VecDeque<Target>,
    begun: Vec<OfInstance>,
    /// The next of each that was begun, by time.
    next: BinaryHeap<Reverse<Next>>,
}

/// The first one of an instance; what is missing stands before the sample that follows.
#[derive(Debug)]
struct Next {
    time: u64,
    at: usize,
    item: Item,
}

impl Samples {
    /// Reads these instances.
    pub fn new(history: &History, targets: &[Target], span: Span, order: Order) -> Self {
        let (left, begun) = (targets.to_vec().into(), Vec::new());
        Self { history: history.clone(), span, order, left, begun, next: BinaryHeap::new() }
    }

    /// Returns the next item.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn next(&mut self) -> anyhow::Result<Option<Item>> {
        let most = if self.order == Order::ByTime { usize::MAX } else { 1 };
        while self.next.len() < most
            && let Some(target) = self.left.pop_front()
        {
            let read = if self.order == Order::ByTime {
                READ_CHUNK_BYTES / (self.left.len() + 1)
            } else {
                READ_CHUNK_BYTES
            };
            self.begin(&target, read.max(MIN_READ_BYTES))?;
        }
        let Some(Reverse(next)) = self.next.pop() else { return Ok(None) };
        self.advance(next.at)?;
        Ok(Some(next.item))
    }

    fn begin(&mut self, target: &Target, bytes: usize) -> anyhow::Result<()> {
        self.begun.push(OfInstance::open(&self.history, target, self.span, bytes));
        if !self.advance(self.begun.len() - 1)? {
            eprintln!("{target}: nothing is stored of that time");
        }
        Ok(())
    }

    /// Reads the next item of an instance. Returns whether there is one.
    fn advance(&mut self, at: usize) -> anyhow::Result<bool> {
        let Some(item) = self.begun[at].next()? else { return Ok(false) };
        let time = match &item {
            Item::Sample(_, _, sample) => sample.time,
            Item::Missing(_, _, time) => *time,
        };
        self.next.push(Reverse(Next { time, at, item }));
        Ok(true)
    }
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        (self.time, self.at) == (other.time, other.at)
    }
}

impl Eq for Next {}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time, self.at).cmp(&(other.time, other.at))
    }
}
