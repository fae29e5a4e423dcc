//! Errors of writing a file.

#[cfg(feature = "arrow")]
use crate::source::Source;
use crate::visible::Visible;
#[cfg(feature = "arrow")]
use oasis_wire::batch::Sample;
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
    /// A time that the format cannot have.
    #[error(
        "sample {sequence} of {node}/{instance} has the time {time} ns, after 2262-04-11, which is beyond the times of this format: leave it out with --to"
    )]
    Time {
        /// Its node.
        node: String,
        /// Its instance.
        instance: String,
        /// Its sequence number.
        sequence: u64,
        /// Its time, nanoseconds since 1970.
        time: u64,
    },
    /// A type that an encoding of messages cannot have.
    #[error("{encoding} cannot have messages of {probe_type}: {why}: use --encoding json")]
    Encoding {
        /// The encoding.
        encoding: &'static str,
        /// The probe type.
        probe_type: String,
        /// The reason.
        why: String,
    },
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
    /// Refuses the time of a sample.
    #[cfg(feature = "arrow")]
    pub(crate) fn time(source: &Source, sample: &Sample) -> Self {
        let (node, instance) = (Visible(&source.node).to_string(), Visible(&source.instance).to_string());
        Self::Time { node, instance, sequence: sample.sequence, time: sample.time }
    }

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
