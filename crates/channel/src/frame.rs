//! Framing of messages in a byte stream: a `u32` length of the rest, one byte for the kind, then the body.
//!
//! Pure functions and a reader over bytes; the owner of a socket feeds it. Little-endian, like all formats of OASIS.

use serde::Serialize;

/// Bytes before a frame's body: length and kind.
pub const HEADER: usize = 5;
/// Largest body a peer may send unless configured otherwise: a batch of 1 MiB, or schemas for a thousand probes.
pub const DEFAULT_MAX_BODY: usize = 4 * 1024 * 1024;

/// Most memory that an empty reader keeps, in bytes.
const MAX_IDLE_BUFFER_BYTES: usize = 256 * 1024;

/// RFC 9112 4: how the answer of an HTTP server begins.
const HTTP: &[u8; HEADER] = b"HTTP/";

/// RFC 9110 9: how the request of an HTTP client begins. As a length each of them is more than 500 MiB.
const REQUESTS: [&[u8; 4]; 7] = [b"GET ", b"HEAD", b"POST", b"PUT ", b"OPTI", b"DELE", b"CONN"];

const KIND_BATCH: u8 = 1;
const KIND_CONTROL: u8 = 2;
const KIND_AHEAD: u8 = 3;

/// A frame, borrowed from the reader's buffer.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A native batch.
    Batch(&'a [u8]),
    /// A JSON control message.
    Control(&'a [u8]),
    /// A native batch that a node with a backlog sends before its turn.
    Ahead(&'a [u8]),
}

/// Why a byte stream contains no valid frame. None of these is recoverable: the peer is closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The length is 0, so the frame has no kind.
    #[error("invalid frame: length 0")]
    Empty,
    /// The length exceeds the limit.
    #[error("frame too large: {length} bytes, the limit is {max}")]
    TooLong {
        /// Length as received.
        length: usize,
        /// The limit.
        max: usize,
    },
    /// The peer is a server of another kind: the page of a DAC, for example.
    #[error(
        "what answers speaks HTTP: this is the port of a page; use that of the data channel (HOST:7071 by default), or name the page as a TEM \
         (--tem http://HOST:PORT)"
    )]
    Http,
    /// The peer is a client of another kind: a relay, a browser or a scraper.
    #[error(
        "an HTTP client has connected to the data channel, which is for nodes: page and API have another port (7070 by default)"
    )]
    HttpClient,
    /// This version does not know the kind.
    #[error("unknown frame kind {0:#04x}")]
    UnknownKind(u8),
}

impl FrameError {
    /// Returns the code for counters and `refused` messages.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "frame_empty",
            Self::TooLong { .. } => "frame_too_long",
            Self::Http => "frame_http",
            Self::HttpClient => "http_client",
            Self::UnknownKind(_) => "frame_kind",
        }
    }
}

/// Returns the five bytes that precede a batch of `length` bytes, so that the batch need not be copied.
pub fn batch_header(length: usize) -> [u8; HEADER] {
    header(KIND_BATCH, length)
}

/// Returns the five bytes that precede a batch of `length` bytes that is sent ahead.
pub fn ahead_header(length: usize) -> [u8; HEADER] {
    header(KIND_AHEAD, length)
}

/// Appends a control message with its header.
pub fn write_control(message: &impl Serialize, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER]);
    // Our messages have string keys and infallible `Serialize` implementations; a `Vec` accepts any length.
    if serde_json::to_writer(&mut *out, message).is_err() {
        debug_assert!(false, "a control message failed to serialize");
        out.truncate(start);
        return;
    }
    let head = header(KIND_CONTROL, out.len() - start - HEADER);
    out[start..start + HEADER].copy_from_slice(&head);
}

fn header(kind: u8, body: usize) -> [u8; HEADER] {
    let [a, b, c, d] = u32::try_from(body + 1).unwrap_or(u32::MAX).to_le_bytes();
    [a, b, c, d, kind]
}

/// Splits a stream of bytes into frames. Buffers at most one frame and the bytes read after it.
#[derive(Debug)]
pub struct Reader {
    buffer: Vec<u8>,
    start: usize,
    max_body: usize,
}

