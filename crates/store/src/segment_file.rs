//! The open segment file. Staged records become visible, and count as stored, with the commit that syncs them.

use crate::{
    clock::now,
    folder_identity,
    gap::Gap,
    index::{self, Entry, FileIndex, SeriesIndex},
    plausible::TimeWindow,
    record::{self, FileHeader, Kind, Start},
    series::{Series, SeriesRecord},
};
use oasis_wire::{
    batch::{Header, time_range},
    quantity::{Epoch, Nanos, Offset, TopicId},
    schema::ProbeType,
};
use std::{
    collections::HashMap,
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
    time::{Duration, Instant},
};
use uuid::Uuid;

/// Staged bytes that are written before the end of the round: little at a time, because a system call does not yield.
const WRITE_CHUNK_BYTES: usize = 64 * 1024;

/// Name of a segment file in the archive's folder.
pub fn path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number:010}.oseg"))
}

/// The number in a segment file's name; none for other files.
pub fn number(path: &Path) -> Option<u64> {
    let stem = path.file_stem()?.to_str()?;
    let is_ours = path.extension()? == "oseg" && stem.len() >= 10 && stem.bytes().all(|b| b.is_ascii_digit());
    is_ours.then(|| stem.parse().ok())?
}

/// The readers' view of an open file: its committed records.
#[derive(Debug)]
pub struct OpenFile {
    /// Its header.
    pub header: FileHeader,
    /// Locked to copy a few entries out, or the entries of a commit in.
    index: RwLock<FileIndex>,
}

impl OpenFile {
    /// Creates a view from a header and an index.
    pub fn new(header: FileHeader, index: FileIndex) -> Self {
        Self { header, index: RwLock::new(index) }
    }

    /// The index of committed records.
    pub fn index(&self) -> RwLockReadGuard<'_, FileIndex> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Identifies a series within a process of the DAC: a topic and the run of its node.
pub type SeriesKey = (TopicId, Uuid);

/// The writer of an open file.
#[derive(Debug)]
pub struct SegmentFile {
    file: File,
    path: PathBuf,
    /// The view of readers.
    pub open: Arc<OpenFile>,
    /// Committed bytes.
    committed: u64,
    /// Written bytes.
    written: u64,
    /// Records after `written`.
    buffer: Vec<u8>,
    /// By their schemas in JSON.
    types: HashMap<Vec<u8>, u32>,
    /// The last series of each topic, with its number. A run that continues after another one gets a new number, so that the offsets of
    /// a number follow those of the one before.
    series: HashMap<TopicId, (Uuid, u32)>,
    /// Numbers of series given.
    series_count: u32,
    staged: StagedRecords,
    /// Samples committed.
    pub samples: u64,
    /// When it was created: the wall clock may be set meanwhile.
    begun: Instant,
    window: TimeWindow,
}

#[derive(Debug, Default)]
struct StagedRecords {
    series: Vec<(TopicId, Arc<Series>)>,
    entries: Vec<(u32, Entry)>,
    gaps: Vec<(u32, Gap)>,
    /// Types known before.
    types_before: usize,
}

impl SegmentFile {
    /// Creates a file. It becomes visible with its first commit.
    ///
    /// # Errors
    /// If it cannot be created or written.
    pub fn create(directory: &Path, number: u64, epoch: Epoch) -> io::Result<Self> {
        let nonce = Uuid::new_v4().as_u64_pair().0 ^ Uuid::new_v4().as_u64_pair().1;
        let header =
            FileHeader { number, nonce, created: now(), epoch, marks_syncs: true, has_groups: false };
        Self::create_at(path(directory, number), header)
    }

