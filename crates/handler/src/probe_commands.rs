//! Commands to probes that handlers pass on for programs of other protocols.

use oasis_dac::NamedRequest;
use serde_json::Value;
use std::{fmt, net::SocketAddr};

/// Sends commands to probes, if the owner of a token may.
pub trait ProbeCommands: Send + Sync + 'static {
    /// Sends a command. `answer` is called once, from another thread: with the state of the instance, or with the reason.
    fn send(&self, command: TokenCommand, answer: CommandAnswer);
}

/// Takes the outcome of a command.
pub type CommandAnswer = Box<dyn FnOnce(Result<Value, CommandRefusal>) + Send>;

/// A command of the owner of a token.
#[derive(Clone)]
pub struct TokenCommand {
    /// A token of the DAC.
    pub token: String,
    /// The protocol, for the journal of commands.
    pub door: &'static str,
    /// The address that the command came from, for the audit log.
    pub peer: SocketAddr,
    /// Node name.
    pub node: String,
    /// Instance name.
    pub instance: String,
    /// The command.
    pub request: NamedRequest,
}

/// Without the token.
impl fmt::Debug for TokenCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { door, peer, node, instance, request, .. } = self;
        write!(f, "{request:?} of {node}/{instance} by {door} {peer}")
    }
}

/// Why a command was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRefusal {
    /// The code for programs, as in the HTTP API.
    pub code: String,
    /// The reason for people.
    pub message: String,
}
