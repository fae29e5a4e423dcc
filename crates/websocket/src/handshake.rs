//! The opening handshake (RFC 6455 4): a server checks headers of any HTTP library, or bytes where there is none; a [`client`] writes the request
//! and checks the response.

pub mod client;

use base64::{Engine, prelude::BASE64_STANDARD};
use sha1_smol::Sha1;

/// Appended to a client's key (RFC 6455 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Why a request opens no WebSocket. Answered with status 400.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// Another method, or a header is missing.
    #[error("connect with GET, Connection: Upgrade and Upgrade: websocket (RFC 6455 4.2.1)")]
    NoUpgrade,
    /// Another version of the protocol.
    #[error("Sec-WebSocket-Version must be 13 (RFC 6455 4.2.1)")]
    Version,
    /// The key is missing or has another length.
    #[error("Sec-WebSocket-Key must be 16 bytes in base64 (RFC 6455 4.2.1)")]
    Key,
    /// Not the head of an HTTP/1.1 request.
    #[error("not an HTTP/1.1 request (RFC 9112 3)")]
    Syntax,
    /// The head is longer than allowed.
    #[error("a request head over {0} bytes")]
    TooLong(usize),
}

/// A request that opens a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The value of `Sec-WebSocket-Accept`.
    pub accept: String,
    /// Subprotocols that the client offers, in its order of preference.
    pub protocols: Vec<String>,
}

impl Opening {
    /// The answer of a server without an HTTP library: status 101 with the subprotocol that it chose.
    pub fn response(&self, protocol: Option<&str>) -> String {
        let protocol = protocol.map(|name| format!("Sec-WebSocket-Protocol: {name}\r\n")).unwrap_or_default();
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {}\r\n{protocol}\r\n",
            self.accept
        )
    }
}

/// Checks a request by its method and headers.
///
/// # Errors
/// If it opens no WebSocket; the error says what is missing.
pub fn check<'a>(
    method: &str,
    headers: impl Iterator<Item = (&'a str, &'a [u8])> + Clone,
) -> Result<Opening, HandshakeError> {
    let has_token =
        |name, wanted: &str| tokens(headers.clone(), name).any(|token| token.eq_ignore_ascii_case(wanted));
    if method != "GET" || !has_token("connection", "upgrade") || !has_token("upgrade", "websocket") {
        return Err(HandshakeError::NoUpgrade);
    }
    let first = |name| values(headers.clone(), name).next();
    if first("sec-websocket-version") != Some(&b"13"[..]) {
        return Err(HandshakeError::Version);
    }
    let key = first("sec-websocket-key").unwrap_or_default();
    if !BASE64_STANDARD.decode(key).is_ok_and(|nonce| nonce.len() == 16) {
        return Err(HandshakeError::Key);
    }
    let protocols = tokens(headers, "sec-websocket-protocol").map(str::to_owned).collect();
    Ok(Opening { accept: accept(key), protocols })
}

/// Returns the `Sec-WebSocket-Accept` for a client's key (RFC 6455 4.2.2).
fn accept(key: &[u8]) -> String {
    let mut digest = Sha1::from(key);
    digest.update(GUID);
    BASE64_STANDARD.encode(digest.digest().bytes())
}

fn values<'a>(
    headers: impl Iterator<Item = (&'a str, &'a [u8])>,
    name: &'static str,
) -> impl Iterator<Item = &'a [u8]> {
    headers.filter(move |(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// The comma-separated tokens of all headers of this name.
fn tokens<'a>(
    headers: impl Iterator<Item = (&'a str, &'a [u8])>,
    name: &'static str,
) -> impl Iterator<Item = &'a str> {
    values(headers, name)
        .filter_map(|value| std::str::from_utf8(value).ok())
        .flat_map(|value| value.split(',').map(str::trim))
}

/// Returns where the head that `bytes` begin with ends, before its empty line; none while it is incomplete. Fails with `most` if it is longer than
/// that many bytes.
fn head_end(bytes: &[u8], most: usize) -> Result<Option<usize>, usize> {
    let end = bytes.windows(4).take(most).position(|window| window == b"\r\n\r\n");
    match end.filter(|end| end + 4 <= most) {
        None if bytes.len() >= most => Err(most),
        end => Ok(end),
    }
}

