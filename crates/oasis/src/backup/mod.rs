//! `oasis backup` and `oasis restore`: all that a DAC keeps, in one file.

mod parts;
mod restore;

pub use restore::{Arguments as RestoreArguments, run as restore};

use crate::{archive_folder, config::Config, progress::Progress};
use anyhow::{Context, bail};
use clap::Args;
use oasis_backup::{BackupWriter, Manifest, WriteError};
use oasis_store::snapshot;
use parts::{Part, Parts, Source};
use std::{
    fs::{self, File},
    io::{self, BufWriter, IsTerminal, Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// Largest file that is read in one piece. Its size is that of its content then, even if another file replaces it.
const MAX_SINGLE_READ_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Debug, Args)]
pub struct Arguments {
    /// File to write, which must not exist yet; - for standard output. It has secrets: only you can read it.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Configuration file of the DAC [default: oasis/oasis.toml in ~/.config, if it exists].
    #[arg(long, value_name = "FILE", env = "OASIS_CONFIG")]
    config: Option<PathBuf>,
    /// Folder of the archive [default: archive.directory of the configuration file; without one, that of oasis up].
    #[arg(long, value_name = "DIR", env = "OASIS_ARCHIVE")]
    archive: Option<String>,
    /// Folder of accounts and audit log [default: access.directory of the configuration file, or ~/.local/state/oasis/access].
    #[arg(long, value_name = "DIR", env = "OASIS_ACCESS")]
    access: Option<String>,
    /// Folder of layouts and dashboards [default: doors.layouts_dir of the configuration file].
    #[arg(long, value_name = "DIR")]
    layouts_dir: Option<String>,
    /// Folder of alarms and of rules saved by the page [default: rules.directory of the configuration file, or ARCHIVE-rules].
    #[arg(long, value_name = "DIR")]
    rules_dir: Option<String>,
}

/// Writes a backup, also while the DAC runs.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let parts = parts(arguments)?;
    if parts.all.iter().all(|part| matches!(part.source, Source::File(_))) {
        bail!(
            "there is nothing to back up: name what the DAC keeps with --config FILE, or --archive DIR and --access DIR"
        );
    }
    if arguments.output == Path::new("-") {
        if io::stdout().is_terminal() {
            bail!("a backup is not for a terminal: use --output FILE, or a pipe");
        }
        return write(&parts, BufWriter::new(io::stdout().lock())).map(drop);
    }
    let path = &arguments.output;
    if path.symlink_metadata().is_ok() {
        bail!("{} exists: a backup replaces nothing", path.display());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let private = fs::Permissions::from_mode(0o600);
    let file = tempfile::Builder::new().prefix(".oasis-backup-").permissions(private).tempfile_in(folder);
    let file = file.with_context(|| format!("cannot write into {}", folder.display()))?;
    let bytes = write(&parts, BufWriter::new(file.as_file()))?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).with_context(|| format!("cannot write {}", path.display()))?;
    File::open(folder).and_then(|folder| folder.sync_all())?;
    let places: Vec<_> =
        parts.all.iter().map(|part| part.place.split('/').next().unwrap_or_default()).collect();
    eprintln!("{} has: {}", path.display(), listed(places));
    eprintln!(
        "{}: {:.1} MiB. It has secrets (password hashes, keys, tokens): only you can read it, keep it so",
        path.display(),
        bytes as f64 / (1024.0 * 1024.0)
    );
    Ok(())
}

fn parts(arguments: &Arguments) -> anyhow::Result<Parts> {
    let file = Config::file(arguments.config.as_deref());
    let mut config = Config::read(arguments.config.as_deref())?;
    let named = |flag: &Option<String>| flag.clone().filter(|folder| !folder.is_empty());
    let replace = |setting: &mut String, flag: &Option<String>| {
        if let Some(folder) = named(flag) {
            *setting = folder;
        }
    };
    let flags = [
        ("--archive", &arguments.archive),
        ("--access", &arguments.access),
        ("--layouts-dir", &arguments.layouts_dir),
        ("--rules-dir", &arguments.rules_dir),
    ];
    for (flag, folder) in flags {
        if let Some(folder) = named(folder)
            && !Path::new(&folder).is_dir()
        {
            bail!("{folder} ({flag}) is no folder: a backup would lack it");
        }
    }
    replace(&mut config.archive.directory, &arguments.archive);
    if arguments.config.is_none() && config.archive.directory.is_empty() {
        config.archive.directory = archive_folder::usual().unwrap_or_default();
    }
    replace(&mut config.access.directory, &arguments.access);
    replace(&mut config.doors.layouts_dir, &arguments.layouts_dir);
    replace(&mut config.rules.directory, &arguments.rules_dir);
    let archive = &config.archive.directory;
    if !archive.is_empty() && !Path::new(archive).is_dir() {
        bail!("{archive} (archive.directory) is no folder: a backup would lack the samples");
    }
    Parts::of(&config, file.as_deref())
}

