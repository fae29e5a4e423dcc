//! The data channel `nats`: the byte stream of the TCP channel in numbered messages.
//!
//! NATS delivers a message at most once, and a subscriber that is too slow loses messages with only an event. [`oasis_channel::carried`] notices that, and its
//! window makes a full subscription the exception.
//!
//! `subjects` has the messages of a connection, `node` and `dac` are the ends.

mod dac;
mod node;
mod subjects;

pub use dac::serve;
pub use node::NatsConnector;

use crate::InstanceId;

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
