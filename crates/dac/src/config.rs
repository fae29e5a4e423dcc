//! The DAC's limits and their reasons.

pub use crate::url_list::UrlList;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Limits of the topic logs (`[log]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// Memory limit of one topic, in bytes: how far back a reader can resume.
    pub topic_bytes: usize,
    /// Memory limit of all topics together, in bytes; above it each topic shrinks to an equal share.
    pub total_bytes: usize,
    /// Longest time that a sample is kept, in seconds, unless it is the newest of its topic; 0 for no limit.
    pub topic_seconds: u64,
    /// Limit of derived streams (`max_hz` and `envelope`) over all topics; each has a log and a task that fills it.
    pub derived_streams: usize,
    /// Time that a derived stream stays after its last reader has left, in ms, so that a repeated poll finds it.
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

/// Nodes connected from one address unless the configuration says otherwise: half of all, so that others find a place.
pub(crate) const USUAL_PER_ADDRESS: usize = 500;

/// Limits of the data channel (`[channel]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChannelConfig {
    /// Address that nodes connect to.
    pub listen: String,
    /// Whether nodes may also send batches by UDP, to the same port number.
    pub udp: bool,
    /// Largest message that a node may send, in bytes.
    pub max_message_bytes: usize,
    /// Nodes connected at the same time; a further one is refused.
    pub max_connections: usize,
    /// Nodes connected from one address at the same time; 0 for 500, and for no limit from this host.
    pub max_connections_per_address: usize,
    /// Known nodes, including offline ones. A further one is refused, unless an offline node can be evicted for it.
    pub max_nodes: usize,
    /// Instances of all nodes, including offline ones.
    pub max_topics: usize,
    /// Memory limit for the schemas of all instances and nodes, in bytes; further schemas are refused.
    pub max_schema_bytes: usize,
    /// Directory where labels and kept settings of nodes are, made if it is not there; empty: beside the archive, and without one in memory until the process ends.
    pub settings_dir: String,
}

impl Default for ChannelConfig {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7071".into(),
            udp: false,
            max_message_bytes: oasis_channel::frame::DEFAULT_MAX_BODY,
            max_connections: 1_000,
            max_connections_per_address: 0,
            max_nodes: 10_000,
            max_topics: 20_000,
            max_schema_bytes: 256 * 1024 * 1024,
            settings_dir: String::new(),
        }
    }
}

/// Entry of the DAC in a TEM (`[tem]`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TemConfig {
    /// Addresses of the TEMs that list this DAC, each `http://HOST:PORT` or `https://HOST:PORT`; empty: none but the DAC's own.
    pub url: UrlList,
    /// Whether `oasis tem` and `oasis up` announce themselves in the local network by mDNS.
    pub mdns: bool,
    /// PEM file with the authority of their certificates; empty: those that the system trusts.
    pub ca: PathBuf,
    /// File with the token to show; empty: that of the environment.
    pub token_file: PathBuf,
    /// Name of the DAC; empty: the host's name.
    pub name: String,
    /// Host that tools and nodes reach the DAC at; empty: derived from its addresses.
    pub host: String,
}

/// Other DACs whose nodes this one serves too (`[relay]`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RelayConfig {
    /// Addresses of their pages, `http://HOST:PORT` or `https://HOST:PORT`.
    pub upstreams: Vec<String>,
    /// Addresses of TEMs, all of whose DACs are relayed; empty: none.
    pub tem: UrlList,
    /// PEM file with the authority of their certificates; empty: those that the system trusts.
    pub ca: PathBuf,
    /// File with the token to show; empty: that of the environment.
    pub token_file: PathBuf,
}

/// Certificates of doors and data channel (`[tls]`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TlsConfig {
    /// PEM file with the server's certificate, followed by those between it and its authority; empty: nothing is encrypted.
    pub certificate: PathBuf,
    /// PEM file with its private key, which others must not be able to read.
    pub key: PathBuf,
    /// PEM file with the authority of the nodes: a node must have a certificate of it. Empty: that of `ca_directory`; without that nodes need none.
    pub node_ca: PathBuf,
    /// Folder of an authority that nodes are enrolled with; empty: none are.
    pub ca_directory: PathBuf,
}
