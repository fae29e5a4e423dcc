//! A server of the Model Context Protocol (MCP), by which assistants read a DAC and, if they may, command its probes.
//!
//! A [`DacApi`] sends requests to the HTTP API of a DAC; [`answer`] answers a message of a client by such requests, so that an assistant can do what
//! its principal may do over HTTP, and nothing else. The DAC serves it at `POST /mcp`, and `oasis mcp` on standard input and output. Both eras of the
//! protocol are spoken: the handshake of the versions up to 2025-11-25, and the requests without a session of 2026-07-28.
//! Source: <https://modelcontextprotocol.io/specification>.
//!
//! ```
//! use oasis_mcp::{ApiError, ApiRequest, DacApi, Headers, answer};
//! use serde_json::{Value, json};
//!
//! struct Empty;
//!
//! impl DacApi for Empty {
//!     async fn send(&self, _: ApiRequest) -> Result<Value, ApiError> {
//!         Ok(json!({"instances": [], "next": null}))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let request = br#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_instances", "arguments": {}}}"#;
//! let answer = answer(&Empty, request, Headers::none()).await;
//! let message = answer.message.unwrap_or_default();
//! assert!(message["result"]["content"][0]["text"].as_str().unwrap_or_default().contains("instances"));
//! # }
//! ```

mod answers;
mod api;
mod bounded;
mod headers;
mod message;
mod resources;
mod server;
mod tools;
mod versions;

#[cfg(test)]
mod tests;

pub use answers::Answer;
pub use api::{ApiError, ApiRequest, DacApi};
pub use headers::Headers;
pub use server::answer;

/// Longest message of a client, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 256 * 1024;
