//! The node's end of a data channel, whatever carries it.
//!
//! The node lives inside the watched process, so its end is plain blocking code on the node's own threads: no async runtime
//! is brought into somebody else's program. A new channel is a new implementation of [`Connector`] in a file of its own.

use crate::{DacMessage, NodeMessage};
use std::io;

/// Knows how to reach a DAC by one kind of channel.
pub trait Connector: Send {
    /// Makes one attempt; how often to try is the node's business.
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)>;

    /// Where it leads, for people: `tcp://127.0.0.1:7071`.
    fn target(&self) -> String;
}

impl Connector for Box<dyn Connector> {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        (**self).connect()
    }

    fn target(&self) -> String {
        (**self).target()
    }
}

/// The half that speaks. Used by one thread.
pub trait Sender: Send {
    /// Sends control messages and batches, in this order, as one piece where the channel can.
    fn send(&mut self, control: &[NodeMessage], batches: &[&[u8]]) -> io::Result<()>;

    /// Ends the channel in both directions: the receiver's pending call returns.
    fn close(&mut self);
}

/// The half that listens. Used by one thread.
pub trait Receiver: Send {
    /// Blocks until the next message, or fails once the channel has ended or was silent for too long.
    fn receive(&mut self) -> io::Result<DacMessage>;
}
