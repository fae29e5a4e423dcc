//! An archive's samples, one after the other: of one instance, or of several in the order of their times.

use crate::target::Target;
use oasis_format::{Order, Source};
use oasis_store::{History, Holes, Missing, Past, Piece, ReadError, Series};
use oasis_wire::{
    batch::{Batch, Sample},
    loss::Cause,
    quantity::Offset,
};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    sync::Arc,
};

/// Bytes of batches read at once, of all instances together.
const READ: usize = 1024 * 1024;
/// The least that is read of one instance.
const LEAST_READ: usize = 16 * 1024;

/// What comes next of an instance.
#[derive(Debug)]
pub enum Found {
    /// A sample, and the state of its probe.
    Sample(Arc<Source>, u16, Sample),
    /// Samples of an instance that are not there, and why; with the time of the sample before them, or behind them if there is none.
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
    past: Past,
    holes: Holes,
    /// The series read last, and the same for a format.
    source: Option<(Arc<Series>, Arc<Source>)>,
    read: usize,
    /// Of the last sample.
    time: Option<u64>,
    found: VecDeque<Found>,
    /// Whether it was said that something does not fit its schema.
    has_complained: bool,
    is_over: bool,
}

impl OfInstance {
    fn open(history: &History, target: &Target, span: Span, read: usize) -> Result<Option<Self>, ReadError> {
        let past = history.past_from(&target.node, &target.instance, span.from, span.to)?;
        let of = |past| Self {
            target: Arc::new(target.clone()),
            past,
            holes: Holes::new(history, span.from),
            source: None,
            read,
            time: None,
            found: VecDeque::new(),
            has_complained: false,
            is_over: false,
        };
        Ok(past.map(of))
    }

    fn next(&mut self) -> Result<Option<Found>, ReadError> {
        while self.found.is_empty() && !self.is_over {
            let pieces = self.past.read(self.read)?;
            if pieces.is_empty() {
                self.is_over = true;
                let more_follow = self.past.is_over();
                let missing = self.holes.behind(&self.target.node, &self.target.instance, more_follow)?;
                self.miss(missing, 0);
            }
            pieces.into_iter().try_for_each(|piece| self.take(piece))?;
        }
        Ok(self.found.pop_front())
    }

    fn take(&mut self, piece: Piece) -> Result<(), ReadError> {
        match piece {
            Piece::Epoch(_) => {}
            Piece::Gap { offsets, cause, .. } => self.holes.skip(offsets.end.0 - offsets.start.0, cause),
            Piece::Samples { series, batch, wanted, .. } => match Batch::parse(&batch, &series.probe_type) {
                Ok(parsed) => {
                    let state = parsed.header().state;
                    let source = self.source(&series);
                    for sample in parsed.samples().filter(|sample| wanted.contains(&Offset(sample.offset))) {
                        let missing = self.holes.before(&series, sample.sequence)?;
                        self.miss(missing, sample.time);
                        self.time = Some(sample.time);
                        self.found.push_back(Found::Sample(source.clone(), state, sample));
                    }
                }
                Err(error) => {
                    if !std::mem::replace(&mut self.has_complained, true) {
                        eprintln!("{}: a batch does not fit its schema: {error}", self.target);
                    }
                    self.holes.skip(wanted.end.0 - wanted.start.0, Cause::Damaged);
                }
            },
        }
        Ok(())
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

    /// `behind` is the time of the sample that follows.
    fn miss(&mut self, missing: Vec<Missing>, behind: u64) {
        let (target, time) = (&self.target, self.time.unwrap_or(behind));
        self.found.extend(missing.into_iter().map(|missing| Found::Missing(target.clone(), missing, time)));
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
    found: Found,
}

impl Samples {
    /// Of these instances.
    pub fn new(history: &History, targets: &[Target], span: Span, order: Order) -> Self {
        let (left, begun) = (targets.to_vec().into(), Vec::new());
        Self { history: history.clone(), span, order, left, begun, next: BinaryHeap::new() }
    }

    /// What comes next.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn next(&mut self) -> anyhow::Result<Option<Found>> {
        let most = if self.order == Order::ByTime { usize::MAX } else { 1 };
        while self.next.len() < most
            && let Some(target) = self.left.pop_front()
        {
            let read = if self.order == Order::ByTime { READ / (self.left.len() + 1) } else { READ };
            self.begin(&target, read.max(LEAST_READ))?;
        }
        let Some(Reverse(next)) = self.next.pop() else { return Ok(None) };
        self.advance(next.at)?;
        Ok(Some(next.found))
    }

    fn begin(&mut self, target: &Target, read: usize) -> anyhow::Result<()> {
        if let Some(of_instance) = OfInstance::open(&self.history, target, self.span, read)? {
            self.begun.push(of_instance);
            if self.advance(self.begun.len() - 1)? {
                return Ok(());
            }
        }
        eprintln!("{target}: nothing is stored of that time");
        Ok(())
    }

    /// Whether there is more of it.
    fn advance(&mut self, at: usize) -> anyhow::Result<bool> {
        let Some(found) = self.begun[at].next()? else { return Ok(false) };
        let time = match &found {
            Found::Sample(_, _, sample) => sample.time,
            Found::Missing(_, _, time) => *time,
        };
        self.next.push(Reverse(Next { time, at, found }));
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
