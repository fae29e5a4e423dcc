//! The native batch: 1 to 65,535 samples of one instance, encoded once. `docs/reference/native-batch.md` is the specification.

mod choose;
mod column;
mod cut;
mod decode;
mod delta;
mod encode;
mod header;
mod plain;
mod rice;
mod xor;

pub use column::Encoding;
pub use cut::cut;
pub use decode::{Batch, Sample, Values, time_range, times};
pub use encode::{Choice, Encoder, RowError};
pub use header::{Fields, HEADER, Header, MAX_BATCH, MAX_VALUES, check, stamp, stamp_by_node, stamp_topic};

use crate::reader::Malformed;

/// Errors of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// Shorter than a header and a directory.
    #[error("{length} bytes are too short for the header and directory of a batch")]
    Truncated {
        /// Bytes found.
        length: usize,
    },
    /// Larger than allowed.
    #[error("batch of {length} bytes: at most {MAX_BATCH} are allowed")]
    TooLarge {
        /// Bytes found.
        length: usize,
    },
    /// Another kind of message.
    #[error("message kind {0:#04x} is not a batch (0x01)")]
    Kind(u8),
    /// Another version.
    #[error("unsupported batch version {0}: supported is 1")]
    Version(u8),
    /// No samples.
    #[error("batch without samples")]
    Empty,
    /// More values than a reader has to keep.
    #[error("{count} samples of {columns} columns exceed {MAX_VALUES} values")]
    TooManyValues {
        /// Samples.
        count: u16,
        /// Columns.
        columns: u16,
    },
    /// Not as many columns as the schema has.
    #[error("{found} columns: the schema has {wanted}, including the time")]
    Columns {
        /// As the header says.
        found: u16,
        /// As the schema says.
        wanted: usize,
    },
    /// An encoding that is unknown or does not suit the column's type.
    #[error("column {column} has encoding {code}, which does not match its type")]
    Encoding {
        /// 0 is the time.
        column: usize,
        /// As in the directory.
        code: u8,
    },
    /// Invalid bytes of a column.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// Bytes after the last column.
    #[error("{0} bytes after the last column")]
    Leftover(usize),
}
