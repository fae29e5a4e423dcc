//! The record batches of a file: row groups of Parquet, messages of Arrow IPC.

use super::{footer, ipc::Messages, ipc_footer, library_panics::caught};
use crate::input::{Defects, InputError, InputFile, RecordingFile};
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use std::{
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom, Take},
    path::Path,
};

/// The bytes that a Parquet file ends with.
const PARQUET_MAGIC: [u8; 4] = *b"PAR1";
/// The bytes that an encrypted one ends with.
const ENCRYPTED_MAGIC: [u8; 4] = *b"PARE";
/// Longest description at the end of a Parquet file, in bytes.
const MAX_FOOTER: u64 = 64 * 1024 * 1024;
/// Bytes of values that are unpacked at once, about.
const BATCH_BYTES: i64 = 16 * 1024 * 1024;
/// Most rows that are unpacked at once.
const MAX_BATCH_ROWS: i64 = 8_192;

/// The content of a file.
pub enum Content {
    Parquet { file: File, metadata: ArrowReaderMetadata },
    IpcFile { schema: SchemaRef },
    IpcStream { schema: SchemaRef, messages: Messages },
}

/// Receives a record batch and the number of its first row. Returns whether to continue.
pub type TakeRows<'a> = dyn FnMut(&RecordBatch, u64) -> Result<bool, InputError> + 'a;

impl Content {
    /// Opens a Parquet file.
    ///
    /// # Errors
    /// If it is none, or was cut.
    pub fn parquet(path: &Path) -> Result<Self, InputError> {
        let mut file = File::open(path)?;
        let description = read_footer(&mut file)?;
        footer::check(&description)
            .map_err(|why| InputError::file(why.to_string(), "write it again, with fewer levels"))?;
        drop(description);
        let options = ArrowReaderOptions::new();
        let metadata = caught(|| ArrowReaderMetadata::load(&file, options))
            .map_err(|why| InputError::file(format!("no readable Parquet file: {why}"), "write it again"))?;
        Ok(Self::Parquet { file, metadata })
    }

    /// Opens an Arrow IPC file or stream.
    ///
    /// # Errors
    /// If it is none, or exceeds a bound.
    pub fn ipc(file: &mut InputFile<'_>) -> Result<Self, InputError> {
        if ipc_footer::check(&mut *file.content)? {
            return Ok(Self::IpcFile { schema: with_footer(&mut *file.content)?.schema() });
        }
        let messages = Messages::find(&mut *file.content)?;
        let schema = stream(&mut *file.content, messages)?.schema();
        Ok(Self::IpcStream { schema, messages })
    }

    pub fn schema(&self) -> SchemaRef {
        match self {
            Self::Parquet { metadata, .. } => metadata.schema().clone(),
            Self::IpcFile { schema } | Self::IpcStream { schema, .. } => schema.clone(),
        }
    }

    /// A text that the file has for a key.
    pub fn text(&self, key: &str) -> Option<String> {
        let of_schema = || self.schema().metadata().get(key).cloned();
        let Self::Parquet { metadata, .. } = self else { return of_schema() };
        let pairs = metadata.metadata().file_metadata().key_value_metadata();
        let pair = pairs.into_iter().flatten().find(|pair| pair.key == key);
        pair.and_then(|pair| pair.value.clone()).or_else(of_schema)
    }

    /// Reads all record batches.
    ///
    /// # Errors
    /// If one is defective and `defects` refuses it, or the receiver fails.
    pub fn each(
        &self,
        file: &mut InputFile<'_>,
        defects: &mut Defects,
        take: &mut TakeRows<'_>,
    ) -> Result<(), InputError> {
        match self {
            Self::Parquet { file, metadata } => each_row_group(file, metadata, defects, take),
            Self::IpcFile { .. } => {
                let reader = with_footer(&mut *file.content)?;
                each_batch(reader, 0, "record batches", defects, take).map(drop)
            }
            Self::IpcStream { messages, .. } => {
                let reader = stream(&mut *file.content, *messages)?;
                let row = each_batch(reader, 0, "record batches", defects, take)?;
                if let (Some(at), Some(row)) = (messages.cut, row) {
                    let why = format!("the file ends here, within a record batch: {row} rows are whole");
                    defects.add(|| format!("byte {at}"), why)?;
                }
                Ok(())
            }
        }
    }
}

