//! The records of a bag: a header of named fields, and data.

use super::chunk::Compression;
use crate::input::{InputError, RecordingFile, bounds::MAX_MESSAGE};
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};

/// The line that each bag begins with.
pub const MAGIC: &[u8] = b"#ROSBAG V2.0\n";
/// Longest header of a record.
const MAX_HEADER_BYTES: usize = 64 * 1024;
/// Bytes that are read at once.
const READ_CHUNK_BYTES: usize = 256 * 1024;

/// The kinds of records that a reader needs.
const MESSAGE: u8 = 2;
const CHUNK: u8 = 5;
const CONNECTION: u8 = 7;

/// A record.
pub enum Record<'a> {
    Message {
        connection: u32,
        time: [u8; 8],
        data: &'a [u8],
        at: u64,
    },
    /// The topic of a connection, and its header.
    Connection {
        connection: u32,
        topic: &'a [u8],
        header: &'a [u8],
    },
}

/// Iterates over the records; those of chunks follow as if there were none.
pub struct Records<'a> {
    from: BufReader<&'a mut dyn RecordingFile>,
    at: u64,
    header: Vec<u8>,
    data: Vec<u8>,
    /// The rest of a compressed chunk; its records are read before those that follow it.
    chunk: Cursor<Vec<u8>>,
    /// Whether the current record is in that chunk.
    is_in_chunk: bool,
    /// The byte of a record that the end of the file cuts.
    pub cut: Option<u64>,
    /// Messages longer than the bound.
    pub long: u64,
}

impl<'a> Records<'a> {
    /// Reads the first line.
    pub fn new(from: &'a mut dyn RecordingFile) -> Result<Self, InputError> {
        from.seek(SeekFrom::Start(0))?;
        let mut from = BufReader::with_capacity(READ_CHUNK_BYTES, from);
        let mut magic = [0; 13];
        if from.read_exact(&mut magic).is_err() || magic != MAGIC {
            let remedy = "migrate a bag of an earlier version with `rosbag fix`";
            return Err(InputError::file("the file is no bag of version 2.0", remedy));
        }
        Ok(Self {
            from,
            at: 13,
            header: Vec::new(),
            data: Vec::new(),
            chunk: Cursor::default(),
            is_in_chunk: false,
            cut: None,
            long: 0,
        })
    }

