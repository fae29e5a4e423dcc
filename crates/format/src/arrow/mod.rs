//! Samples as [Arrow](https://arrow.apache.org) record batches: a stream that pandas, polars and DuckDB read while it comes, and
//! Parquet files.
//!
//! `read` reads both, of OASIS and of other programs. Columns are those of `docs/reference/tables.md`, nested ones as Arrow nests them. The libraries take minutes to build, so both
//! need the feature `arrow`; without it they are listed, and refuse to read and to write.
//!
#![cfg_attr(feature = "arrow", doc = "```")]
#![cfg_attr(not(feature = "arrow"), doc = "```ignore")]
//! use oasis_wire::probe_kind::ProbeKind;
//! use oasis_format::{Source, arrow::Stream};
//! use oasis_wire::{batch::Sample, quantity::Epoch, schema::ProbeType, value::Value};
//!
//! let tank: ProbeType = serde_json::from_str(r#"{
//!     "name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
//!     "metrics": [{"name": "level", "type": "real64", "unit": "m"}]
//! }"#)?;
//! let mut stream = Stream::new(Vec::new(), &tank)?;
//! let source = Source {
//!     node: "plant".into(), instance: "tank".into(), kind: ProbeKind::Pushed,
//!     run: uuid::Uuid::nil(), epoch: Epoch(0xab), probe_type: tank.into(),
//! };
//! let sample = Sample { sequence: 1, offset: 0, time: 1_763_683_200_000_000_000, values: vec![Value::Real64(2.5)] };
//! stream.push(&source, 0, &sample)?;
//! let bytes = stream.finish()?;
//!
//! let read: Result<Vec<_>, _> = arrow_ipc::reader::StreamReader::try_new(&bytes[..], None)?.collect();
//! assert_eq!(read?[0].num_rows(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "arrow")]
mod column;
#[cfg(feature = "arrow")]
mod gaps;
#[cfg(feature = "arrow")]
mod parquet;
#[cfg(feature = "arrow")]
mod read;
#[cfg(feature = "arrow")]
mod rows;
#[cfg(feature = "arrow")]
mod schema;
#[cfg(feature = "arrow")]
mod stream;
#[cfg(feature = "arrow")]
mod writer;

#[cfg(feature = "arrow")]
pub use {parquet::Parquet, rows::Rows, schema::schema, stream::Stream};

#[cfg(not(feature = "arrow"))]
use crate::input::{InputError, InputFile, InputOptions, Report, TakeBatch};
use crate::{Format, Order, SampleFormat, SampleWriter, WriteError, WriteOptions, input::InputFormat};
use std::io::Write;

/// The media type of a stream.
pub const MEDIA_TYPE: &str = "application/vnd.apache.arrow.stream";

/// Arrow IPC streams.
pub(crate) const STREAM_FORMAT: Format = Format {
    name: "arrow",
    alias: None,
    extension: "arrow",
    is_text: false,
    samples: Some(SampleFormat {
        help: "An Arrow stream, for pandas, polars and DuckDB; instances of one probe type",
        is_table: true,
        order: Order::ByInstance,
        open: open_stream,
    }),
    rows: None,
};

/// Parquet files.
pub(crate) const PARQUET_FORMAT: Format = Format {
    name: "parquet",
    alias: None,
    extension: "parquet",
    is_text: false,
    samples: Some(SampleFormat {
        help: "A Parquet file; instances of one probe type",
        is_table: true,
        order: Order::ByInstance,
        open: open_parquet,
    }),
    rows: None,
};

#[cfg(feature = "arrow")]
fn open_stream<'a>(
    out: &'a mut (dyn Write + Send),
    _: &WriteOptions,
) -> Result<Box<dyn SampleWriter + 'a>, WriteError> {
    Ok(Box::new(writer::TableWriter::stream(out)))
}

#[cfg(feature = "arrow")]
fn open_parquet<'a>(
    out: &'a mut (dyn Write + Send),
    _: &WriteOptions,
) -> Result<Box<dyn SampleWriter + 'a>, WriteError> {
    Ok(Box::new(writer::TableWriter::parquet(out)))
}

#[cfg(not(feature = "arrow"))]
fn open_stream<'a>(
    _out: &'a mut (dyn Write + Send),
    _: &WriteOptions,
) -> Result<Box<dyn SampleWriter + 'a>, WriteError> {
    Err(WriteError::NotBuilt("arrow"))
}

#[cfg(not(feature = "arrow"))]
fn open_parquet<'a>(
    _out: &'a mut (dyn Write + Send),
    _: &WriteOptions,
) -> Result<Box<dyn SampleWriter + 'a>, WriteError> {
    Err(WriteError::NotBuilt("arrow"))
}

/// Parquet files.
pub(crate) const PARQUET_INPUT: InputFormat = InputFormat {
    name: "parquet",
    title: "Parquet",
    help: "Tables of any program with a column of times; OASIS exports",
    extensions: &["parquet", "pq"],
    detect: |beginning| beginning.starts_with(b"PAR1") || beginning.starts_with(b"PARE"),
    read: read_parquet,
};

/// Arrow IPC files and streams.
pub(crate) const IPC_INPUT: InputFormat = InputFormat {
    name: "arrow",
    title: "Arrow",
    help: "Files (Feather) and streams of Arrow IPC with a column of times; OASIS exports",
    extensions: &["arrow", "arrows", "feather", "ipc"],
    detect: |beginning| beginning.starts_with(b"ARROW1") || beginning.starts_with(&[0xff; 4]),
    read: read_ipc,
};

#[cfg(feature = "arrow")]
use read::{ipc as read_ipc, parquet as read_parquet};

#[cfg(not(feature = "arrow"))]
fn read_parquet(
    _: &mut InputFile<'_>,
    _: &InputOptions,
    _: &mut TakeBatch<'_>,
) -> Result<Report, InputError> {
    Err(InputError::NotBuilt("arrow"))
}

#[cfg(not(feature = "arrow"))]
fn read_ipc(_: &mut InputFile<'_>, _: &InputOptions, _: &mut TakeBatch<'_>) -> Result<Report, InputError> {
    Err(InputError::NotBuilt("arrow"))
}
