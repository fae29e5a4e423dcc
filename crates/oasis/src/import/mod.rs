//! `oasis import`: imports recordings into an archive, each file in one commit. A file that fails does not end the import of the others.

mod arguments;
mod describe;
mod names;
mod recording;
mod unpacked;

pub use arguments::Arguments;
pub use names::{check_distinct, default_name};
// For rules over a recording.
#[cfg(feature = "mcap")]
pub use recording::{find, no_samples, print, read};

use crate::{
    config::Config,
    exit_codes,
    features::{MCAP, NATS},
    progress::Progress,
};
use anyhow::{Context, bail};
use oasis_format::{
    input::{InputFormat, InputOptions},
    inputs,
    rosbag2::bag_files,
    visible::Visible,
};
use oasis_nats::{NatsConfig, Target};
use oasis_recordings::import::{Import, ImportTotals};
use oasis_store::ArchiveConfig;
use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    process::ExitCode,
};
use unpacked::Unpacked;

/// The kind of a finding in a segment file whose last record was not written completely.
const TORN_TAIL: &str = "torn_tail";

/// Imports the files, and reports the results on standard error.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if arguments.describe {
        return describe::run(arguments);
    }
    let config = arguments.archive.read_config()?;
    if let Some(url) = &arguments.nats {
        let settings = Config::read(arguments.archive.config_file().as_deref())?.nats;
        copies(NatsConfig { url: url.clone(), ..settings }, config, arguments.name.as_deref())?;
        return Ok(ExitCode::SUCCESS);
    }
    check_prefix(arguments.name.as_deref())?;
    if arguments.name.is_none() {
        check_distinct(&arguments.files)?;
    }
    let (format, options) = (arguments.content.format()?, arguments.content.options(arguments.partial)?);
    let mut outcomes = Outcomes::default();
    for path in &arguments.files {
        let imported = one(path, (format, &options), arguments.name.as_deref(), &config)
            .with_context(|| format!("{}: nothing was imported", path.display()));
        match imported {
            Ok((imported, is_complete)) => {
                report(&path.display().to_string(), &imported);
                if !is_complete {
                    outcomes.incomplete.push(path);
                }
            }
            Err(error) if arguments.files.len() == 1 => return Err(error),
            Err(error) => {
                eprintln!("{}", crate::explained(&error));
                outcomes.failed.push(path);
            }
        }
    }
    outcomes.report(arguments.files.len());
    Ok(outcomes.exit_code())
}

/// The files that were not imported, or not completely.
#[derive(Default)]
struct Outcomes<'a> {
    incomplete: Vec<&'a Path>,
    failed: Vec<&'a Path>,
}

impl Outcomes<'_> {
    /// Reports the files of several that need attention.
    fn report(&self, files: usize) {
        let named = |files: &[&Path]| -> Vec<String> {
            files.iter().map(|path| path.display().to_string()).collect()
        };
        if !self.incomplete.is_empty() {
            let names = named(&self.incomplete).join(", ");
            eprintln!("imported without some messages or values, as reported above: {names}");
        }
        if files > 1 {
            eprintln!("{} of {files} files imported", files - self.failed.len());
        }
        if !self.failed.is_empty() {
            eprintln!("not imported: {}", named(&self.failed).join(", "));
        }
    }

    fn exit_code(&self) -> ExitCode {
        match (self.failed.is_empty(), self.incomplete.is_empty()) {
            (false, _) => ExitCode::FAILURE,
            (true, false) => ExitCode::from(exit_codes::INCOMPLETE),
            (true, true) => ExitCode::SUCCESS,
        }
    }
}

fn report(source: &str, imported: &ImportTotals) {
    let known = match imported.known {
        0 => String::new(),
        known => format!(", {known} already stored"),
    };
    let causes = match imported.causes {
        0 => String::new(),
        1 => "; 1 gap has a cause".to_owned(),
        causes => format!("; {causes} gaps have a cause"),
    };
    let notes = match (imported.test_runs, imported.annotations) {
        (0, 0) => String::new(),
        (runs, notes) => format!("; test runs: {runs}, annotations: {notes}"),
    };
    eprintln!("{}: {} samples imported{known}{causes}{notes}", source, imported.samples);
    if imported.notes_left_out > 0 {
        eprintln!(
            "{} test runs and annotations skipped: limit reached, or invalid name",
            imported.notes_left_out
        );
    }
    if imported.causes_forgotten > 0 {
        eprintln!("limit of 100,000 causes of losses reached: {} deleted", imported.causes_forgotten);
    }
}

/// Imports the copies of NATS, and reports the result on standard error.
fn copies(nats: NatsConfig, archive: ArchiveConfig, prefix: Option<&str>) -> anyhow::Result<()> {
    check_prefix(prefix)?;
    NATS.require("--nats")?;
    let target = Target::new(&nats)?.context("--nats is empty: write nats://HOST:PORT")?;
    #[cfg(not(feature = "nats"))]
    {
        let _ = (target, archive);
        bail!(oasis_nats::BadTarget::NotBuilt)
    }
    #[cfg(feature = "nats")]
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let name =
            |node: &str| prefix.map_or_else(|| node.into(), |prefix| of_recording(prefix, node).into());
        let filled = runtime
            .block_on(crate::nats::import(&target, archive, name))
            .with_context(|| format!("{target}: nothing was imported"))?;
        report(&target.to_string(), &filled.totals);
        if filled.unreadable > 0 {
            eprintln!(
                "{target}: {} of {} messages skipped: {}",
                filled.unreadable,
                filled.copies,
                Visible(&filled.why_unreadable)
            );
        }
        Ok(())
    }
}

