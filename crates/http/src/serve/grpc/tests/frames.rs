//! A client that writes frames of HTTP/2 itself: it keeps no rules.

use super::PREFACE;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split},
    net::TcpStream,
};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;
const CANCEL: [u8; 4] = [0, 0, 0, 8];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// The metadata of a call, which does not end with it. No header is compressed.
    pub fn headers(stream: u32, path: &str) -> Self {
        let mut payload = Vec::new();
        for (name, value) in [
            (":method", "POST"),
            (":scheme", "http"),
            (":authority", "127.0.0.1"),
            (":path", path),
            ("content-type", "application/grpc"),
        ] {
            // RFC 7541 6.2.2: a literal without indexing, with a new name.
            payload.extend([0, name.len() as u8]);
            payload.extend(name.bytes());
            payload.push(value.len() as u8);
            payload.extend(value.bytes());
        }
        Self { kind: HEADERS, flags: END_HEADERS, stream, payload }
    }

    pub fn without_end(self) -> Self {
        Self { flags: 0, ..self }
    }

    pub fn continuation(stream: u32, headers: &[u8]) -> Self {
        Self { kind: CONTINUATION, flags: 0, stream, payload: headers.to_vec() }
    }

    pub fn data(stream: u32, data: &[u8]) -> Self {
        Self { kind: DATA, flags: 0, stream, payload: data.to_vec() }
    }

    pub fn reset(stream: u32) -> Self {
        Self { kind: RST_STREAM, flags: 0, stream, payload: CANCEL.to_vec() }
    }

    fn settings(flags: u8) -> Self {
        Self { kind: SETTINGS, flags, stream: 0, payload: Vec::new() }
    }

    pub fn encode(&self) -> Vec<u8> {
        let length = (self.payload.len() as u32).to_be_bytes();
        let head = [&length[1..], &[self.kind, self.flags], &self.stream.to_be_bytes()].concat();
        [head, self.payload.clone()].concat()
    }

    /// The error of a GOAWAY or RST_STREAM.
    pub fn error(&self) -> u32 {
        let at = if self.kind == GOAWAY { 4 } else { 0 };
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }
}

pub struct Frames {
    from: ReadHalf<TcpStream>,
    to: WriteHalf<TcpStream>,
}

impl Frames {
    /// The first bytes of a client.
    pub fn greeting() -> Vec<u8> {
        [PREFACE, &Frame::settings(0).encode()].concat()
    }

    /// Greets the server.
    pub async fn new(stream: TcpStream) -> Self {
        let (from, mut to) = split(stream);
        to.write_all(&Self::greeting()).await.unwrap();
        to.write_all(&Frame::settings(ACK).encode()).await.unwrap();
        Self { from, to }
    }

    pub async fn send(&mut self, frame: &Frame) {
        self.to.write_all(&frame.encode()).await.unwrap();
    }

    /// Returns the next frame of the server; `None` at the end of the connection.
    pub async fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.from.read_exact(&mut head).await.ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.from.read_exact(&mut payload).await.ok()?;
        Some(Frame { kind, flags, stream: u32::from_be_bytes(stream), payload })
    }

    /// Sends bytes until the server has closed the connection. Returns the error of its last frame.
    pub async fn flood(&mut self, bytes: &[u8]) -> u32 {
        let Self { from, to } = self;
        let mut answered = Vec::new();
        let (_, _) = tokio::join!(to.write_all(bytes), from.read_to_end(&mut answered));
        let mut errors = Vec::new();
        let mut rest = &answered[..];
        while let Some((head, after)) = rest.split_first_chunk::<9>() {
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let payload = after[..length].to_vec();
            let frame = Frame { kind: head[3], flags: head[4], stream: 0, payload };
            if matches!(frame.kind, GOAWAY | RST_STREAM) {
                errors.push(frame.error());
            }
            rest = &after[length..];
        }
        *errors.last().unwrap()
    }
}
