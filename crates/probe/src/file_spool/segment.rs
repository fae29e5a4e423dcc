//! One file of the spool: a head that identifies the node and its instances, then records.

use super::record::{self, Content};
use crate::{
    announcement::Announcement,
    spool::{FilePlace, QueuedBatch, SequencePosition},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Magic number of a segment; the digit is the format's version.
const SEGMENT_MARK: [u8; 4] = *b"OSP2";
/// Magic number, length and CRC.
const PREFIX: usize = 12;
/// Longest head in bytes: a DAC refuses larger schemas.
const MAX_HEAD: usize = 32 * 1024 * 1024;
/// Bytes of one read from the file.
const READ_SIZE: usize = 256 * 1024;

/// Everything that is needed to send the records that follow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Head {
    /// Node, schemas and instances.
    pub announcement: Arc<Announcement>,
    /// Last sequence number of each instance in the file when the segment began.
    pub taken: Vec<u64>,
    /// Up to where each instance's samples were safe by then.
    #[serde(rename = "delivered")]
    pub released: Vec<SequencePosition>,
}

impl Head {
    /// Adds sequence numbers that were seen in the segment.
    pub fn include(&mut self, seen: &BTreeMap<usize, u64>) {
        for (&instance, &last) in seen {
            if let Some(taken) = self.taken.get_mut(instance) {
                *taken = last.max(*taken);
            }
        }
    }

    /// Returns its encoding in the file.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        framed(self)
    }
}

/// Returns JSON after magic number, length and CRC.
pub fn framed(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(value)?;
    let length = u32::try_from(json.len()).ok().filter(|&length| length as usize <= MAX_HEAD);
    let length = length.ok_or_else(|| io::Error::other("schemas of the node exceed 32 MiB"))?;
    let mut bytes = Vec::with_capacity(PREFIX + json.len());
    bytes.extend_from_slice(&SEGMENT_MARK);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&json).to_le_bytes());
    bytes.extend_from_slice(&json);
    Ok(bytes)
}

/// Reads the output of [`framed`] and returns its length too; none if it is damaged or of another version.
pub fn unframed<T: for<'de> Deserialize<'de>>(file: &mut impl Read) -> io::Result<Option<(T, u64)>> {
    let mut prefix = [0; PREFIX];
    let mut json = Vec::new();
    file.take(PREFIX as u64).read_to_end(&mut json)?;
    if json.len() < PREFIX {
        return Ok(None);
    }
    prefix.copy_from_slice(&json);
    let field = |at: usize| u32::from_le_bytes([prefix[at], prefix[at + 1], prefix[at + 2], prefix[at + 3]]);
    if prefix[..4] != SEGMENT_MARK || field(4) as usize > MAX_HEAD {
        return Ok(None);
    }
    json.clear();
    file.take(field(4).into()).read_to_end(&mut json)?;
    if crc32fast::hash(&json) != field(8) {
        return Ok(None);
    }
    Ok(serde_json::from_slice(&json).ok().map(|value| (value, (PREFIX + json.len()) as u64)))
}

/// Damage found in a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Damage {
    /// Batches that are truncated or changed.
    pub batches: u64,
    /// Their samples.
    pub samples: u64,
    /// Bytes that belong to no record.
    pub bytes: u64,
}

/// Reads the batches of one segment in order.
#[derive(Debug)]
pub struct Reader {
    /// Its number.
    pub segment: u64,
    path: PathBuf,
    file: File,
    /// Its head, unless damaged.
    pub head: Option<Head>,
    /// Last sequence number seen of each instance, including damaged batches.
    pub seen: BTreeMap<usize, u64>,
    /// Damage found so far.
    pub damage: Damage,
    buffer: Vec<u8>,
    start: usize,
    /// Offset of `start` in the file.
    offset: u64,
}

impl Reader {
    /// Opens a segment at its first record.
    pub fn open(path: &Path, segment: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let (head, offset) = match unframed(&mut file)? {
            Some((head, length)) => (Some(head), length),
            // The first readable record shows where the head ended.
            None => {
                io::Seek::rewind(&mut file)?;
                (None, 0)
            }
        };
        Ok(Self {
            segment,
            path: path.to_owned(),
            file,
            head,
            seen: BTreeMap::new(),
            damage: Damage::default(),
            buffer: Vec::new(),
            start: 0,
            offset,
        })
    }

    /// Continues at the record at `offset`.
    pub fn seek(&mut self, offset: u64) -> io::Result<()> {
        io::Seek::seek(&mut self.file, io::SeekFrom::Start(offset))?;
        self.buffer.clear();
        (self.start, self.offset) = (0, offset);
        Ok(())
    }

    /// Returns the next undamaged batch; none at the end. Batches appended later are returned by another call.
    pub fn next(&mut self) -> io::Result<Option<QueuedBatch>> {
        let mut is_end = false;
        loop {
            if is_end && self.start == self.buffer.len() {
                return Ok(None);
            }
            let (found, used) = record::next(&self.buffer[self.start..], is_end);
            let batch = match found {
                Content::Incomplete => {
                    is_end = self.fill()? == 0;
                    continue;
                }
                Content::Batch { head, bytes } => {
                    let batch = QueuedBatch {
                        instance: head.instance as usize,
                        first_sequence: head.first_sequence,
                        count: head.count,
                        before: head.before,
                        bytes: Arc::new(bytes.to_vec()),
                        stored: Some(FilePlace { segment: self.segment, offset: self.offset }),
                    };
                    self.see(head);
                    Some(batch)
                }
                Content::Damaged(head) => {
                    self.see(head);
                    self.damage.batches += 1;
                    self.damage.samples += u64::from(head.count);
                    None
                }
                Content::Unreadable => {
                    self.damage.bytes += used as u64;
                    None
                }
            };
            self.start += used;
            self.offset += used as u64;
            if batch.is_some() {
                return Ok(batch);
            }
        }
    }

    fn see(&mut self, head: record::Head) {
        let last = self.seen.entry(head.instance as usize).or_default();
        *last = head.last_sequence().max(*last);
    }

    /// Logs the damage, if any.
    pub fn report(&mut self) {
        let damage = std::mem::take(&mut self.damage);
        if damage != Damage::default() {
            tracing::warn!(
                file = %self.path.display(), batches = damage.batches, samples = damage.samples, bytes = damage.bytes,
                "file spool is damaged: the batches and the unreadable bytes count as dropped by the spool"
            );
        }
    }

    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let held = self.buffer.len();
        (&self.file).take(READ_SIZE as u64).read_to_end(&mut self.buffer)?;
        Ok(self.buffer.len() - held)
    }
}
