//! `oasis import`: imports recordings into an archive, each file in one commit. A file that fails does not end the import of the others.

mod arguments;
mod describe;
mod names;
#[cfg(feature = "mcap")]
mod recording;
#[cfg(feature = "live")]
mod remote;
mod terminal;

pub use arguments::Arguments;
pub use names::check_distinct;
// For rules over a recording.
#[cfg(feature = "mcap")]
pub use oasis_recordings::file::{default_name, no_samples};
#[cfg(feature = "mcap")]
pub use recording::{find, print, read};

use crate::{
    config::Config,
    exit_codes,
    features::{Feature, MCAP, NATS},
};
use anyhow::{Context, bail};
use oasis_format::input::{InputFormat, InputOptions};
#[cfg(feature = "nats")]
use oasis_format::visible::Visible;
use oasis_nats::{NatsConfig, Target};
use oasis_recordings::{
    file::{OpenedRecording, RecordingOptions, UnpackBounds},
    import::{Import, ImportTotals},
};
use oasis_store::ArchiveConfig;
use std::{env, path::Path, process::ExitCode};
use terminal::Terminal;

/// Imports the files, and reports the results on standard error.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    check_prefix(arguments.name.as_deref())?;
    #[cfg(feature = "live")]
    if let Some(server) = arguments.server()? {
        return remote::run(&server, arguments);
    }
    if arguments.describe {
        return describe::run(arguments, |path| describe::of_file(path, arguments));
    }
    let config = arguments.archive.read_config()?;
    if let Some(url) = &arguments.nats {
        let settings = Config::read(arguments.archive.config_file().as_deref())?.nats;
        copies(NatsConfig { url: url.clone(), ..settings }, config, arguments.name.as_deref())?;
        return Ok(ExitCode::SUCCESS);
    }
    let (format, options) = (arguments.content.format()?, arguments.content.options(arguments.partial)?);
    each(arguments, |path| one(path, (format, &options), arguments.name.as_deref(), &config))
}

/// Imports each file, and reports the results on standard error. `import` returns the totals, and whether nothing of a file is missing.
fn each(
    arguments: &Arguments,
    mut import: impl FnMut(&Path) -> anyhow::Result<(ImportTotals, bool)>,
) -> anyhow::Result<ExitCode> {
    if arguments.name.is_none() {
        check_distinct(&arguments.files)?;
    }
    let mut outcomes = Outcomes::default();
    for path in &arguments.files {
        let imported = import(path).with_context(|| format!("{}: nothing was imported", path.display()));
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
    NATS.require("--nats")?;
    let target = Target::new(&nats)?.context("--nats is empty: write nats://HOST:PORT")?;
    #[cfg(not(feature = "nats"))]
    {
        let _ = (target, archive, prefix);
        bail!(oasis_nats::BadTarget::NotBuilt)
    }
    #[cfg(feature = "nats")]
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let name = |node: &str| {
            prefix.map_or_else(
                || node.into(),
                |prefix| oasis_recordings::file::of_recording(prefix, node).into(),
            )
        };
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

/// Imports a file. Returns the totals, and whether nothing of it is missing.
fn one(
    path: &Path,
    options: (Option<&'static InputFormat>, &InputOptions),
    name: Option<&str>,
    config: &ArchiveConfig,
) -> anyhow::Result<(ImportTotals, bool)> {
    open(path, options, name, |opened, terminal| {
        let mut import = Import::begin(oasis_store::open(config.clone())?)?;
        let is_complete = opened.add(&mut import, terminal)?;
        Ok((import.finish()?, is_complete))
    })
}

/// Opens a file, before anything is changed, and shows the progress of what is done with it.
fn open<T>(
    path: &Path,
    (format, input): (Option<&'static InputFormat>, &InputOptions),
    name: Option<&str>,
    act: impl FnOnce(&OpenedRecording<'_>, &Terminal) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let terminal = Terminal::new();
    let (folder, options) = (env::temp_dir(), RecordingOptions { format, input, name });
    let bounds = UnpackBounds { folder: &folder, max_bytes: None };
    let opened = OpenedRecording::open(path, options, bounds, &terminal)?;
    if let Some(feature) = opened.format().and_then(feature_of) {
        feature.require(if path.is_dir() { "the folder" } else { "the file" })?;
    }
    act(&opened, &terminal)
}

/// The feature that a format needs.
fn feature_of(format: &InputFormat) -> Option<&'static Feature> {
    match format.name {
        "mcap" => Some(&MCAP),
        _ => None,
    }
}
