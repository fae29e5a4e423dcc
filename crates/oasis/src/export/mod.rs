//! `oasis export`: writes samples of an archive to a file for other programs, also while its DAC runs.

mod arguments;
mod content;
mod output;
mod samples;
mod tables;

use crate::{
    access::{AccessFolder, of_archive},
    broken_pipe::is_broken_pipe,
    progress::Progress,
    target::{self, Target},
    time_flag::{self, now},
};
pub use arguments::Arguments;

use anyhow::{Context, bail};
use oasis_format::visible::Visible;
use oasis_format::{Format, Gap, SampleFormat, SampleWriter, WriteError, WriteOptions};
use oasis_store::{History, Missing};
use oasis_wire::{loss::Cause, schema::ProbeType};
use output::Output;
use samples::{Item, Samples, Span};
use serde_json::json;
use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
    path::Path,
    sync::Arc,
};

/// Samples between two updates of the progress line.
const UPDATE_INTERVAL_SAMPLES: u64 = 4_096;

/// Writes all samples of the instances, and reports missing samples on standard error. The audit log says so, if there is one that can be written.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let access = AccessFolder::of(arguments.access.clone(), arguments.archive.config_file());
    let instances: Vec<_> = arguments.instances.iter().map(Target::plain).collect();
    let format = arguments.format()?;
    let detail = json!({
        "archive": arguments.archive.find()?,
        "format": format.name,
        "from": arguments.from,
        "to": arguments.to,
        "run": arguments.run,
    });
    of_archive(&access, ("export", &instances.join(" "), detail), false, || export(arguments, format))
}

fn export(arguments: &Arguments, format: &'static Format) -> anyhow::Result<()> {
    let options = arguments.content.options(format)?;
    let archive = arguments.archive.find()?;
    let history = History::open(&archive)?;
    let (from, to) = span(&history, arguments)?;
    let targets = match &arguments.instances[..] {
        [] => everything(&history, &archive)?,
        some => target::known(&history, some)?,
    };
    let span = Span { from: from.unwrap_or(0), to };
    let samples = samples_of(format)?;
    let output = arguments.output.as_deref();
    if let Some(folder) = output.filter(|path| samples.is_table && tables::is_folder(path)) {
        return tables::write_each(&history, &targets, span, (format, &options), folder);
    }
    if samples.is_table {
        one_type(&history, &targets, span)?;
    }
    if !format.is_text && output.is_none() && io::stdout().is_terminal() {
        bail!(
            "this format is binary, and standard output is a terminal: use -o FILE, or redirect with | or >"
        );
    }
    // `oasis export | head` is not an error.
    if let Some(written) = write(&history, &targets, span, (samples, &options), output, None)? {
        eprintln!("{}", summary(written, &targets));
    }
    Ok(())
}

