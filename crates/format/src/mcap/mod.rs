//! MCAP files. Those that `oasis export` has written are read as they were; of others, channels with JSON messages are read.
//!
//! `writer` writes a file. [`read`] reads one from its beginning to its end, and passes on a batch at a time with the [`Recorded`]
//! instance that it is of. A file may come from anywhere: whatever it says of itself, memory stays bounded, and a file that breaks a
//! bound is refused by a [`ReadError`] that names it.
//!
//! In the order of reading: `recording` goes through the records, `record` takes one apart, `channel` makes samples of one
//! channel's messages, with `infer` for types and `json` for values, and `samples` makes batches of them. `lost` are the
//! messages about missing samples.

mod bounds;
mod channel;
mod infer;
mod json;
mod json_schema;
mod lost;
mod record;
mod recorded;
mod recording;
mod samples;
mod writer;

pub use channel::Unread;
pub use lost::Lost;
pub use record::BadRecord;
pub use recorded::Recorded;
pub use recording::{LeftOut, ReadError, Rest, read};
pub use writer::McapWriter;

use crate::{Format, Order, Reader, SampleFormat};

/// MCAP.
pub(crate) const FORMAT: Format = Format {
    name: "mcap",
    alias: None,
    extension: "mcap",
    is_text: false,
    samples: Some(SampleFormat {
        help: "For Foxglove, Lichtblick and PlotJuggler: a channel an instance, messages are JSON",
        is_table: false,
        order: Order::ByTime,
        open: |out| Ok(Box::new(McapWriter::new(out)?)),
    }),
    rows: None,
    reader: Some(Reader { magic: mcap::MAGIC, read: |from, take| read(from, take) }),
};
