//! The data channel `dds`: the byte stream of the TCP channel in messages on two topics.
//!
//! Each DAC of the domain reads `TO_DAC` and each node `TO_NODE`. A node asks for a DAC by its name, or for any, and opens a connection to one that
//! answers. Reliable topics lose a message only if a bound is reached; [`oasis_channel::carried`] notices that, and the node connects again.
//!
//! A connection belongs to the two writers of DDS that have opened it: messages of other writers with its id are none of it.
//!
//! `message` is what the topics have, `endpoint` joins the domain and reads and writes them at a `pace`, `connections` sorts them for a DAC, `node` and `dac` are the ends.

mod connections;
mod dac;
mod endpoint;
mod message;
mod node;
mod pace;

pub use dac::serve;
pub use node::DdsConnector;

use oasis_channel::carried::Window;

/// The topic from nodes to DACs.
const TO_DAC: &str = "OASIS/Channel/V1/ToDac";
/// The topic from DACs to nodes.
const TO_NODE: &str = "OASIS/Channel/V1/ToNode";
/// The type of both, as `docs/reference/dds-channel.md` declares it.
const TYPE: &str = "OASIS::Channel::Message";

/// A window fits into the receive buffer that Linux gives to a socket (212,992 bytes): more would be lost and sent again. A message fits into a datagram of the
/// loopback interface; on a network RustDDS sends it in fragments.
const WINDOW: Window = Window { pieces: 16, piece_bytes: 8 * 1024 };