    /// Reads the next record with messages or about a connection.
    pub fn next(&mut self) -> Result<Option<Record<'_>>, InputError> {
        loop {
            let begin = self.at;
            self.is_in_chunk = self.chunk.position() < self.chunk.get_ref().len() as u64;
            let Some(length) = self.length()? else { return self.end(begin) };
            if length > MAX_HEADER_BYTES {
                return Err(self.damaged(begin, "its header is too long"));
            }
            if !self.fill(length, true)? {
                return self.end(begin);
            }
            let Some(length) = self.length()? else { return self.end(begin) };
            let kind = field(&self.header, b"op").and_then(|op| op.first().copied());
            let Some(kind) = kind else { return Err(self.damaged(begin, "its header has no kind")) };
            match kind {
                CHUNK => match field(&self.header, b"compression") {
                    // Its records follow.
                    Some(b"none") => {}
                    _ if self.is_in_chunk => return Err(self.damaged(begin, "a chunk is within another")),
                    _ => {
                        self.unpack(length, begin)?;
                        if self.cut.is_some() {
                            return Ok(None);
                        }
                    }
                },
                MESSAGE | CONNECTION => {
                    if length > MAX_MESSAGE {
                        self.long += 1;
                        self.skip(length)?;
                        continue;
                    }
                    if !self.fill(length, false)? {
                        return self.end(begin);
                    }
                    return self.parsed(kind, begin).map(Some);
                }
                _ => self.skip(length)?,
            }
        }
    }

    /// Unpacks the chunk that follows.
    fn unpack(&mut self, length: usize, begin: u64) -> Result<(), InputError> {
        let name = field(&self.header, b"compression").unwrap_or_default();
        let compression = Compression::of(name)?;
        let mut packed = (&mut self.from).take(length as u64);
        let content = compression.unpack(&mut packed);
        // A decoder may leave the end of the chunk.
        io::copy(&mut packed, &mut io::sink())?;
        let missing = packed.limit();
        self.at += length as u64 - missing;
        match content {
            Ok(content) => self.chunk = Cursor::new(content),
            Err(_) if missing > 0 => self.cut = Some(begin),
            Err(error) => return Err(self.damaged(begin, &format!("it cannot be unpacked: {error}"))),
        }
        Ok(())
    }

    fn parsed(&self, kind: u8, begin: u64) -> Result<Record<'_>, InputError> {
        let connection =
            field(&self.header, b"conn").and_then(|conn| conn.try_into().ok()).map(u32::from_le_bytes);
        let Some(connection) = connection else { return Err(self.damaged(begin, "it names no connection")) };
        if kind == MESSAGE {
            let time = field(&self.header, b"time").and_then(|time| time.try_into().ok());
            let Some(time) = time else { return Err(self.damaged(begin, "it has no time")) };
            return Ok(Record::Message { connection, time, data: &self.data, at: begin });
        }
        let topic = field(&self.header, b"topic").unwrap_or_default();
        Ok(Record::Connection { connection, topic, header: &self.data })
    }

    fn damaged(&self, at: u64, why: &str) -> InputError {
        InputError::Defect {
            place: format!("the record at byte {at}"),
            why: why.into(),
            remedy: "`rosbag reindex` may repair the bag".into(),
        }
    }

    /// Ends at a record that is not complete.
    fn end(&mut self, begin: u64) -> Result<Option<Record<'_>>, InputError> {
        if self.is_in_chunk {
            return Err(self.damaged(begin, "its chunk ends before it"));
        }
        self.cut = (self.at > begin).then_some(begin);
        Ok(None)
    }

    fn length(&mut self) -> io::Result<Option<usize>> {
        let mut bytes = [0; 4];
        let read = match self.is_in_chunk {
            true => read_up_to(&mut self.chunk, &mut bytes)?,
            false => read_up_to(&mut self.from, &mut bytes)?,
        };
        self.advance(read);
        Ok((read == 4).then(|| u32::from_le_bytes(bytes) as usize))
    }

    /// Fills header or data. Returns whether the file has `length` bytes.
    fn fill(&mut self, length: usize, is_header: bool) -> io::Result<bool> {
        let to = if is_header { &mut self.header } else { &mut self.data };
        to.clear();
        let read = match self.is_in_chunk {
            true => (&mut self.chunk).take(length as u64).read_to_end(to)?,
            false => (&mut self.from).take(length as u64).read_to_end(to)?,
        };
        self.advance(read);
        Ok(read == length)
    }

    fn skip(&mut self, length: usize) -> io::Result<()> {
        match self.is_in_chunk {
            true => self.chunk.seek_relative(length as i64)?,
            false => self.from.seek_relative(length as i64)?,
        }
        self.advance(length);
        Ok(())
    }

    /// Counts bytes of the file: records of a compressed chunk have the position of what follows it.
    fn advance(&mut self, bytes: usize) {
        if !self.is_in_chunk {
            self.at += bytes as u64;
        }
    }
}

fn read_up_to(from: &mut impl Read, to: &mut [u8; 4]) -> io::Result<usize> {
    let mut bytes = Vec::with_capacity(4);
    let read = from.take(4).read_to_end(&mut bytes)?;
    to[..read].copy_from_slice(&bytes);
    Ok(read)
}

/// The value of a field of a header: `length NAME=value`, one after the other.
pub fn field<'h>(mut header: &'h [u8], name: &[u8]) -> Option<&'h [u8]> {
    while let Some((length, rest)) = header.split_first_chunk() {
        let (field, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        header = rest;
        let equals = field.iter().position(|byte| *byte == b'=')?;
        if &field[..equals] == name {
            return Some(&field[equals + 1..]);
        }
    }
    None
}