/// Writes all parts. Returns the bytes of the files.
fn write(parts: &Parts, out: impl Write) -> anyhow::Result<u64> {
    let mut writing = Writing { backup: BackupWriter::begin(out)?, progress: Progress::beside_output() };
    for part in &parts.all {
        writing.part(part).with_context(|| format!("cannot back up {}", part.path().display()))?;
    }
    let bytes = writing.backup.bytes();
    let software = format!("oasis {}", env!("CARGO_PKG_VERSION"));
    writing.backup.finish(Manifest { software, settings: parts.settings.clone(), ..Manifest::default() })?;
    Ok(bytes)
}

struct Writing<W> {
    backup: BackupWriter<W>,
    progress: Progress,
}

impl<W: Write> Writing<W> {
    fn part(&mut self, Part { place, source }: &Part) -> anyhow::Result<()> {
        match source {
            Source::File(path) => self.file(place, path),
            Source::Folder(path) => self.folder(place, path, 0),
            Source::Archive(path) => {
                let scratch = scratch()?;
                let put = |name: &str, size, file| self.put(&format!("{place}/{name}"), size, file);
                Ok(snapshot::snapshot(path, scratch.path(), put)?)
            }
        }
    }

    /// Adds the files of a folder, and of folders in it.
    fn folder(&mut self, place: &str, path: &Path, depth: usize) -> anyhow::Result<()> {
        if depth > 8 {
            bail!("{} is nested too deeply", path.display());
        }
        let mut entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_str().with_context(|| format!("{} is not UTF-8", entry.path().display()))?;
            let place = format!("{place}/{name}");
            // Removed since.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                self.folder(&place, &entry.path(), depth + 1)?;
            } else if kind.is_file() && !is_of_a_process(name) {
                self.file(&place, &entry.path())?;
            }
        }
        Ok(())
    }

    fn file(&mut self, place: &str, path: &Path) -> anyhow::Result<()> {
        if path.extension().is_some_and(|ending| ending == "sqlite3") {
            let scratch = scratch()?;
            let copy = scratch.path().join("copy.sqlite3");
            snapshot::copy_database(path, &copy)?;
            let file = File::open(&copy)?;
            return Ok(self.put(place, file.metadata()?.len(), file)?);
        }
        let file = match File::open(path) {
            // Replaced or removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => file?,
        };
        let size = file.metadata()?.len();
        if size > MAX_SINGLE_READ_BYTES {
            return Ok(self.put(place, size, file)?);
        }
        let mut bytes = Vec::new();
        file.take(MAX_SINGLE_READ_BYTES).read_to_end(&mut bytes)?;
        Ok(self.put(place, bytes.len() as u64, &bytes[..])?)
    }

    fn put(&mut self, place: &str, size: u64, from: impl Read) -> Result<(), WriteError> {
        self.backup.add(place, size, from)?;
        let bytes = self.backup.bytes();
        self.progress.show(|| format!("{:.1} MiB, {place}", bytes as f64 / (1024.0 * 1024.0)));
        Ok(())
    }
}

/// Lists each once.
fn listed(mut places: Vec<&str>) -> String {
    places.dedup();
    places.join(", ")
}

/// Makes a folder for the copy of a database that only its owner can read.
fn scratch() -> io::Result<TempDir> {
    let private = fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix("oasis-backup-").permissions(private).tempdir()
}

/// Whether a file belongs to a running process, or is not complete.
fn is_of_a_process(name: &str) -> bool {
    let endings = [".lock", ".part", "-wal", "-shm", "-journal"];
    name == "lock" || endings.iter().any(|ending| name.ends_with(ending))
}
