//! Formats that samples are written in and read from, each in a folder of its own. The crate knows neither archives nor sockets.
//!
//! A [`Format`] is an entry of [`FORMATS`]: its name, and what it supports. A [`SampleWriter`] writes samples, each
//! with its [`Source`]; a [`RowWriter`] writes the rows of a query result. [`table`] defines the columns of samples.
//!
//! To add a format: make a folder with a `FORMAT`, and name it below. The command line and `docs/reference/formats.md` follow.
//! A format that recordings are read from has an [`input::InputFormat`], which [`inputs`] names.
//!
//! ```
//! use oasis_wire::probe_kind::ProbeKind;
//! use oasis_format::{Source, WriteOptions, find};
//! use oasis_wire::{batch::Sample, quantity::Epoch, value::Value};
//! use std::sync::Arc;
//!
//! let tank = serde_json::from_str(r#"{
//!     "name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
//!     "metrics": [{"name": "level", "type": "real64", "unit": "m"}]
//! }"#)?;
//! let source = Arc::new(Source {
//!     node: "plant".into(), instance: "tank".into(), kind: ProbeKind::Pushed,
//!     run: uuid::Uuid::nil(), epoch: Epoch(1), probe_type: Arc::new(tank),
//! });
//! let sample = Sample { sequence: 1, offset: 0, time: 1_763_683_200_000_000_000, values: vec![Value::Real64(2.5)] };
//!
//! let samples = find("csv").and_then(|format| format.samples.as_ref()).ok_or("CSV holds samples")?;
//! let mut file = Vec::new();
//! let mut writer = (samples.open)(&mut file, &WriteOptions::default())?;
//! writer.sample(&source, 0, &sample)?;
//! writer.finish()?;
//! drop(writer);
//! assert_eq!(String::from_utf8(file)?.lines().last(), Some(
//!     "plant,tank,00000000-0000-0000-0000-000000000000,2025-11-21T00:00:00.000000000Z,1763683200000000000,1,0,2.5"
//! ));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod format;
pub mod input;
pub mod inputs;
mod source;
pub mod table;
pub mod visible;
mod write_error;
mod write_options;

pub use input::columns;

pub mod arrow;
pub mod can;
mod candump;
mod csv;
mod csv_dialect;
pub mod json_lines;
pub mod line_protocol;
#[cfg(feature = "mcap")]
pub mod mcap;
mod mcap_format;
#[cfg(feature = "mcap")]
mod message_types;
pub mod protobuf;
mod ros;
mod rosbag1;
pub mod rosbag2;
mod text;
mod ulog;

pub use csv_dialect::{BadDialect, CsvDialect, CsvOptions};
pub use format::{Format, Order, RowFormat, RowWriter, SampleFormat, SampleWriter};
pub use source::{Gap, Source};
pub use write_error::WriteError;
pub use write_options::{MessageEncoding, WriteOptions};

/// Every format, in the order of help and reference; the first supported one is the default.
pub const FORMATS: &[Format] = &[
    text::FORMAT,
    csv::FORMAT,
    json_lines::FORMAT,
    mcap_format::FORMAT,
    arrow::STREAM_FORMAT,
    arrow::PARQUET_FORMAT,
];

/// Returns the format with this name or alias.
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name || format.alias == Some(name))
}
