//! Why a recording is not played to its end.

use crate::link::LinkError;
use oasis_store::ReadError;
use oasis_wire::{batch::RowError, schema::InvalidType};

/// Why a recording is not played to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The DAC refuses the node, or none answers.
    #[error("{0}")]
    Link(#[from] LinkError),
    /// The archive cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// The archive cannot be read in the middle of an instance.
    #[error("reading {instance}: {error}")]
    ReadOn {
        /// `NODE/INSTANCE`.
        instance: String,
        /// What is wrong.
        error: Box<ReplayError>,
    },
    /// A recorded type cannot be encoded.
    #[error("{0}")]
    Type(#[from] InvalidType),
    /// A recorded sample does not fit its type.
    #[error("{0}")]
    Row(#[from] RowError),
}
