//! Reads Parquet files, and files and streams of Arrow IPC: exports of OASIS as they were, and tables of any program.
//!
//! The types are in the file, so that a survey only finds whether values are absent. Record batches are read one at a time.

mod cells;
mod content;
mod export;
mod footer;
mod ipc;
mod ipc_footer;
mod library_panics;
mod plan;
mod reading;
mod times;

use crate::input::{InputError, InputFile, InputOptions, Report, TakeBatch};
use content::Content;

/// Reads a Parquet file.
pub fn parquet(
    file: &mut InputFile<'_>,
    options: &InputOptions,
    take: &mut TakeBatch<'_>,
) -> Result<Report, InputError> {
    let content = Content::parquet(file.path)?;
    reading::read(&content, file, options, take)
}

/// Reads a file or a stream of Arrow IPC.
pub fn ipc(
    file: &mut InputFile<'_>,
    options: &InputOptions,
    take: &mut TakeBatch<'_>,
) -> Result<Report, InputError> {
    let content = Content::ipc(file)?;
    reading::read(&content, file, options, take)
}

#[cfg(test)]
mod tests;
