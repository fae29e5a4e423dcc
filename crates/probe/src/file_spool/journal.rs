//! The segments of one run: batches are read in the order they were written, and removed once they are safe.

use super::{
    directory::{Directory, replace, segment_path, segments},
    record,
    segment::{Head, Reader, framed, unframed},
};
use crate::{
    announcement::Announcement,
    spool::{FilePlace, QueuedBatch, SequencePosition},
};
use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::PathBuf,
    sync::Arc,
};

/// Name of the file beside the segments that records up to where the run is safe.
const RELEASED: &str = "delivered";
/// A segment's size is a sixteenth of the limit, between these bounds.
const SMALLEST_SEGMENT: u64 = 64 * 1024;
const LARGEST_SEGMENT: u64 = 8 * 1024 * 1024;
/// Bytes of one write to the file, unless a single batch is larger.
const WRITE_SIZE: usize = 256 * 1024;

/// The part of the spool that belongs to one run.
#[derive(Debug)]
pub struct Journal {
    directory: Arc<Directory>,
    run: PathBuf,
    /// Contents of the segments' heads; `taken` grows.
    head: Head,
    active: Option<Active>,
    /// Number of the newest segment, 0 before the first.
    newest: u64,
    reader: Option<Reader>,
    /// Position where reading continues, unless at `reader`.
    next: FilePlace,
    recorded: Vec<SequencePosition>,
    /// Last sequence numbers of the batches in each segment that was written, or read to its end, by instance.
    ends: BTreeMap<u64, BTreeMap<usize, u64>>,
    scratch: Vec<u8>,
}

/// The segment that is being written.
#[derive(Debug)]
struct Active {
    file: File,
    length: u64,
    capacity: u64,
}

impl Journal {
    /// Creates a journal for the run of this process. Files are created with the first batch.
    pub fn begin(directory: Arc<Directory>, announcement: Arc<Announcement>) -> Self {
        let instances = announcement.instances.len();
        let (taken, released) = (vec![0; instances], vec![SequencePosition::default(); instances]);
        let run = directory.own_run(announcement.identity.run);
        Self::new(directory, run, Head { announcement, taken, released })
    }

    /// Opens the run of an earlier process. Returns none if none of its heads is readable.
    pub fn earlier_run(directory: Arc<Directory>, run: PathBuf) -> io::Result<Option<Self>> {
        let segments = segments(&run)?;
        let mut found: Option<Head> = None;
        // Find the newest readable head, then read what follows it.
        let mut readers = Vec::new();
        for segment in segments.iter().rev() {
            let reader = match Reader::open(&segment.path, segment.number) {
                Ok(reader) => reader,
                Err(error) => {
                    tracing::warn!(file = %segment.path.display(), %error,
                        "cannot read a segment of the file spool: its samples count as dropped by the spool");
                    continue;
                }
            };
            found.clone_from(&reader.head);
            readers.push(reader);
            if found.is_some() {
                break;
            }
        }
        let Some(mut head) = found else { return Ok(None) };
        let is_right = |head: &Head| {
            let instances = head.announcement.instances.len();
            head.taken.len() == instances && head.released.len() == instances
        };
        if !is_right(&head) {
            return Ok(None);
        }
        for mut reader in readers {
            // An error ends the segment here as it does when it is read to be sent.
            while reader.next().is_ok_and(|batch| batch.is_some()) {}
            head.include(&reader.seen);
        }
        if let Some(released) = recorded(&run).filter(|places| places.len() == head.taken.len()) {
            head.released = released;
        }
        let next = FilePlace { segment: segments.first().map_or(0, |first| first.number), offset: 0 };
        Ok(Some(Self { next, ..Self::new(directory, run, head) }))
    }

    fn new(directory: Arc<Directory>, run: PathBuf, head: Head) -> Self {
        let recorded = head.released.clone();
        let next = FilePlace::BEGIN;
        Self {
            directory,
            run,
            head,
            active: None,
            newest: 0,
            reader: None,
            next,
            recorded,
            ends: BTreeMap::new(),
            scratch: Vec::new(),
        }
    }

