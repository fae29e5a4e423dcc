//! One connection.

use super::{
    super::answer::Received,
    http::{self, HttpRequest},
};
use mio::net::TcpStream;
use std::{
    io::{self, ErrorKind, Read, Write},
    time::Instant,
};

/// Unsent bytes at most: a client that reads so little is closed.
const MAX_UNSENT: usize = 64 * 1024;

/// A connection.
#[derive(Debug)]
pub struct Peer {
    stream: TcpStream,
    inbound: Vec<u8>,
    unsent: Vec<u8>,
    is_last: bool,
    is_finished: bool,
    /// The request that waits on it.
    pub waiting: Option<Waiting>,
}

/// A request that waits.
#[derive(Debug)]
pub struct Waiting {
    /// The request as it came; its answers repeat it.
    pub received: Received,
    /// Its number.
    pub serial: u64,
    /// When it ends; a comet request does not.
    pub deadline: Option<Instant>,
}

impl Peer {
    /// A new connection.
    pub fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            inbound: Vec::new(),
            unsent: Vec::new(),
            is_last: false,
            is_finished: false,
            waiting: None,
        }
    }

    /// Reads what has come, and returns a request when it is whole.
    pub fn read(&mut self) -> io::Result<Option<HttpRequest>> {
        let mut buffer = [0; 4096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.inbound.extend_from_slice(buffer.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        let request = HttpRequest::take(&mut self.inbound)?;
        if let Some(request) = &request {
            self.is_last = request.is_last;
            self.inbound = Vec::new();
        }
        Ok(request)
    }

    /// Sends a whole answer.
    pub fn finish(&mut self, body: &[u8]) -> io::Result<()> {
        self.is_finished = self.is_last;
        self.write(&http::answer(body, self.is_last))
    }

    /// Whether the connection is to be closed.
    pub fn is_done(&self) -> bool {
        self.is_finished && self.unsent.is_empty()
    }

    /// Sends bytes, or keeps what the socket does not take.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let sent = if self.unsent.is_empty() { self.send(bytes)? } else { 0 };
        self.unsent.extend_from_slice(bytes.get(sent..).unwrap_or_default());
        if self.unsent.len() > MAX_UNSENT { Err(ErrorKind::TimedOut.into()) } else { Ok(()) }
    }

    /// Sends what was kept; fails when that was the end of the connection.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        let unsent = std::mem::take(&mut self.unsent);
        let sent = self.send(&unsent)?;
        self.unsent.extend_from_slice(unsent.get(sent..).unwrap_or_default());
        if self.is_done() { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.stream.write(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
            sent => sent,
        }
    }
}
