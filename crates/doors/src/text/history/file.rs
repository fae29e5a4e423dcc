//! The files that the past is written to.

#[cfg(feature = "arrow")]
use oasis_format::arrow::{Parquet, Stream};
use oasis_format::{Gap, Order, SampleWriter, Source, WriteError, mcap::McapWriter};
use oasis_wire::{batch::Sample, schema::ProbeType};
use std::{io::Write, sync::Arc};

const MIB: usize = 1024 * 1024;
/// Bytes of values in one record batch.
#[cfg(feature = "arrow")]
const RECORD_BATCH: usize = MIB;
/// Bytes of a row group of Parquet: it is kept until it is complete.
#[cfg(feature = "arrow")]
const ROW_GROUP: usize = 4 * MIB;
/// An MCAP file keeps an index of about this part of its bytes.
const MCAP_INDEX: usize = 64;

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

    /// Whether this build writes it.
    pub fn is_built(self) -> bool {
        self == Self::Mcap || cfg!(feature = "arrow")
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

/// A file that was begun. A table begins with its first sample, which determines the columns.
pub enum File<W: Write + Send> {
    #[cfg(feature = "arrow")]
    Arrow(Box<Stream<W>>, Arc<ProbeType>),
    #[cfg(feature = "arrow")]
    Parquet(Box<Parquet<W>>, Arc<ProbeType>),
    Mcap(Box<McapWriter<W>>),
}

impl<W: Write + Send> File<W> {
    /// Begins a file whose first sample has this type.
    ///
    /// # Errors
    /// If it cannot be written, or is not part of this build.
    pub fn begin(form: Form, out: W, probe_type: &Arc<ProbeType>) -> Result<Self, WriteError> {
        #[cfg(not(feature = "arrow"))]
        let _ = probe_type;
        match form {
            #[cfg(feature = "arrow")]
            Form::Arrow => {
                let stream = Stream::limited(out, probe_type, RECORD_BATCH)?;
                Ok(Self::Arrow(Box::new(stream), probe_type.clone()))
            }
            #[cfg(feature = "arrow")]
            Form::Parquet => {
                let file = Parquet::limited(out, probe_type, RECORD_BATCH, ROW_GROUP)?;
                Ok(Self::Parquet(Box::new(file), probe_type.clone()))
            }
            #[cfg(not(feature = "arrow"))]
            Form::Arrow | Form::Parquet => Err(WriteError::NotBuilt),
            Form::Mcap => Ok(Self::Mcap(Box::new(McapWriter::new(out)?))),
        }
    }

    /// Writes a sample.
    ///
    /// # Errors
    /// If it cannot be written, or has other columns than the table.
    pub fn sample(&mut self, source: &Arc<Source>, state: u16, sample: &Sample) -> Result<(), WriteError> {
        match self {
            #[cfg(feature = "arrow")]
            Self::Arrow(stream, known) => {
                WriteError::check_type(known, &source.probe_type)?;
                stream.push(source, state, sample)
            }
            #[cfg(feature = "arrow")]
            Self::Parquet(file, known) => {
                WriteError::check_type(known, &source.probe_type)?;
                file.push(source, state, sample)
            }
            Self::Mcap(file) => file.sample(source, state, sample),
        }
    }

    /// Writes that samples are missing. In a table they are missing numbers.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn gap(&mut self, gap: &Gap<'_>) -> Result<(), WriteError> {
        match self {
            #[cfg(feature = "arrow")]
            Self::Arrow(..) | Self::Parquet(..) => Ok(()),
            Self::Mcap(file) => file.gap(gap),
        }
    }

    /// About how many bytes of an index wait for the end of a file with so many bytes.
    pub fn index_bytes(&self, written: usize) -> usize {
        match self {
            #[cfg(feature = "arrow")]
            Self::Arrow(..) => 0,
            #[cfg(feature = "arrow")]
            Self::Parquet(file, _) => file.index_bytes(),
            Self::Mcap(_) => written / MCAP_INDEX,
        }
    }

    /// Completes the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> Result<(), WriteError> {
        match self {
            #[cfg(feature = "arrow")]
            Self::Arrow(stream, _) => Ok(stream.finish()?.flush()?),
            // The footer is in the output's own buffer until then.
            #[cfg(feature = "arrow")]
            Self::Parquet(file, _) => Ok(file.finish()?.flush()?),
            Self::Mcap(mut file) => file.finish(),
        }
    }
}
