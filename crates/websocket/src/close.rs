//! Close frames (RFC 6455 5.5.1, 7.4).

use crate::{
    Error,
    frame::{self, MAX_CONTROL, Opcode},
};

/// Why a connection is closed, as a number (RFC 6455 7.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// The purpose of the connection is fulfilled.
    pub const NORMAL: Self = Self(1000);
    /// The server shuts down, or the page was left.
    pub const GOING_AWAY: Self = Self(1001);
    /// The peer violated the protocol.
    pub const PROTOCOL: Self = Self(1002);
    /// The peer sent a kind of message that this side cannot use.
    pub const UNSUPPORTED: Self = Self(1003);
    /// The peer sent data that is inconsistent with its kind, such as text that is not UTF-8.
    pub const INVALID_DATA: Self = Self(1007);
    /// The peer violated a policy.
    pub const POLICY: Self = Self(1008);
    /// The peer sent a message that is too big.
    pub const TOO_BIG: Self = Self(1009);

    /// Whether a close frame may contain this code: defined by the RFC, registered, or private (7.4.2).
    pub fn can_be_sent(self) -> bool {
        matches!(self.0, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }
}

/// Parses the payload of a close frame: its code, if it has one, and its reason.
pub(crate) fn parse(payload: &[u8]) -> Result<(Option<CloseCode>, &str), Error> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return if payload.is_empty() { Ok((None, "")) } else { Err(Error::CloseLength) };
    };
    let code = CloseCode(u16::from_be_bytes(*code));
    if !code.can_be_sent() {
        return Err(Error::CloseCode);
    }
    let reason = std::str::from_utf8(reason).map_err(|_| Error::Utf8)?;
    Ok((Some(code), reason))
}

/// The code that answers a peer's close frame: the same one, or 1000 if it has none.
pub fn reply(code: Option<CloseCode>) -> CloseCode {
    code.unwrap_or(CloseCode::NORMAL)
}

/// Returns the payload of a close frame. A reason that is too long is cut between characters.
pub fn payload(CloseCode(code): CloseCode, reason: &str) -> Vec<u8> {
    let mut payload = code.to_be_bytes().to_vec();
    let most = reason.len().min(MAX_CONTROL - payload.len());
    let end = (0..=most).rev().find(|&end| reason.is_char_boundary(end)).unwrap_or_default();
    payload.extend_from_slice(reason.get(..end).unwrap_or_default().as_bytes());
    payload
}

/// Appends a server's close frame.
pub fn write(code: CloseCode, reason: &str, out: &mut Vec<u8>) {
    frame::write_message(Opcode::Close, &payload(code, reason), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let reason = "ü".repeat(100);
        let cut = payload(CloseCode::POLICY, &reason);
        assert_eq!(cut.len(), 2 + 122);
        assert_eq!(parse(&cut), Ok((Some(CloseCode::POLICY), &reason[..122])));
        assert_eq!(payload(CloseCode::NORMAL, "bye"), b"\x03\xe8bye");
    }

    #[test]
    fn codes_for_local_use_cannot_be_sent() {
        for code in [0, 999, 1004, 1005, 1006, 1015, 2999, 5000] {
            assert!(!CloseCode(code).can_be_sent(), "{code}");
        }
        for code in [1000, 1003, 1007, 1014, 3000, 4999] {
            assert!(CloseCode(code).can_be_sent(), "{code}");
        }
    }
}
