//! State and progress of an import, and its JSON.

use super::staging::Upload;
use axum::http::StatusCode;
use oasis_http::Problem;
use oasis_recordings::{file::FileDescription, import::ImportTotals};
use serde::Serialize;
use std::{collections::HashMap, path::PathBuf, time::Duration};
use tokio::time::Instant;
use utoipa::ToSchema;

/// Time of reading after which the rest can be estimated.
const MIN_ESTIMATE_TIME: Duration = Duration::from_secs(1);

/// The stage of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Its files are uploaded.
    Uploading,
    /// Reads the files, or waits for another import.
    Reading,
    /// Its description is there.
    Described,
    /// Adds the samples to the archive.
    Committing,
    /// All samples are part of the archive.
    Stored,
    /// Nothing was imported.
    Failed,
}

impl Stage {
    /// Whether the description is complete.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Described | Self::Stored)
    }

    /// Whether it is at work.
    pub fn is_running(self) -> bool {
        matches!(self, Self::Reading | Self::Committing)
    }
}

/// A remark about a file.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Note {
    /// Name of the file.
    pub file: String,
    /// The channel, field or column; null for the file.
    pub subject: Option<String>,
    /// The remark.
    pub text: String,
}

/// The position of a reader in a file.
#[derive(Debug, Clone)]
pub struct Position {
    pub file: String,
    pub bytes: u64,
    pub total: Option<u64>,
    pub begun: Instant,
}

/// The changing part of an import.
#[derive(Debug)]
pub struct State {
    pub stage: Stage,
    /// Bytes of all files.
    pub bytes: u64,
    /// Lengths of files.
    pub files: HashMap<PathBuf, u64>,
    pub is_cancelled: bool,
    pub position: Option<Position>,
    pub description: Option<FileDescription>,
    pub notes: Vec<Note>,
    pub stored: Option<StoredRecording>,
    pub error: Option<String>,
    /// Time of the last request.
    pub used: Instant,
}

impl State {
    pub fn new() -> Self {
        Self {
            stage: Stage::Uploading,
            bytes: 0,
            files: HashMap::new(),
            is_cancelled: false,
            position: None,
            description: None,
            notes: Vec::new(),
            stored: None,
            error: None,
            used: Instant::now(),
        }
    }

    /// Refuses an import that is at work.
    pub fn check_idle(&self) -> Result<(), Problem> {
        if !self.stage.is_running() {
            return Ok(());
        }
        let detail = "the import is read now: wait for its end, or cancel it with DELETE";
        Err(Problem::new(StatusCode::CONFLICT, "import_busy", detail))
    }

    /// Begins to read it.
    pub fn begin(&mut self) {
        self.stage = Stage::Reading;
        self.notes.clear();
        (self.error, self.position) = (None, None);
    }
}

/// The progress of reading.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProgressView {
    /// Name of the file.
    file: String,
    /// Bytes read of it.
    bytes: u64,
    /// Its size; null while it is unpacked.
    total: Option<u64>,
    /// Estimated rest in seconds; null in the first second.
    seconds_left: Option<u64>,
}

impl From<&Position> for ProgressView {
    fn from(position: &Position) -> Self {
        let Position { file, bytes, total, begun } = position.clone();
        let elapsed = begun.elapsed();
        let is_known = elapsed >= MIN_ESTIMATE_TIME && bytes > 0;
        let rest = |total: u64| elapsed.as_secs_f64() / bytes as f64 * total.saturating_sub(bytes) as f64;
        let seconds_left = total.filter(|_| is_known).map(|total| rest(total).ceil() as u64);
        Self { file, bytes, total, seconds_left }
    }
}

/// Names of an imported instance.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ImportedInstance {
    pub node: String,
    pub instance: String,
}

/// The result of an import.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct StoredRecording {
    /// New samples.
    pub samples: u64,
    /// Samples that were stored before.
    pub known: u64,
    /// New causes of missing samples.
    pub causes: u64,
    /// Causes that were deleted at their limit.
    pub causes_forgotten: u64,
    /// Whether the samples have all that the recording has.
    pub is_complete: bool,
    /// Its instances by name, at most 100.
    pub instances: Vec<ImportedInstance>,
    /// Earliest time of its new samples, nanoseconds since 1970.
    pub from_ns: u64,
    /// Latest time of its new samples; 0 if it has none.
    pub to_ns: u64,
}

impl StoredRecording {
    pub fn new(
        totals: &ImportTotals,
        is_complete: bool,
        instances: Vec<ImportedInstance>,
        times: (u64, u64),
    ) -> Self {
        let ImportTotals { samples, known, causes, causes_forgotten, .. } = *totals;
        let (from_ns, to_ns) = times;
        Self { samples, known, causes, causes_forgotten, is_complete, instances, from_ns, to_ns }
    }
}

/// An import.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportView {
    id: String,
    /// Name of the file or folder.
    name: String,
    state: Stage,
    /// Bytes uploaded.
    bytes: u64,
    /// Null unless it is read.
    progress: Option<ProgressView>,
    /// As of `oasis import --describe --json`; null unless it is described or stored.
    #[schema(value_type = Option<Object>)]
    description: Option<FileDescription>,
    /// Content that was left out or changed.
    notes: Vec<Note>,
    /// Null before it is stored.
    stored: Option<StoredRecording>,
    /// Why it failed; nothing was imported.
    error: Option<String>,
}

impl ImportView {
    /// An import as it is now.
    pub fn new(upload: &Upload) -> Self {
        let state = upload.state();
        Self {
            id: upload.id.clone(),
            name: upload.name.clone(),
            state: state.stage,
            bytes: state.bytes,
            progress: state.position.as_ref().filter(|_| state.stage == Stage::Reading).map(Into::into),
            // A description can be long: it is sent once, and not with each progress.
            description: state.description.as_ref().filter(|_| state.stage.is_over()).cloned(),
            notes: state.notes.clone(),
            stored: state.stored.clone(),
            error: state.error.clone(),
        }
    }
}
