//! Every rule that a peer can break, and every reason not to send, with its section of RFC 6455.

use crate::CloseCode;

/// Why a connection fails (RFC 6455 7.1.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A reserved bit is set, and no extension gives it a meaning.
    #[error("reserved bits without an extension (RFC 6455 5.2)")]
    ReservedBits,
    /// An opcode without a meaning.
    #[error("a frame with a reserved opcode (RFC 6455 5.2)")]
    ReservedOpcode,
    /// A length that fewer bytes could express.
    #[error("a length in more bytes than it needs (RFC 6455 5.2)")]
    LongLength,
    /// A client's frame without a mask.
    #[error("a frame without a mask (RFC 6455 5.1)")]
    NoMask,
    /// A server's frame with a mask.
    #[error("a server's frame with a mask (RFC 6455 5.1)")]
    Mask,
    /// A control frame that is fragmented or too long.
    #[error("a control frame in fragments or over 125 bytes (RFC 6455 5.5)")]
    Control,
    /// A continuation frame without a message to continue.
    #[error("a continuation without a message (RFC 6455 5.4)")]
    Continuation,
    /// A data frame before the last fragment of another message.
    #[error("a message inside another one (RFC 6455 5.4)")]
    Interleaved,
    /// A close frame of one byte.
    #[error("half a close code (RFC 6455 5.5.1)")]
    CloseLength,
    /// A close code that must not be sent.
    #[error("a close code that must not be sent (RFC 6455 7.4)")]
    CloseCode,
    /// A text message or close reason that is not UTF-8.
    #[error("text that is not UTF-8 (RFC 6455 8.1)")]
    Utf8,
    /// A frame longer than allowed.
    #[error("a frame over {0} bytes (RFC 6455 10.4)")]
    FrameTooLong(usize),
    /// A message longer than allowed.
    #[error("a message over {0} bytes (RFC 6455 10.4)")]
    MessageTooLong(usize),
    /// A message in more fragments than its length allows.
    #[error("a message in over {0} short fragments (RFC 6455 10.4)")]
    TooManyFragments(usize),
    /// The peer leaves too much output unread.
    #[error("more than {0} bytes of output unread (RFC 6455 10.4)")]
    OutputFull(usize),
    /// This side sends a message after its close frame.
    #[error("a message after the close frame (RFC 6455 5.5.1)")]
    Closed,
    /// A client without random numbers cannot send.
    #[error("no random numbers of the system for a key (RFC 6455 10.3)")]
    NoRandom,
}

impl Error {
    /// The code to close the connection with.
    pub fn close_code(self) -> CloseCode {
        match self {
            Self::Utf8 => CloseCode::INVALID_DATA,
            Self::FrameTooLong(_) | Self::MessageTooLong(_) => CloseCode::TOO_BIG,
            Self::OutputFull(_) | Self::TooManyFragments(_) => CloseCode::POLICY,
            _ => CloseCode::PROTOCOL,
        }
    }
}
