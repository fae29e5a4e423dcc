//! Requests of clients to probe instances, and why they fail.

use oasis_channel::{Failure, InstanceState};
use oasis_wire::command::Command;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::sync::oneshot;
use uuid::Uuid;

/// Timeout of a node's answer.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No such instance.
    #[error("node {node:?} has no instance {instance:?}")]
    UnknownInstance {
        /// The requested node.
        node: String,
        /// The requested instance.
        instance: String,
    },
    /// The node is not connected, or disconnected before it answered.
    #[error("node {0:?} is not connected")]
    NodeOffline(String),
    /// The node is connected to another DAC.
    #[error("node {0:?} is connected to another DAC: ask there (--tem finds it)")]
    NodeMoved(String),
    /// The node's queue of commands is full.
    #[error("command queue of node {0:?} is full: try again")]
    Busy(String),
    /// The node refused the command.
    #[error("{}", .0.message)]
    Refused(Failure),
    /// The connection ended after the command was sent. The node may have executed it; it is not sent again.
    #[error(
        "connection to node {0:?} ended after the command was sent: check whether the node executed it, or repeat it with its UUID"
    )]
    Unknown(String),
    /// No answer in time. The node may still execute it.
    #[error("node {0:?} did not answer within {limit} s", limit = TIMEOUT.as_secs())]
    Timeout(String),
    /// The stored setting cannot be changed; the command itself may have been executed.
    #[error("{0}")]
    NotKept(String),
}

impl CommandError {
    /// Returns the code for programs.
    pub fn code(&self) -> &str {
        match self {
            Self::UnknownInstance { .. } => "unknown_instance",
            Self::NodeOffline(_) => "node_offline",
            Self::NodeMoved(_) => "node_moved",
            Self::Busy(_) => "busy",
            Self::Refused(_) => "refused",
            Self::Unknown(_) => "unknown",
            Self::Timeout(_) => "timeout",
            Self::NotKept(_) => "not_kept",
        }
    }
}

/// A request with the UUID that names it on its whole way. A node executes a command of one UUID at most once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedRequest {
    /// Chosen by a client that may repeat the request, at this DAC or another; otherwise by the DAC.
    #[serde(default = "Uuid::new_v4")]
    pub uuid: Uuid,
    /// Whether what it sets is kept for the next runs of the node.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
    /// The request.
    #[serde(flatten)]
    pub request: Command,
}

impl From<Command> for NamedRequest {
    fn from(request: Command) -> Self {
        Self { uuid: Uuid::new_v4(), keep: false, request }
    }
}

/// A command for a node of an upstream.
#[derive(Debug)]
pub struct ForwardedCommand {
    /// Node name.
    pub node: String,
    /// Instance name.
    pub instance: String,
    /// The request, demand included: the home of the node decides about it.
    pub request: NamedRequest,
    /// Takes the outcome.
    pub answer: oneshot::Sender<Result<InstanceState, CommandError>>,
}
