//! Messages in a stream: a header with the length, then JSON.

use lsp_server::Message;
use std::io::{self, BufRead, Read};

/// Longest message.
const MAX_LENGTH: usize = 64 << 20;

/// Longest line of a header.
const MAX_HEADER: u64 = 4096;

/// A frame, or an error in one.
#[derive(Debug)]
pub enum Frame {
    /// A message.
    Message(Box<Message>),
    /// A well-formed frame whose content is not a message.
    Nonsense(String),
}

/// Returns the next frame, or `None` at the end of the stream. After an error the start of the next frame is unknown.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Frame>> {
    let Some(length) = header(input)? else { return Ok(None) };
    let mut body = Vec::new();
    input.by_ref().take(length as u64).read_to_end(&mut body)?;
    if body.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(match serde_json::from_slice(&body) {
        Ok(message) => Frame::Message(Box::new(message)),
        Err(error) => Frame::Nonsense(error.to_string()),
    }))
}

/// The length in the header.
fn header(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if !line.ends_with(b"\n") {
            return Err(wrong("unterminated header line"));
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(':').ok_or_else(|| wrong("header line without a colon"))?;
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok();
        }
    }
    match length {
        Some(length) if length <= MAX_LENGTH => Ok(Some(length)),
        Some(_) => Err(wrong("message too long")),
        None => Err(wrong("missing Content-Length header")),
    }
}

fn wrong(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(mut bytes: &[u8]) -> (Vec<String>, Option<String>) {
        let mut frames = Vec::new();
        loop {
            match read(&mut bytes) {
                Ok(None) => return (frames, None),
                Ok(Some(Frame::Message(message))) => frames.push(serde_json::to_string(&message).unwrap()),
                Ok(Some(Frame::Nonsense(_))) => frames.push("nonsense".into()),
                Err(error) => return (frames, Some(error.to_string())),
            }
        }
    }

    #[test]
    fn messages_follow_one_another() {
        let exit = r#"{"method":"exit"}"#;
        let stream = format!(
            "Content-Length: 17\r\n\r\n{exit}content-length:2\r\nContent-Type: x\r\n\r\n{{}}Content-Length: 17\r\n\r\n{exit}"
        );
        assert_eq!(read_all(stream.as_bytes()), (vec![exit.into(), "nonsense".into(), exit.into()], None));
    }

    #[test]
    fn a_broken_stream_is_an_error() {
        for stream in [
            "Content-Length: 17\r\n\r\n{",
            "Content-Length: 99999999999999\r\n\r\n",
            "Content-Length: -1\r\n\r\n",
            "\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "no end",
        ] {
            let (frames, error) = read_all(stream.as_bytes());
            assert!(frames.is_empty() && error.is_some(), "{stream}");
        }
        assert!(read_all(&[b'a'; 10_000]).1.is_some());
    }
}
