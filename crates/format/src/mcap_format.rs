//! The description of MCAP. The library takes half a minute to build, so reading and writing need the feature `mcap`; without it the
//! format is listed, and refuses to write.

use crate::{
    Format, Order, SampleFormat, SampleWriter, WriteError, WriteOptions,
    input::{InputError, InputFile, InputFormat, InputOptions, Report, TakeBatch},
};
use std::io::Write;

/// MCAP.
pub(crate) const FORMAT: Format = Format {
    name: "mcap",
    alias: None,
    extension: "mcap",
    is_text: false,
    samples: Some(SampleFormat {
        help: "For Foxglove, Lichtblick and PlotJuggler: one channel for each instance; messages in JSON, CDR of ROS 2 or Protocol Buffers",
        is_table: false,
        order: Order::ByTime,
        open,
    }),
    rows: None,
};

#[cfg(feature = "mcap")]
fn open<'a>(
    out: &'a mut (dyn Write + Send),
    options: &WriteOptions,
) -> Result<Box<dyn SampleWriter + 'a>, WriteError> {
    Ok(Box::new(crate::mcap::McapWriter::new(out, options.encoding)?))
}

#[cfg(not(feature = "mcap"))]
fn open<'a>(
    _: &'a mut (dyn Write + Send),
    _: &WriteOptions,
) -> Result<Box<dyn SampleWriter + 'a>, WriteError> {
    Err(WriteError::NotBuilt("mcap"))
}

/// MCAP files.
pub(crate) const INPUT: InputFormat = InputFormat {
    name: "mcap",
    title: "MCAP",
    help: "Foxglove and ROS 2 recordings: JSON, Protocol Buffers, CDR",
    extensions: &["mcap"],
    detect: |beginning| beginning.starts_with(MAGIC),
    read,
};

/// The bytes that each file begins with.
const MAGIC: &[u8] = b"\x89MCAP0\r\n";

#[cfg(feature = "mcap")]
fn read(
    file: &mut InputFile<'_>,
    options: &InputOptions,
    take: &mut TakeBatch<'_>,
) -> Result<Report, InputError> {
    let rest = crate::mcap::read_part(&mut *file.content, options.is_partial, take);
    Ok(rest.map_err(|error| InputError::Mcap(Box::new(error)))?.into_report())
}

#[cfg(not(feature = "mcap"))]
fn read(_: &mut InputFile<'_>, _: &InputOptions, _: &mut TakeBatch<'_>) -> Result<Report, InputError> {
    Err(InputError::NotBuilt("mcap"))
}
