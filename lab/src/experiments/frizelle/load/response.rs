//! Reads an HTTP response as it comes, line by line. Knows nothing of sockets.

use std::{mem, str};

/// Longest head, and longest line of a body.
const MAX_LINE: usize = 64 * 1024;

/// A response that is being read.
#[derive(Debug, Default)]
pub struct ResponseReader {
    state: State,
    /// An unfinished line of the protocol.
    head: Vec<u8>,
    /// An unfinished line of the body, which chunks may cut.
    line: Vec<u8>,
    /// The length, if the head has one; otherwise chunks, or everything up to the end of the connection.
    framing: Framing,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Status,
    Fields,
    /// Bytes of a body or a chunk that are still to come.
    Body(usize),
    /// The line with the size of a chunk.
    Size,
    /// The end of a chunk.
    ChunkEnd,
    /// Lines after the last chunk.
    Trailer,
    UntilClosed,
    Done,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Framing {
    #[default]
    None,
    Length(usize),
    Chunks,
}

/// Bytes that are no HTTP, or a response that reports an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(pub String);

impl ResponseReader {
    /// Reads bytes; each whole line of the body goes to the function.
    pub fn read(&mut self, mut bytes: &[u8], each: &mut impl FnMut(&[u8])) -> Result<(), Malformed> {
        while !bytes.is_empty() {
            match self.state {
                State::Done => return Ok(()),
                State::Body(left) => {
                    let (body, rest) = bytes.split_at(left.min(bytes.len()));
                    self.lines(body, each)?;
                    bytes = rest;
                    self.state = self.after_body(left - body.len());
                }
                State::UntilClosed => {
                    self.lines(bytes, each)?;
                    return Ok(());
                }
                _ => {
                    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                        return hold(&mut self.head, bytes);
                    };
                    let (line, rest) = bytes.split_at(end + 1);
                    bytes = rest;
                    hold(&mut self.head, line)?;
                    let line = mem::take(&mut self.head);
                    self.state = self.after_line(str::from_utf8(&line).unwrap_or_default().trim_end())?;
                }
            }
        }
        Ok(())
    }

    /// Whether the response is complete.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Whether the end of the connection ends the response.
    pub fn may_close(&self) -> bool {
        matches!(self.state, State::Done | State::UntilClosed)
    }

    fn after_body(&self, left: usize) -> State {
        match (left, self.framing) {
            (0, Framing::Chunks) => State::ChunkEnd,
            (0, _) => State::Done,
            (left, _) => State::Body(left),
        }
    }

    fn after_line(&mut self, line: &str) -> Result<State, Malformed> {
        match self.state {
            State::Status => {
                let is_ok = line.starts_with("HTTP/1.") && line.split(' ').nth(1) == Some("200");
                if is_ok { Ok(State::Fields) } else { Err(Malformed(line.to_owned())) }
            }
            State::Fields if line.is_empty() => Ok(match self.framing {
                Framing::Chunks => State::Size,
                Framing::Length(0) => State::Done,
                Framing::Length(length) => State::Body(length),
                Framing::None => State::UntilClosed,
            }),
            State::Fields => self.field(line),
            State::Size => {
                let digits = line.split(';').next().unwrap_or_default().trim();
                let size =
                    usize::from_str_radix(digits, 16).map_err(|_| Malformed(format!("chunk size {line}")))?;
                Ok(if size == 0 { State::Trailer } else { State::Body(size) })
            }
            State::Trailer if line.is_empty() => Ok(State::Done),
            State::ChunkEnd => Ok(State::Size),
            state => Ok(state),
        }
    }

    fn field(&mut self, line: &str) -> Result<State, Malformed> {
        let (name, value) = line.split_once(':').ok_or_else(|| Malformed(line.to_owned()))?;
        let value = value.trim();
        if name.eq_ignore_ascii_case("transfer-encoding") && value.eq_ignore_ascii_case("chunked") {
            self.framing = Framing::Chunks;
        } else if name.eq_ignore_ascii_case("content-length") && self.framing == Framing::None {
            let length = value.parse().map_err(|_| Malformed(line.to_owned()))?;
            self.framing = Framing::Length(length);
        }
        Ok(State::Fields)
    }

    /// Hands out the lines of a body.
    fn lines(&mut self, body: &[u8], each: &mut impl FnMut(&[u8])) -> Result<(), Malformed> {
        let mut parts = body.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            let is_whole = parts.peek().is_some();
            if !is_whole {
                return hold(&mut self.line, part);
            }
            if self.line.is_empty() {
                each(part);
            } else {
                hold(&mut self.line, part)?;
                each(&mem::take(&mut self.line));
            }
        }
        Ok(())
    }
}

fn hold(held: &mut Vec<u8>, part: &[u8]) -> Result<(), Malformed> {
    if held.len() + part.len() > MAX_LINE {
        return Err(Malformed("a line without an end".into()));
    }
    held.extend_from_slice(part);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a response that arrives in pieces of this length.
    fn read(response: &[u8], length: usize) -> (Vec<String>, ResponseReader) {
        let (mut reader, mut lines) = (ResponseReader::default(), Vec::new());
        for piece in response.chunks(length) {
            reader.read(piece, &mut |line| lines.push(String::from_utf8_lossy(line).into_owned())).unwrap();
        }
        (lines, reader)
    }

    #[test]
    fn a_response_may_arrive_in_any_pieces() {
        let fixed = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\none\ntwo\n";
        let chunked = b"HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n2\r\ntw\r\n2\r\no\n\r\n0\r\n\r\n";
        for response in [&fixed[..], &chunked[..]] {
            for length in 1..=response.len() {
                let (lines, reader) = read(response, length);
                assert_eq!(lines, ["one", "two"], "in pieces of {length}");
                assert!(reader.is_done());
            }
        }
    }

    #[test]
    fn an_answer_without_a_length_ends_with_its_connection() {
        let (lines, reader) = read(b"HTTP/1.1 200 OK\r\n\r\none\n", 100);
        assert_eq!(lines, ["one"]);
        assert!(!reader.is_done() && reader.may_close());
    }

    #[test]
    fn an_error_of_the_server_is_no_answer() {
        let mut reader = ResponseReader::default();
        let status = "HTTP/1.1 503 Service Unavailable";
        let error = reader.read(format!("{status}\r\n\r\n").as_bytes(), &mut |_| {}).unwrap_err();
        assert_eq!(error, Malformed(status.into()));
    }
}
