//! The frames of Arrow IPC: their lengths are checked before a library allocates for them.

use crate::input::{InputError, RecordingFile};
use arrow_ipc::{MessageHeader, RecordBatch, root_as_message};
use std::io::{self, Read, SeekFrom};

/// The bytes that a file begins with; a stream begins with [`CONTINUATION`].
pub const FILE_MAGIC: &[u8] = b"ARROW1";
/// The bytes before the length of each message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The last byte at which the first message of a file begins.
const MAX_FILE_START: u64 = 64;
/// Longest description of a message, in bytes.
pub const MAX_DESCRIPTION: u64 = 8 * 1024 * 1024;
/// Most bytes of a record batch, packed and unpacked.
pub const MAX_BATCH: u64 = 128 * 1024 * 1024;
pub const BATCH_REMEDY: &str =
    "write smaller record batches, such as pyarrow's write_table(..., max_chunksize=8192), or Parquet";

/// The whole messages of a file.
#[derive(Debug, Clone, Copy)]
pub struct Messages {
    pub start: u64,
    pub end: u64,
    /// The byte where the file was cut, if it was.
    pub cut: Option<u64>,
}

impl Messages {
    /// Walks through the messages.
    ///
    /// # Errors
    /// If a length exceeds a bound, or the file has no schema.
    pub fn find(content: &mut dyn RecordingFile) -> Result<Self, InputError> {
        let length = content.seek(SeekFrom::End(0))?;
        content.seek(SeekFrom::Start(0))?;
        let mut magic = Vec::new();
        Read::take(&mut *content, MAX_FILE_START).read_to_end(&mut magic)?;
        let is_file = magic.starts_with(FILE_MAGIC);
        // Writers pad the magic number to 8 bytes, or to their alignment.
        let padding = magic.get(FILE_MAGIC.len()..).unwrap_or_default().iter().take_while(|byte| **byte == 0);
        let start = if is_file { (FILE_MAGIC.len() + padding.count()) as u64 / 8 * 8 } else { 0 };
        let mut at = start;
        loop {
            match Self::message(content, at, length)? {
                Next::Message(end) => at = end,
                Next::End if is_file && at + 8 > length => {
                    return Self { start, end: at, cut: Some(at) }.checked();
                }
                Next::End => return Self { start, end: at, cut: None }.checked(),
                Next::Cut => return Self { start, end: at, cut: Some(at) }.checked(),
            }
        }
    }

    fn checked(self) -> Result<Self, InputError> {
        if self.start == self.end {
            return Err(InputError::file(
                "the file has no Arrow schema",
                "check that it is an Arrow IPC file or stream, and whole",
            ));
        }
        Ok(self)
    }

    /// Checks the message at a byte of a file of this length.
    ///
    /// # Errors
    /// If a length exceeds a bound.
    pub fn message(content: &mut dyn RecordingFile, at: u64, length: u64) -> Result<Next, InputError> {
        if at >= length {
            return Ok(Next::End);
        }
        let refused = |why: &str, remedy: &str| InputError::Defect {
            place: format!("byte {at}"),
            why: why.into(),
            remedy: remedy.into(),
        };
        content.seek(SeekFrom::Start(at))?;
        let mut head = [0; 8];
        if !is_read(content.read_exact(&mut head[..4]))? {
            return Ok(Next::Cut);
        }
        // Before version 0.15 of the format, nothing was before the length.
        let (prefix, of) = if head[..4] == CONTINUATION { (8, 4..8) } else { (4, 0..4) };
        if prefix == 8 && !is_read(content.read_exact(&mut head[4..]))? {
            return Ok(Next::Cut);
        }
        let described = head.get(of).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes);
        let described = u64::from(described);
        if described == 0 {
            return Ok(Next::End);
        }
        if described > MAX_DESCRIPTION {
            let why =
                format!("a message has a description of {described} bytes, more than {MAX_DESCRIPTION}");
            return Err(refused(&why, "check that the file is Arrow IPC"));
        }
        if at + prefix + described > length {
            return Ok(Next::Cut);
        }
        let mut description = vec![0; described as usize];
        content.read_exact(&mut description)?;
        let message = root_as_message(&description).map_err(|error| {
            refused(&format!("no message of Arrow IPC: {error}"), "write it as a stream, or as Parquet")
        })?;
        let body = u64::try_from(message.bodyLength()).unwrap_or(u64::MAX);
        let start = at + prefix + described;
        if body > MAX_BATCH {
            let why = format!("a record batch of {body} bytes, more than {MAX_BATCH}");
            return Err(refused(&why, BATCH_REMEDY));
        }
        if start + body > length {
            return Ok(Next::Cut);
        }
        let batch = match message.header_type() {
            MessageHeader::RecordBatch => message.header_as_record_batch(),
            MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|of| of.data()),
            _ => None,
        };
        if let Some(batch) = batch {
            check_batch(content, batch, start, body)?.map_err(|why| refused(&why, BATCH_REMEDY))?;
        }
        Ok(Next::Message(start + body))
    }
}

/// A step of walking through messages.
pub enum Next {
    /// A message, which ends at this byte.
    Message(u64),
    /// No message begins here.
    End,
    /// The end of the file cuts the message.
    Cut,
}

/// Checks the unpacked lengths and the number of rows.
fn check_batch(
    content: &mut dyn RecordingFile,
    batch: RecordBatch<'_>,
    start: u64,
    body: u64,
) -> io::Result<Result<(), String>> {
    let mut unpacked = body;
    if batch.compression().is_some() {
        for buffer in batch.buffers().into_iter().flatten() {
            let (Ok(offset), Ok(length)) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length()))
            else {
                return Ok(Err("a buffer with a negative length".into()));
            };
            if offset.checked_add(length).is_none_or(|end| end > body) {
                return Ok(Err("a buffer is outside of its record batch".into()));
            }
            if length < 8 {
                continue;
            }
            content.seek(SeekFrom::Start(start + offset))?;
            let mut declared = [0; 8];
            content.read_exact(&mut declared)?;
            // The length -1 says that the buffer is not packed.
            let declared = i64::from_le_bytes(declared);
            unpacked = unpacked.saturating_add(if declared == -1 { 0 } else { declared as u64 });
        }
    }
    if unpacked > MAX_BATCH {
        return Ok(Err(format!("a record batch of {unpacked} bytes unpacked, more than {MAX_BATCH}")));
    }
    // A row has a bit at least, or the batch no values.
    let rows = u64::try_from(batch.length()).unwrap_or(u64::MAX);
    if rows > unpacked.saturating_mul(8) {
        return Ok(Err(format!("a record batch of {unpacked} bytes has {rows} rows")));
    }
    Ok(Ok(()))
}

/// Whether bytes were there.
fn is_read(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