impl Reader {
    /// Creates a reader that refuses bodies of more than `max_body` bytes.
    pub fn new(max_body: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, max_body }
    }

    /// Appends bytes received from the peer.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.reclaim();
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns space for the next read: at least `length` bytes after the buffered ones. Call [`Reader::filled`]
    /// afterwards to return the unused part.
    pub fn room(&mut self, length: usize) -> &mut [u8] {
        self.reclaim();
        let held = self.buffer.len();
        self.buffer.resize(held + length, 0);
        &mut self.buffer[held..]
    }

    /// Keeps `filled` bytes of the last [`Reader::room`] of `length` bytes.
    pub fn filled(&mut self, length: usize, filled: usize) {
        let unfilled = length.saturating_sub(filled);
        self.buffer.truncate(self.buffer.len().saturating_sub(unfilled));
    }

    /// Returns the next complete frame, if there is one.
    #[allow(clippy::should_implement_trait, reason = "it lends from itself, which Iterator cannot")]
    pub fn next(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        let held = &self.buffer[self.start..];
        let Some(header) = held.first_chunk::<HEADER>() else { return Ok(None) };
        if header == HTTP {
            return Err(FrameError::Http);
        }
        let &[a, b, c, d, kind] = header;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        // Refused before its body is buffered: a hostile length costs no memory.
        if length == 0 {
            return Err(FrameError::Empty);
        }
        if length - 1 > self.max_body {
            if REQUESTS.contains(&&[a, b, c, d]) {
                return Err(FrameError::HttpClient);
            }
            return Err(FrameError::TooLong { length, max: self.max_body + 1 });
        }
        let frame = match kind {
            KIND_BATCH => Frame::Batch,
            KIND_CONTROL => Frame::Control,
            KIND_AHEAD => Frame::Ahead,
            other => return Err(FrameError::UnknownKind(other)),
        };
        let end = HEADER + length - 1;
        if held.len() < end {
            return Ok(None);
        }
        let body = self.start + HEADER..self.start + end;
        self.start += end;
        Ok(Some(frame(&self.buffer[body])))
    }

    /// Returns the number of buffered bytes that are not a complete frame yet.
    pub fn pending(&self) -> usize {
        self.buffer.len() - self.start
    }

    fn reclaim(&mut self) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.start = 0;
            // One large message must not keep its memory for the rest of the connection.
            if self.buffer.capacity() > MAX_IDLE_BUFFER_BYTES {
                self.buffer.shrink_to(MAX_IDLE_BUFFER_BYTES);
            }
        } else if self.start > 64 * 1024 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames_of(chunks: &[&[u8]], max: usize) -> Result<Vec<(u8, Vec<u8>)>, FrameError> {
        let mut reader = Reader::new(max);
        let mut frames = Vec::new();
        for chunk in chunks {
            reader.extend(chunk);
            while let Some(frame) = reader.next()? {
                frames.push(match frame {
                    Frame::Batch(body) => (KIND_BATCH, body.to_vec()),
                    Frame::Control(body) => (KIND_CONTROL, body.to_vec()),
                    Frame::Ahead(body) => (KIND_AHEAD, body.to_vec()),
                });
            }
        }
        Ok(frames)
    }

    #[test]
    fn hostile_lengths_and_kinds_are_refused_before_their_bodies_arrive() {
        assert_eq!(frames_of(&[&[0, 0, 0, 0, 1]], 10), Err(FrameError::Empty));
        assert_eq!(
            frames_of(&[&[255, 255, 255, 255, 1]], 10),
            Err(FrameError::TooLong { length: 0xffff_ffff, max: 11 })
        );
        assert_eq!(frames_of(&[&[2, 0, 0, 0, 9]], 10), Err(FrameError::UnknownKind(9)));
        let page = frames_of(&[b"HT", b"TP/1.1 400 Bad Request\r\n\r\n"], 10).unwrap_err();
        for request in ["GET /ws HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\n\r\n", "OPTIONS * HTTP/1.1\r\n"] {
            assert_eq!(frames_of(&[request.as_bytes()], 10), Err(FrameError::HttpClient), "{request}");
        }
        assert!(page.to_string().contains("port of a page") && page.to_string().contains("7071"), "{page}");
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in_however_the_stream_is_cut(
            bodies in proptest::collection::vec((KIND_BATCH..=KIND_AHEAD, proptest::collection::vec(any::<u8>(), 0..300)), 0..20),
            cut in 1_usize..200,
        ) {
            let mut stream = Vec::new();
            for (kind, body) in &bodies {
                stream.extend_from_slice(&header(*kind, body.len()));
                stream.extend_from_slice(body);
            }
            let chunks: Vec<&[u8]> = stream.chunks(cut).collect();
            prop_assert_eq!(frames_of(&chunks, 300), Ok(bodies));
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let _ = frames_of(&[&bytes], 100);
        }
    }
}