    /// Returns the node, the samples taken, and up to where they are safe.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Notes that instances were added: the next segment has them in its head.
    pub fn announce(&mut self, announcement: Arc<Announcement>) {
        let instances = announcement.instances.len();
        if instances > self.head.taken.len() {
            self.active = None;
            self.head.taken.resize(instances, 0);
            self.head.released.resize(instances, SequencePosition::default());
            self.recorded.resize(instances, SequencePosition::default());
            self.head.announcement = announcement;
        }
    }

    /// Appends batches in order, and sets the file position of each; after an error some have none. Returns how many
    /// segments were removed for them.
    pub fn append(&mut self, batches: &mut [QueuedBatch]) -> (usize, io::Result<()>) {
        let (mut written, mut removed) = (0, 0);
        while written < batches.len() {
            match self.append_some(&mut batches[written..]) {
                Ok((count, segments)) => {
                    written += count;
                    removed += segments;
                }
                Err(error) => return (removed, Err(error)),
            }
        }
        (removed, Ok(()))
    }

    /// Writes as many batches as fit into one write to one segment.
    fn append_some(&mut self, batches: &mut [QueuedBatch]) -> io::Result<(usize, usize)> {
        let first = record::length(&batches[0]) as u64;
        let removed = match &self.active {
            Some(active) if active.length + first <= active.capacity => 0,
            _ => self.begin_segment(first)?,
        };
        let Some(active) = &mut self.active else { return Ok((0, 0)) };
        self.scratch.clear();
        let mut count = 0;
        for batch in batches.iter_mut() {
            let length = record::length(batch);
            let is_full = active.length + (self.scratch.len() + length) as u64 > active.capacity;
            if count > 0 && (is_full || self.scratch.len() + length > WRITE_SIZE) {
                break;
            }
            let offset = active.length + self.scratch.len() as u64;
            batch.stored = Some(FilePlace { segment: self.newest, offset });
            record::write(batch, &mut self.scratch);
            count += 1;
        }
        if let Err(error) = active.append(&self.scratch) {
            batches.iter_mut().for_each(|batch| batch.stored = None);
            // Discard a partial write: the segment ends here.
            if active.cut().is_err() {
                self.active = None;
            }
            return Err(error);
        }
        for batch in &batches[..count] {
            self.head.taken[batch.instance] = batch.last_sequence();
            self.ends.entry(self.newest).or_default().insert(batch.instance, batch.last_sequence());
        }
        Ok((count, removed))
    }

    /// Leaves the segment that is being written: its last record may be incomplete.
    pub fn begin_another_segment(&mut self) {
        self.active = None;
    }

    fn begin_segment(&mut self, first_record: u64) -> io::Result<usize> {
        self.active = None;
        self.head.released.clone_from(&self.recorded);
        let head = self.head.to_bytes()?;
        let length = head.len() as u64;
        let share = (self.directory.limit() / 16).clamp(SMALLEST_SEGMENT, LARGEST_SEGMENT);
        // Many schemas are large: they must not fill most of each segment.
        let capacity = share.max(2 * length).max(length + first_record);
        let removed = self.directory.make_room(capacity)?;
        fs::create_dir_all(&self.run)?;
        let path = segment_path(&self.run, self.newest + 1);
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
        let mut active = Active { file, length: 0, capacity };
        active.append(&head)?;
        self.newest += 1;
        self.active = Some(active);
        Ok(removed)
    }

    /// Sets where [`Journal::read`] continues.
    pub fn read_from(&mut self, place: FilePlace) {
        if let Some(mut reader) = self.reader.take() {
            reader.report();
        }
        self.next = place;
    }

