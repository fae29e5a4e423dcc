//! The DAC's bounds, each with its reason.

use serde::{Deserialize, Serialize};

/// Bounds of the topic logs (`[log]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// Most memory for one topic, in bytes: how far back a reader can resume.
    pub topic_bytes: usize,
    /// Memory that all topics share, in bytes; when it is exceeded each keeps to an equal share.
    pub total_bytes: usize,
    /// Longest that a sample stays, in seconds, unless it is the newest of its topic; 0 for no limit.
    pub topic_seconds: u64,
    /// Streams that `max_hz` and `envelope` ask for, over all topics; each has a log of its own and a task that fills it.
    pub derived_streams: usize,
    /// How long a derived stream stays after its last reader has left, ms: a poll that comes again finds it.
    pub derived_linger_ms: u64,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            topic_bytes: 8 * 1024 * 1024,
            total_bytes: 512 * 1024 * 1024,
            topic_seconds: 3_600,
            derived_streams: 1_000,
            derived_linger_ms: 10_000,
        }
    }
}

/// Bounds of the data channel (`[channel]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChannelConfig {
    /// Address that nodes connect to.
    pub listen: String,
    /// Whether batches may come as datagrams too, to the same port by UDP.
    pub udp: bool,
    /// Largest message a node may send, in bytes.
    pub max_message_bytes: usize,
    /// Nodes connected at the same time; one more is closed at once.
    pub max_connections: usize,
    /// Nodes known, offline ones included: one more is refused, unless one known from the archive alone can make room.
    pub max_nodes: usize,
    /// Instances over all nodes, offline ones included.
    pub max_topics: usize,
    /// Memory for the schemas of all instances, in bytes of JSON: more is refused.
    pub max_schema_bytes: usize,
}

impl Default for ChannelConfig {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7071".into(),
            udp: false,
            max_message_bytes: oasis_channel::frame::DEFAULT_MAX_BODY,
            max_connections: 1_000,
            max_nodes: 10_000,
            max_topics: 20_000,
            max_schema_bytes: 256 * 1024 * 1024,
        }
    }
}