/// Returns the support of a format for samples; the command line accepts no other formats.
fn samples_of(format: &'static Format) -> anyhow::Result<&'static SampleFormat> {
    format.samples.as_ref().with_context(|| format!("{} does not support samples", format.name))
}

/// Formats the number of written samples.
fn summary(written: u64, targets: &[Target]) -> String {
    let plural = |number: u64| if number == 1 { "" } else { "s" };
    let instances = targets.len() as u64;
    format!("{written} sample{} of {instances} instance{}", plural(written), plural(instances))
}

/// Writes one file: all samples of the instances, or those of one type. Returns their number, or `None` if the pipe was closed.
fn write(
    history: &History,
    targets: &[Target],
    span: Span,
    (format, options): (&SampleFormat, &WriteOptions),
    output: Option<&Path>,
    only: Option<&ProbeType>,
) -> anyhow::Result<Option<u64>> {
    let mut out = Output::open(output)?;
    let mut writer = (format.open)(&mut out, options)?;
    let samples = Samples::new(history, targets, span, format.order);
    let progress = if output.is_some() { Progress::new() } else { Progress::beside_output() };
    let written = match write_all(samples, only, &mut *writer, progress) {
        Ok(written) => written,
        Err(error) if is_broken_pipe(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    drop(writer);
    out.finish()?;
    Ok(Some(written))
}

/// Returns the time span of a test run, or of the flags.
fn span(history: &History, arguments: &Arguments) -> anyhow::Result<(Option<u64>, Option<u64>)> {
    if let Some(name) = &arguments.run {
        let span = history.test_runs().named(name)?.span(now());
        return Ok((Some(span.start), Some(span.end)));
    }
    time_flag::span(arguments.from.as_deref(), arguments.to.as_deref())
}

fn everything(history: &History, archive: &Path) -> anyhow::Result<Vec<Target>> {
    let names = history.instances()?;
    if names.is_empty() {
        bail!("the archive {} is empty", archive.display());
    }
    Ok(names.into_iter().map(|(node, instance)| Target { node, instance }).collect())
}

fn write_all(
    mut samples: Samples,
    only: Option<&ProbeType>,
    writer: &mut dyn SampleWriter,
    mut progress: Progress,
) -> anyhow::Result<u64> {
    let mut written = 0;
    let mut lost = Lost::default();
    while let Some(item) = samples.next()? {
        match item {
            Item::Sample(source, ..) if only.is_some_and(|only| *only != *source.probe_type) => {}
            Item::Sample(source, state, sample) => {
                writer.sample(&source, state, &sample).map_err(explained).with_context(|| {
                    format!("exporting {}/{}", Visible(&source.node), Visible(&source.instance))
                })?;
                written += 1;
                if written % UPDATE_INTERVAL_SAMPLES == 0 {
                    progress.show(|| format!("{written} samples"));
                }
            }
            Item::Missing(target, missing, time) => {
                writer.gap(&gap(&target, &missing, time))?;
                lost.add(target, missing);
            }
        }
    }
    writer.finish()?;
    progress.clear();
    lost.report();
    Ok(written)
}

fn gap<'a>(target: &'a Target, missing: &'a Missing, time: u64) -> Gap<'a> {
    let Missing { run, count, cause, numbers } = missing;
    let numbers = numbers.clone();
    Gap {
        node: &target.node,
        instance: &target.instance,
        run: *run,
        count: *count,
        numbers,
        cause: *cause,
        time,
    }
}

/// Missing samples by instance and cause: there may be thousands of gaps.
#[derive(Default)]
struct Lost(BTreeMap<Arc<Target>, BTreeMap<Cause, (u64, u64)>>);

impl Lost {
    fn add(&mut self, target: Arc<Target>, missing: Missing) {
        let (samples, places) = self.0.entry(target).or_default().entry(missing.cause).or_default();
        *samples = samples.saturating_add(missing.count);
        *places += 1;
    }

    fn report(&self) {
        for (target, causes) in &self.0 {
            for (cause, (samples, places)) in causes {
                let are = if *samples == 1 { "sample is" } else { "samples are" };
                let places = if *places == 1 { String::new() } else { format!(" (in {places} places)") };
                eprintln!("{target}: {samples} {are} missing, {cause}{places}");
            }
        }
    }
}

/// Refuses instances of several types before anything is written.
fn one_type(history: &History, targets: &[Target], span: Span) -> anyhow::Result<()> {
    let mut first: Option<Arc<ProbeType>> = None;
    let times = span.from..span.to.unwrap_or(u64::MAX);
    for target in targets {
        for found in history.types_between(&target.node, &target.instance, &times)? {
            let known = first.get_or_insert_with(|| found.clone());
            WriteError::check_type(known, &found).map_err(explained)?;
        }
    }
    Ok(())
}

/// An error with the flags that help.
fn explained(error: WriteError) -> anyhow::Error {
    match error {
        WriteError::SeveralTypes(..) => anyhow::anyhow!(
            "{error} (use -o FOLDER/ for one file each, instances of one type, --from or --to, or --format jsonl or mcap)"
        ),
        error => error.into(),
    }
}
