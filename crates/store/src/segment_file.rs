//! The segment file that is being written. What is staged becomes visible, and counts as stored, with the commit that syncs it.

use crate::{
    clock::now,
    gap::Gap,
    index::{self, Entry, FileIndex, SeriesIndex},
    record::{self, FileHeader, Kind},
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
};
use uuid::Uuid;

/// Staged records beyond this are handed to the system before the round is over: little at a time, as a call of the system is not interrupted for others.
const BUFFER: usize = 64 * 1024;

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

/// What readers see of a file that is being written: what was committed.
#[derive(Debug)]
pub struct OpenFile {
    /// Its header.
    pub header: FileHeader,
    /// Held for copying a few entries out, or a commit's entries in.
    index: RwLock<FileIndex>,
}

impl OpenFile {
    /// A file whose header and index were read.
    pub fn new(header: FileHeader, index: FileIndex) -> Self {
        Self { header, index: RwLock::new(index) }
    }

    /// Where everything is that was committed.
    pub fn index(&self) -> RwLockReadGuard<'_, FileIndex> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One series, while its DAC lives: a topic in one run of its node.
pub type SeriesKey = (TopicId, Uuid);

/// The writer's side of it.
#[derive(Debug)]
pub struct SegmentFile {
    file: File,
    path: PathBuf,
    /// What readers see.
    pub open: Arc<OpenFile>,
    /// Bytes that belong to the file: all before were committed.
    committed: u64,
    /// Bytes handed to the system.
    written: u64,
    /// Records that lie behind `written`.
    buffer: Vec<u8>,
    /// By their schemas in JSON.
    types: HashMap<Vec<u8>, u32>,
    series: HashMap<SeriesKey, u32>,
    staged: Staged,
    /// Samples committed.
    pub samples: u64,
}

#[derive(Debug, Default)]
struct Staged {
    series: Vec<(SeriesKey, Arc<Series>)>,
    entries: Vec<(u32, Entry)>,
    gaps: Vec<(u32, Gap)>,
    /// Types known before.
    types_before: usize,
}

impl SegmentFile {
    /// Begins a file. It counts as there once something in it was committed.
    ///
    /// # Errors
    /// If it cannot be made or written.
    pub fn create(directory: &Path, number: u64, epoch: Epoch) -> io::Result<Self> {
        let path = path(directory, number);
        let nonce = Uuid::new_v4().as_u64_pair().0 ^ Uuid::new_v4().as_u64_pair().1;
        let header = FileHeader { number, nonce, created: now(), epoch };
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        let made = file.write_all_at(&header.write(), 0).and_then(|()| sync_directory(directory));
        if let Err(error) = made {
            // No other thread knows it yet.
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
            staged: Staged::default(),
            samples: 0,
        })
    }

