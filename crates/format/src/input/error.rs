//! Errors of reading a recording.

use super::{TakeError, samples::PushError};
use crate::visible::Visible;
use oasis_wire::{batch::RowError, schema::InvalidType};
use std::io;

/// Errors of reading a recording: nothing of it is imported.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The file cannot be read.
    #[error("cannot read the file: {0}")]
    Io(#[from] io::Error),
    /// A defect of the file, its place and the remedy.
    #[error("{place}: {}: {remedy}", Visible(.why))]
    Defect {
        /// Line, byte or channel.
        place: String,
        /// The defect.
        why: String,
        /// The remedy.
        remedy: String,
    },
    /// A property of the whole file, and the remedy.
    #[error("{}: {remedy}", Visible(.why))]
    File {
        /// The reason.
        why: String,
        /// The remedy.
        remedy: String,
    },
    /// The MCAP library, or a bound of MCAP files.
    #[cfg(feature = "mcap")]
    #[error(transparent)]
    Mcap(Box<crate::mcap::ReadError<TakeError>>),
    /// The format needs a feature that is not in this build.
    #[error("built without the feature {0}: build with --features {0}, or install a package")]
    NotBuilt(&'static str),
    /// A sample does not match its type.
    #[error("{0}")]
    Row(#[from] RowError),
    /// A type exceeds a bound.
    #[error("{0}")]
    Type(#[from] InvalidType),
    /// The receiver failed.
    #[error("{0}")]
    Take(TakeError),
}

impl InputError {
    /// Returns an error about the whole file.
    pub(crate) fn file(why: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::File { why: why.into(), remedy: remedy.into() }
    }
}

impl From<PushError<TakeError>> for InputError {
    fn from(error: PushError<TakeError>) -> Self {
        match error {
            PushError::Row(error) => Self::Row(error),
            PushError::Take(error) => Self::Take(error),
        }
    }
}
