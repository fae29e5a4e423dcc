//! `oasis rules run`: the events of a recording, as the rules would have reported them.

use super::{arguments::Run, read, recording::Recording};
use crate::{
    broken_pipe::is_broken_pipe,
    diagnostics::{MessageFormat, counted},
    output_format::Format,
    target::Target,
    time_flag,
};
use anyhow::bail;
use oasis_rules::{Event, EventKind, Program, readable};
use oasis_rules_history::{Clocks, Occurrence, Past, Replay, Span};
use oasis_store::History;
use oasis_wire::{schema::ProbeType, time};
use std::{
    io::{self, BufWriter, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

pub fn run(arguments: &Run) -> anyhow::Result<ExitCode> {
    let recording = match &*arguments.mcap {
        [] => None,
        files => Some(Recording::read(files)?),
    };
    let history = match &recording {
        Some(recording) => recording.history.clone(),
        None => History::open(&arguments.archive.find()?)?,
    };
    let clocks = if recording.is_some() { Clocks::AsTheyAre } else { Clocks::Measured };
    let past = Past { clocks, ..Past::of_archive(history) };
    let Some(program) = program(arguments.file.as_deref(), &past.types()?) else {
        return Ok(ExitCode::FAILURE);
    };
    let (from, until) = time_flag::span(arguments.from.as_deref(), arguments.to.as_deref())?;
    let mut replay = Replay::open(&past, program, Span { from: from.unwrap_or(0), until })?;
    all_match(&replay)?;
    let mut out =
        Printer { out: BufWriter::new(io::stdout().lock()), format: arguments.output.format(), events: 0 };
    match print(&mut replay, &mut out) {
        // `oasis rules run | head` is not an error.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error),
        Ok(()) => {
            summarize(&replay, out.events);
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The rules of a file, or those of limits without one; none after errors, which were reported.
fn program(file: Option<&Path>, types: &[Arc<ProbeType>]) -> Option<Program> {
    let Some(file) = file else {
        let limits = oasis_rules::limits(types);
        if limits.left_out > 0 {
            eprintln!("{} left out: too many", counted(limits.left_out, "limit"));
        }
        if limits.program.rules.is_empty() {
            eprintln!("no type of the recording has limits: declare warn, alarm, min or max in PDL");
        }
        return Some(limits.program);
    };
    let report = read(file, types, MessageFormat::Human);
    report.is_ok().then_some(report.program)
}

/// Refuses inputs without an instance: a pattern is more often mistyped.
fn all_match(replay: &Replay) -> anyhow::Result<()> {
    let program = replay.program();
    if let Some(input) = replay.unmatched().iter().find_map(|at| program.inputs.get(*at)) {
        bail!(
            "input {}: the archive has no instance {} of the type {}: list its instances with `oasis archive show`",
            input.name,
            input.pattern,
            input.probe_type
        );
    }
    Ok(())
}

fn print(replay: &mut Replay, out: &mut Printer<impl Write>) -> anyhow::Result<()> {
    let mut found = Vec::new();
    let mut is_open = true;
    while is_open {
        is_open = replay.step(&mut found)?;
        for Occurrence { node, instance, event, .. } in found.drain(..) {
            let target = Target { node: node.to_string(), instance: instance.to_string() };
            out.event(replay.program(), &target, &event)?;
        }
    }
    Ok(out.out.flush()?)
}

/// Says on standard error what was read.
fn summarize(replay: &Replay, events: usize) {
    for (node, instance, note) in replay.notes() {
        let target = Target { node: node.to_owned(), instance: instance.to_owned() };
        eprintln!("{target}: {note}");
    }
    let figures = replay.figures();
    let instances = counted(figures.instances, "instance");
    let samples = counted(figures.samples as usize, "sample");
    let missing = match figures.missing {
        0 => String::new(),
        missing => format!("; {} missing, where the rules are unknown", counted(missing as usize, "sample")),
    };
    eprintln!("{} from {samples} of {instances}{missing}", counted(events, "event"));
    if figures.late > 0 {
        eprintln!("{} came too late for rules of several inputs", counted(figures.late as usize, "sample"));
    }
    if figures.unaligned > 0 {
        let unaligned = counted(figures.unaligned as usize, "sample");
        eprintln!(
            "{unaligned} of nodes whose clocks were not measured then: values of other nodes are unknown there"
        );
    }
    if figures.overflowed > 0 {
        let overflowed = counted(figures.overflowed as usize, "sample");
        eprintln!(
            "{overflowed} did not fit into the memory of rules of several inputs, which are unknown there"
        );
    }
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
    let unit = program.rules.get(event.rule).and_then(|rule| rule.unit(event.kind));
    if let Some(value) = event.value {
        line += &format!("  {}", readable(value, unit));
    }
    if let Some(limit) = event.limit {
        line += &format!(" (limit {})", readable(limit, unit));
    }
    if let Some(missing) = event.missing {
        line += &format!("  {} missing", counted(missing as usize, "sample"));
    }
    if !event.is_known && event.kind != EventKind::Unknown {
        line += "  quality unknown";
    }
    line
}
