//! Why a file could not be written.

use crate::visible::Visible;
use oasis_wire::schema::ProbeType;
use std::io;

/// Why samples could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output fails.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A schema or a message could not become JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A table got samples of a second probe type.
    #[error("a table has the columns of one probe type: {0} and {1} need files of their own")]
    SeveralTypes(String, String),
    /// A format whose files need columns got no sample.
    #[error("there is no sample of that time, and a table without a type has no columns")]
    NoSamples,
    /// The format is left out of this build.
    #[error(
        "this oasis was built without Arrow and Parquet: build it with --features arrow (make build does)"
    )]
    NotBuilt,
    /// The MCAP library, or its output.
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