    /// Creates a file with this header at a path that does not exist.
    ///
    /// # Errors
    /// If it cannot be created or written.
    pub fn create_at(path: PathBuf, header: FileHeader) -> io::Result<Self> {
        let directory = path.parent().unwrap_or(Path::new("."));
        let header = FileHeader { marks_syncs: true, ..header };
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        // Synced before the first record, so that a file without a valid header has none that was stored.
        let made = file.write_all_at(&header.write(), 0);
        let made = made.and_then(|()| file.sync_data()).and_then(|()| sync_directory(directory));
        if let Err(error) = made {
            // Not shared with other threads yet.
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        let start = record::FILE_HEADER as u64;
        Ok(Self {
            file,
            path,
            open: Arc::new(OpenFile::new(header, FileIndex::default())),
            committed: start,
            written: start,
            buffer: Vec::new(),
            types: HashMap::new(),
            series: HashMap::new(),
            series_count: 0,
            staged: StagedRecords::default(),
            samples: 0,
            begun: Instant::now(),
            window: TimeWindow::ALL,
        })
    }

    /// Sets the plausible times of its samples; without, all are.
    #[must_use]
    pub fn within(self, window: TimeWindow) -> Self {
        Self { window, ..self }
    }

    /// The plausible times of its samples.
    pub fn window(&self) -> TimeWindow {
        self.window
    }

    /// Its size, including staged bytes.
    pub fn length(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Stages a batch of `count` samples from offset `first` on. Returns their least and greatest time.
    ///
    /// # Errors
    /// If the disk is full: call [`SegmentFile::roll_back`].
    pub fn stage(
        &mut self,
        key: SeriesKey,
        series: impl FnOnce() -> Series,
        batch: &[u8],
        (first, count): (Offset, u16),
    ) -> io::Result<(u64, u64)> {
        // A batch with an invalid time column is stored as it arrived; readers report it.
        let head = Header::parse(batch);
        let times = time_range(batch).unwrap_or_else(|_| {
            let arrived = head.map_or(0, |head| head.dac_time);
            (arrived, arrived)
        });
        let first_sequence = head.map_or(0, |head| head.first_sequence);
        let entry = Entry {
            position: 0,
            first,
            count,
            min_time: times.0,
            max_time: times.1,
            last_sequence: first_sequence.saturating_add(u64::from(count) - 1),
        };
        self.stage_record(key, series, (Kind::Batch, batch), entry)?;
        Ok(times)
    }

    /// Stages the record of a batch or a group; the position of its entry is ignored.
    ///
    /// # Errors
    /// If the disk is full: call [`SegmentFile::roll_back`].
    pub fn stage_record(
        &mut self,
        key: SeriesKey,
        series: impl FnOnce() -> Series,
        (kind, payload): (Kind, &[u8]),
        entry: Entry,
    ) -> io::Result<()> {
        let number = self.number_of(key, series);
        let position = self.put((kind, number), (entry.min_time, entry.max_time), payload);
        self.staged.entries.push((number, Entry { position, ..entry }));
        if self.buffer.len() >= WRITE_CHUNK_BYTES {
            self.write_out()?;
        }
        Ok(())
    }

    /// Stages a gap.
    pub fn stage_gap(&mut self, key: SeriesKey, series: impl FnOnce() -> Series, gap: Gap) {
        let number = self.number_of(key, series);
        self.put((Kind::Gap, number), (0, 0), &gap.write());
        self.staged.gaps.push((number, gap));
    }

    fn number_of(&mut self, key: SeriesKey, series: impl FnOnce() -> Series) -> u32 {
        let (topic, run) = key;
        if let Some((_, number)) = self.series.get(&topic).filter(|(last, _)| *last == run) {
            return *number;
        }
        let series = series();
        let type_number = self.type_number(&series.probe_type);
        self.series_count += 1;
        let number = self.series_count;
        let json = serde_json::to_vec(&SeriesRecord::new(&series, type_number)).unwrap_or_default();
        self.put((Kind::Series, number), (0, 0), &json);
        self.series.insert(topic, (run, number));
        self.staged.series.push((topic, Arc::new(series)));
        number
    }

    fn type_number(&mut self, probe_type: &ProbeType) -> u32 {
        let json = serde_json::to_vec(probe_type).unwrap_or_default();
        if let Some(number) = self.types.get(&json) {
            return *number;
        }
        let number = self.types.len() as u32 + 1;
        self.put((Kind::Type, number), (0, 0), &json);
        self.types.insert(json, number);
        number
    }

    fn put(&mut self, what: (Kind, u32), times: (u64, u64), payload: &[u8]) -> u64 {
        let position = self.length();
        let (nonce, follows_sync) = (self.open.header.nonce, position == self.committed);
        record::put(&mut self.buffer, Start { nonce, position, follows_sync }, what, times, payload);
        position
    }

    fn write_out(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.buffer, self.written)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Writes all staged bytes, without waiting for the disk.
    ///
    /// # Errors
    /// If the disk is full: call [`SegmentFile::roll_back`].
    pub fn finish_writing(&mut self) -> io::Result<()> {
        self.write_out()
    }

    /// Syncs all written bytes, and shows them to readers. They are stored when this returns.
    ///
    /// # Errors
    /// If the disk fails. The system may have dropped unwritten pages and may not report that again: never write to this file again.
    pub fn commit(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        self.committed = self.written;
        let staged = std::mem::take(&mut self.staged);
        self.staged.types_before = self.types.len();
        let mut index = self.open.index.write().unwrap_or_else(PoisonError::into_inner);
        for (_, series) in staged.series {
            index.series.push(SeriesIndex::within(series, self.window));
        }
        for (number, entry) in staged.entries {
            self.samples += u64::from(entry.count);
            if let Some(series) = index.get_mut(number) {
                series.push(entry);
            }
        }
        for (number, gap) in staged.gaps {
            if let Some(series) = index.get_mut(number) {
                series.gaps.push(gap);
            }
        }
        Ok(())
    }

    /// Discards staged records and the bytes written for them.
    pub fn roll_back(&mut self) {
        // If this fails, the bytes are overwritten, or cut off by recovery.
        let _ = self.file.set_len(self.committed);
        self.written = self.committed;
        self.buffer.clear();
        let staged = std::mem::take(&mut self.staged);
        for (topic, _) in &staged.series {
            self.series.remove(topic);
        }
        self.series_count -= staged.series.len() as u32;
        self.types.retain(|_, number| *number as usize <= staged.types_before);
        self.staged.types_before = staged.types_before;
    }

    /// Seals the file with its index. Nothing may be staged. Returns its size.
    ///
    /// # Errors
    /// If the disk is full or fails; the file is valid without its index.
    pub fn seal(&mut self) -> io::Result<u64> {
        let sealed = seal(&self.file, &self.open.header, self.committed, &self.open.index());
        if sealed.is_err() {
            let _ = self.file.set_len(self.committed);
        }
        sealed
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its path names it. Without a name nothing in it is stored.
    pub fn is_named(&self) -> bool {
        folder_identity::names(&self.path, &self.file)
    }

    /// Returns the time since it was created.
    pub fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// When it was created, by the wall clock.
    pub fn created(&self) -> Nanos {
        self.open.header.created
    }
}

/// Writes the index at `end`, truncates and syncs the file. All before `end` must be synced. Returns its size.
///
/// # Errors
/// If the disk is full or fails.
pub fn seal(file: &File, header: &FileHeader, end: u64, index: &FileIndex) -> io::Result<u64> {
    let mut bytes = Vec::new();
    let start = Start { nonce: header.nonce, position: end, follows_sync: true };
    record::put(&mut bytes, start, (Kind::Index, 0), (0, 0), &index::write(index));
    bytes.extend_from_slice(&record::trailer(end));
    file.write_all_at(&bytes, end)?;
    let length = end + bytes.len() as u64;
    file.set_len(length)?;
    file.sync_all()?;
    Ok(length)
}

/// The modification time of a file, or the current time if unknown.
pub fn last_written(path: &Path) -> Nanos {
    let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let since_1970 = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since_1970.and_then(|time| u64::try_from(time.as_nanos()).ok()).map_or_else(now, Nanos)
}

/// Creates a folder and what is missing above it. A power cut does not undo that: each new name is synced.
pub fn make_directory(directory: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = directory.ancestors().take_while(|path| !path.exists()).collect();
    std::fs::create_dir_all(directory)?;
    for parent in missing.into_iter().filter_map(Path::parent) {
        let is_here = parent.as_os_str().is_empty();
        sync_directory(if is_here { Path::new(".") } else { parent })?;
    }
    Ok(())
}

/// Syncs the names in a folder.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
