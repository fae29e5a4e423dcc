//! The doors' bounds, each with its reason (`[doors]`).

use serde::{Deserialize, Serialize};

/// Addresses and limits of everything a browser or a script can reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DoorsConfig {
    /// Address of page, API and WebSocket.
    pub listen: String,
    /// Origins that may open a WebSocket or send a command besides the page's own, such as `https://ops.example.org`.
    pub allowed_origins: Vec<String>,
    /// WebSockets open at the same time.
    pub max_websockets: usize,
    /// Subscriptions on one WebSocket.
    pub max_subscriptions: usize,
}

impl Default for DoorsConfig {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7070".into(),
            allowed_origins: Vec::new(),
            max_websockets: 10_000,
            max_subscriptions: 1_000,
        }
    }
}
