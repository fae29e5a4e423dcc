//! The byte stream of the TCP channel over a transport of messages, such as NATS or DDS.
//!
//! Such a transport may drop messages. So both ends number theirs, and a message with another number than the next one ends the connection: the node connects
//! again and sends what was not acknowledged. A [`Window`] bounds what is under way.
//!
//! `pieces` is the protocol without I/O, `pump` carries a stream over it, `accept` is where a DAC takes the other end of that stream.

mod accept;
mod pieces;
mod pump;

pub use accept::{Accept, pair};
pub use pieces::{Broken, Numbers, StreamMessage, Window};
pub use pump::{Messages, pump};
