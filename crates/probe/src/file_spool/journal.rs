//! The segments of one run: what was written is read again in order, and removed once it is delivered.

use super::{
    directory::{Directory, replace, segment_path, segments},
    record,
    segment::{Head, Reader, framed, unframed},
};
use crate::{
    shipper::Announcement,
    spool::{Place, Queued, Stored},
};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::PathBuf,
    sync::Arc,
};

/// Up to where the run was delivered: in a file of this name beside the segments.
const DELIVERED: &str = "delivered";
/// A segment has a sixteenth of the limit, between these.
const SMALLEST_SEGMENT: u64 = 64 * 1024;
const LARGEST_SEGMENT: u64 = 8 * 1024 * 1024;
/// One write to the file, unless a single batch is larger.
const WRITE_SIZE: usize = 256 * 1024;

/// One run's part of the spool.
#[derive(Debug)]
pub struct Journal {
    directory: Arc<Directory>,
    run: PathBuf,
    /// What the segments' heads say; `taken` grows.
    head: Head,
    active: Option<Active>,
    /// Number of the newest segment, 0 before the first.
    newest: u64,
    reader: Option<Reader>,
    /// Where reading goes on, if not where `reader` is.
    next: Stored,
    recorded: Vec<Place>,
    scratch: Vec<u8>,
}

/// The segment that is written to.
#[derive(Debug)]
struct Active {
    file: File,
    length: u64,
    capacity: u64,
}

impl Journal {
    /// For the run of this process. Files are made when the first batch comes.
    pub fn begin(directory: Arc<Directory>, announcement: Arc<Announcement>) -> Self {
        let instances = announcement.instances.len();
        let (taken, delivered) = (vec![0; instances], vec![Place::default(); instances]);
        let run = directory.own_run(announcement.identity.run);
        Self::new(directory, run, Head { announcement, taken, delivered })
    }

    /// What an earlier process left: none if no head of it can be read.
    pub fn left_behind(directory: Arc<Directory>, run: PathBuf) -> io::Result<Option<Self>> {
        let segments = segments(&run)?;
        let mut found: Option<Head> = None;
        // The newest head that can be read, then what lies behind it.
        let mut readers = Vec::new();
        for segment in segments.iter().rev() {
            let reader = Reader::open(&segment.path, segment.number)?;
            found.clone_from(&reader.head);
            readers.push(reader);
            if found.is_some() {
                break;
            }
        }
        let Some(mut head) = found else { return Ok(None) };
        let is_right = |head: &Head| {
            let instances = head.announcement.instances.len();
            head.taken.len() == instances && head.delivered.len() == instances
        };
        if !is_right(&head) {
            return Ok(None);
        }
        for mut reader in readers {
            while reader.next()?.is_some() {}
            head.include(&reader.seen);
        }
        if let Some(delivered) = recorded(&run).filter(|places| places.len() == head.taken.len()) {
            head.delivered = delivered;
        }
        let next = Stored { segment: segments.first().map_or(0, |first| first.number), offset: 0 };
        Ok(Some(Self { next, ..Self::new(directory, run, head) }))
    }

    fn new(directory: Arc<Directory>, run: PathBuf, head: Head) -> Self {
        let recorded = head.delivered.clone();
        let next = Stored { segment: 0, offset: 0 };
        Self {
            directory,
            run,
            head,
            active: None,
            newest: 0,
            reader: None,
            next,
            recorded,
            scratch: Vec::new(),
        }
    }

