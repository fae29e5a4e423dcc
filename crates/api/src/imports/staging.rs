//! Files of recordings that wait to be imported, in a folder beside the archive.

use super::view::{Note, Stage, State};
use axum::http::StatusCode;
use oasis_http::Problem;
use oasis_store::free_bytes;
use std::{
    collections::HashMap,
    ffi::OsStr,
    fs::{self, DirBuilder, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, FileExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};
use uuid::Uuid;

/// Imports at a time.
const MAX_IMPORTS: usize = 4;
/// Files of an import.
const MAX_FILES: usize = 1_000;
/// Longest name of a file, in bytes: that of file systems.
const MAX_FILE_NAME_BYTES: usize = 255;
/// Parts that are received at a time, each in memory.
const MAX_CONCURRENT_PARTS: usize = 4;
/// Time after its last request at which an import is removed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3_600);
/// Remarks of an import that are kept.
const MAX_NOTES: usize = 1_000;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Part of the recording.
    Content,
    /// A CAN database.
    Database,
}

/// The imports of a DAC.
#[derive(Debug)]
pub struct Imports {
    /// The folder; none without an archive.
    folder: Option<PathBuf>,
    /// Most bytes of all of them.
    max_bytes: u64,
    all: Mutex<HashMap<String, Arc<Upload>>>,
    parts: Arc<Semaphore>,
    /// One recording is read at a time.
    pub(super) reading: Arc<Semaphore>,
}

/// The files of an import, which are removed with it.
#[derive(Debug)]
pub struct Upload {
    pub id: String,
    /// Name of the file or folder.
    pub name: String,
    is_folder: bool,
    folder: PathBuf,
    state: Mutex<State>,
}

impl Imports {
    /// Creates the imports of a DAC with its archive in this folder. Removes those of an earlier process.
    pub fn new(archive: Option<&Path>, max_bytes: u64) -> Self {
        let folder = archive.map(|archive| {
            let mut name = archive.file_name().unwrap_or(OsStr::new("archive")).to_owned();
            name.push("-imports");
            archive.with_file_name(name)
        });
        if let Some(folder) = &folder {
            remove_abandoned(folder);
        }
        Self {
            folder,
            max_bytes,
            all: Mutex::default(),
            parts: Arc::new(Semaphore::new(MAX_CONCURRENT_PARTS)),
            reading: Arc::new(Semaphore::new(1)),
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Upload>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates an import.
    pub fn create(&self, name: String, is_folder: bool) -> Result<Arc<Upload>, Problem> {
        check_name(&name)?;
        if self.max_bytes == 0 {
            let detail = "this DAC takes no recordings: set doors.max_import_bytes, or import with `oasis import` while the DAC is stopped";
            return Err(Problem::new(StatusCode::FORBIDDEN, "imports_off", detail));
        }
        let Some(parent) = &self.folder else { return Err(unknown("")) };
        let mut all = self.all();
        if all.len() >= MAX_IMPORTS {
            let detail = format!("{MAX_IMPORTS} imports are under way: wait for one, or cancel it");
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_imports", detail));
        }
        let id = Uuid::new_v4().to_string();
        let folder = parent.join(&id);
        let upload = Upload { id: id.clone(), name, is_folder, folder, state: Mutex::new(State::new()) };
        upload.make_folders().map_err(|error| disk_problem(&error))?;
        let upload = Arc::new(upload);
        all.insert(id, upload.clone());
        Ok(upload)
    }

    /// Finds an import.
    pub fn find(&self, id: &str) -> Result<Arc<Upload>, Problem> {
        let found = self.all().get(id).cloned().ok_or_else(|| unknown(id))?;
        found.state().used = Instant::now();
        Ok(found)
    }

    /// Waits until the part of a request may be received.
    pub async fn begin_part(&self) -> Result<OwnedSemaphorePermit, Problem> {
        self.parts.clone().acquire_owned().await.map_err(|_| unknown(""))
    }

    /// Bytes that all imports may still take.
    pub fn left(&self) -> u64 {
        let used: u64 = self.all().values().map(|upload| upload.state().bytes).sum();
        self.max_bytes.saturating_sub(used)
    }

    /// Appends a part to a file. Returns the bytes of the file. Leaves `min_free` bytes of the disk free.
    pub fn append(
        &self,
        upload: &Upload,
        (kind, name): (Kind, &str),
        (offset, part): (u64, &[u8]),
        min_free: u64,
    ) -> Result<u64, Problem> {
        let path = upload.path_of(kind, name)?;
        let bytes = part.len() as u64;
        if bytes > self.left() {
            let detail = format!(
                "more than {} bytes of recordings: import fewer at a time, or set doors.max_import_bytes",
                self.max_bytes
            );
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "import_too_large", detail));
        }
        let free = free_bytes(&upload.folder).map_err(|error| disk_problem(&error))?;
        if free < min_free.saturating_add(bytes) {
            let detail = format!(
                "{free} bytes are free, and {min_free} are left to others (archive.min_free_bytes): make room on the disk of the archive"
            );
            return Err(Problem::new(StatusCode::INSUFFICIENT_STORAGE, "disk_full", detail));
        }
        let mut state = upload.state();
        state.check_idle()?;
        let length = state.files.get(&path).copied();
        if length.is_none() && state.files.len() >= MAX_FILES {
            let detail = format!("more than {MAX_FILES} files: import fewer at a time");
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "import_too_large", detail));
        }
        let length = length.unwrap_or_default();
        if offset != length {
            let detail =
                format!("the file has {length} bytes, and the part begins at {offset}: continue at its end");
            return Err(Problem::new(StatusCode::CONFLICT, "import_offset", detail));
        }
        let written = write_part(&path, offset, part);
        written.map_err(|error| disk_problem(&error))?;
        state.files.insert(path, length + bytes);
        state.bytes += bytes;
        state.stage = Stage::Uploading;
        state.used = Instant::now();
        Ok(length + bytes)
    }

    /// Cancels an import, and forgets it.
    pub fn cancel(&self, id: &str) -> Result<(), Problem> {
        let mut all = self.all();
        let upload = all.get(id).cloned().ok_or_else(|| unknown(id))?;
        {
            let mut state = upload.state();
            if state.stage == Stage::Committing {
                let detail = "the import is becoming part of the archive: wait for its end";
                return Err(Problem::new(StatusCode::CONFLICT, "import_busy", detail));
            }
            state.is_cancelled = true;
        }
        all.remove(id);
        // Its files may be removed now, without the lock.
        drop(all);
        drop(upload);
        Ok(())
    }

    /// Removes an import once it was not used for a while.
    pub fn remove_when_idle(self: &Arc<Self>, upload: &Arc<Upload>) {
        let (imports, upload) = (Arc::downgrade(self), Arc::downgrade(upload));
        tokio::spawn(async move {
            loop {
                let Some(ends) = upload.upgrade().map(|upload| upload.state().used + IDLE_TIMEOUT) else {
                    return;
                };
                tokio::time::sleep_until(ends).await;
                let (Some(imports), Some(upload)) = (imports.upgrade(), upload.upgrade()) else { return };
                let is_idle = {
                    let state = upload.state();
                    !state.stage.is_running() && state.used + IDLE_TIMEOUT <= Instant::now()
                };
                if is_idle {
                    // A client may have cancelled meanwhile.
                    let _ = imports.cancel(&upload.id);
                    return;
                }
                upload.state().used = Instant::now();
            }
        });
    }
}

