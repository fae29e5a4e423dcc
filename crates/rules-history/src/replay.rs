//! Evaluates the past, batch by batch.

use crate::{
    clocks::{clock_input, newest_offset},
    epoch::restarted_at,
    frontier::newest_dac_time,
    joins::{Came, Joins},
    occurrence::{LastSample, Occurrence},
    past::{Clocks, Match, Past, Span},
    stream::{Arrival, Stream},
};
use oasis_rules::{Engine, Event, GroupFigures, InstanceId, Program, RESTART, program::Input};
use oasis_store::ReadError;
use oasis_wire::quantity::Epoch;
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};
use thiserror::Error;
use uuid::Uuid;

/// The probe type of the results of rules in a DAC.
pub const RESULTS_TYPE: &str = "OASIS::Rules::Results";

/// Bytes of batches read at once, of all instances together.
const READ_CHUNK_BYTES: usize = 8 * 1024 * 1024;
/// The least that is read of one instance.
const MIN_READ_BYTES: usize = 16 * 1024;

/// Why a replay cannot begin.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The archive cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// More instances than an engine takes.
    #[error("too many instances: use patterns that match fewer")]
    TooManyInstances,
}

/// The past that is evaluated.
#[derive(Debug)]
pub struct Replay {
    past: Past,
    engine: Engine,
    sources: BTreeMap<InstanceId, Source>,
    joins: Joins,
    /// Results that a DAC has recorded: it had come so far when it sent them.
    clocks: Vec<Stream>,
    /// Measurements of the clocks of nodes whose instances are joined.
    offsets: Vec<(String, Stream)>,
    /// The next batch of each instance, in the order in which the DAC received them.
    next: BTreeMap<BatchOrder, Arrival>,
    /// Inputs without an instance.
    unmatched: Vec<usize>,
    figures: Figures,
    /// Lives of the DAC so far.
    epochs: HashSet<Epoch>,
    /// The newest DAC time so far.
    frontier: u64,
    /// The DAC time up to which all has come, if it matters.
    end: u64,
    /// The DAC time up to which what waits is evaluated. Nothing comes after a recording.
    joins_end: u64,
    is_over: bool,
}

/// The results of rules that a DAC has recorded. Silence that it noticed after the last sample of a node is noticed again.
fn clocks(past: &Past, span: Span) -> Result<Vec<Stream>, ReadError> {
    let results = Input {
        name: String::new(),
        pattern: "*".into(),
        probe_type: RESULTS_TYPE.into(),
        schemas: Vec::new(),
        columns: Vec::new(),
    };
    let instances = past.instances_of(RESULTS_TYPE)?;
    let stream = |(node, instance): &(String, String)| {
        Stream::new(past, (node, instance), &results, span, MIN_READ_BYTES)
    };
    Ok(instances.iter().map(stream).collect())
}

/// Returns the measured clocks of the nodes whose instances are joined: from the beginning, because the offset of a
/// clock is unknown before its first measurement.
fn offsets(
    past: &Past,
    joins: &mut Joins,
    instances: &[(InstanceId, Match)],
) -> Result<Vec<(String, Stream)>, ReadError> {
    if past.clocks == Clocks::AsTheyAre {
        joins.trust_clocks();
        return Ok(Vec::new());
    }
    let input = clock_input();
    let nodes: Vec<String> = joins.clocks().map(str::to_owned).collect();
    let mut streams = Vec::new();
    for node in nodes {
        match past.clock_of(&node)? {
            Some((of, name)) => {
                let stream = Stream::new(past, (&of, &name), &input, Span::default(), MIN_READ_BYTES);
                streams.push((node, stream));
            }
            None => joins.lacks_clock(&node, instances),
        }
    }
    Ok(streams)
}

/// Counters of the samples read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Instances that inputs match.
    pub instances: usize,
    /// Samples.
    pub samples: u64,
    /// Samples that are missing between them.
    pub missing: u64,
    /// Samples that came too late for an evaluation of a rule of several inputs.
    pub late: u64,
    /// Samples that did not fit into the memory of such rules.
    pub overflowed: u64,
    /// Samples of such rules whose time on the clock of the DAC is not known.
    pub unaligned: u64,
}

#[derive(Debug)]
struct Source {
    node: Arc<str>,
    instance: Arc<str>,
    stream: Stream,
    topic: u32,
    last: LastSample,
}

