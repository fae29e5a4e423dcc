//! Why a message of CDR cannot be decoded.

use crate::input::bounds::{MAX_MESSAGE, MAX_ROW};
use oasis_wire::{reader::Malformed, schema::MAX_MEMBERS};

/// Bytes in front of a message: two for its encoding, two for options.
pub const HEADER_BYTES: usize = 4;

/// A message that does not match its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadCdr {
    /// Too short for its head.
    #[error("it has {0} bytes, and {HEADER_BYTES} are its header")]
    Short(usize),
    /// Another encoding.
    #[error(
        "its encoding 0x{0:04x} is not supported: only CDR (0x0000 to 0x0003) and XCDR2 (0x0006 to 0x000b) are"
    )]
    Encoding(u16),
    /// Content that is longer than the length before it.
    #[error("at byte {at}: the content is longer than its length")]
    Delimiter {
        /// The end of the content.
        at: usize,
    },
    /// A member of another version of the type, without which the message means something else.
    #[error("its definition lacks the member {0}, which readers must understand")]
    MustUnderstand(u32),
    /// More members than a type can have.
    #[error("it has more than {MAX_MEMBERS} members")]
    Parameters,
    /// No parameter instead of an optional member.
    #[error("at byte {at}: no optional member")]
    NoParameter {
        /// Its place.
        at: usize,
    },
    /// Not of zstd, although it begins so.
    #[error("it is compressed, and damaged")]
    Compressed,
    /// Too long when unpacked.
    #[error("it has more than {MAX_MESSAGE} bytes when unpacked")]
    Unpacked,
    /// Truncated, or with wrong lengths.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// Too long.
    #[error("{0} bytes follow its last field")]
    Longer(usize),
    /// Does not fit into a batch.
    #[error("a sample has more than {MAX_ROW} bytes")]
    Row,
}
