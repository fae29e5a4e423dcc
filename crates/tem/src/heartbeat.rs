//! Report of a DAC about itself.

use crate::{
    attachment::Attachment,
    kind::Kind,
    limits::{MAX_NODE_NAME, MAX_TEXT},
};
use oasis_wire::quantity::Epoch;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Report of a DAC about itself, twice a second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Heartbeat {
    /// The life of the DAC's process: 16 hexadecimal digits that change when it restarts.
    #[schema(value_type = String)]
    pub epoch: Epoch,
    /// Number of this heartbeat in the epoch; it grows.
    pub beat: u64,
    /// Kind of the member.
    #[serde(default)]
    pub kind: Kind,
    /// Address of page, API and doors: `http://HOST:PORT`, or `https://`.
    pub doors: String,
    /// Address of the data channel: `HOST:PORT`, or `tls://HOST:PORT`. A relay has none.
    #[serde(default)]
    pub channel: String,
    /// Name and version.
    pub software: String,
    /// Whether it works.
    pub health: Health,
    /// Load of the DAC.
    #[serde(default)]
    pub load: Load,
    /// State of the names; another number means other names.
    pub names_revision: u64,
    /// The names. They may be left out while their revision stays: the answer asks for them if they are needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<NodeNames>,
}

/// Whether a DAC works, as its own health reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = DacHealth)]
pub enum Health {
    /// The DAC works.
    Ok,
    /// Some part does not work.
    Degraded,
    /// A restart would help.
    Failing,
}

/// Load of a DAC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Load {
    /// Nodes that are connected.
    pub nodes: u64,
    /// Probe instances, offline ones too.
    pub instances: u64,
    /// WebSockets and readers at the text doors.
    pub readers: u64,
    /// Samples received in the last second.
    pub samples_per_second: u64,
    /// Whether it serves the nodes of other DACs too.
    pub relays: bool,
}

/// Names of the nodes of a DAC.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct NodeNames {
    /// Nodes that are connected.
    pub online: Vec<String>,
    /// Nodes that were connected, or are in the archive.
    pub offline: Vec<String>,
    /// Names that the DAC has left out, because a heartbeat has a bound.
    pub left_out: u64,
    /// Connections of connected nodes that count them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attached: BTreeMap<String, Attachment>,
    /// Last connections of nodes that are not connected; number 0 if the DAC has forgotten it. The TEM says if they are at another DAC.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left: BTreeMap<String, Attachment>,
}

/// A heartbeat that cannot be true.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeartbeatError {
    /// A text is longer than any DAC writes it.
    #[error("{what} has {bytes} bytes: use at most {most}")]
    TooLong {
        /// Which one.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The bound.
        most: usize,
    },
    /// The address of the doors is none.
    #[error("doors is no http://HOST:PORT or https://HOST:PORT")]
    Doors,
    /// The address of the data channel is none.
    #[error("channel is no HOST:PORT or tls://HOST:PORT")]
    Channel,
    /// A name is empty.
    #[error("a name of a node is empty")]
    EmptyName,
}

impl Heartbeat {
    /// Checks lengths and addresses: tools connect to these.
    ///
    /// # Errors
    /// Says which part is wrong.
    pub fn check(&self) -> Result<(), HeartbeatError> {
        for (what, text) in [("doors", &self.doors), ("channel", &self.channel), ("software", &self.software)]
        {
            check_length(what, text, MAX_TEXT)?;
        }
        let authority = self.doors.strip_prefix("http://").or_else(|| self.doors.strip_prefix("https://"));
        if !authority.is_some_and(is_authority) {
            return Err(HeartbeatError::Doors);
        }
        let has_none = self.kind == Kind::Relay && self.channel.is_empty();
        if !has_none && !is_authority(self.channel.strip_prefix("tls://").unwrap_or(&self.channel)) {
            return Err(HeartbeatError::Channel);
        }
        self.names.iter().flat_map(|names| names.online.iter().chain(&names.offline)).try_for_each(|name| {
            if name.is_empty() {
                return Err(HeartbeatError::EmptyName);
            }
            check_length("a name of a node", name, MAX_NODE_NAME)
        })
    }
}

fn check_length(what: &'static str, text: &str, most: usize) -> Result<(), HeartbeatError> {
    match text.len() {
        bytes if bytes > most => Err(HeartbeatError::TooLong { what, bytes, most }),
        _ => Ok(()),
    }
}

/// Whether this is `HOST:PORT`, and nothing that a terminal or a URL would read otherwise.
fn is_authority(text: &str) -> bool {
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-._:[]%".contains(&letter);
    let host_and_port = text.rsplit_once(':');
    text.bytes().all(is_plain)
        && host_and_port
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heartbeat(doors: &str, channel: &str) -> Heartbeat {
        Heartbeat {
            epoch: Epoch(1),
            beat: 1,
            kind: Kind::Dac,
            doors: doors.into(),
            channel: channel.into(),
            software: "test".into(),
            health: Health::Ok,
            load: Load::default(),
            names_revision: 0,
            names: None,
        }
    }

    #[test]
    fn addresses_are_those_that_tools_can_connect_to() {
        for (doors, channel) in [
            ("http://127.0.0.1:7070", "127.0.0.1:7071"),
            ("https://dac.example.org:443", "tls://dac.example.org:7071"),
            ("http://[::1]:7070", "[fe80::1%eth0]:7071"),
        ] {
            assert_eq!(heartbeat(doors, channel).check(), Ok(()), "{doors} {channel}");
        }
        for doors in [
            "",
            "http://",
            "ftp://x:1",
            "http://x",
            "http://x:0",
            "http://x:99999",
            "http://a@b:1",
            "http://a/b:1",
        ] {
            assert_eq!(heartbeat(doors, "x:1").check(), Err(HeartbeatError::Doors), "{doors}");
        }
        for channel in ["", "x", ":1", "x y:1", "http://x:1", "x\u{1b}:1"] {
            assert_eq!(heartbeat("http://x:1", channel).check(), Err(HeartbeatError::Channel), "{channel}");
        }
        let relay = |channel| Heartbeat { kind: Kind::Relay, ..heartbeat("http://x:1", channel) }.check();
        assert_eq!((relay(""), relay(":1")), (Ok(()), Err(HeartbeatError::Channel)));
    }

    #[test]
    fn long_and_empty_texts_are_refused() {
        let named = |name: String| {
            let names = NodeNames { offline: vec![name], ..NodeNames::default() };
            Heartbeat { names: Some(names), ..heartbeat("http://x:1", "x:1") }.check()
        };
        assert_eq!(named("x".repeat(MAX_NODE_NAME)), Ok(()));
        assert!(matches!(named("x".repeat(MAX_NODE_NAME + 1)), Err(HeartbeatError::TooLong { .. })));
        assert_eq!(named(String::new()), Err(HeartbeatError::EmptyName));
        let software = Heartbeat { software: "x".repeat(MAX_TEXT + 1), ..heartbeat("http://x:1", "x:1") };
        assert!(software.check().unwrap_err().to_string().starts_with("software has 257 bytes"));
    }

    #[test]
    fn a_heartbeat_of_a_later_version_is_read() {
        let text = r#"{"epoch": "00000000000000aa", "beat": 1, "doors": "http://x:1", "channel": "x:2", "software": "s",
            "health": "degraded", "names_revision": 0, "something": ["new"]}"#;
        let read: Heartbeat = serde_json::from_str(text).unwrap();
        assert_eq!((read.health, read.names), (Health::Degraded, None));
    }
}
