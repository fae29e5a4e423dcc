//! Errors of reading a file.

use super::{
    bounds::{MAX_BATCHES, MAX_DESCRIPTIONS, MAX_MESSAGE, MAX_METRICS, MAX_RECORD},
    record::BadRecord,
};
use crate::input::samples::PushError;
use mcap::McapError;
use oasis_wire::batch::RowError;
use std::io;

/// Errors of reading a file. `E` is the error of the receiver of batches.
#[derive(Debug, thiserror::Error)]
pub enum ReadError<E> {
    /// Nothing of it is reliable.
    #[error(
        "MCAP file damaged or truncated so that no part of it is reliable (--partial imports its whole records; `mcap recover` of the MCAP command line may save more): {0}"
    )]
    Damaged(McapError),
    /// An invalid record.
    #[error("MCAP file damaged: {0}")]
    Record(#[from] BadRecord),
    /// A message has no channel.
    #[error("MCAP file damaged: a message refers to channel {0}, which does not exist")]
    NoChannel(u16),
    /// A channel is described again, with another topic.
    #[error("MCAP file damaged: channel {0} is described twice, with two topics, which MCAP forbids")]
    TwoTopics(u16),
    /// A record or a chunk exceeds its bound.
    #[error(
        "record in the MCAP file too long ({0}): at most {MAX_RECORD} bytes, compressed or not. Write it again with smaller chunks (`mcap compress --chunk-size`), without long attachments (`mcap filter`)"
    )]
    Long(McapError),
    /// Unsupported compression.
    #[error("cannot read the chunks of the MCAP file: {0}. Write them again with zstd (`mcap compress`)")]
    Compression(McapError),
    /// Descriptions of channels exceed their bound.
    #[error(
        "schemas and channels of the MCAP file exceed {MAX_DESCRIPTIONS} bytes, or one of them {MAX_MESSAGE}: import a part of the topics at a time (`mcap filter`)"
    )]
    Descriptions,
    /// Metrics of channels exceed their bound.
    #[error(
        "channels of the MCAP file have more than {MAX_METRICS} metrics in total: import a part of the topics at a time (`mcap filter`)"
    )]
    Metrics,
    /// Too many batches.
    #[error(
        "samples of the MCAP file need more than {MAX_BATCHES} batches: import a part of its time span at a time (`mcap filter`, `oasis export --from --to`)"
    )]
    Batches,
    /// A sample does not match its schema.
    #[error("{0}")]
    Row(#[from] RowError),
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The receiver failed.
    #[error("{0}")]
    Take(E),
}

impl<E> From<PushError<E>> for ReadError<E> {
    fn from(error: PushError<E>) -> Self {
        match error {
            PushError::Row(error) => Self::Row(error),
            PushError::Take(error) => Self::Take(error),
        }
    }
}

impl<E> ReadError<E> {
    pub(super) fn of_mcap(error: McapError) -> Self {
        match error {
            McapError::RecordTooLarge { .. } | McapError::ChunkTooLarge(_) => Self::Long(error),
            McapError::UnsupportedCompression(_) => Self::Compression(error),
            error => Self::Damaged(error),
        }
    }
}
