//! Reads MCAP files as batches of samples: those that `oasis export` has written come back as they were; of others, channels with JSON
//! messages are read.
//!
//! [`read`] goes through a file once, from its beginning to its end, and hands out a batch at a time with the [`Recorded`] series that it is of.
//! A file may come from anywhere: whatever it says of itself, memory stays bounded, and what breaks a bound is a [`ReadError`] that names it.
//!
//! In the order of reading: [`recording`] goes through the records, [`record`] takes one apart, [`channel`] makes samples of one channel's messages, with [`infer`] for
//! types and [`json`] for values, and [`samples`] makes batches of them. [`lost`] reads what an export says is missing.

mod bounds;
mod channel;
mod infer;
mod json;
mod lost;
mod record;
mod recording;
mod samples;

pub use channel::Unread;
pub use lost::Lost;
pub use record::BadRecord;
pub use recording::{LeftOut, ReadError, Rest, read};

use oasis_channel::ProbeKind;
use oasis_wire::schema::ProbeType;
use std::sync::Arc;
use uuid::Uuid;

/// Whose samples they are, as the file says it.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Node name, if OASIS has recorded them.
    pub node: Option<Arc<str>>,
    /// Instance name; a channel's topic if it is another program's.
    pub instance: Arc<str>,
    /// Who decided when a sample was taken.
    pub kind: ProbeKind,
    /// What sequence numbers count in: the same whenever the file is read.
    pub run: Uuid,
    /// Their type.
    pub probe_type: Arc<ProbeType>,
}
