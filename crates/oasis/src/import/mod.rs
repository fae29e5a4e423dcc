//! `oasis import`: imports recordings into an archive, each file completely or not at all.

mod arguments;
#[cfg_attr(not(feature = "mcap"), path = "no_recording.rs")]
mod recording;

pub use arguments::Arguments;
#[cfg(feature = "mcap")]
pub use recording::report_rest;

use crate::{
    config::Config,
    features::{MCAP, NATS},
    progress::Progress,
};
use anyhow::{Context, bail};
use oasis_format::Reader;
#[cfg(feature = "nats")]
use oasis_format::visible::Visible;
use oasis_import::{Import, ImportTotals};
use oasis_nats::{NatsConfig, Target};
use oasis_store::ArchiveConfig;
use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

/// Imports the files, and reports the results on standard error.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let config = arguments.archive.read_config()?;
    if let Some(url) = &arguments.nats {
        let settings = Config::read(arguments.archive.config_file().as_deref())?.nats;
        return copies(NatsConfig { url: url.clone(), ..settings }, config, arguments.name.as_deref());
    }
    for path in &arguments.files {
        let imported = one(path, arguments.name.as_deref(), &config)
            .with_context(|| format!("{}: nothing was imported", path.display()))?;
        report(&path.display().to_string(), &imported);
    }
    Ok(())
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
    Recording(&'static Reader),
    Segments(Vec<PathBuf>),
}

fn one(path: &Path, name: Option<&str>, config: &ArchiveConfig) -> anyhow::Result<ImportTotals> {
    // Before the archive is changed.
    let source = look(path)?;
    check_prefix(name)?;
    let prefix = match name {
        Some(name) => name.to_owned(),
        None => default_name(path)?,
    };
    let mut import = Import::begin(oasis_store::open(config.clone())?)?;
    match source {
        Source::Recording(reader) => recording::add(path, reader, &prefix, &mut import)?,
        Source::Segments(files) => {
            let mut progress = Progress::new();
            for (at, file) in files.iter().enumerate() {
                progress.show(|| format!("{}: {at} of {} segment files", path.display(), files.len()));
                let findings = import
                    .add_segment_file(file, |node| of_recording(&prefix, node))
                    .with_context(|| format!("segment file {}", file.display()))?;
                for finding in findings {
                    let bytes = format!("bytes {} to {}", finding.from, finding.to);
                    progress.clear();
                    eprintln!("{}: {bytes} skipped ({}): {}", file.display(), finding.kind, finding.detail);
                }
            }
            if path.is_dir() {
                add_what_else(path, &prefix, &mut import)?;
            }
        }
    }
    Ok(import.finish()?)
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

/// The name of a recording: that of its file, without the extension.
pub fn default_name(path: &Path) -> anyhow::Result<String> {
    let path = path.canonicalize()?;
    let stem = if path.is_dir() { path.file_name() } else { path.file_stem() };
    let stem = stem.and_then(|stem| stem.to_str()).filter(|stem| !stem.is_empty() && !stem.contains('/'));
    stem.map(str::to_owned).context("cannot derive a node name from the file name: use --name NAME")
}

fn look(path: &Path) -> anyhow::Result<Source> {
    if path.is_dir() {
        let mut files: Vec<_> =
            fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "oseg"));
        files.sort();
        if files.is_empty() {
            bail!("no segment files (*.oseg) in the folder: pass MCAP files directly");
        }
        return Ok(Source::Segments(files));
    }
    let mut magic = [0; 8];
    let read = File::open(path)?.read(&mut magic)?;
    match (&magic[..read], oasis_format::reader_of(&magic[..read])) {
        (_, Some(reader)) => {
            MCAP.require("the file")?;
            Ok(Source::Recording(reader))
        }
        (b"OASISSEG", None) => Ok(Source::Segments(vec![path.to_owned()])),
        _ => bail!("neither an MCAP file nor a segment file of an archive (.oseg)"),
    }
}
