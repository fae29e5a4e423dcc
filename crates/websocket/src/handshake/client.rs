//! The client's side of the opening handshake (RFC 6455 4.1): the bytes of the request, and the check of the response.
//!
//! ```
//! use oasis_websocket::{handshake::client::Request, random};
//!
//! let request = Request::new("ws://dac.example:7070/ws", random()?)?.protocol("oasis.v1")?;
//! let bytes = request.to_bytes();
//! assert!(bytes.starts_with(b"GET /ws HTTP/1.1\r\nHost: dac.example:7070\r\n"));
//! // Bytes of the server, as far as they have come.
//! assert_eq!(request.check(b"HTTP/1.1 101 Switching Pro")?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{accept, head_end, is_value, parse_headers, tokens, values};
use base64::{Engine, prelude::BASE64_STANDARD};
use std::fmt;

/// Longest head of a response.
pub const MAX_RESPONSE_HEAD_BYTES: usize = 16 * 1024;
/// Each status line begins with it (RFC 9112 4).
const VERSION_PREFIX: &[u8] = b"HTTP/1.";
/// Status of a server that speaks WebSocket from now on.
const SWITCHING_PROTOCOLS: u16 = 101;
/// Headers that [`Request::new`] writes, besides those of WebSocket.
const OWN_HEADERS: [&str; 3] = ["host", "upgrade", "connection"];

/// Why a request cannot be written. The errors show no values: they may be secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Another scheme, no host, or characters that must be encoded.
    #[error("no URL of a WebSocket: use ws://HOST:PORT/PATH or wss://HOST:PORT/PATH (RFC 6455 3)")]
    Url,
    /// The name of a header is not a token.
    #[error("no name of a header: {0:?} (RFC 9110 5.1)")]
    Name(String),
    /// The value of a header has control characters, such as a line break.
    #[error("the value of the header {0} has control characters (RFC 9110 5.5)")]
    Value(String),
    /// The handshake itself writes this header.
    #[error("the handshake itself writes the header {0} (RFC 6455 4.1)")]
    OwnHeader(String),
    /// The name of a subprotocol is not a token.
    #[error("no name of a subprotocol: {0:?} (RFC 6455 4.1)")]
    Protocol(String),
}

/// Why a response opens no WebSocket.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResponseError {
    /// The server speaks something else.
    #[error("not an HTTP/1.1 response (RFC 9112 4)")]
    NoHttp,
    /// Broken headers, or another version of HTTP.
    #[error("a malformed head of an HTTP/1.1 response (RFC 9112 4, 5)")]
    Syntax,
    /// The head is longer than [`MAX_RESPONSE_HEAD_BYTES`].
    #[error("a response head over {0} bytes")]
    TooLong(usize),
    /// The server refuses, or redirects.
    #[error("HTTP error: {0}")]
    Status(Status),
    /// No `Upgrade`, or to another protocol.
    #[error("the response lacks Upgrade: websocket (RFC 6455 4.1)")]
    Upgrade,
    /// No `Connection: Upgrade`.
    #[error("the response lacks Connection: Upgrade (RFC 6455 4.1)")]
    Connection,
    /// No answer to the key, or to another one.
    #[error("Sec-WebSocket-Accept does not answer the key (RFC 6455 4.1)")]
    Accept,
    /// The server uses an extension that the client did not offer: it offers none.
    #[error("Sec-WebSocket-Extensions names an extension that was not offered (RFC 6455 4.1)")]
    Extension,
    /// Another subprotocol than the offered one, or none.
    #[error("Sec-WebSocket-Protocol is not the offered subprotocol (RFC 6455 4.1)")]
    Protocol,
}

/// The status of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Three digits: 401 if the server asks for an authorization.
    pub code: u16,
    /// The server's words for it, in printable ASCII; empty if it has none.
    pub phrase: String,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.phrase.as_str() {
            "" => write!(f, "{}", self.code),
            phrase => write!(f, "{} {phrase}", self.code),
        }
    }
}

/// A request that opens a WebSocket. It has no `Debug`: headers may be secret.
#[derive(Clone)]
pub struct Request {
    /// The head without its empty line.
    head: String,
    /// The `Sec-WebSocket-Accept` that answers it.
    accept: String,
    protocol: Option<String>,
}

impl Request {
    /// A request for `ws://HOST:PORT/PATH` or `wss://`; without a port or path for the default ones. The key must be random (RFC 6455 4.1): see
    /// [`random`](crate::random).
    ///
    /// # Errors
    /// If the URL is malformed.
    pub fn new(url: &str, key: [u8; 16]) -> Result<Self, RequestError> {
        let (host, target) = split_url(url).ok_or(RequestError::Url)?;
        let slash = if target.starts_with('/') { "" } else { "/" };
        let key = BASE64_STANDARD.encode(key);
        let head = format!(
            "GET {slash}{target} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
        );
        Ok(Self { head, accept: accept(key.as_bytes()), protocol: None })
    }

