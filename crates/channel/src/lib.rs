//! Data channels: how an EI node and a DAC talk.
//!
//! Two nouns. A **message** ([`NodeMessage`], [`DacMessage`]) is what is said; a **frame** ([`frame`]) is how it lies in a
//! byte stream. A channel carries frames, in order, both ways; what is said never depends on which channel carries it.
//! The node's end of every channel implements [`Connector`]; the DAC's end reads frames from its sockets with a
//! [`frame::Reader`]. `docs/reference/data-channel.md` describes the protocol.
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
pub mod frame;
mod message;
mod node_end;
pub mod tcp;
pub mod udp;

pub use backoff::Backoff;
pub use message::{
    Command, Counters, DacMessage, DatagramOffer, Drops, Failure, InstanceState, NodeIdentity, NodeMessage,
    Outcome, Overhead, ProbeKind, RecorderSpan, RegisteredInstance, TopicAssignment,
};
pub use node_end::{Connector, Receiver, Sender};

/// Version of the protocol on the data channel; both ends must say the same.
pub const PROTOCOL: u32 = 1;

/// What the name of a node begins with that plays a recording back. No slash: `NODE/INSTANCE` ends a node's name at the first.
pub const REPLAY_PREFIX: &str = "replay:";
