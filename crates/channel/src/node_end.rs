//! The node's end of a data channel of any kind.
//!
//! The node runs inside the watched process. So its end is plain blocking code on the node's own threads and brings
//! no async runtime into the application. A new channel is a new implementation of [`Connector`] in its own file.

use crate::{DacMessage, Failure, NodeMessage};
use std::{io, time::Duration};

/// Connects to a DAC by one kind of channel, or to one of several DACs.
pub trait Connector: Send {
    /// Makes one attempt; the node decides when to retry.
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)>;

    /// Returns the target for messages: `tcp://127.0.0.1:7071`.
    fn target(&self) -> String;

    /// Returns how long the node waits for this DAC.
    fn patience(&self) -> Patience {
        Patience::ONE_DAC
    }

    /// Chooses the DAC of the next attempt, after an attempt or a connection has ended.
    fn turn(&mut self, _ended: &Ended) -> Turn {
        Turn::RoundOver
    }
}

/// Timeouts of a node that waits for a DAC, before it gives up the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the connection to be established.
    pub connect: Duration,
    /// For the next message, and for progress of a write.
    pub silence: Duration,
    /// Interval of the pings that the DAC answers.
    pub ping: Duration,
}

impl Patience {
    /// With one DAC. A DAC that is slow is better than none.
    pub const ONE_DAC: Self = Self {
        connect: Duration::from_secs(3),
        silence: Duration::from_secs(5),
        ping: Duration::from_secs(1),
    };
    /// With another DAC to go to. Three pings without an answer.
    pub const SEVERAL_DACS: Self = Self {
        connect: Duration::from_millis(1_500),
        silence: Duration::from_millis(1_500),
        ping: Duration::from_millis(500),
    };
}

/// Result of an attempt or a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The node had registered: the connection was lost, or the DAC drains.
    Lost,
    /// The DAC could not be reached, or cannot take the node now.
    Failed,
    /// The DAC will not take the node soon: it refused the node, or its certificate is wrong.
    Refused,
}

impl Ended {
    /// Classifies an error of an attempt that did not register the node.
    pub fn of_attempt(error: &io::Error) -> Self {
        let failure = error.get_ref().and_then(|error| error.downcast_ref::<Failure>());
        let is_final = match failure {
            Some(failure) => !failure.is_temporary(),
            // A certificate that is not accepted, or no DAC at all.
            None => error.kind() == io::ErrorKind::InvalidData,
        };
        if is_final { Self::Refused } else { Self::Failed }
    }
}

/// Which DAC is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// One that was not tried since the last connection that worked.
    Next,
    /// All were tried: the node waits before it begins again.
    RoundOver,
}

impl Connector for Box<dyn Connector> {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        (**self).connect()
    }

    fn target(&self) -> String {
        (**self).target()
    }

    fn patience(&self) -> Patience {
        (**self).patience()
    }

    fn turn(&mut self, ended: &Ended) -> Turn {
        (**self).turn(ended)
    }
}

/// The sending half, used by one thread.
pub trait Sender: Send {
    /// Sends control messages, then batches, in one write if the channel allows.
    fn send(&mut self, control: &[NodeMessage], batches: &[&[u8]]) -> io::Result<()>;

    /// Sends batches ahead of others. A channel that cannot need not: they follow in their turn.
    fn send_ahead(&mut self, _batches: &[&[u8]]) -> io::Result<()> {
        Ok(())
    }

    /// Closes the channel in both directions: the receiver's pending call returns.
    fn close(&mut self);
}

/// The receiving half, used by one thread.
pub trait Receiver: Send {
    /// Blocks until the next message. Fails once the channel is closed or was silent for too long.
    fn receive(&mut self) -> io::Result<DacMessage>;
}
