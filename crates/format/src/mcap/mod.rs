//! MCAP files. Files of `oasis export` are restored exactly; of other files, channels with JSON messages, with
//! Protocol Buffers and with messages of ROS 2 are read.
//!
//! `writer` writes a file. [`read`] reads a file twice: the first time it surveys the fields of JSON messages and finds damaged parts, the
//! second time it returns one batch at a time with its [`RecordedSeries`] instance. Files are not trusted: memory stays bounded whatever the
//! content, and a file that exceeds a bound is refused with a [`ReadError`] that names the bound.
//!
//! In the order of reading: `records` iterates over the records and skips damaged chunks, `record` parses one, `recording` keeps the
//! channels, and `channel` converts messages to samples, with `crate::input::json` for JSON messages and `crate::ros` for those of ROS. `fields`, `damage` and `lost` report what samples do
//! not have.

mod bounds;
mod channel;
mod damage;
mod encoding;
mod json_schema;
pub mod lost;
mod read_error;
mod record;
mod recording;
mod records;
mod restored;
mod writer;

pub use channel::Unread;
pub use damage::Damage;
pub use encoding::{EncodedSchema, encode};
pub use read_error::ReadError;
pub use record::BadRecord;
pub use recording::{LeftOut, Remainder, read, read_part};
pub use writer::McapWriter;

pub use crate::{
    input::{
        Lost, RecordedSeries,
        json::{
            fields::{FieldDifference, FieldReport, RenamedColumn},
            shape::WhyUnstored,
        },
    },
    protobuf::{BadDescriptor, BadMessage},
    ros::{BadCdr, BadLayout, BadPacked},
};
