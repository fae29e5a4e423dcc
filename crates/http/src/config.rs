//! Bounds of HTTP, each with its reason: settings of `[doors]`.

use crate::{
    headers::Origin,
    proxies::{ForwardedHeader, Network},
};
use serde::Deserialize;

/// Connections from one address unless the configuration says otherwise: twice as many as readers (`doors.max_per_address`).
pub(crate) const USUAL_PER_ADDRESS: usize = 4_000;

/// Hosts, origins, proxies and limits of all requests.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HttpConfig {
    /// Host names that requests may use besides `localhost` and IP addresses, such as `dac.example.org`.
    pub allowed_hosts: Vec<String>,
    /// Origins that may open a WebSocket or send a command besides the page's own, such as `https://ops.example.org`.
    pub allowed_origins: Vec<String>,
    /// Origins whose pages may show the page in a frame, such as `https://wiki.example.org`.
    pub embed_origins: Vec<Origin>,
    /// Origins of other servers whose pictures the page may show as the ground of maps, such as `https://tile.example.org`.
    pub tile_origins: Vec<Origin>,
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
    /// Timeout of the head of a request from its first byte on, and between two requests, in milliseconds.
    pub head_timeout_ms: u64,
    /// Timeout of the body of a request, in milliseconds.
    pub body_timeout_ms: u64,
    /// Limit for unsent bytes of one WebSocket in the system's send buffer; more stays in the topic log.
    pub send_buffer_bytes: usize,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            embed_origins: Vec::new(),
            tile_origins: Vec::new(),
            // A year: what OWASP ASVS 5.0 asks for (3.4.1).
            hsts_seconds: 31_536_000,
            trusted_proxies: Vec::new(),
            forwarded_header: ForwardedHeader::default(),
            // A page sends some tens of requests when it is opened, and a few in a minute later.
            rate_limit: 100,
            rate_limit_burst: 500,
            rate_limit_expensive: 5,
            rate_limit_expensive_burst: 30,
            max_connections: 50_000,
            max_connections_per_address: 0,
            head_timeout_ms: 10_000,
            body_timeout_ms: 10_000,
            send_buffer_bytes: 128 * 1024,
        }
    }
}
