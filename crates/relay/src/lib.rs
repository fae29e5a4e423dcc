//! Serves the nodes of another DAC, the *upstream*, as if they had connected here. Sans-I/O: messages of `oasis.v1`
//! (docs/reference/websocket.md) and times in, requests out.
//!
//! - A [`Mirror`] follows the upstream's registry: its nodes and instances appear in the registry here, with the path
//!   that their samples take, and leave it again. It asks for what the messages lack ([`Need`]).
//! - A [`Feed`] is one connection with subscriptions: one for a topic, however many readers it has here. Its batches go
//!   to the topic logs here.
//! - [`Interest`] decides which topics have a subscription: those with readers, and those that had some a moment ago.
//! - A [`Clock`] measures the upstream's clock, so that ages stay right across hosts.
//!
//! A command for a relayed node goes to its upstream as it is; `oasis_dac::Upstream` hands it out.

mod clock;
mod feed;
mod interest;
mod messages;
mod mirror;
pub mod past;
mod resume_point;

pub use clock::Clock;
pub use feed::{Feed, FeedError, ResumePoints};
pub use interest::{Change, Interest, LINGER};
pub use messages::Message;
pub use mirror::{Mirror, MirrorError, Need};
pub use resume_point::{ResumePoint, Source};

use oasis_channel::Failure;
use oasis_dac::{CommandError, ForwardedCommand};
use serde_json::{Value, json};

/// Returns the request that sends a command to the upstream.
pub fn command(command: &ForwardedCommand) -> Value {
    let mut request = serde_json::to_value(&command.request).unwrap_or_else(|_| json!({}));
    request["op"] = "command".into();
    request["node"] = command.node.as_str().into();
    request["instance"] = command.instance.as_str().into();
    request
}

/// Returns why the upstream refused a command.
pub fn refused(command: &ForwardedCommand, code: &str, message: String) -> CommandError {
    let node = command.node.clone();
    match code {
        "unknown_instance" => CommandError::UnknownInstance { node, instance: command.instance.clone() },
        "node_offline" => CommandError::NodeOffline(node),
        "node_moved" => CommandError::NodeMoved(node),
        "busy" => CommandError::Busy(node),
        "timeout" => CommandError::Timeout(node),
        "unknown" => CommandError::Unknown(node),
        code => CommandError::Refused(Failure::new(code, message)),
    }
}
