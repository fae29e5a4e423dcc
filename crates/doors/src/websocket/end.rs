//! Why a WebSocket ends.

use oasis_websocket::{CloseCode, Error};
use std::{io, time::Duration};

/// Timeout of a client that does not read. Its next samples stay in the log, not in its socket.
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
    #[error(transparent)]
    Protocol(Error),
    /// A command of 2012 that is none.
    #[error("{0}")]
    Command(String),
    /// A kind of message that this protocol has no use for.
    #[error("{0}")]
    WrongKind(&'static str),
    /// The client's rights have ended.
    #[error("{0}")]
    Access(String),
    /// Too much that made no sense.
    #[error("{0}")]
    Abuse(&'static str),
}

impl End {
    /// Returns the WebSocket close code and the word for its counter; `None` if the client is gone, or nothing is counted.
    pub fn code(&self) -> Option<(CloseCode, Option<&'static str>)> {
        let (code, word) = match self {
            Self::Client => return None,
            Self::ShuttingDown => return Some((CloseCode::GOING_AWAY, None)),
            Self::Stalled => (CloseCode::POLICY, "stalled"),
            Self::Protocol(Error::FrameTooLong(_) | Error::MessageTooLong(_)) => {
                (CloseCode::TOO_BIG, "message_too_big")
            }
            Self::Protocol(error @ Error::TooManyFragments(_)) => (error.close_code(), "too_many_fragments"),
            Self::Protocol(error) => (error.close_code(), "websocket_protocol"),
            Self::Command(_) => (CloseCode::PROTOCOL, "websocket_protocol"),
            Self::WrongKind(_) => (CloseCode::UNSUPPORTED, "message_kind"),
            Self::Access(_) => (CloseCode(4401), "access_ended"),
            Self::Abuse(_) => (CloseCode::POLICY, "abuse"),
        };
        Some((code, Some(word)))
    }
}

impl From<io::Error> for End {
    /// A broken connection cannot receive a close frame.
    fn from(_: io::Error) -> Self {
        Self::Client
    }
}

impl From<Error> for End {
    /// A client that leaves too much output unread is stalled.
    fn from(error: Error) -> Self {
        match error {
            Error::OutputFull(_) => Self::Stalled,
            error => Self::Protocol(error),
        }
    }
}
