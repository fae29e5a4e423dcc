//! As little HTTP as the experiment's clients need.

use super::super::calls::MAX_BODY;
use std::io::{self, ErrorKind};

/// Longest head of a request.
const MAX_HEAD: usize = 8 * 1024;

/// The head of an answer without an end.
pub const COMET_HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A whole request.
#[derive(Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// Path and query.
    pub target: String,
    /// Its body.
    pub body: String,
    /// Whether its answer is the last of the connection.
    pub is_last: bool,
}

impl HttpRequest {
    /// Takes a request from the beginning of what has come; none if it is not all there.
    pub fn take(bytes: &mut Vec<u8>) -> io::Result<Option<Self>> {
        const HEAD_END: &[u8] = b"\r\n\r\n";
        let Some(head) = bytes.windows(HEAD_END.len()).position(|window| window == HEAD_END) else {
            return if bytes.len() > MAX_HEAD { Err(ErrorKind::InvalidData.into()) } else { Ok(None) };
        };
        let text = String::from_utf8_lossy(bytes.get(..head).unwrap_or_default()).into_owned();
        let length = header(&text, "content-length").map_or(Ok(0), |value| value.parse::<usize>());
        let length = length.ok().filter(|length| *length <= MAX_BODY).ok_or(ErrorKind::InvalidData)?;
        let (start, end) = (head + HEAD_END.len(), head + HEAD_END.len() + length);
        let Some(body) = bytes.get(start..end) else { return Ok(None) };
        let body = String::from_utf8_lossy(body).into_owned();
        let mut words = text.lines().next().unwrap_or_default().split(' ');
        let (target, version) = (words.nth(1).unwrap_or_default().to_owned(), words.next());
        let connection = header(&text, "connection");
        let is_last = version != Some("HTTP/1.1")
            || connection.is_some_and(|value| value.eq_ignore_ascii_case("close"));
        bytes.drain(..end);
        Ok(Some(Self { target, body, is_last }))
    }
}

/// An answer with its head.
pub fn answer(body: &[u8], is_last: bool) -> Vec<u8> {
    let close = if is_last { "Connection: close\r\n" } else { "" };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{close}\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A part of an answer without an end (RFC 9112 section 7.1).
pub fn chunk(line: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", line.len()).as_bytes(), line, b"\r\n"].concat()
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_when_it_is_all_there() {
        let whole = b"POST /request HTTP/1.1\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbodyGET";
        let mut part = whole.get(..whole.len() - 5).unwrap().to_vec();
        assert_eq!(HttpRequest::take(&mut part).unwrap(), None);
        let mut bytes = whole.to_vec();
        let taken = HttpRequest { target: "/request".into(), body: "body".into(), is_last: true };
        assert_eq!(HttpRequest::take(&mut bytes).unwrap(), Some(taken));
        assert_eq!(bytes, b"GET");
    }

    #[test]
    fn endless_requests_are_refused() {
        assert!(HttpRequest::take(&mut vec![b'a'; MAX_HEAD + 1]).is_err());
        assert!(
            HttpRequest::take(&mut b"POST / HTTP/1.1\r\nContent-Length: 99999\r\n\r\n".to_vec()).is_err()
        );
    }
}
