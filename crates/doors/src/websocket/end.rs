//! Why a WebSocket ends.

use std::{io, time::Duration};

/// A client that takes nothing for this long is gone; what it misses meanwhile stays in the log, not in its socket.
pub const STALL: Duration = Duration::from_secs(30);

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
    Protocol(&'static str),
    /// A command of 2012 that is none.
    #[error("{0}")]
    Command(String),
    /// Text that is not UTF-8.
    #[error("text that is not UTF-8")]
    Utf8,
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
            Self::Protocol(_) | Self::Command(_) => (1002, "websocket_protocol"),
            Self::Utf8 => (1007, "websocket_protocol"),
            Self::TooBig => (1009, "message_too_big"),
            Self::WrongKind(_) => (1003, "message_kind"),
            Self::Abuse(_) => (1008, "abuse"),
        };
        Some((code, Some(word)))
    }
}

impl From<io::Error> for End {
    /// A connection that breaks has nobody left to tell.
    fn from(_: io::Error) -> Self {
        Self::Client
    }
}
