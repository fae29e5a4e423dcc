//! The doors' bounds, each with its reason (`[doors]`).

use crate::shard_choice::ShardChoice;
use oasis_http::{ForwardedHeader, HttpConfig, Network, Origin, PageOrigin};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Addresses and limits of everything a browser or a script can reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DoorsConfig {
    /// Address of page, API and WebSocket.
    pub listen: String,
    /// Host names that requests may use besides `localhost` and IP addresses, such as `dac.example.org`.
    pub allowed_hosts: Vec<String>,
    /// Origins that may open a WebSocket or send a command besides the page's own, such as `https://ops.example.org`.
    pub allowed_origins: Vec<String>,
    /// Origins whose pages may show the page in a frame, such as `https://wiki.example.org`.
    pub embed_origins: Vec<Origin>,
    /// Origins of other servers whose pictures the page may show as the ground of maps, such as `https://tile.example.org`.
    pub tile_origins: Vec<Origin>,
    /// Origins of other DACs or relays that serve the same nodes. The page continues at one of them after this DAC has ended.
    pub other_pages: Vec<PageOrigin>,
    /// Time that browsers keep to TLS after an answer over TLS, in seconds; 0 makes them forget it.
    pub hsts_seconds: u64,
    /// Addresses and networks of reverse proxies that are believed when they say for whom they ask.
    pub trusted_proxies: Vec<Network>,
    /// The header by which they say so.
    pub forwarded_header: ForwardedHeader,
    /// Requests of a principal, or of strangers from one address, in a second; 0 for no limit.
    pub rate_limit: u32,
    /// Requests of the same that may come at once.
    pub rate_limit_burst: u32,
    /// The same for expensive requests alone.
    pub rate_limit_expensive: u32,
    /// The same for expensive requests alone.
    pub rate_limit_expensive_burst: u32,
    /// Connections open at the same time.
    pub max_connections: usize,
    /// Connections open from one address at the same time; 0 for 4,000, and for no limit from this host.
    pub max_connections_per_address: usize,
    /// WebSockets open at the same time.
    pub max_websockets: usize,
    /// Subscriptions on one WebSocket, or instances in one request to a text door.
    pub max_subscriptions: usize,
    /// Readers at the text doors at the same time, all doors together.
    pub max_readers: usize,
    /// Readers at the text doors and WebSockets from one address.
    pub max_per_address: usize,
    /// Server-sent event streams open at the same time.
    pub max_sse: usize,
    /// JSON-lines streams open at the same time.
    pub max_streams: usize,
    /// Concurrent long polls.
    pub max_long_polls: usize,
    /// Polls answered at the same time.
    pub max_polls: usize,
    /// Timeout of the head of a request from its first byte on, and between two requests, in milliseconds.
    pub head_timeout_ms: u64,
    /// Timeout of the body of a request, in milliseconds.
    pub body_timeout_ms: u64,
    /// Size of a poll's answer at which it ends, in bytes; the next poll returns the rest.
    pub max_answer_bytes: usize,
    /// Threads that write to WebSockets: a number up to 256, 0 for one a core, or `auto` for as many as the load needs, up to one a core.
    pub shards: ShardChoice,
    /// Longest rest between two rounds of writes to WebSockets, in milliseconds: with many readers each write carries more. 0 for none.
    pub flush_ms: u64,
    /// Limit for unsent bytes of one WebSocket in the system's send buffer; more stays in the topic log.
    pub send_buffer_bytes: usize,
    /// Directory where layouts of the page are kept, made if it is not there; empty: beside the archive, and without one in memory until the process ends.
    pub layouts_dir: String,
    /// Most bytes of recordings that wait to be imported, all together, packed and unpacked; 0 to take none. They lie beside the archive.
    pub max_import_bytes: u64,
    /// Layouts that can be saved.
    pub max_layouts: usize,
    /// Largest layout, in bytes of JSON. All layouts are kept in memory.
    pub max_layout_bytes: usize,
}

impl DoorsConfig {
    /// Settings of all requests.
    pub fn http(&self) -> HttpConfig {
        HttpConfig {
            allowed_hosts: self.allowed_hosts.clone(),
            allowed_origins: self.allowed_origins.clone(),
            embed_origins: self.embed_origins.clone(),
            tile_origins: self.tile_origins.clone(),
            hsts_seconds: self.hsts_seconds,
            trusted_proxies: self.trusted_proxies.clone(),
            forwarded_header: self.forwarded_header,
            rate_limit: self.rate_limit,
            rate_limit_burst: self.rate_limit_burst,
            rate_limit_expensive: self.rate_limit_expensive,
            rate_limit_expensive_burst: self.rate_limit_expensive_burst,
            max_connections: self.max_connections,
            max_connections_per_address: self.max_connections_per_address,
            head_timeout_ms: self.head_timeout_ms,
            body_timeout_ms: self.body_timeout_ms,
            send_buffer_bytes: self.send_buffer_bytes,
        }
    }

    /// Directory of saved layouts; without one they are lost at a restart.
    pub fn layouts_dir(&self) -> Option<PathBuf> {
        (!self.layouts_dir.is_empty()).then(|| PathBuf::from(&self.layouts_dir))
    }
}

impl Default for DoorsConfig {
    fn default() -> Self {
        let http = HttpConfig::default();
        Self {
            listen: "127.0.0.1:7070".into(),
            allowed_hosts: http.allowed_hosts,
            allowed_origins: http.allowed_origins,
            embed_origins: http.embed_origins,
            tile_origins: http.tile_origins,
            other_pages: Vec::new(),
            hsts_seconds: http.hsts_seconds,
            trusted_proxies: http.trusted_proxies,
            forwarded_header: http.forwarded_header,
            rate_limit: http.rate_limit,
            rate_limit_burst: http.rate_limit_burst,
            rate_limit_expensive: http.rate_limit_expensive,
            rate_limit_expensive_burst: http.rate_limit_expensive_burst,
            max_connections: http.max_connections,
            max_connections_per_address: http.max_connections_per_address,
            max_websockets: 10_000,
            max_subscriptions: 1_000,
            max_readers: 30_000,
            max_per_address: 2_000,
            max_sse: 10_000,
            max_streams: 10_000,
            max_long_polls: 20_000,
            max_polls: 1_000,
            max_answer_bytes: 1024 * 1024,
            head_timeout_ms: http.head_timeout_ms,
            body_timeout_ms: http.body_timeout_ms,
            shards: ShardChoice::OnePerCore,
            flush_ms: 8,
            send_buffer_bytes: http.send_buffer_bytes,
            layouts_dir: String::new(),
            max_import_bytes: 4 * 1024 * 1024 * 1024,
            max_layouts: 100,
            max_layout_bytes: 128 * 1024,
        }
    }
}