impl Upload {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Folder of the recording's files.
    fn content(&self) -> PathBuf {
        self.folder.join("content")
    }

    /// Folder of the databases.
    fn databases(&self) -> PathBuf {
        self.folder.join("dbc")
    }

    /// Folder for unpacked files.
    pub fn unpacked(&self) -> PathBuf {
        self.folder.join("unpacked")
    }

    /// The recording.
    pub fn recording(&self) -> PathBuf {
        self.content().join(&self.name)
    }

    /// Paths of the databases, in order.
    pub fn database_files(&self) -> Vec<PathBuf> {
        let folder = self.databases();
        let mut paths: Vec<_> =
            self.state().files.keys().filter(|path| path.starts_with(&folder)).cloned().collect();
        paths.sort();
        paths
    }

    fn make_folders(&self) -> io::Result<()> {
        let folders = [self.content(), self.databases(), self.unpacked()];
        let of_recording = self.is_folder.then(|| self.recording());
        folders
            .into_iter()
            .chain(of_recording)
            .try_for_each(|folder| DirBuilder::new().recursive(true).mode(0o700).create(folder))
    }

    fn path_of(&self, kind: Kind, name: &str) -> Result<PathBuf, Problem> {
        check_name(name)?;
        match kind {
            Kind::Database => Ok(self.databases().join(name)),
            Kind::Content if self.is_folder => Ok(self.recording().join(name)),
            Kind::Content if name == self.name => Ok(self.recording()),
            Kind::Content => {
                let detail = format!("the import is of the file {:?}, and not of {name:?}", self.name);
                Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_request", detail))
            }
        }
    }

    /// Marks it as one that is read.
    pub fn begin(&self) -> Result<(), Problem> {
        let mut state = self.state();
        state.check_idle()?;
        if state.stage == Stage::Stored {
            let detail = "the recording is stored already: make another import";
            return Err(Problem::new(StatusCode::CONFLICT, "import_busy", detail));
        }
        state.begin();
        Ok(())
    }