fn check_prefix(name: Option<&str>) -> anyhow::Result<()> {
    match name {
        Some(name) if name.is_empty() || name.contains('/') => {
            bail!("--name is {name:?}: a node name must not be empty or contain /")
        }
        _ => Ok(()),
    }
}

/// The kind of a file or folder.
enum Source {
    Recording(&'static InputFormat),
    Segments(Vec<PathBuf>),
    /// The files of a folder of rosbag2 in MCAP.
    McapBag(Vec<PathBuf>),
}

/// Imports a file. Returns the totals, and whether nothing of it is missing.
fn one(
    path: &Path,
    (format, options): (Option<&'static InputFormat>, &InputOptions),
    name: Option<&str>,
    config: &ArchiveConfig,
) -> anyhow::Result<(ImportTotals, bool)> {
    // Before the archive is changed.
    let unpacked = Unpacked::of(path)?;
    let source = find_source(unpacked.path(), format)?;
    let prefix = match name {
        Some(name) => name.to_owned(),
        None => default_name(path)?,
    };
    let mut import = Import::begin(oasis_store::open(config.clone())?)?;
    let is_complete = match source {
        Source::Recording(format) => {
            recording::add(unpacked.path(), path, (format, options), &prefix, &mut import)?
        }
        Source::Segments(files) => add_segments(path, &files, &prefix, &mut import)?,
        Source::McapBag(files) => {
            let mut is_complete = true;
            for file in &files {
                let Source::Recording(format) = find_source(file, None)? else { continue };
                is_complete &= recording::add(file, file, (format, options), &prefix, &mut import)
                    .with_context(|| file.display().to_string())?;
            }
            is_complete
        }
    };
    if name.is_none()
        && let Some((node, instance)) = import.unrelated_history()
    {
        bail!(
            "the archive has another recording of {}/{}: keep this one apart with --name NAME, or add it to the other with --name {}",
            Visible(node),
            Visible(instance),
            Visible(&prefix)
        );
    }
    Ok((import.finish()?, is_complete))
}

/// Imports the segment files of a path. Returns whether none is damaged.
fn add_segments(path: &Path, files: &[PathBuf], prefix: &str, import: &mut Import) -> anyhow::Result<bool> {
    let (mut progress, mut is_complete) = (Progress::new(), true);
    for (at, file) in files.iter().enumerate() {
        progress.show(|| format!("{}: {at} of {} segment files", path.display(), files.len()));
        let findings = import
            .add_segment_file(file, |node| of_recording(prefix, node))
            .with_context(|| format!("segment file {}", file.display()))?;
        for finding in findings {
            let bytes = format!("bytes {} to {}", finding.from, finding.to);
            progress.clear();
            eprintln!("{}: {bytes} skipped ({}): {}", file.display(), finding.kind, finding.detail);
            // A torn tail was never stored.
            is_complete &= finding.kind == TORN_TAIL;
        }
    }
    if path.is_dir() {
        add_what_else(path, prefix, import)?;
    }
    Ok(is_complete)
}

/// Imports data of another catalogue besides samples.
fn add_what_else(path: &Path, prefix: &str, import: &mut Import) -> anyhow::Result<()> {
    let name = |node: &str| of_recording(prefix, node);
    match import.add_causes(path, name) {
        Ok(()) => Ok(import.add_notes(path, prefix, name)?),
        Err(error) => {
            eprintln!(
                "{}: causes of losses, test runs, annotations and hosts skipped: {error}",
                path.display()
            );
            Ok(())
        }
    }
}

/// The name of a recorded node in the archive: its history must not mix with that of an existing node.
fn of_recording(prefix: &str, node: &str) -> String {
    format!("{prefix}:{node}")
}

/// Finds the files of a folder of rosbag2.
fn find_bag(path: &Path) -> anyhow::Result<Source> {
    let files = bag_files(path)?;
    let is_mcap = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "mcap");
    if files.is_empty() {
        bail!(
            "neither segment files (*.oseg) nor a recording of rosbag2 (metadata.yaml) in the folder: pass recordings one by one"
        );
    }
    if files.iter().any(is_mcap) {
        MCAP.require("the folder")?;
        return Ok(Source::McapBag(files));
    }
    let format = inputs::by_name("rosbag2").context("built without rosbag2")?;
    Ok(Source::Recording(format))
}

/// Finds the kind of a file or folder. `format` is that of a flag.
fn find_source(path: &Path, format: Option<&'static InputFormat>) -> anyhow::Result<Source> {
    if let Some(format) = format {
        if let Some(feature) = recording::feature_of(format) {
            feature.require("the file")?;
        }
        return Ok(Source::Recording(format));
    }
    if path.is_dir() {
        let mut files: Vec<_> =
            fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "oseg"));
        files.sort();
        return if files.is_empty() { find_bag(path) } else { Ok(Source::Segments(files)) };
    }
    let mut magic = [0; 8];
    let read = File::open(path)?.read(&mut magic)?;
    if &magic[..read] == b"OASISSEG" {
        return Ok(Source::Segments(vec![path.to_owned()]));
    }
    match recording::find(path)? {
        Some(format) => Ok(Source::Recording(format)),
        None => {
            let titles: Vec<_> = oasis_format::inputs::INPUTS.iter().map(|format| format.title).collect();
            bail!(
                "the format of the file is unknown: a segment file (.oseg), or {}; --format names it",
                titles.join(", ")
            )
        }
    }
}
