//! The node's end of a data channel of any kind.
//!
//! The node runs inside the watched process. So its end is plain blocking code on the node's own threads and brings
//! no async runtime into the application. A new channel is a new implementation of [`Connector`] in its own file.

use crate::{DacMessage, NodeMessage};
use std::io;

/// Connects to a DAC by one kind of channel.
pub trait Connector: Send {
    /// Makes one attempt; the node decides when to retry.
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)>;

    /// Returns the target for messages: `tcp://127.0.0.1:7071`.
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

/// The sending half, used by one thread.
pub trait Sender: Send {
    /// Sends control messages, then batches, in one write if the channel allows.
    fn send(&mut self, control: &[NodeMessage], batches: &[&[u8]]) -> io::Result<()>;

    /// Closes the channel in both directions: the receiver's pending call returns.
    fn close(&mut self);
}

/// The receiving half, used by one thread.
pub trait Receiver: Send {
    /// Blocks until the next message. Fails once the channel is closed or was silent for too long.
    fn receive(&mut self) -> io::Result<DacMessage>;
}