/// The place of a batch in the order: DAC time, topic, sequence number.
type BatchOrder = (u64, u32, u64, BatchOrigin);

/// Origin of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BatchOrigin {
    Source(InstanceId),
    /// One of the clocks.
    Clock(usize),
    /// One of the measured clocks of nodes.
    Offset(usize),
}

impl Replay {
    /// Finds the instances of all inputs, and reads their first batches.
    ///
    /// # Errors
    /// If the archive cannot be read, or there are too many instances.
    pub fn open(past: &Past, program: Program, span: Span) -> Result<Self, OpenError> {
        let matches = past.matches(&program)?;
        let is_unmatched = |input: &usize| matches.iter().all(|(at, _)| at != input);
        let unmatched = (0..program.inputs.len()).filter(is_unmatched).collect();
        let bytes = (READ_CHUNK_BYTES / matches.len().max(1)).max(MIN_READ_BYTES);
        let mut engine = Engine::new(program);
        let mut sources = BTreeMap::new();
        let mut instances = Vec::new();
        for (input, (node, instance)) in matches {
            let id = engine.add(input).ok_or(OpenError::TooManyInstances)?;
            instances.push((id, (input, (node.clone(), instance.clone()))));
            let Some(declared) = engine.program().inputs.get(input) else { continue };
            let stream = Stream::new(past, (&node, &instance), declared, span, bytes);
            sources.insert(
                id,
                Source {
                    node: node.into(),
                    instance: instance.into(),
                    stream,
                    topic: 0,
                    last: LastSample::default(),
                },
            );
        }
        let mut joins = Joins::new(engine.program(), &instances);
        let offsets = offsets(past, &mut joins, &instances)?;
        let asks_for_silence = engine.program().asks_for_silence();
        let end = if asks_for_silence { newest_dac_time(past, span.until)? } else { 0 };
        let clocks = if asks_for_silence { clocks(past, span)? } else { Vec::new() };
        let mut replay = Self {
            past: past.clone(),
            engine,
            figures: Figures { instances: sources.len(), ..Figures::default() },
            sources,
            joins,
            clocks,
            offsets,
            next: BTreeMap::new(),
            unmatched,
            epochs: HashSet::new(),
            frontier: 0,
            end,
            joins_end: past.frontier.filter(|_| span.until.is_none()).unwrap_or(u64::MAX),
            is_over: false,
        };
        let sources = replay.sources.keys().copied().map(BatchOrigin::Source);
        let clocks = (0..replay.clocks.len()).map(BatchOrigin::Clock);
        let offsets = (0..replay.offsets.len()).map(BatchOrigin::Offset);
        let all: Vec<BatchOrigin> = sources.chain(clocks).chain(offsets).collect();
        for who in all {
            replay.advance(who)?;
        }
        Ok(replay)
    }

    /// The rules.
    pub fn program(&self) -> &Program {
        self.engine.program()
    }

    /// The numbers of the inputs that match no instance.
    pub fn unmatched(&self) -> &[usize] {
        &self.unmatched
    }

    /// Returns the counters of the samples read.
    pub fn figures(&self) -> Figures {
        let GroupFigures { late, overflowed, unaligned } = self.joins.figures();
        Figures { late, overflowed, unaligned, ..self.figures }
    }

    /// The time of the newest sample that was read, as DAC time.
    pub fn frontier(&self) -> u64 {
        self.frontier
    }

    /// Returns the notes about the samples: node, instance, note.
    pub fn notes(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let of_streams = self.sources.values().flat_map(|Source { node, instance, stream, .. }| {
            stream.notes.iter().map(move |note| (&**node, &**instance, &**note))
        });
        let alone = self.joins.alone.iter().filter_map(|(id, note)| {
            let Source { node, instance, .. } = self.sources.get(id)?;
            Some((&**node, &**instance, &**note))
        });
        of_streams.chain(alone)
    }