    /// Bytes, those that are staged included.
    pub fn length(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Stages a batch of `count` samples from offset `first` on.
    ///
    /// # Errors
    /// If the disk takes no more: call [`SegmentFile::roll_back`].
    pub fn stage(
        &mut self,
        key: SeriesKey,
        series: impl FnOnce() -> Series,
        batch: &[u8],
        (first, count): (Offset, u16),
    ) -> io::Result<()> {
        let number = self.number_of(key, series);
        // A batch whose time column breaks the rules is kept as it arrived; its readers are told when they come to it.
        let head = Header::parse(batch);
        let times = time_range(batch).unwrap_or_else(|_| {
            let arrived = head.map_or(0, |head| head.dac_time);
            (arrived, arrived)
        });
        let position = self.put((Kind::Batch, number), times, batch);
        let first_sequence = head.map_or(0, |head| head.first_sequence);
        let entry = Entry {
            position,
            first,
            count,
            min_time: times.0,
            max_time: times.1,
            last_sequence: first_sequence.saturating_add(u64::from(count) - 1),
        };
        self.staged.entries.push((number, entry));
        if self.buffer.len() >= BUFFER { self.write_out() } else { Ok(()) }
    }

    /// Stages word of offsets that will not be stored.
    pub fn stage_gap(&mut self, key: SeriesKey, series: impl FnOnce() -> Series, gap: Gap) {
        let number = self.number_of(key, series);
        self.put((Kind::Gap, number), (0, 0), &gap.write());
        self.staged.gaps.push((number, gap));
    }

    fn number_of(&mut self, key: SeriesKey, series: impl FnOnce() -> Series) -> u32 {
        if let Some(number) = self.series.get(&key) {
            return *number;
        }
        let series = series();
        let type_number = self.type_number(&series.probe_type);
        let number = self.series.len() as u32 + 1;
        let json = serde_json::to_vec(&SeriesRecord::new(&series, type_number)).unwrap_or_default();
        self.put((Kind::Series, number), (0, 0), &json);
        self.series.insert(key, number);
        self.staged.series.push((key, Arc::new(series)));
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
        record::put(&mut self.buffer, self.open.header.nonce, position, what, times, payload);
        position
    }

    fn write_out(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.buffer, self.written)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Hands all that is staged to the system, without waiting for the disk.
    ///
    /// # Errors
    /// If the disk takes no more: call [`SegmentFile::roll_back`].
    pub fn finish_writing(&mut self) -> io::Result<()> {
        self.write_out()
    }

    /// Waits until all that was written is on the disk, and shows it to readers. What this has said is stored.
    ///
    /// # Errors
    /// If the disk fails. The system may have dropped what it could not write, and say nothing of it the next time: never write to this file again.
    pub fn commit(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        self.committed = self.written;
        let staged = std::mem::take(&mut self.staged);
        self.staged.types_before = self.types.len();
        let mut index = self.open.index.write().unwrap_or_else(PoisonError::into_inner);
        for (_, series) in staged.series {
            index.series.push(SeriesIndex::new(series));
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

    /// Forgets what is staged: the file ends where it did before.
    pub fn roll_back(&mut self) {
        // If this fails, what lies behind is overwritten, or cut when the file is recovered.
        let _ = self.file.set_len(self.committed);
        self.written = self.committed;
        self.buffer.clear();
        let staged = std::mem::take(&mut self.staged);
        for (key, _) in &staged.series {
            self.series.remove(key);
        }
        self.types.retain(|_, number| *number as usize <= staged.types_before);
        self.staged.types_before = staged.types_before;
    }

    /// Ends the file with its index. Nothing may be staged. Answers its size.
    ///
    /// # Errors
    /// If the disk takes no more or fails; the file is good without its index.
    pub fn seal(&mut self) -> io::Result<u64> {
        let sealed = seal(&self.file, &self.open.header, self.committed, &self.open.index());
        if sealed.is_err() {
            let _ = self.file.set_len(self.committed);
        }
        sealed
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// When it was begun.
    pub fn created(&self) -> Nanos {
        self.open.header.created
    }
}

/// Ends a file behind `end` with its index, synced. Answers its size.
///
/// # Errors
/// If the disk takes no more or fails.
pub fn seal(file: &File, header: &FileHeader, end: u64, index: &FileIndex) -> io::Result<u64> {
    let mut bytes = Vec::new();
    record::put(&mut bytes, header.nonce, end, (Kind::Index, 0), (0, 0), &index::write(index));
    bytes.extend_from_slice(&record::trailer(end));
    file.write_all_at(&bytes, end)?;
    let length = end + bytes.len() as u64;
    file.set_len(length)?;
    file.sync_all()?;
    Ok(length)
}

/// When a file was last written to, or now if the system does not know.
pub fn last_written(path: &Path) -> Nanos {
    let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let since_1970 = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since_1970.and_then(|time| u64::try_from(time.as_nanos()).ok()).map_or_else(now, Nanos)
}

/// Makes new and removed names in a folder last.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
