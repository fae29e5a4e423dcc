//! A connection to a DAC: the handshake, the thread that receives, and why it ended.

use oasis_channel::{Connector, DacMessage, NodeMessage, Receiver, SafeWhen, Sender};
use oasis_wire::quantity::Epoch;
use std::{
    io,
    thread::{self, JoinHandle},
};

/// A connection whose hello the DAC has answered with a welcome.
pub struct OpenLink {
    /// Sends to the DAC.
    pub sender: Box<dyn Sender>,
    /// Receives from the DAC.
    pub receiver: Box<dyn Receiver>,
    /// The DAC's program and its version.
    pub software: String,
    /// The DAC's life.
    pub epoch: Epoch,
    /// Condition that makes samples safe there, if the DAC reports it.
    pub safe_when: Option<SafeWhen>,
    /// Whether it takes batches ahead of others.
    pub takes_ahead: bool,
}

impl OpenLink {
    /// Connects and says hello.
    ///
    /// # Errors
    /// If the connection breaks, the DAC answers something else, or it refuses: then the error contains its
    /// [`Failure`](oasis_channel::Failure).
    pub fn connect(connector: &mut dyn Connector, hello: &[NodeMessage]) -> io::Result<Self> {
        let (mut sender, mut receiver) = connector.connect()?;
        sender.send(hello, &[])?;
        match receive(&mut *receiver)? {
            DacMessage::Welcome { software, epoch, safe, ahead, .. } => {
                Ok(Self { sender, receiver, software, epoch, safe_when: safe, takes_ahead: ahead })
            }
            _ => Err(unexpected()),
        }
    }

    /// Starts the thread that receives from now on. It runs until `listen` returns.
    ///
    /// # Errors
    /// If there can be no thread.
    pub fn listen(
        self,
        thread: &str,
        listen: impl FnOnce(&mut dyn Receiver) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Link> {
        let Self { sender, mut receiver, .. } = self;
        let listener = thread::Builder::new().name(thread.into()).spawn(move || listen(&mut *receiver))?;
        Ok(Link { sender, listener: Some(listener) })
    }
}

/// A connection with its listener thread. Dropping it closes it.
pub struct Link {
    /// Sends to the DAC.
    pub sender: Box<dyn Sender>,
    listener: Option<JoinHandle<io::Result<()>>>,
}

impl Link {
    /// Closes the connection and returns what the listener found last: it explains more than a write that failed because of it.
    ///
    /// # Errors
    /// The listener's.
    pub fn close(&mut self) -> io::Result<()> {
        self.sender.close();
        let Some(listener) = self.listener.take() else { return Ok(()) };
        listener.join().unwrap_or_else(|_| Err(io::Error::other("the listener panicked")))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // A caller that needs the error calls `close` itself.
        let _ = self.close();
    }
}

/// Receives a message. A refusal becomes an error that contains the DAC's [`Failure`](oasis_channel::Failure).
///
/// # Errors
/// If the connection breaks, or the DAC refuses.
pub fn receive(receiver: &mut dyn Receiver) -> io::Result<DacMessage> {
    match receiver.receive()? {
        DacMessage::Refused(failure) => Err(io::Error::other(failure)),
        message => Ok(message),
    }
}

/// The error for an answer that the protocol does not have at this place.
pub fn unexpected() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the DAC answered something else than the protocol says")
}