    /// Evaluates the next batch, and adds what happens. Returns false at the end.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn step(&mut self, found: &mut Vec<Occurrence>) -> Result<bool, ReadError> {
        let Some(((dac_time, .., who), arrival)) = self.next.pop_first() else {
            if !self.is_over {
                self.is_over = true;
                self.frontier = self.frontier.max(self.end);
                self.pass_frontier(found);
                self.joins.pass(self.engine.program(), self.joins_end, found);
            }
            return Ok(false);
        };
        let id = match who {
            BatchOrigin::Source(id) => id,
            BatchOrigin::Clock(_) => {
                self.enter(arrival.epoch, dac_time, found);
                self.frontier = self.frontier.max(dac_time);
                self.advance(who)?;
                return Ok(true);
            }
            BatchOrigin::Offset(at) => {
                self.measure(at, arrival, found);
                self.advance(who)?;
                return Ok(true);
            }
        };
        let Some(source) = self.sources.get_mut(&id) else { return Ok(true) };
        let (epoch, run) = (arrival.epoch, arrival.run);
        source.topic = arrival.topic;
        let rows = source.stream.rows(arrival);
        self.figures.samples += rows.len() as u64;
        let missing = rows.missing.iter().filter(|missing| **missing != RESTART);
        self.figures.missing =
            missing.fold(self.figures.missing, |sum, missing| sum.saturating_add(*missing));
        self.enter(epoch, dac_time, found);
        self.frontier = self.frontier.max(dac_time);
        self.joins.pass(self.engine.program(), dac_time.saturating_sub(1), found);
        let topic = self.sources.get(&id).map_or(0, |source| source.topic);
        let came = Came { run, topic, dac_time, rows: &rows };
        self.joins.take(self.engine.program(), id, came, found);
        let mut last = LastSample::default();
        last.follow(run, &rows);
        self.evaluate(Some((id, run)), found, |engine, report| engine.batch(id, dac_time, rows, report));
        if let (Some(source), Some(_)) = (self.sources.get_mut(&id), last.0) {
            source.last = last;
        }
        self.advance(who)?;
        Ok(true)
    }

    /// Takes a measurement of a node's clock.
    fn measure(&mut self, at: usize, arrival: Arrival, found: &mut Vec<Occurrence>) {
        let Some((node, stream)) = self.offsets.get_mut(at) else { return };
        let dac_time = arrival.dac_time;
        if let Some(offset) = newest_offset(&stream.rows(arrival)) {
            self.joins.measure(self.engine.program(), node, (dac_time, offset), found);
        }
    }

    /// Reads the next batch of an instance.
    fn advance(&mut self, who: BatchOrigin) -> Result<(), ReadError> {
        let stream = match who {
            BatchOrigin::Source(id) => self.sources.get_mut(&id).map(|source| &mut source.stream),
            BatchOrigin::Clock(at) => self.clocks.get_mut(at),
            BatchOrigin::Offset(at) => self.offsets.get_mut(at).map(|(_, stream)| stream),
        };
        if let Some(stream) = stream
            && let Some(arrival) = stream.next(&self.past)?
        {
            self.next.insert((arrival.dac_time, arrival.topic, arrival.sequence, who), arrival);
        }
        Ok(())
    }

    /// At the first batch of another run of the DAC, no instance counts as silent while it was down.
    fn enter(&mut self, epoch: Epoch, dac_time: u64, found: &mut Vec<Occurrence>) {
        if self.epochs.insert(epoch) && self.epochs.len() > 1 {
            self.pass_frontier(found);
            self.engine.restart(restarted_at(epoch, self.frontier, dac_time));
        }
    }

    fn pass_frontier(&mut self, found: &mut Vec<Occurrence>) {
        let frontier = self.frontier;
        self.evaluate(None, found, |engine, report| engine.frontier(frontier, report));
    }

    fn evaluate(
        &mut self,
        batch: Option<(InstanceId, Uuid)>,
        found: &mut Vec<Occurrence>,
        evaluate: impl FnOnce(&mut Engine, &mut dyn FnMut(InstanceId, Event)),
    ) {
        let mut events = Vec::new();
        evaluate(&mut self.engine, &mut |id, event| events.push((id, event)));
        for of_one in events.chunk_by(|one, next| one.0 == next.0) {
            let Some((id, _)) = of_one.first() else { continue };
            let Some(Source { node, instance, topic, last, .. }) = self.sources.get(id) else { continue };
            let run = batch.filter(|(of, _)| of == id).map(|(_, run)| run);
            let of_one = of_one.iter().map(|(_, event)| event.clone());
            found.extend(last.identify(run, of_one).map(|(event, run, index)| Occurrence {
                node: node.clone(),
                instance: instance.clone(),
                run,
                topic: *topic,
                event,
                index,
            }));
        }
    }
}