    /// Whose samples these are, how many there were, and up to where they are delivered.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Writes batches, in order, and tells each its place: after an error some have none. Says how many segments had to go for them.
    pub fn append(&mut self, batches: &mut [Queued]) -> (usize, io::Result<()>) {
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

    /// As many as go into one write to one segment.
    fn append_some(&mut self, batches: &mut [Queued]) -> io::Result<(usize, usize)> {
        let first = (record::HEAD + batches[0].bytes.len()) as u64;
        let removed = match &self.active {
            Some(active) if active.length + first <= active.capacity => 0,
            _ => self.begin_segment(first)?,
        };
        let Some(active) = &mut self.active else { return Ok((0, 0)) };
        self.scratch.clear();
        let mut count = 0;
        for batch in batches.iter_mut() {
            let length = record::HEAD + batch.bytes.len();
            let is_full = active.length + (self.scratch.len() + length) as u64 > active.capacity;
            if count > 0 && (is_full || self.scratch.len() + length > WRITE_SIZE) {
                break;
            }
            let offset = active.length + self.scratch.len() as u64;
            batch.stored = Some(Stored { segment: self.newest, offset });
            record::write(batch, &mut self.scratch);
            count += 1;
        }
        if let Err(error) = active.append(&self.scratch) {
            batches.iter_mut().for_each(|batch| batch.stored = None);
            // Whatever of it is in the file ends the segment.
            if active.cut().is_err() {
                self.active = None;
            }
            return Err(error);
        }
        for batch in &batches[..count] {
            self.head.taken[batch.instance] = batch.last_sequence();
        }
        Ok((count, removed))
    }

    fn begin_segment(&mut self, first_record: u64) -> io::Result<usize> {
        self.active = None;
        self.head.delivered.clone_from(&self.recorded);
        let head = self.head.to_bytes()?;
        let length = head.len() as u64;
        let share = (self.directory.limit() / 16).clamp(SMALLEST_SEGMENT, LARGEST_SEGMENT);
        // Many schemas take much room: they must not be most of each segment.
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

    /// From now on [`Journal::read`] begins there.
    pub fn read_from(&mut self, place: Stored) {
        if let Some(mut reader) = self.reader.take() {
            reader.report();
        }
        self.next = place;
    }

    /// The next batch that can be read; none at the end of what was written.
    pub fn read(&mut self) -> Option<Queued> {
        loop {
            if self.reader.is_none() && !self.open_next() {
                return None;
            }
            let Some(reader) = &mut self.reader else { return None };
            match reader.next() {
                Ok(Some(batch)) if batch.instance < self.head.taken.len() => return Some(batch),
                Ok(Some(_)) => continue,
                // More may come.
                Ok(None) if self.active.is_some() && reader.segment == self.newest => return None,
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(segment = reader.segment, run = %self.run.display(), %error,
                        "the file spool cannot be read: what is left of this segment is counted as dropped by the spool");
                }
            }
            let behind = Stored { segment: reader.segment + 1, offset: 0 };
            self.read_from(behind);
        }
    }

    /// Opens the segment where reading goes on, or the next one that is still there.
    fn open_next(&mut self) -> bool {
        let Ok(segments) = segments(&self.run) else { return false };
        for segment in segments.iter().filter(|segment| segment.number >= self.next.segment) {
            // Removed meanwhile to make room, or unreadable: a hole in the numbers, and counted.
            let Ok(mut reader) = Reader::open(&segment.path, segment.number) else { continue };
            if segment.number == self.next.segment
                && self.next.offset > 0
                && reader.seek(self.next.offset).is_err()
            {
                continue;
            }
            self.reader = Some(reader);
            return true;
        }
        false
    }

    /// The segment that will be read next.
    pub fn reading(&self) -> u64 {
        self.reader.as_ref().map_or(self.next.segment, |reader| reader.segment)
    }

    /// Records up to where the DAC has the run, and removes the segments in front of `needed`, but never the one that is written to.
    pub fn settle(&mut self, delivered: Vec<Place>, needed: u64) -> io::Result<()> {
        let active = if self.active.is_some() { self.newest } else { u64::MAX };
        if delivered != self.recorded && self.run.exists() {
            replace(&self.run.join(DELIVERED), &framed(&delivered)?)?;
            self.recorded = delivered;
        }
        for segment in segments(&self.run)?.iter().filter(|segment| segment.number < needed.min(active)) {
            fs::remove_file(&segment.path)?;
        }
        Ok(())
    }

    /// From now on nothing can be written, as on a full disk; or everything again.
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

    /// Removes the run: all of it is delivered.
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

    /// Takes back what an append that failed has written.
    fn cut(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length)).map(drop)
    }
}

fn recorded(run: &std::path::Path) -> Option<Vec<Place>> {
    let mut file = File::open(run.join(DELIVERED)).ok()?;
    Some(unframed(&mut file).ok()??.0)
}
