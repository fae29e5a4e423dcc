//! Imports into the archive of a running DAC: the files are uploaded, and the DAC reads them as `oasis import` does.

use super::{Arguments, describe, each, terminal::print_note};
use crate::{
    live::{Stop, encoded},
    progress::Progress,
};
use anyhow::{Context, bail};
use oasis_client::{Api, ClientError, Server};
use oasis_format::{input::Dbc, rosbag2::bag_files};
use oasis_recordings::{
    file::{Choices, FileDescription},
    import::ImportTotals,
};
use oasis_site::api;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use ureq::http::Method;

/// Bytes of the first part of a file.
const MIN_PART_BYTES: usize = 64 * 1024;
/// Most bytes of a part: the DAC takes 8 MiB.
const MAX_PART_BYTES: usize = 4 * 1024 * 1024;
/// Time that a part should take: the DAC waits 10 s (`doors.body_timeout_ms`).
const PART_TIME: Duration = Duration::from_secs(1);
/// Interval at which the DAC is asked for the progress.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Delay after the DAC has asked for fewer requests.
const RATE_LIMIT_DELAY: Duration = Duration::from_secs(1);
/// Bytes of a megabyte in progress lines.
const MEGABYTE: u64 = 1_000_000;

/// Imports or describes the files, and reports the results as offline.
pub fn run(server: &Server, arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let remote = Remote {
        api: api::at(server)?,
        databases: arguments.content.databases()?,
        choices: Choices { name: arguments.name.clone(), ..arguments.content.choices(arguments.partial)? },
        is_interrupted: interruption()?,
    };
    arguments.content.options(arguments.partial)?;
    arguments.content.format()?;
    if arguments.describe {
        return describe::run(arguments, |path| remote.describe(path));
    }
    each(arguments, |path| remote.store(path))
}

/// Becomes true with Ctrl-C or SIGTERM.
fn interruption() -> anyhow::Result<Arc<AtomicBool>> {
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let signalled = is_interrupted.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut stop = runtime.block_on(async { Stop::listen() })?;
    thread::Builder::new().name("oasis-interrupt".into()).spawn(move || {
        runtime.block_on(stop.requested());
        signalled.store(true, Ordering::Relaxed);
    })?;
    Ok(is_interrupted)
}

/// A DAC that imports files.
struct Remote {
    api: Api,
    choices: Choices,
    databases: Vec<Dbc>,
    is_interrupted: Arc<AtomicBool>,
}

/// An import of the DAC. It is removed when this is dropped.
struct RemoteImport<'a> {
    remote: &'a Remote,
    path: String,
}

impl Drop for RemoteImport<'_> {
    fn drop(&mut self) {
        // The DAC removes it after an hour.
        let _ = self.remote.api.send(Method::DELETE, &self.path, None);
    }
}

