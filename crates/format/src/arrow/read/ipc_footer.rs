//! The footer of an Arrow IPC file, which says where its messages are. Polars writes files whose schema is only there.

use super::ipc::{BATCH_REMEDY, FILE_MAGIC, MAX_BATCH, MAX_DESCRIPTION, Messages, Next};
use crate::input::{InputError, RecordingFile};
use arrow_ipc::{Block, root_as_footer};
use std::io::{Read, SeekFrom};

/// Bytes after the footer: its length, and the magic number.
const END_BYTES: u64 = 10;

/// Checks the lengths of all messages before a library allocates for them. Returns whether the file has a footer: a stream has none, nor a file that
/// was cut.
///
/// # Errors
/// If a length exceeds a bound, or is not that of the message.
pub fn check(content: &mut dyn RecordingFile) -> Result<bool, InputError> {
    let length = content.seek(SeekFrom::End(0))?;
    let Some(footer) = read(content, length)? else { return Ok(false) };
    let Ok(footer) = root_as_footer(&footer) else { return Ok(false) };
    let blocks = [footer.dictionaries(), footer.recordBatches()];
    let mut places = Vec::new();
    for block in blocks.into_iter().flatten().flatten() {
        let refused = |why: &str| InputError::Defect {
            place: format!("byte {}", block.offset()),
            why: why.into(),
            remedy: BATCH_REMEDY.into(),
        };
        let (at, end) = bounds(block).ok_or_else(|| refused("a message with lengths beyond the bounds"))?;
        places.push((at, end));
        match Messages::message(content, at, length)? {
            Next::Message(own_end) if own_end <= end => {}
            _ => return Err(refused("no message is where the footer says")),
        }
    }
    places.sort_unstable();
    // They would unpack to more than any bound by the length of the file.
    if let Some(pair) = places.windows(2).find(|pair| pair[0].1 > pair[1].0) {
        let why = format!("the messages at bytes {} and {} overlap", pair[0].0, pair[1].0);
        return Err(InputError::file(why, BATCH_REMEDY));
    }
    Ok(true)
}

/// Reads the footer, if the file ends with one.
fn read(content: &mut dyn RecordingFile, length: u64) -> Result<Option<Vec<u8>>, InputError> {
    let magic_bytes = FILE_MAGIC.len();
    if length < END_BYTES + magic_bytes as u64 {
        return Ok(None);
    }
    let (mut beginning, mut end) = ([0; 6], [0; END_BYTES as usize]);
    content.seek(SeekFrom::Start(0))?;
    content.read_exact(&mut beginning)?;
    content.seek(SeekFrom::Start(length - END_BYTES))?;
    content.read_exact(&mut end)?;
    let Some((footer, magic)) = end.split_first_chunk() else { return Ok(None) };
    if beginning != FILE_MAGIC || magic != FILE_MAGIC {
        return Ok(None);
    }
    let footer = u64::from(u32::from_le_bytes(*footer));
    if footer > MAX_DESCRIPTION {
        let why = format!("the footer has {footer} bytes, more than {MAX_DESCRIPTION}");
        return Err(InputError::file(why, BATCH_REMEDY));
    }
    let Some(start) = (length - END_BYTES).checked_sub(footer) else { return Ok(None) };
    let mut bytes = Vec::new();
    content.seek(SeekFrom::Start(start))?;
    Read::take(content, footer).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// The first byte of a message and the one after it; `None` beyond the bounds.
fn bounds(block: &Block) -> Option<(u64, u64)> {
    let at = u64::try_from(block.offset()).ok()?;
    let description = u64::try_from(block.metaDataLength()).ok().filter(|bytes| *bytes <= MAX_DESCRIPTION)?;
    let body = u64::try_from(block.bodyLength()).ok().filter(|bytes| *bytes <= MAX_BATCH)?;
    Some((at, at.checked_add(description)?.checked_add(body)?))
}
