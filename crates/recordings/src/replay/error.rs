//! Errors of a replay.

use super::link::LinkError;
use oasis_store::ReadError;
use oasis_wire::{batch::RowError, schema::InvalidType};

/// Errors of a replay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The DAC refused the node, or did not answer.
    #[error("{0}")]
    Link(#[from] LinkError),
    /// The archive cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// The samples of an instance cannot be read.
    #[error("reading {instance}: {error}")]
    ReadOn {
        /// `NODE/INSTANCE`.
        instance: String,
        /// The error.
        error: Box<ReplayError>,
    },
    /// A recorded type cannot be encoded.
    #[error("{0}")]
    Type(#[from] InvalidType),
    /// A recorded sample does not match its type.
    #[error("{0}")]
    Row(#[from] RowError),
}
