//! The data channel `nats`: the byte stream of the TCP channel in numbered messages.
//!
//! NATS delivers a message at most once, and a subscriber that is too slow loses messages with only an event. So both ends number their messages, and a
//! message with another number than the next one ends the connection: the node connects again and sends what was not acknowledged. A window bounds what is
//! under way, so that a full subscription is the exception.
//!
//! `pieces` is the protocol without I/O, `pump` carries a stream over it, `node` and `dac` are the ends.

mod dac;
mod node;
mod pieces;
mod pump;

pub use dac::{Channel, serve};
pub use node::NatsConnector;

use crate::InstanceId;
use uuid::Uuid;

/// The name of whichever DAC answers first.
const ANY: &str = "any";

/// Subject at which a DAC is asked for a connection. A name that is no token of a subject is hashed.
fn dac_subject(name: Option<&str>) -> String {
    let is_token = |name: &&str| {
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        !name.is_empty() && *name != ANY && name.len() <= 64 && name.bytes().all(is_safe)
    };
    match name {
        None => format!("oasis.v1.dac.{ANY}"),
        Some(name) if is_token(&name) => format!("oasis.v1.dac.{name}"),
        Some(name) => format!("oasis.v1.dac.h{}", InstanceId::of(name, "")),
    }
}

/// Subjects of a connection: to the DAC, and to the node.
fn subjects(connection: Uuid) -> (String, String) {
    let connection = connection.simple();
    (format!("oasis.v1.channel.{connection}.up"), format!("oasis.v1.channel.{connection}.down"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_become_another_subject() {
        assert_eq!(dac_subject(Some("hall-1")), "oasis.v1.dac.hall-1");
        assert_eq!(dac_subject(None), "oasis.v1.dac.any");
        for hostile in ["any", "*", "a.b", ">", "", "hall 1"] {
            let subject = dac_subject(Some(hostile));
            assert!(subject.starts_with("oasis.v1.dac.h") && subject.len() == 46, "{subject}");
        }
    }
}
