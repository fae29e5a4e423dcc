//! Calls that are no unary calls, or of no method here.

use super::status::{GrpcCode, GrpcStatus};

/// Why a call is refused before its route sees it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The path names no method.
    #[error("{0:?} is no method of this address")]
    Method(String),
    /// The client compresses in a way that is not known here.
    #[error("grpc-encoding {0:?} is not known here: use gzip or identity")]
    Encoding(String),
    /// A message is compressed, and no header says how.
    #[error("the message is compressed, but the call has no grpc-encoding")]
    NoEncoding,
    /// The first byte of a message is a flag.
    #[error("the first byte of the message is {0}: neither 0 nor 1")]
    Flag(u8),
    /// The call ends before its first message.
    #[error("the call has no message")]
    NoMessage,
    /// Bytes follow the first message.
    #[error("the call has more than one message")]
    SeveralMessages,
    /// The call ends within its message.
    #[error("the call ends {0} bytes before the end of its message")]
    Truncated(usize),
    /// The connection or the stream has ended, or the message is late.
    #[error("the message has not arrived whole and in time: send it again")]
    Interrupted,
}

impl From<CallError> for GrpcStatus {
    /// Gives each error the code of "Status codes and their use in gRPC": none of them but the last may be repeated.
    fn from(error: CallError) -> Self {
        let code = match error {
            CallError::Method(_)
            | CallError::Encoding(_)
            | CallError::NoMessage
            | CallError::SeveralMessages => GrpcCode::Unimplemented,
            CallError::NoEncoding | CallError::Flag(_) | CallError::Truncated(_) => GrpcCode::Internal,
            CallError::Interrupted => GrpcCode::Unavailable,
        };
        Self::new(code, error.to_string())
    }
}