    /// Offers this subprotocol alone, in place of one before. The server must choose it.
    ///
    /// # Errors
    /// If the name is not a token.
    pub fn protocol(mut self, name: &str) -> Result<Self, RequestError> {
        if !is_token(name) {
            return Err(RequestError::Protocol(name.into()));
        }
        self.protocol = Some(name.into());
        Ok(self)
    }

    /// Adds a header, such as `Authorization`.
    ///
    /// # Errors
    /// If its name or value would break the syntax, or the handshake itself writes this header.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, RequestError> {
        if !is_token(name) {
            return Err(RequestError::Name(name.into()));
        }
        if !is_value(value) {
            return Err(RequestError::Value(name.into()));
        }
        let lower = name.to_ascii_lowercase();
        if OWN_HEADERS.contains(&lower.as_str()) || lower.starts_with("sec-websocket-") {
            return Err(RequestError::OwnHeader(name.into()));
        }
        self.head.extend([name, ": ", value, "\r\n"]);
        Ok(self)
    }

    /// Returns the bytes of the request.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        if let Some(name) = &self.protocol {
            bytes.extend(["Sec-WebSocket-Protocol: ", name, "\r\n"]);
        }
        bytes.push_str("\r\n");
        bytes.into()
    }

    /// Checks the response, as far as it has come. Returns the size of its head: frames follow it. Returns none while it is incomplete.
    ///
    /// # Errors
    /// If the response opens no WebSocket. The first bytes decide whether it is HTTP.
    pub fn check(&self, bytes: &[u8]) -> Result<Option<usize>, ResponseError> {
        if bytes.iter().zip(VERSION_PREFIX).any(|(byte, expected)| byte != expected) {
            return Err(ResponseError::NoHttp);
        }
        let end = head_end(bytes, MAX_RESPONSE_HEAD_BYTES).map_err(ResponseError::TooLong)?;
        let Some(head) = end.and_then(|end| bytes.get(..end)) else { return Ok(None) };
        // Values may have any bytes (RFC 9110 5.5), but those that are checked are ASCII.
        let text = String::from_utf8_lossy(head);
        let mut lines = text.split("\r\n");
        check_status(lines.next().unwrap_or_default())?;
        self.check_headers(&parse_headers(lines).ok_or(ResponseError::Syntax)?)?;
        Ok(Some(head.len() + 4))
    }

    fn check_headers(&self, headers: &[(&str, &[u8])]) -> Result<(), ResponseError> {
        let headers = headers.iter().copied();
        let mut upgrades = tokens(headers.clone(), "upgrade").peekable();
        if upgrades.peek().is_none() || !upgrades.all(|token| token.eq_ignore_ascii_case("websocket")) {
            return Err(ResponseError::Upgrade);
        }
        if !tokens(headers.clone(), "connection").any(|token| token.eq_ignore_ascii_case("upgrade")) {
            return Err(ResponseError::Connection);
        }
        // A header that must not occur twice is wrong if it does.
        if !values(headers.clone(), "sec-websocket-accept").eq([self.accept.as_bytes()]) {
            return Err(ResponseError::Accept);
        }
        if values(headers.clone(), "sec-websocket-extensions").next().is_some() {
            return Err(ResponseError::Extension);
        }
        let offered = self.protocol.iter().map(String::as_bytes);
        match values(headers, "sec-websocket-protocol").eq(offered) {
            true => Ok(()),
            false => Err(ResponseError::Protocol),
        }
    }
}

/// Checks a status line (RFC 9112 4).
fn check_status(line: &str) -> Result<(), ResponseError> {
    let (version, rest) = line.split_once(' ').ok_or(ResponseError::Syntax)?;
    let (code, phrase) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_code = code.len() == 3 && code.bytes().all(|digit| digit.is_ascii_digit());
    let code = code.parse().ok().filter(|_| is_code).ok_or(ResponseError::Syntax)?;
    match (code, version) {
        (SWITCHING_PROTOCOLS, "HTTP/1.1") => Ok(()),
        (SWITCHING_PROTOCOLS, _) => Err(ResponseError::Syntax),
        _ => {
            let is_printable = phrase.bytes().all(|byte| matches!(byte, b' '..=b'~'));
            let phrase = if is_printable { phrase.into() } else { String::new() };
            Err(ResponseError::Status(Status { code, phrase }))
        }
    }
}

