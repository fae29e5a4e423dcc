//! The description of MCAP. The library takes half a minute to build, so reading and writing need the feature `mcap`; without it the
//! format is listed, and refuses to write.

use crate::{Format, Order, Reader, SampleFormat, SampleWriter, WriteError};
use std::io::Write;

/// MCAP.
pub(crate) const FORMAT: Format = Format {
    name: "mcap",
    alias: None,
    extension: "mcap",
    is_text: false,
    samples: Some(SampleFormat {
        help: "For Foxglove, Lichtblick and PlotJuggler: one channel for each instance, JSON messages",
        is_table: false,
        order: Order::ByTime,
        open,
    }),
    rows: None,
    reader: Some(Reader {
        magic: b"\x89MCAP0\r\n",
        #[cfg(feature = "mcap")]
        read: |from, take| crate::mcap::read(from, take),
    }),
};

#[cfg(feature = "mcap")]
fn open(out: &mut (dyn Write + Send)) -> Result<Box<dyn SampleWriter + '_>, WriteError> {
    Ok(Box::new(crate::mcap::McapWriter::new(out)?))
}

#[cfg(not(feature = "mcap"))]
fn open(_out: &mut (dyn Write + Send)) -> Result<Box<dyn SampleWriter + '_>, WriteError> {
    Err(WriteError::NotBuilt("mcap"))
}
