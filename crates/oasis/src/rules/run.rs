//! `oasis rules run`: the events of a recording, as the rules would have reported them.

use super::{
    arguments::Run,
    frontier::newest_dac_time,
    read,
    stream::{Arrival, Stream},
};
use crate::{
    broken_pipe::is_broken_pipe,
    diagnostics::{MessageFormat, counted},
    output_format::Format,
    target::Target,
    time_flag,
};
use anyhow::{Context, bail};
use oasis_rules::{Engine, Event, EventKind, InstanceId, Program, RESTART};
use oasis_store::History;
use oasis_wire::{quantity::Epoch, time};
use std::{
    collections::{BTreeMap, HashSet},
    io::{self, BufWriter, Write},
    process::ExitCode,
};

/// Bytes of batches read at once, of all instances together.
const READ: usize = 8 * 1024 * 1024;
/// The least that is read of one instance.
const LEAST_READ: usize = 16 * 1024;

pub fn run(arguments: &Run) -> anyhow::Result<ExitCode> {
    let history = History::open(&arguments.archive.find()?)?;
    let report = read(&arguments.file, &history.types()?, MessageFormat::Human);
    if !report.is_ok() {
        return Ok(ExitCode::FAILURE);
    }
    let (from, until) = time_flag::span(arguments.from.as_deref(), arguments.to.as_deref())?;
    let mut replay = Replay::open(&history, report.program, (from.unwrap_or(0), until))?;
    let mut out = Printer { out: BufWriter::new(io::stdout().lock()), format: arguments.format, events: 0 };
    match replay.run(&mut out) {
        // `oasis rules run | head` is not an error.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error),
        Ok(()) => {
            replay.summarize(out.events);
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// A recording that is evaluated.
struct Replay {
    engine: Engine,
    sources: BTreeMap<InstanceId, Source>,
    /// The next batch of each instance, in the order in which the DAC received them.
    next: BTreeMap<Place, Arrival>,
    samples: u64,
    missing: u64,
    /// Lives of the DAC so far.
    epochs: HashSet<Epoch>,
    /// The newest DAC time so far.
    frontier: u64,
    /// The newest DAC time of the archive, if it matters.
    end: u64,
}

struct Source {
    target: Target,
    stream: Stream,
}

/// The place of a batch in the order: DAC time, topic, sequence number.
type Place = (u64, u32, u64, InstanceId);

impl Replay {
    fn open(history: &History, program: Program, span: (u64, Option<u64>)) -> anyhow::Result<Self> {
        let matches = matches(history, &program)?;
        let bytes = (READ / matches.len().max(1)).max(LEAST_READ);
        let mut engine = Engine::new(program);
        let mut sources = BTreeMap::new();
        for (input, target) in matches {
            let id = engine.add(input).context("too many instances: use patterns that match fewer")?;
            let names = (&*target.node, &*target.instance);
            let stream = Stream::new(history, names, &engine.program().inputs[input], span, bytes);
            sources.insert(id, Source { target, stream });
        }
        let end = match engine.program().asks_for_silence() {
            true => newest_dac_time(history, span.1)?,
            false => 0,
        };
        let (next, epochs) = (BTreeMap::new(), HashSet::new());
        let mut replay = Self { engine, sources, next, samples: 0, missing: 0, epochs, frontier: 0, end };
        for id in replay.sources.keys().copied().collect::<Vec<_>>() {
            replay.advance(id)?;
        }
        Ok(replay)
    }

    /// Reads the next batch of an instance.
    fn advance(&mut self, id: InstanceId) -> anyhow::Result<()> {
        if let Some(source) = self.sources.get_mut(&id)
            && let Some(arrival) = source.stream.next()?
        {
            self.next.insert((arrival.dac_time, arrival.topic, arrival.sequence, id), arrival);
        }
        Ok(())
    }

    fn run(&mut self, out: &mut Printer<impl Write>) -> anyhow::Result<()> {
        while let Some(((dac_time, .., id), arrival)) = self.next.pop_first() {
            let Some(source) = self.sources.get_mut(&id) else { continue };
            let epoch = arrival.epoch;
            let rows = source.stream.rows(arrival);
            self.samples += rows.len() as u64;
            let missing = rows.missing.iter().filter(|missing| **missing != RESTART);
            self.missing = missing.fold(self.missing, |sum, missing| sum.saturating_add(*missing));
            self.enter(epoch, dac_time, out)?;
            self.frontier = self.frontier.max(dac_time);
            self.evaluate(out, |engine, report| engine.batch(id, dac_time, rows, report))?;
            self.advance(id)?;
        }
        self.frontier = self.frontier.max(self.end);
        self.pass_frontier(out)?;
        Ok(out.out.flush()?)
    }

    /// At the first batch of another life of the DAC, nobody was silent while it was down.
    fn enter(&mut self, epoch: Epoch, dac_time: u64, out: &mut Printer<impl Write>) -> io::Result<()> {
        if self.epochs.insert(epoch) && self.epochs.len() > 1 {
            self.pass_frontier(out)?;
            self.engine.restart(dac_time);
        }
        Ok(())
    }

    fn pass_frontier(&mut self, out: &mut Printer<impl Write>) -> io::Result<()> {
        let frontier = self.frontier;
        self.evaluate(out, |engine, report| engine.frontier(frontier, report))
    }

    fn evaluate(
        &mut self,
        out: &mut Printer<impl Write>,
        evaluate: impl FnOnce(&mut Engine, &mut dyn FnMut(InstanceId, Event)),
    ) -> io::Result<()> {
        let mut events = Vec::new();
        evaluate(&mut self.engine, &mut |id, event| events.push((id, event)));
        let mut events = events.into_iter();
        events.try_for_each(|(id, event)| match self.sources.get(&id) {
            Some(source) => out.event(self.engine.program(), &source.target, &event),
            None => Ok(()),
        })
    }

    /// Says on standard error what was read.
    fn summarize(&self, events: usize) {
        for Source { target, stream } in self.sources.values() {
            stream.notes.iter().for_each(|note| eprintln!("{target}: {note}"));
        }
        let instances = counted(self.sources.len(), "instance");
        let samples = counted(self.samples as usize, "sample");
        let missing = match self.missing {
            0 => String::new(),
            missing => {
                format!("; {} missing, where the rules are unknown", counted(missing as usize, "sample"))
            }
        };
        eprintln!("{} from {samples} of {instances}{missing}", counted(events, "event"));
    }
}

/// The instances of each input, in order.
fn matches(history: &History, program: &Program) -> anyhow::Result<Vec<(usize, Target)>> {
    let types = history.types()?;
    let mut found = Vec::new();
    for (at, input) in program.inputs.iter().enumerate() {
        let mut targets = Vec::new();
        for probe_type in types.iter().filter(|known| known.name == input.probe_type) {
            let instances = history.instances_of(probe_type)?.into_iter();
            let matching = instances.filter(|(node, instance)| input.matches(node, instance));
            targets.extend(matching.map(|(node, instance)| Target { node, instance }));
        }
        targets.sort();
        targets.dedup();
        if targets.is_empty() {
            bail!(
                "input {}: the archive has no instance {} of the type {}: list its instances with `oasis archive show`",
                input.name,
                input.pattern,
                input.probe_type
            );
        }
        found.extend(targets.into_iter().map(|target| (at, target)));
    }
    Ok(found)
}

/// Writes events.
struct Printer<W> {
    out: W,
    format: Format,
    events: usize,
}

impl<W: Write> Printer<W> {
    fn event(&mut self, program: &Program, target: &Target, event: &Event) -> io::Result<()> {
        self.events += 1;
        match self.format {
            Format::Json => writeln!(self.out, "{}", event.to_json(program, &target.plain(), time::format)),
            Format::Text => writeln!(self.out, "{}", text(program, target, event)),
        }
    }
}

/// `2026-05-04T12:00:00Z  raised  Hot  plant/pump  96.5 (limit 95)`
fn text(program: &Program, target: &Target, event: &Event) -> String {
    let rule = program.rules.get(event.rule).map_or("", |rule| &*rule.name);
    let mut line = format!("{}  {:<9}  {rule}  {target}", time::format(event.time), event.kind.name());
    if let Some(value) = event.value {
        line += &format!("  {value}");
    }
    if let Some(limit) = event.limit {
        line += &format!(" (limit {limit})");
    }
    if let Some(missing) = event.missing {
        line += &format!("  {} missing", counted(missing as usize, "sample"));
    }
    if !event.is_known && event.kind != EventKind::Unknown {
        line += "  quality unknown";
    }
    line
}
