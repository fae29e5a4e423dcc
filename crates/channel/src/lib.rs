//! Data channels: the protocol between an EI node and a DAC.
//!
//! Two nouns. A **message** ([`NodeMessage`], [`DacMessage`]) is the content; a **frame** ([`frame`]) is its encoding
//! in a byte stream. A channel carries frames, in order, in both directions. Messages do not depend on the kind of
//! channel. The node's end of every channel implements [`Connector`], and [`Failover`] goes from one DAC to another. The
//! DAC's end reads frames from its sockets with a [`frame::Reader`]. `docs/reference/data-channel.md` describes the protocol.
//!
//! ```
//! use oasis_channel::{DacMessage, frame::{Frame, Reader, write_control}};
//!
//! let mut bytes = Vec::new();
//! write_control(&DacMessage::Pong { node_time: 1, dac_time: 2 }, &mut bytes);
//! let mut reader = Reader::new(64 * 1024);
//! reader.extend(&bytes);
//! let Ok(Some(Frame::Control(json))) = reader.next() else { panic!("one whole control frame was written") };
//! assert_eq!(json, br#"{"op":"pong","node_time":1,"dac_time":2}"#);
//! ```

mod backoff;
mod candidates;
#[cfg(feature = "carried")]
pub mod carried;
mod failover;
pub mod frame;
mod message;
mod node_end;
pub mod protection;
mod replay_window;
mod secret;
pub mod tcp;
pub mod tls;
pub mod udp;

pub use backoff::Backoff;
pub use failover::{DacUpdates, Failover, NewestList};
pub use message::{
    Counters, DacMessage, DatagramOffer, Declared, Drops, Failure, InstanceState, NodeIdentity, NodeMessage,
    Outcome, Overhead, RecorderSpan, RegisteredInstance, Release, SafeReason, SafeWhen, TopicAssignment,
};
pub use node_end::{Connector, Ended, Patience, Receiver, Sender, Turn};
pub use replay_window::{ReplayWindow, WINDOW};
pub use secret::ResumeSecret;

/// Version of the data channel's protocol; both ends must use the same.
pub const PROTOCOL: u32 = 1;

/// Prefix of the name of a node that replays a recording. It contains no slash, because `NODE/INSTANCE` ends a node's
/// name at the first slash.
pub const REPLAY_PREFIX: &str = "replay:";
