//! The writing half of a WebSocket, with its limits.

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use bytes::Bytes;
use futures_util::{SinkExt, stream::SplitSink};
use serde::Serialize;
use std::time::Duration;

/// A client that takes nothing for this long is gone; what it misses meanwhile stays in the log, not in its socket.
const STALL: Duration = Duration::from_secs(30);

/// Why a connection ends. `docs/reference/websocket.md` has the table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum End {
    /// The client closed, or its connection broke.
    #[error("closed by the client")]
    Client,
    /// The DAC shuts down.
    #[error("the DAC shuts down")]
    ShuttingDown,
    /// The client takes nothing.
    #[error("the client took nothing for {limit} s", limit = STALL.as_secs())]
    Stalled,
    /// RFC 6455 was violated.
    #[error("{0}")]
    Protocol(String),
    /// A message larger than allowed.
    #[error("a message over 64 KiB")]
    TooBig,
    /// A kind of message that this protocol has no use for.
    #[error("{0}")]
    WrongKind(&'static str),
    /// Too much that made no sense.
    #[error("{0}")]
    Abuse(&'static str),
}

impl End {
    /// WebSocket close code and the word it is counted under; none if there is nobody to tell, or nothing to count.
    pub fn code(&self) -> Option<(u16, Option<&'static str>)> {
        let (code, word) = match self {
            Self::Client => return None,
            Self::ShuttingDown => return Some((1001, None)),
            Self::Stalled => (1008, "stalled"),
            Self::Protocol(_) => (1002, "websocket_protocol"),
            Self::TooBig => (1009, "message_too_big"),
            Self::WrongKind(_) => (1003, "message_kind"),
            Self::Abuse(_) => (1008, "abuse"),
        };
        Some((code, Some(word)))
    }
}

impl From<axum::Error> for End {
    fn from(error: axum::Error) -> Self {
        let text = error.to_string();
        // The library tells kinds of errors apart only by their text.
        if text.contains("without closing handshake") {
            Self::Client
        } else if text.contains("too long") || text.contains("too big") || text.contains("Space limit") {
            Self::TooBig
        } else if text.contains("protocol")
            || text.contains("UTF-8")
            || text.contains("utf-8")
            || text.contains("frame")
        {
            Self::Protocol(text)
        } else {
            Self::Client
        }
    }
}

/// Writes messages; each either gets through or ends the connection.
#[derive(Debug)]
pub struct Outgoing(SplitSink<WebSocket, Message>);

impl Outgoing {
    /// The writing half.
    pub fn new(sink: SplitSink<WebSocket, Message>) -> Self {
        Self(sink)
    }

    /// Adds a binary message to what the next [`Outgoing::flush`] writes.
    pub async fn binary(&mut self, payload: Bytes) -> Result<(), End> {
        self.within(Message::Binary(payload)).await
    }

    /// Adds a control message.
    pub async fn json(&mut self, message: &impl Serialize) -> Result<(), End> {
        let text = serde_json::to_string(message).map_err(|error| End::Protocol(error.to_string()))?;
        self.within(Message::Text(text.into())).await
    }

    /// Writes what was added.
    pub async fn flush(&mut self) -> Result<(), End> {
        tokio::time::timeout(STALL, self.0.flush()).await.map_err(|_| End::Stalled)?.map_err(End::from)
    }

    /// Says goodbye.
    pub async fn close(mut self, end: &End) {
        let Some((code, _)) = end.code() else { return };
        let frame = CloseFrame { code, reason: end.to_string().into() };
        // A courtesy, so it must not take long.
        let _ = tokio::time::timeout(Duration::from_secs(1), self.0.send(Message::Close(Some(frame)))).await;
    }

    async fn within(&mut self, message: Message) -> Result<(), End> {
        tokio::time::timeout(STALL, self.0.feed(message)).await.map_err(|_| End::Stalled)?.map_err(End::from)
    }
}
