//! The files that the past is written to.

#[cfg(feature = "mcap")]
mod mcap;
#[cfg(feature = "arrow")]
mod table;

#[cfg(feature = "mcap")]
use oasis_format::MessageEncoding;
use oasis_format::{Gap, Order, Source, WriteError};
use oasis_wire::{batch::Sample, schema::ProbeType};
use std::{io::Write, sync::Arc};

const MIB: usize = 1024 * 1024;

/// A form of the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// An Arrow stream.
    Arrow,
    /// A Parquet file.
    Parquet,
    /// An MCAP file.
    Mcap,
}

impl Form {
    /// Its name in the audit log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arrow => "arrow",
            Self::Parquet => "parquet",
            Self::Mcap => "mcap",
        }
    }

    /// Its content type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Arrow => oasis_format::arrow::MEDIA_TYPE,
            Self::Parquet => "application/vnd.apache.parquet",
            Self::Mcap => "application/octet-stream",
        }
    }

    /// The feature that it needs.
    pub fn feature(self) -> &'static str {
        if self == Self::Mcap { "mcap" } else { "arrow" }
    }

    /// Whether this build writes it.
    pub fn is_built(self) -> bool {
        match self {
            Self::Mcap => cfg!(feature = "mcap"),
            Self::Arrow | Self::Parquet => cfg!(feature = "arrow"),
        }
    }

    /// The order of its samples.
    pub fn order(self) -> Order {
        if self == Self::Mcap { Order::ByTime } else { Order::ByInstance }
    }

    /// The most instances of a file, if its order needs all of them at once.
    pub fn most_instances(self) -> usize {
        if self == Self::Mcap { 64 } else { usize::MAX }
    }

    /// Memory of an answer besides decoded batches: what was read, what is written while it grows and while it is encoded, and parts.
    pub fn reserved(self) -> usize {
        match self {
            Self::Arrow | Self::Mcap => 4 * MIB,
            Self::Parquet => 12 * MIB,
        }
    }
}

/// A file that was begun.
pub trait File {
    /// Writes a sample.
    ///
    /// # Errors
    /// If it cannot be written, or has other columns than the table.
    fn sample(&mut self, source: &Arc<Source>, state: u16, sample: &Sample) -> Result<(), WriteError>;

    /// Writes that samples are missing. In a table they are missing numbers.
    ///
    /// # Errors
    /// If it cannot be written.
    fn gap(&mut self, _gap: &Gap<'_>) -> Result<(), WriteError> {
        Ok(())
    }

    /// Approximate size of the index that a file of `_written` bytes gets at its end, bytes.
    fn index_bytes(&self, _written: usize) -> usize {
        0
    }

    /// Completes the file.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(self: Box<Self>) -> Result<(), WriteError>;
}

/// Begins a file whose first sample has this type. The type determines the columns of a table.
///
/// # Errors
/// If it cannot be written, or is not part of this build.
pub fn begin(
    form: Form,
    out: impl Write + Send + 'static,
    probe_type: &Arc<ProbeType>,
) -> Result<Box<dyn File>, WriteError> {
    match form {
        #[cfg(feature = "arrow")]
        Form::Arrow => Ok(Box::new(table::ArrowFile::begin(out, probe_type)?)),
        #[cfg(feature = "arrow")]
        Form::Parquet => Ok(Box::new(table::ParquetFile::begin(out, probe_type)?)),
        #[cfg(feature = "mcap")]
        Form::Mcap => Ok(Box::new(oasis_format::mcap::McapWriter::new(out, MessageEncoding::Json)?)),
        #[cfg(not(all(feature = "arrow", feature = "mcap")))]
        missing => {
            let _ = (out, probe_type);
            Err(WriteError::NotBuilt(missing.feature()))
        }
    }
}