/// An import, as far as this program reads it.
#[derive(Debug, Deserialize)]
struct ImportState {
    state: String,
    bytes: u64,
    progress: Option<ReadProgress>,
    description: Option<FileDescription>,
    #[serde(default)]
    notes: Vec<NoteOfFile>,
    stored: Option<Stored>,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ReadProgress {
    bytes: u64,
    total: Option<u64>,
    seconds_left: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct NoteOfFile {
    file: String,
    subject: Option<String>,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Stored {
    samples: u64,
    known: u64,
    causes: u64,
    causes_forgotten: u64,
    is_complete: bool,
}

impl Remote {
    fn describe(&self, path: &Path) -> anyhow::Result<FileDescription> {
        let import = self.upload(path)?;
        let ImportState { description, .. } = import.run("describe", path)?;
        let description = description.context("the DAC has sent no description")?;
        Ok(FileDescription { file: path.display().to_string(), ..description })
    }

    fn store(&self, path: &Path) -> anyhow::Result<(ImportTotals, bool)> {
        let import = self.upload(path)?;
        let ImportState { stored, .. } = import.run("store", path)?;
        let stored = stored.context("the DAC has sent no result")?;
        let Stored { samples, known, causes, causes_forgotten, is_complete } = stored;
        let totals = ImportTotals { samples, known, causes, causes_forgotten, ..ImportTotals::default() };
        Ok((totals, is_complete))
    }

    /// Uploads a file or folder.
    fn upload(&self, path: &Path) -> anyhow::Result<RemoteImport<'_>> {
        let (is_folder, files) = (path.is_dir(), files_of(path)?);
        // `.` and `a/..` have no name of their own.
        let name = path.canonicalize()?;
        let name =
            name.file_name().and_then(|name| name.to_str()).context("the file name is not UTF-8")?.to_owned();
        let made =
            self.api.send(Method::POST, "/imports", Some(&json!({"name": name, "is_folder": is_folder})))?;
        let id = made["id"].as_str().context("the DAC has sent no import")?;
        let import = RemoteImport { remote: self, path: format!("/imports/{id}") };
        let mut progress = UploadProgress::new(&name, &files)?;
        for file in files {
            let of_folder = file.file_name().and_then(|name| name.to_str());
            let of_folder = of_folder.context("the file name is not UTF-8")?.to_owned();
            let to = if is_folder { &of_folder } else { &name };
            import.send_file(to, "", &mut File::open(&file)?, &mut progress)?;
        }
        for dbc in &self.databases {
            let to = Path::new(&dbc.path).file_name().and_then(|name| name.to_str());
            let to = to.context("the file name of a CAN database is not UTF-8")?;
            import.send_file(to, "&dbc=true", &mut &dbc.content[..], &mut progress)?;
        }
        Ok(import)
    }

    fn check_interrupted(&self) -> anyhow::Result<()> {
        if self.is_interrupted.load(Ordering::Relaxed) {
            bail!("cancelled");
        }
        Ok(())
    }
}

/// Returns the files that an import needs.
fn files_of(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = bag_files(path)?;
    let metadata = path.join("metadata.yaml");
    files.extend(metadata.is_file().then_some(metadata));
    if files.is_empty() {
        bail!(
            "the folder is no recording of rosbag2: import an archive offline (oasis import --archive DIR), or pass recordings one by one"
        );
    }
    Ok(files)
}

/// The progress line of an upload.
struct UploadProgress {
    line: Progress,
    name: String,
    total: u64,
    sent: u64,
    begun: Instant,
}

impl UploadProgress {
    fn new(name: &str, files: &[PathBuf]) -> anyhow::Result<Self> {
        let mut total = 0;
        for file in files {
            total += fs::metadata(file).with_context(|| file.display().to_string())?.len();
        }
        Ok(Self { line: Progress::new(), name: name.into(), total, sent: 0, begun: Instant::now() })
    }

    fn add(&mut self, bytes: usize) {
        self.sent += bytes as u64;
        let Self { name, total, sent, begun, .. } = self;
        let rest = begun.elapsed().as_secs_f64() / *sent as f64 * total.saturating_sub(*sent) as f64;
        self.line.show(|| {
            let [sent, total] = [*sent, *total].map(|bytes| bytes.div_ceil(MEGABYTE));
            format!("{name}: {sent} of {total} MB uploaded, {:.0} s left", rest.ceil())
        });
    }
}

impl RemoteImport<'_> {
    /// Uploads a file in parts that take about [`PART_TIME`].
    fn send_file(
        &self,
        name: &str,
        query: &str,
        from: &mut impl Read,
        progress: &mut UploadProgress,
    ) -> anyhow::Result<()> {
        let path = format!("{}/files/{}", self.path, encoded(name));
        let (mut offset, mut size) = (0, MIN_PART_BYTES);
        loop {
            self.remote.check_interrupted()?;
            let mut part = Vec::new();
            from.by_ref().take(size as u64).read_to_end(&mut part)?;
            // An empty file has one part.
            if part.is_empty() && offset > 0 {
                return Ok(());
            }
            let (bytes, begun) = (part.len(), Instant::now());
            self.send_part(&format!("{path}?offset={offset}{query}"), &part)?;
            if bytes == 0 {
                return Ok(());
            }
            offset += bytes as u64;
            progress.add(bytes);
            let took = begun.elapsed();
            if took < PART_TIME / 2 {
                size = (size * 2).min(MAX_PART_BYTES);
            } else if took > PART_TIME * 2 {
                size = (size / 2).max(MIN_PART_BYTES);
            }
        }
    }

    fn send_part(&self, path: &str, part: &[u8]) -> anyhow::Result<Value> {
        loop {
            match self.remote.api.send_bytes(Method::PUT, path, part.to_vec()) {
                Err(ClientError::Refused(refusal)) if refusal.status == 429 => {
                    self.remote.check_interrupted()?;
                    thread::sleep(RATE_LIMIT_DELAY);
                }
                other => return Ok(other?),
            }
        }
    }

    /// Begins to describe or store it, and waits for the end. Prints what the DAC remarks about `path`.
    fn run(&self, act: &str, path: &Path) -> anyhow::Result<ImportState> {
        let api = &self.remote.api;
        let choices = serde_json::to_value(&self.remote.choices)?;
        api.send(Method::POST, &format!("{}/{act}", self.path), Some(&choices))?;
        let (mut line, mut notes) = (Progress::new(), 0);
        loop {
            let state: ImportState = serde_json::from_value(api.get(&self.path, &[])?)?;
            for note in state.notes.iter().skip(notes) {
                line.clear();
                let of_folder = path.join(&note.file);
                let file = if path.is_dir() && of_folder.exists() { &of_folder } else { path };
                print_note(file, note.subject.as_deref(), &note.text);
            }
            notes = state.notes.len();
            match &*state.state {
                "described" | "stored" => return Ok(state),
                "failed" => bail!(state.error.unwrap_or_default()),
                _ => {}
            }
            self.remote.check_interrupted()?;
            line.show(|| progress_line(&path.display().to_string(), &state));
            thread::sleep(POLL_INTERVAL);
        }
    }
}

fn progress_line(name: &str, state: &ImportState) -> String {
    let megabytes = |bytes: u64| bytes.div_ceil(MEGABYTE);
    match &state.progress {
        Some(ReadProgress { bytes, total: Some(total), seconds_left }) => {
            let left = seconds_left.map(|seconds| format!(", {seconds} s left")).unwrap_or_default();
            format!("{name}: {} of {} MB read{left}", megabytes(*bytes), megabytes(*total))
        }
        Some(ReadProgress { bytes, .. }) => format!("{name}: {} MB unpacked", megabytes(*bytes)),
        None => format!("{name}: {} MB uploaded, waiting for the DAC", megabytes(state.bytes)),
    }
}
