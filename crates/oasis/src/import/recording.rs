//! Reads recordings: detects their format, and imports their samples.

use super::of_recording;
use crate::{
    features::{Feature, MCAP},
    progress::Progress,
};
use anyhow::{Context, bail};
use oasis_format::{
    input::{self, DescribedSeries, Description, InputFile, InputFormat, InputOptions, Report, TakeBatch},
    inputs,
    visible::Visible,
};
use oasis_recordings::import::Import;
use oasis_store::Series;
use oasis_wire::quantity::Epoch;
use std::{
    cell::Cell,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    rc::Rc,
};

/// Bytes of a megabyte in progress lines.
const MEGABYTE: u64 = 1_000_000;

/// Returns the format of a file, if it is a recording.
///
/// # Errors
/// If it cannot be read, or this program is built without its format.
pub fn find(path: &Path) -> anyhow::Result<Option<&'static InputFormat>> {
    let found = inputs::find(path, &mut File::open(path)?)?;
    if let Some(feature) = found.and_then(feature_of) {
        feature.require("the file")?;
    }
    Ok(found)
}

/// The feature that a format needs.
pub fn feature_of(format: &InputFormat) -> Option<&'static Feature> {
    match format.name {
        "mcap" => Some(&MCAP),
        _ => None,
    }
}

/// Imports the samples of a file, and the causes of losses that it names. Returns whether it has nothing else. Messages name `source`.
///
/// # Errors
/// If the file is defective, or has nothing that can be read.
pub fn add(
    path: &Path,
    source: &Path,
    (format, options): (&InputFormat, &InputOptions),
    prefix: &str,
    import: &mut Import,
) -> anyhow::Result<bool> {
    let mut is_empty = true;
    let report = read(path, format, options, &mut |recorded, batch| {
        is_empty = false;
        Ok(import.add(&series_of(recorded, prefix), batch)?)
    })?;
    print(source, &report);
    if is_empty {
        bail!(no_samples(format, &report));
    }
    let is_complete = report.is_complete();
    for lost in report.lost {
        let node = node_of(lost.node.as_deref(), prefix).into();
        import.lose((node, lost.instance.into()), lost.run, lost.numbers, lost.cause);
    }
    Ok(is_complete)
}

/// Describes a file. Returns its series and the rest of it.
///
/// # Errors
/// If it cannot be read.
pub fn describe(
    path: &Path,
    format: &InputFormat,
    options: &InputOptions,
) -> anyhow::Result<(Vec<DescribedSeries>, Report)> {
    let mut description = Description::default();
    let report = read(path, format, options, &mut |recorded, batch| description.add(recorded, batch))?;
    Ok((description.series().to_vec(), report))
}

/// Reads a file, and shows the progress.
pub fn read(
    path: &Path,
    format: &InputFormat,
    options: &InputOptions,
    take: &mut TakeBatch<'_>,
) -> anyhow::Result<Report> {
    let file = File::open(path)?;
    let total = file.metadata()?.len();
    let position = Rc::new(Cell::new(0));
    let mut content = TrackedFile { file, position: position.clone() };
    let (mut progress, mut batches) = (Progress::new(), 0_u64);
    let name = path.file_name().unwrap_or_default().display();
    let mut file = InputFile { path, content: &mut content };
    let report = (format.read)(&mut file, options, &mut |recorded, batch| {
        batches += 1;
        progress.show(|| {
            let [read, total] = [position.get(), total].map(|bytes| bytes.div_ceil(MEGABYTE));
            format!("{name}: {read} of {total} MB, {batches} batches")
        });
        take(recorded, batch)
    });
    progress.clear();
    report.with_context(|| format!("{} file", format.title))
}

/// A file whose position is shown.
struct TrackedFile {
    file: File,
    position: Rc<Cell<u64>>,
}

impl Read for TrackedFile {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(to)?;
        self.position.set(self.position.get() + read as u64);
        Ok(read)
    }
}

impl Seek for TrackedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = self.file.seek(to)?;
        self.position.set(at);
        Ok(at)
    }
}

/// Says why a file without samples is refused.
pub fn no_samples(format: &InputFormat, report: &Report) -> &'static str {
    match (format.name, report.is_complete()) {
        ("mcap", false) if report.is_damaged => "the file is damaged, and has no other messages",
        ("mcap", false) => {
            "no readable messages: only JSON, Protocol Buffers and messages of ROS 2 are supported"
        }
        ("mcap", true) => "the file has no messages",
        (_, false) => "nothing can be read, as reported above",
        (_, true) => "the file has no samples",
    }
}

/// Reports the content of a file that its samples do not have, on standard error.
pub fn print(path: &Path, report: &Report) {
    for finding in report.findings.iter().filter(|finding| !finding.text.is_empty()) {
        let text = Visible(&finding.text);
        match &finding.subject {
            Some(subject) => eprintln!("{}: {text}", Visible(subject)),
            None => eprintln!("{}: {text}", path.display()),
        }
    }
}

fn node_of(node: Option<&str>, prefix: &str) -> String {
    node.map_or_else(|| prefix.to_owned(), |node| of_recording(prefix, node))
}

/// The import assigns an epoch.
fn series_of(recorded: &input::RecordedSeries, prefix: &str) -> Series {
    let input::RecordedSeries { node, instance, kind, run, probe_type } = recorded.clone();
    let node = node_of(node.as_deref(), prefix).into();
    Series { node, instance, kind, run, epoch: Epoch(0), probe_type }
}
