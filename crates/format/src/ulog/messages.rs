//! The messages of a file: a length, a kind and at most 65,535 bytes each.

use crate::input::{Defects, InputError};
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// The bytes that each file begins with; a version follows.
pub const MAGIC: [u8; 7] = *b"ULog\x01\x12\x35";
/// Bytes before the first message: the magic number, a version and a time.
const HEADER_BYTES: u64 = 16;
/// Bytes before the content of a message: length and kind.
const HEAD_BYTES: u64 = 3;
/// The content of a synchronization message.
const SYNC: [u8; 8] = [0x2f, 0x73, 0x13, 0x20, 0x25, 0x0c, 0xbb, 0x12];
/// Bytes that are read at once.
const READ_CHUNK_BYTES: usize = 256 * 1024;
/// The flag of appended data, the only one that a reader must know.
const HAS_APPENDED_DATA: u8 = 1;

/// Iterates over messages.
pub struct Messages<'a> {
    from: BufReader<&'a mut dyn crate::input::RecordingFile>,
    /// The byte after the last message.
    at: u64,
    /// Bytes where appended data begins, the next one last.
    appended: Vec<u64>,
    content: Vec<u8>,
    /// The time in the header, microseconds.
    pub start: u64,
    /// The byte of a message that the end of the file cuts.
    pub cut: Option<u64>,
}

/// A message.
pub struct Message<'a> {
    pub kind: u8,
    pub content: &'a [u8],
    /// Its first byte in the file.
    pub at: u64,
}

impl<'a> Messages<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// If it is not that of a ULog file.
    pub fn new(from: &'a mut dyn crate::input::RecordingFile) -> Result<Self, InputError> {
        from.seek(SeekFrom::Start(0))?;
        let mut from = BufReader::with_capacity(READ_CHUNK_BYTES, from);
        let mut header = [0; HEADER_BYTES as usize];
        if read_all(&mut from, &mut header)? < header.len() || !header.starts_with(&MAGIC) {
            return Err(InputError::file("the file has no header of ULog", "check the file"));
        }
        let (_, start) = header.split_at(8);
        let start = start.try_into().map_or(0, u64::from_le_bytes);
        Ok(Self { from, at: HEADER_BYTES, appended: Vec::new(), content: Vec::new(), start, cut: None })
    }

    /// Reads the next message.
    ///
    /// # Errors
    /// If the file cannot be read, or a message is damaged and defects are not counted.
    pub fn next(&mut self, defects: &mut Defects) -> Result<Option<Message<'_>>, InputError> {
        loop {
            let at = self.at;
            let mut head = [0; HEAD_BYTES as usize];
            if !self.read(&mut head)? {
                self.cut = (self.at > at).then_some(at);
                return Ok(None);
            }
            let [low, high, kind] = head;
            let length = u16::from_le_bytes([low, high]);
            if let Some(end) = self.appended.last().copied()
                && at + HEAD_BYTES + u64::from(length) > end
            {
                // Whatever was being written when data was appended.
                self.appended.pop();
                self.seek(end)?;
                continue;
            }
            if !kind.is_ascii_alphabetic() || length == 0 {
                defects.add(|| format!("byte {at}"), "no message begins here")?;
                if !self.synchronize(at)? {
                    return Ok(None);
                }
                continue;
            }
            let mut content = std::mem::take(&mut self.content);
            content.resize(length.into(), 0);
            let is_whole = self.read(&mut content)?;
            self.content = content;
            if !is_whole {
                self.cut = Some(at);
                return Ok(None);
            }
            if kind == b'B' {
                self.flags()?;
            }
            return Ok(Some(Message { kind, content: &self.content, at }));
        }
    }

    fn read(&mut self, to: &mut [u8]) -> io::Result<bool> {
        let read = read_all(&mut self.from, to)?;
        self.at += read as u64;
        Ok(read == to.len())
    }

    fn seek(&mut self, to: u64) -> io::Result<()> {
        self.from.seek(SeekFrom::Start(to))?;
        self.at = to;
        Ok(())
    }

    /// Reads the flags: unknown ones change the meaning of the file.
    fn flags(&mut self) -> Result<(), InputError> {
        let Some((incompatible, offsets)) = self.content.get(8..40).map(|flags| flags.split_at(8)) else {
            return Err(InputError::file("its flags are truncated", "check the file"));
        };
        let is_known =
            |(at, flags): (usize, &u8)| *flags & !(if at == 0 { HAS_APPENDED_DATA } else { 0 }) == 0;
        if !incompatible.iter().enumerate().all(is_known) {
            let why = "the file has a feature of a newer version of ULog";
            return Err(InputError::file(why, "convert it with pyulog (ulog2csv), and import the CSV files"));
        }
        let offsets =
            offsets.chunks_exact(8).filter_map(|offset| offset.try_into().ok().map(u64::from_le_bytes));
        self.appended = offsets.filter(|offset| *offset > self.at).collect();
        self.appended.sort_unstable_by(|a, b| b.cmp(a));
        Ok(())
    }

    /// Continues after the next synchronization message. Returns whether there is one.
    fn synchronize(&mut self, from: u64) -> io::Result<bool> {
        self.seek(from + 1)?;
        let (mut window, mut byte) = ([0; SYNC.len()], [0]);
        while self.read(&mut byte)? {
            window.rotate_left(1);
            window[SYNC.len() - 1] = byte[0];
            if window == SYNC {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Fills a buffer as far as the file reaches. Returns the number of bytes.
fn read_all(from: &mut impl Read, to: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = to.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