/// Parses header lines; none if one breaks the syntax (RFC 9112 5).
fn parse_headers<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Vec<(&'a str, &'a [u8])>> {
    let header = |line: &'a str| {
        let (name, value) = line.split_once(':')?;
        let is_name = !name.is_empty() && !name.contains([' ', '\t']);
        (is_name && is_value(value)).then_some((name, value.trim_matches([' ', '\t']).as_bytes()))
    };
    lines.map(header).collect()
}

/// Whether a header may have this value: without control characters (RFC 9110 5.5).
fn is_value(text: &str) -> bool {
    !text.contains(|letter: char| letter.is_ascii_control() && letter != '\t')
}

/// The head of an HTTP/1.1 request, for servers without an HTTP library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head<'a> {
    /// `GET`
    pub method: &'a str,
    /// Path and query.
    pub target: &'a str,
    headers: Vec<(&'a str, &'a [u8])>,
}

impl<'a> Head<'a> {
    /// Parses the head that `bytes` begin with, and returns its size with it; none while it is incomplete.
    ///
    /// # Errors
    /// If it is no such head, or longer than `most` bytes.
    pub fn parse(bytes: &'a [u8], most: usize) -> Result<Option<(Self, usize)>, HandshakeError> {
        let Some(end) = head_end(bytes, most).map_err(HandshakeError::TooLong)? else { return Ok(None) };
        let head = bytes.get(..end).unwrap_or_default();
        let text = std::str::from_utf8(head).map_err(|_| HandshakeError::Syntax)?;
        let mut lines = text.split("\r\n");
        let mut request = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some("HTTP/1.1"), None) =
            (request.next(), request.next(), request.next(), request.next())
        else {
            return Err(HandshakeError::Syntax);
        };
        let headers = parse_headers(lines).ok_or(HandshakeError::Syntax)?;
        Ok(Some((Self { method, target, headers }, end + 4)))
    }

    /// Names and values, in order.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> + Clone {
        self.headers.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADERS: [(&str, &[u8]); 5] = [
        ("connection", b"keep-alive, Upgrade"),
        ("Upgrade", b"WebSocket"),
        ("sec-websocket-version", b"13"),
        ("sec-websocket-key", b"dGhlIHNhbXBsZSBub25jZQ=="),
        ("sec-websocket-protocol", b"chat, superchat"),
    ];

    #[test]
    fn the_key_of_the_rfc_has_its_answer() {
        let opening = check("GET", HEADERS.into_iter()).unwrap();
        assert_eq!(opening.accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(opening.protocols, ["chat", "superchat"]);
        assert!(opening.response(Some("chat")).ends_with("\r\nSec-WebSocket-Protocol: chat\r\n\r\n"));
        assert_eq!(check("POST", HEADERS.into_iter()), Err(HandshakeError::NoUpgrade));
    }

    #[test]
    fn each_missing_header_has_its_error() {
        let without = |missing: usize| {
            let kept = HEADERS.into_iter().enumerate().filter(move |(index, _)| *index != missing);
            check("GET", kept.map(|(_, header)| header)).map(|_| ())
        };
        let expected = [
            Err(HandshakeError::NoUpgrade),
            Err(HandshakeError::NoUpgrade),
            Err(HandshakeError::Version),
            Err(HandshakeError::Key),
            Ok(()),
        ];
        assert_eq!([0, 1, 2, 3, 4].map(without), expected);
    }

    #[test]
    fn a_head_cut_anywhere_waits_for_the_rest() {
        let request = b"GET /chat?x=1 HTTP/1.1\r\nHost: example.org\r\nUpgrade:websocket\r\n\r\nrest";
        let size = request.len() - 4;
        for length in 0..size {
            assert_eq!(Head::parse(&request[..length], 1_000), Ok(None), "{length}");
        }
        let (head, used) = Head::parse(request, 1_000).unwrap().unwrap();
        assert_eq!((head.method, head.target, used), ("GET", "/chat?x=1", size));
        let headers: Vec<_> = head.headers().collect();
        assert_eq!(headers, [("Host", &b"example.org"[..]), ("Upgrade", b"websocket")]);
        assert_eq!(Head::parse(request, size - 1), Err(HandshakeError::TooLong(size - 1)));
    }

    #[test]
    fn a_head_that_is_not_http_is_refused() {
        for head in [
            "GET /\r\n\r\n",
            "GET / HTTP/1.0\r\n\r\n",
            "GET / HTTP/1.1\r\nname\r\n\r\n",
            "GET / HTTP/1.1\r\nname: two\nlines\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert_eq!(Head::parse(head.as_bytes(), 1_000), Err(HandshakeError::Syntax), "{head:?}");
        }
    }
}
