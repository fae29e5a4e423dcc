//! Requests by which subscribers subscribe.

use crate::servers::{INSTANCE, NODE, register};
use clap::ValueEnum;
use serde_json::json;
use std::net::SocketAddr;

/// Protocol of a subscription to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Dialect {
    /// Every connection receives everything.
    Plain,
    /// The protocol of 2012: one command of 256 bytes.
    Eisa,
    /// `oasis.v1`.
    Native,
}

impl Dialect {
    /// The handshake, with the example key of RFC 6455. `header` is another line of it, or empty.
    pub fn request(self, server: SocketAddr, header: &str) -> Vec<u8> {
        let subprotocol = match self {
            Self::Plain | Self::Eisa => "",
            Self::Native => "Sec-WebSocket-Protocol: oasis.v1\r\n",
        };
        format!(
            "GET /ws HTTP/1.1\r\nHost: {server}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{subprotocol}{header}\r\n"
        )
        .into_bytes()
    }

    /// The message after the handshake, if any.
    pub fn subscribe(self) -> anyhow::Result<Vec<u8>> {
        Ok(match self {
            Self::Plain => Vec::new(),
            Self::Eisa => frame(0x82, &register()?),
            Self::Native => {
                let request = json!({"op": "subscribe", "id": 1, "node": NODE, "instance": INSTANCE});
                frame(0x81, request.to_string().as_bytes())
            }
        })
    }
}

/// A frame as clients send it, under a mask of zeros.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    match payload.len() {
        length @ 0..=125 => out.push(0x80 | length as u8),
        length => {
            out.push(0x80 | 126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
    }
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(payload);
    out
}
