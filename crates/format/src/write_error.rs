//! Errors of writing a file.

use crate::visible::Visible;
use oasis_wire::schema::ProbeType;
use std::io;

/// Errors of writing samples.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output fails.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A schema or a message could not become JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// Samples of two probe types in one table.
    #[error("a table has the columns of one probe type: export {0} and {1} to separate files")]
    SeveralTypes(String, String),
    /// No samples for a format that needs columns.
    #[error("no sample in this time span: a table without a probe type has no columns")]
    NoSamples,
    /// The format needs a feature that is not in this build.
    #[error("built without the feature {0}: build with --features {0}, or install a package")]
    NotBuilt(&'static str),
    /// The MCAP library, or its output.
    #[cfg(feature = "mcap")]
    #[error("{0}")]
    Mcap(#[from] mcap::McapError),
    /// The Arrow library, or its output.
    #[cfg(feature = "arrow")]
    #[error("Arrow: {0}")]
    Arrow(#[from] arrow_schema::ArrowError),
    /// The Parquet library, or its output.
    #[cfg(feature = "arrow")]
    #[error("Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
}

impl WriteError {
    /// Refuses a type whose samples have other columns.
    ///
    /// # Errors
    /// [`WriteError::SeveralTypes`] if the types differ.
    pub fn check_type(known: &ProbeType, found: &ProbeType) -> Result<(), Self> {
        let name = |of: &ProbeType| format!("{} {}", Visible(&of.name), Visible(&of.version));
        if std::ptr::eq(known, found) || known == found {
            Ok(())
        } else {
            Err(Self::SeveralTypes(name(known), name(found)))
        }
    }
}