/// Reads the description at the end of a Parquet file.
fn read_footer(file: &mut File) -> Result<Vec<u8>, InputError> {
    let length = file.seek(SeekFrom::End(0))?;
    let cut = || {
        let why = "the file does not end as a Parquet file";
        InputError::file(why, "it was cut, or is still being written: the columns are described at its end")
    };
    if length == 0 {
        return Err(InputError::file("the file is empty", "write it again"));
    }
    let mut beginning = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    Read::take(&mut *file, 4).read_to_end(&mut beginning)?;
    if beginning != PARQUET_MAGIC && beginning != ENCRYPTED_MAGIC {
        return Err(InputError::file(
            "the file does not begin as a Parquet file",
            "name its format with --format",
        ));
    }
    if length < 12 {
        return Err(cut());
    }
    let mut end = [0; 8];
    file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut end)?;
    let [a, b, c, d, magic @ ..] = end;
    if magic == ENCRYPTED_MAGIC {
        return Err(InputError::file("the Parquet file is encrypted", "write it without encryption"));
    }
    if magic != PARQUET_MAGIC {
        return Err(cut());
    }
    let footer = u64::from(u32::from_le_bytes([a, b, c, d]));
    if footer > MAX_FOOTER || footer + 12 > length {
        let why =
            format!("the description of the columns has {footer} bytes, more than the file or {MAX_FOOTER}");
        return Err(InputError::file(why, "write the file again, with larger row groups"));
    }
    let mut description = Vec::new();
    file.seek(SeekFrom::Start(length - 8 - footer))?;
    Read::take(file, footer).read_to_end(&mut description)?;
    Ok(description)
}

fn each_row_group(
    file: &File,
    metadata: &ArrowReaderMetadata,
    defects: &mut Defects,
    take: &mut TakeRows<'_>,
) -> Result<(), InputError> {
    let mut row = 0_u64;
    for (at, group) in metadata.metadata().row_groups().iter().enumerate() {
        let rows = group.num_rows().max(1);
        let row_bytes = (group.total_byte_size().max(0) / rows).max(1);
        let batch_rows = (BATCH_BYTES / row_bytes).clamp(1, MAX_BATCH_ROWS);
        let open = || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(file.try_clone()?, metadata.clone())
                .with_row_groups(vec![at])
                .with_batch_size(usize::try_from(batch_rows).unwrap_or(1))
                .build()
        };
        match caught(open) {
            Ok(reader) => {
                if each_batch(reader, row, "row groups", defects, take)?.is_none() {
                    return Ok(());
                }
            }
            Err(why) => defects.add(|| format!("row group {}", at + 1), why)?,
        }
        row = row.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0));
    }
    Ok(())
}

/// Reads to the end or to the first defect. Returns the next row; `None` if the receiver has enough.
fn each_batch(
    mut reader: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    mut row: u64,
    rest: &str,
    defects: &mut Defects,
    take: &mut TakeRows<'_>,
) -> Result<Option<u64>, InputError> {
    loop {
        let batch = match caught(|| reader.next().transpose()) {
            Ok(Some(batch)) => batch,
            Ok(None) => return Ok(Some(row)),
            Err(why) => {
                let why = format!("the values cannot be unpacked, nor those after them in {rest}: {why}");
                defects.add(|| format!("row {}", row + 1), why)?;
                return Ok(Some(row));
            }
        };
        if !take(&batch, row)? {
            return Ok(None);
        }
        row += batch.num_rows() as u64;
    }
}

fn with_footer(
    content: &mut dyn RecordingFile,
) -> Result<FileReader<BufReader<&mut dyn RecordingFile>>, InputError> {
    content.seek(SeekFrom::Start(0))?;
    caught(|| FileReader::try_new(BufReader::new(content), None)).map_err(unreadable_schema)
}

fn unreadable_schema(why: String) -> InputError {
    InputError::file(format!("no readable Arrow schema: {why}"), "write the file again")
}

fn stream(
    content: &mut dyn RecordingFile,
    messages: Messages,
) -> Result<StreamReader<BufReader<Take<&mut dyn RecordingFile>>>, InputError> {
    content.seek(SeekFrom::Start(messages.start))?;
    let content = Read::take(content, messages.end - messages.start);
    caught(|| StreamReader::try_new(BufReader::new(content), None)).map_err(unreadable_schema)
}