    /// Returns the next readable batch, or none at the end.
    ///
    /// # Errors
    /// If the segments cannot be listed: there may be more batches.
    pub fn read(&mut self) -> io::Result<Option<QueuedBatch>> {
        loop {
            if self.reader.is_none() && !self.open_next()? {
                return Ok(None);
            }
            let Some(reader) = &mut self.reader else { return Ok(None) };
            match reader.next() {
                Ok(Some(batch)) if batch.instance < self.head.taken.len() => return Ok(Some(batch)),
                Ok(Some(_)) => continue,
                // More may be appended later.
                Ok(None) if self.active.is_some() && reader.segment == self.newest => return Ok(None),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(segment = reader.segment, run = %self.run.display(), %error,
                        "cannot read the file spool: the rest of this segment counts as dropped by the spool");
                }
            }
            let behind = FilePlace { segment: reader.segment + 1, offset: 0 };
            self.ends.entry(reader.segment).or_insert_with(|| std::mem::take(&mut reader.seen));
            self.read_from(behind);
        }
    }

    /// Opens the segment where reading continues, or the next one that exists.
    fn open_next(&mut self) -> io::Result<bool> {
        let segments = segments(&self.run)?;
        for segment in segments.iter().filter(|segment| segment.number >= self.next.segment) {
            // Removed meanwhile, or unreadable: its samples are missing, and counted.
            let Ok(mut reader) = Reader::open(&segment.path, segment.number) else { continue };
            if segment.number == self.next.segment
                && self.next.offset > 0
                && reader.seek(self.next.offset).is_err()
            {
                continue;
            }
            self.reader = Some(reader);
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns the number of the segment that is read next.
    pub fn reading(&self) -> u64 {
        self.reader.as_ref().map_or(self.next.segment, |reader| reader.segment)
    }

    /// Records up to where the run is safe. Removes the segments before `needed` whose batches are all safe, but never the
    /// one being written.
    pub fn settle(&mut self, released: Vec<SequencePosition>, needed: u64) -> io::Result<()> {
        let active = if self.active.is_some() { self.newest } else { u64::MAX };
        if released != self.recorded && self.run.exists() {
            replace(&self.run.join(RELEASED), &framed(&released)?)?;
            self.recorded = released;
        }
        let segments = segments(&self.run)?;
        for segment in segments.iter().filter(|segment| segment.number < needed.min(active)) {
            if self.is_safe(segment.number) {
                fs::remove_file(&segment.path)?;
            }
        }
        let oldest = segments.first().map_or(self.newest, |segment| segment.number);
        self.ends = self.ends.split_off(&oldest);
        Ok(())
    }

    /// Returns whether all batches of a segment are safe. Those of an earlier process are known once they were read.
    fn is_safe(&self, segment: u64) -> bool {
        let is_safe = |(&instance, &last): (&usize, &u64)| {
            self.recorded.get(instance).is_some_and(|place| last <= place.sequence)
        };
        self.ends.get(&segment).is_some_and(|ends| ends.iter().all(is_safe))
    }

    /// Returns how many segments the run has.
    #[cfg(test)]
    pub fn segments(&self) -> usize {
        segments(&self.run).unwrap().len()
    }

    /// Makes writes fail as on a full disk, or succeed again.
    #[cfg(test)]
    pub fn obstruct(&mut self, is_obstructed: bool) {
        let name = self.run.file_name().unwrap_or_default().to_owned();
        if is_obstructed {
            if let Some(active) = &mut self.active {
                active.file = OpenOptions::new().write(true).open("/dev/full").unwrap();
            }
            self.run = std::path::Path::new("/dev/full").join(name);
        } else {
            self.run = self.directory.path().join(name);
        }
    }

    /// Removes the run: all of it is safe.
    pub fn remove(mut self) -> io::Result<()> {
        self.active = None;
        match fs::remove_dir_all(&self.run) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Active {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Removes the bytes of a failed append.
    fn cut(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length)).map(drop)
    }
}

fn recorded(run: &std::path::Path) -> Option<Vec<SequencePosition>> {
    let mut file = File::open(run.join(RELEASED)).ok()?;
    Some(unframed(&mut file).ok()??.0)
}
