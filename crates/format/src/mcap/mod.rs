//! MCAP files. Files of `oasis export` are restored exactly; of other files, channels with JSON messages and
//! with messages of ROS 2 are read.
//!
//! `writer` writes a file. [`read`] reads a file sequentially, and returns one batch at a time with its [`RecordedSeries`]
//! instance. Files are not trusted: memory stays bounded whatever the content, and a file that exceeds a
//! bound is refused with a [`ReadError`] that names the bound.
//!
//! In the order of reading: `recording` iterates over the records, `record` parses one, `channel` converts messages
//! to samples, with `infer` for types, `json` for values and `ros` for both of ROS 2, and `samples` encodes batches. `lost` are the
//! messages about missing samples.

mod bounds;
mod channel;
mod infer;
mod json;
mod json_schema;
mod lost;
mod record;
mod recorded_series;
mod recording;
mod ros;
mod samples;
mod writer;

pub use channel::Unread;
pub use lost::Lost;
pub use record::BadRecord;
pub use recorded_series::RecordedSeries;
pub use recording::{LeftOut, ReadError, Rest, read};
pub use ros::{BadCdr, BadLayout};
pub use writer::McapWriter;

use std::{error::Error, io};

/// Reads a file to its end: each batch goes to the function, the rest is returned.
pub type ReadBatches = fn(&mut dyn io::Read, &mut TakeBatch<'_>) -> Result<Rest, ReadError<TakeError>>;

/// Receives a batch.
pub type TakeBatch<'a> = dyn FnMut(&RecordedSeries, &[u8]) -> Result<(), TakeError> + 'a;

/// The error of a receiver of batches.
pub type TakeError = Box<dyn Error + Send + Sync>;
