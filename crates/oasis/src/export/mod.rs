//! `oasis export`: what an archive holds, as a file that other programs read. The DAC that writes the archive may go on meanwhile.

mod csv;
mod json_lines;

use crate::{cli::Export, target::Target};
use anyhow::{Context, bail};
use oasis_archive::{History, Piece, Series};
use oasis_dac::now;
use oasis_doors::time;
use oasis_wire::{
    batch::{Batch, Header, Sample},
    quantity::Offset,
};
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Bytes of batches read at once.
const READ: usize = 1024 * 1024;

/// A file format.
trait Format {
    /// One sample.
    fn sample(&mut self, series: &Series, state: u16, sample: &Sample) -> anyhow::Result<()>;
    /// Nothing follows.
    fn finish(&mut self) -> anyhow::Result<()>;
}

/// Writes all samples of the instances, one instance behind the other, and says on standard error what is missing.
pub fn run(arguments: &Export) -> anyhow::Result<()> {
    let history = History::open(&arguments.archive)?;
    let (from, to) = span(&history, arguments)?;
    let targets = match &arguments.instances[..] {
        [] => everything(&history, &arguments.archive)?,
        some => some.to_vec(),
    };
    let mut out = Output::open(arguments.output.as_deref())?;
    let mut format: Box<dyn Format + '_> = match arguments.format {
        crate::cli::ExportFormat::Csv => Box::new(csv::Csv::new(&mut out)),
        crate::cli::ExportFormat::Jsonl => Box::new(json_lines::JsonLines::new(&mut out)),
    };
    let mut written = 0;
    for target in &targets {
        match one(&history, target, from.unwrap_or(0), to, &mut *format) {
            Ok(samples) => written += samples,
            // `oasis export | head` is no error.
            Err(error) if is_broken_pipe(&error) => return Ok(()),
            Err(error) => return Err(error.context(format!("exporting {target}"))),
        }
    }
    format.finish()?;
    drop(format);
    out.finish()?;
    eprintln!("{written} samples of {} instances", targets.len());
    Ok(())
}

/// From when to when: those of a test run, or as the flags say.
fn span(history: &History, arguments: &Export) -> anyhow::Result<(Option<u64>, Option<u64>)> {
    if let Some(name) = &arguments.run {
        let span = history.test_runs().named(name)?.span(now());
        return Ok((Some(span.start), Some(span.end)));
    }
    Ok((at(arguments.from.as_deref(), "--from")?, at(arguments.to.as_deref(), "--to")?))
}

fn at(text: Option<&str>, flag: &str) -> anyhow::Result<Option<u64>> {
    let parse = |text: &str| {
        time::parse(text, now()).with_context(|| format!("{flag} is {text:?}: {}", time::ALLOWED))
    };
    text.map(parse).transpose()
}

fn everything(history: &History, archive: &Path) -> anyhow::Result<Vec<Target>> {
    let names = history.instances()?;
    if names.is_empty() {
        bail!("the archive {} is empty", archive.display());
    }
    Ok(names.into_iter().map(|(node, instance)| Target { node, instance }).collect())
}

fn one(
    history: &History,
    target: &Target,
    from: u64,
    to: Option<u64>,
    format: &mut dyn Format,
) -> anyhow::Result<u64> {
    let Some(mut past) = history.past_from(&target.node, &target.instance, from, to)? else {
        eprintln!("{target}: nothing is stored of that time");
        return Ok(0);
    };
    let mut written = 0;
    loop {
        let pieces = past.read(READ)?;
        if pieces.is_empty() {
            return Ok(written);
        }
        for piece in pieces {
            match piece {
                Piece::Epoch(_) => {}
                Piece::Gap { offsets, cause, .. } => {
                    eprintln!("{target}: {} samples are missing, {cause}", offsets.end.0 - offsets.start.0);
                }
                Piece::Samples { series, batch, wanted, .. } => {
                    match Batch::parse(&batch, &series.probe_type) {
                        Ok(parsed) => {
                            let samples =
                                parsed.samples().filter(|sample| wanted.contains(&Offset(sample.offset)));
                            for sample in samples {
                                format.sample(&series, parsed.header().state, &sample)?;
                                written += 1;
                            }
                        }
                        Err(error) => {
                            let count = Header::parse(&batch).map_or(0, |header| header.count);
                            eprintln!("{target}: {count} samples do not fit their schema: {error}");
                        }
                    }
                }
            }
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(kind))
}

/// Standard output, or a file that has its name only once it is whole.
struct Output {
    to: BufWriter<Box<dyn Write>>,
    file: Option<(PathBuf, PathBuf)>,
}

impl Output {
    fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else {
            return Ok(Self { to: BufWriter::new(Box::new(io::stdout())), file: None });
        };
        let mut partial = path.as_os_str().to_owned();
        partial.push(".part");
        let partial = PathBuf::from(partial);
        let file = File::create(&partial).with_context(|| format!("cannot write {}", partial.display()))?;
        Ok(Self { to: BufWriter::new(Box::new(file)), file: Some((partial, path.to_owned())) })
    }

    fn finish(mut self) -> anyhow::Result<()> {
        self.to.flush()?;
        match self.file {
            Some((partial, path)) => std::fs::rename(&partial, &path)
                .with_context(|| format!("cannot rename {} to {}", partial.display(), path.display())),
            None => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