    /// Notes why it failed.
    pub fn fail(&self, why: &str) {
        let content = format!("{}/", self.content().display());
        let folder = format!("{}/", self.folder.display());
        let why = why.replace(&content, "").replace(&folder, "");
        let mut state = self.state();
        state.stage = Stage::Failed;
        state.error = Some(why);
        state.used = Instant::now();
    }

    /// Notes a remark about a file.
    pub fn note(&self, file: &Path, subject: Option<&str>, text: &str) {
        let mut state = self.state();
        if state.notes.len() < MAX_NOTES {
            let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            state.notes.push(Note { file, subject: subject.map(str::to_owned), text: text.to_owned() });
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // The next start removes leftovers.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes the imports of an earlier process.
fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| Uuid::try_parse(name).is_ok());
        if is_ours && let Err(error) = fs::remove_dir_all(entry.path()) {
            tracing::warn!(path = %entry.path().display(), %error, "cannot remove an import of an earlier run");
        }
    }
}

fn write_part(path: &Path, offset: u64, part: &[u8]) -> io::Result<()> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    let written = file.write_all_at(part, offset);
    if written.is_err() {
        // The next part overwrites what stays.
        let _ = file.set_len(offset);
    }
    written
}

/// Refuses names that are no plain file name.
fn check_name(name: &str) -> Result<(), Problem> {
    let is_plain = (1..=MAX_FILE_NAME_BYTES).contains(&name.len())
        && !name.starts_with('.')
        && !name.contains(|letter: char| letter == '/' || letter.is_control());
    if is_plain {
        return Ok(());
    }
    let shown: String = name.chars().take(60).collect();
    let detail = format!(
        "{shown:?} is no name of a recording: write a file name of 1 to {MAX_FILE_NAME_BYTES} bytes, without / and control characters, that begins with no dot"
    );
    Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_request", detail))
}

fn unknown(id: &str) -> Problem {
    let shown: String = id.chars().take(60).collect();
    let detail = format!(
        "no import {shown:?}: it was cancelled, or not used for an hour; make one with POST /api/v1/imports"
    );
    Problem::new(StatusCode::NOT_FOUND, "unknown_import", detail)
}

fn disk_problem(error: &io::Error) -> Problem {
    let code = if oasis_store::store::is_disk_full(error) { "disk_full" } else { "disk_error" };
    let detail = format!("cannot write to the folder of imports beside the archive: {error}");
    Problem::new(StatusCode::INSUFFICIENT_STORAGE, code, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(result: Result<u64, Problem>) -> String {
        result.map_or_else(|problem| problem.code().to_owned(), |bytes| bytes.to_string())
    }

    #[test]
    fn a_name_is_that_of_a_file_beside_no_other() {
        for bad in ["", ".", "..", "../x", "a/b", ".lock", "a\nb", "a\0b", &"x".repeat(256)] {
            assert!(check_name(bad).unwrap_err().is("bad_request"), "{bad:?}");
        }
        for good in ["drive.ulg", "<img src=x>.ulg", "a b.mcap", "ä.bag", &"x".repeat(255)] {
            check_name(good).unwrap();
        }
    }

    #[test]
    fn parts_follow_each_other_and_have_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive");
        let imports = Imports::new(Some(&archive), 10);
        let upload = imports.create("a.ulg".into(), false).unwrap();
        let append = |name, offset, part: &[u8]| {
            code(imports.append(&upload, (Kind::Content, name), (offset, part), 0))
        };
        assert_eq!(append("a.ulg", 0, b"12345"), "5");
        assert_eq!(append("a.ulg", 4, b"5"), "import_offset");
        assert_eq!(append("b.ulg", 0, b"5"), "bad_request");
        assert_eq!(append("../a.ulg", 0, b"5"), "bad_request");
        assert_eq!(append("a.ulg", 5, b"67890"), "10");
        assert_eq!(append("a.ulg", 10, b"1"), "import_too_large");
        assert_eq!(fs::read(upload.recording()).unwrap(), b"1234567890");
        assert_eq!(code(imports.append(&upload, (Kind::Content, "a.ulg"), (10, b""), u64::MAX)), "disk_full");
        let left = upload.folder.clone();
        imports.cancel(&upload.id).unwrap();
        drop(upload);
        assert!(!left.exists());
    }

    #[test]
    fn imports_of_an_earlier_process_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive");
        let staging = folder.path().join("archive-imports");
        let left = staging.join(Uuid::new_v4().to_string());
        fs::create_dir_all(left.join("content")).unwrap();
        fs::create_dir_all(staging.join("mine")).unwrap();
        let imports = Imports::new(Some(&archive), 10);
        assert!(!left.exists() && staging.join("mine").exists());
        let held: Vec<_> = (0..MAX_IMPORTS).map(|_| imports.create("a".into(), false).unwrap()).collect();
        assert!(imports.create("a".into(), false).unwrap_err().is("too_many_imports"));
        drop(held);
    }
}