/// Returns host and port, and path and query; the path may be empty. A fragment is for the client alone (RFC 6455 3).
fn split_url(url: &str) -> Option<(&str, &str)> {
    let rest = url.strip_prefix("ws://").or_else(|| url.strip_prefix("wss://"))?;
    let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
    let (host, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let is_valid =
        !host.is_empty() && !host.contains('@') && rest.bytes().all(|byte| byte.is_ascii_graphic());
    is_valid.then_some((host, target))
}

/// Whether this is a token (RFC 9110 5.6.2).
fn is_token(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handshake;
    use proptest::prelude::*;

    /// The response of RFC 6455 1.3.
    const RESPONSE: [&str; 5] = [
        "HTTP/1.1 101 Switching Protocols",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        "Sec-WebSocket-Protocol: chat",
    ];

    /// The request of RFC 6455 1.3, whose key encodes these letters.
    fn request() -> Request {
        let request =
            Request::new("ws://server.example.com:8080/chat?x=1#part", *b"the sample nonce").unwrap();
        request.protocol("chat").unwrap()
    }

    /// Checks these lines of a response against the request.
    fn check(lines: &[&str]) -> Result<Option<usize>, ResponseError> {
        request().check(format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes())
    }

    /// The response of the RFC with another line at this place.
    fn check_with(index: usize, line: &str) -> Result<Option<usize>, ResponseError> {
        let mut lines = RESPONSE;
        lines[index] = line;
        check(&lines)
    }

    #[test]
    fn the_request_of_the_rfc_is_written() {
        let request = request().header("Authorization", "Bearer abc").unwrap();
        let expected = "GET /chat?x=1 HTTP/1.1\r\nHost: server.example.com:8080\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer abc\r\n\
            Sec-WebSocket-Protocol: chat\r\n\r\n";
        assert_eq!(String::from_utf8(request.to_bytes()).unwrap(), expected);
    }

    #[test]
    fn the_request_is_accepted_by_our_server_and_its_response_by_the_client() {
        let request = request();
        let bytes = request.to_bytes();
        let (head, size) = handshake::Head::parse(&bytes, 1_000).unwrap().unwrap();
        let opening = handshake::check(head.method, head.headers()).unwrap();
        assert_eq!((size, opening.protocols.clone()), (bytes.len(), vec!["chat".into()]));
        let response = opening.response(Some("chat"));
        assert_eq!(request.check(response.as_bytes()), Ok(Some(response.len())));
    }

    #[test]
    fn a_url_names_host_and_target() {
        let head = |url: &str| {
            let request = Request::new(url, [0; 16])?;
            Ok(request.head.lines().take(2).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(head("ws://[::1]:80/ws"), Ok("GET /ws HTTP/1.1 Host: [::1]:80".into()));
        assert_eq!(head("wss://dac"), Ok("GET / HTTP/1.1 Host: dac".into()));
        assert_eq!(head("ws://dac?x"), Ok("GET /?x HTTP/1.1 Host: dac".into()));
        for url in
            ["http://dac/", "ws:///ws", "ws://a b/", "ws://dac/\r\nx: y", "ws://me@dac/", "ws://dac/ü", ""]
        {
            assert_eq!(head(url), Err(RequestError::Url), "{url}");
        }
    }

    #[test]
    fn no_name_or_value_adds_lines_to_a_request() {
        let refused = |name: &str, value: &str| request().header(name, value).map(|_| ()).unwrap_err();
        for value in ["a\r\nx: y", "a\nb", "a\rb", "a\0"] {
            assert_eq!(refused("Authorization", value), RequestError::Value("Authorization".into()));
        }
        for name in ["", "a b", "a:", "a\r\nb", "ü"] {
            assert_eq!(refused(name, "x"), RequestError::Name(name.into()));
            assert!(request().protocol(name).is_err(), "{name:?}");
        }
        for name in ["host", "Sec-WebSocket-Extensions", "Sec-WebSocket-Protocol", "UPGRADE"] {
            assert_eq!(refused(name, "x"), RequestError::OwnHeader(name.into()));
        }
    }

    #[test]
    fn a_response_cut_anywhere_waits_for_the_rest_and_frames_may_follow_it() {
        let response = format!("{}\r\n\r\n\u{1}frames", RESPONSE.join("\r\n"));
        let size = response.len() - "\u{1}frames".len();
        for length in 0..size {
            assert_eq!(request().check(&response.as_bytes()[..length]), Ok(None), "{length}");
        }
        assert_eq!(request().check(response.as_bytes()), Ok(Some(size)));
    }

    #[test]
    fn header_names_and_tokens_have_no_case_and_values_may_be_latin_1() {
        let mut response =
            b"HTTP/1.1 101\r\nUPGRADE: WebSocket\r\nconnection: keep-alive, UPGRADE\r\nServer: M\xfcller\r\n\
            sec-websocket-accept:s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\t\r\nsec-websocket-protocol: chat\r\n\r\n"
                .to_vec();
        assert_eq!(request().check(&response), Ok(Some(response.len())));
        response.truncate(response.len() - 2);
        assert_eq!(request().check(&response), Ok(None));
    }

    #[test]
    fn each_missing_or_wrong_header_has_its_error() {
        let errors = [
            ResponseError::Upgrade,
            ResponseError::Connection,
            ResponseError::Accept,
            ResponseError::Protocol,
        ];
        for (index, error) in (1..).zip(errors) {
            assert_eq!(check_with(index, "X: y"), Err(error), "{index}");
        }
        assert_eq!(check_with(1, "Upgrade: websocket, h2c"), Err(ResponseError::Upgrade));
        assert_eq!(check_with(2, "Connection: close"), Err(ResponseError::Connection));
        let other = "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        assert_eq!(check_with(3, other), Err(ResponseError::Accept));
        assert_eq!(check_with(4, "Sec-WebSocket-Protocol: superchat"), Err(ResponseError::Protocol));
        assert_eq!(check_with(4, "Sec-WebSocket-Protocol: chat, superchat"), Err(ResponseError::Protocol));
    }

    #[test]
    fn a_server_chooses_no_subprotocol_extension_or_second_answer_that_was_not_asked_for() {
        let with = |line| check(&[&RESPONSE[..], &[line]].concat());
        let extension = "Sec-WebSocket-Extensions: permessage-deflate";
        assert_eq!(with(extension), Err(ResponseError::Extension));
        assert_eq!(with(RESPONSE[3]), Err(ResponseError::Accept));
        assert_eq!(with(RESPONSE[4]), Err(ResponseError::Protocol));
        let plain = Request::new("ws://dac/ws", *b"the sample nonce").unwrap();
        let response = format!("{}\r\n\r\n", RESPONSE.join("\r\n"));
        assert_eq!(plain.check(response.as_bytes()), Err(ResponseError::Protocol));
    }

    #[test]
    fn a_second_status_line_and_other_broken_lines_are_refused() {
        for line in [RESPONSE[0], " folded: line", "no colon", ": no name", "X: a\nb", "X: \0"] {
            assert_eq!(check_with(4, line), Err(ResponseError::Syntax), "{line:?}");
        }
        for line in ["HTTP/1.0 101 Switching Protocols", "HTTP/1.1", "HTTP/1.1 1010", "HTTP/1.1 +10 x"] {
            assert_eq!(check_with(0, line), Err(ResponseError::Syntax), "{line:?}");
        }
    }

    #[test]
    fn another_status_is_returned_with_printable_words() {
        for (line, code, text) in [
            ("HTTP/1.1 401 Unauthorized", 401, "HTTP error: 401 Unauthorized"),
            ("HTTP/1.0 503 ", 503, "HTTP error: 503"),
            ("HTTP/1.1 200 \u{1b}[31mOK", 200, "HTTP error: 200"),
        ] {
            let error = check(&[line, "no header"]).unwrap_err();
            assert_eq!(error.to_string(), text);
            assert!(matches!(error, ResponseError::Status(status) if status.code == code), "{line:?}");
        }
    }

    #[test]
    fn bytes_of_another_protocol_are_refused_as_they_come() {
        for bytes in [&b"\x20\x00\x00\x00\x02{}"[..], b"SSH-2.0", b"HTTP/2", b"h"] {
            assert_eq!(request().check(bytes), Err(ResponseError::NoHttp), "{bytes:?}");
        }
    }

    #[test]
    fn a_head_without_end_is_refused_at_the_limit() {
        let mut head = b"HTTP/1.1 101 Switching Protocols\r\nX: ".to_vec();
        head.resize(MAX_RESPONSE_HEAD_BYTES - 1, b'x');
        assert_eq!(request().check(&head), Ok(None));
        head.push(b'x');
        assert_eq!(request().check(&head), Err(ResponseError::TooLong(MAX_RESPONSE_HEAD_BYTES)));
    }

    proptest! {
        #[test]
        fn no_response_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            for start in ["", "HTTP/1.1 101 \r\n"] {
                let _ = request().check(&[start.as_bytes(), &bytes, b"\r\n\r\n"].concat());
            }
        }
    }
}
