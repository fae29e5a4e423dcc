//! One subscriber.

use super::{frames::Frames, tally::Tally};
use crate::{
    packet::{self, Stamp},
    stream::Stream,
};
use anyhow::{Context, bail};
use mio::net::TcpStream;
use rustls::ClientConfig;
use socket2::{Domain, Protocol, Socket, Type};
use std::{
    io::{self, ErrorKind, Write},
    mem,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

/// `connect(2)` on a socket that does not block.
const EINPROGRESS: i32 = 115;
/// First port used at an address of the crowd.
const FIRST_PORT: u16 = 10_000;
/// Longest handshake response.
const MAX_ANSWER: usize = 8 * 1024;

#[derive(Debug)]
pub struct Member {
    stream: Stream,
    received: Received,
    /// Unsent bytes.
    outbound: Vec<u8>,
}

/// Bytes and messages that a subscriber has received.
#[derive(Debug)]
pub struct Received {
    is_open: bool,
    /// The start of an incomplete frame.
    inbound: Vec<u8>,
    /// Messages so far.
    pub messages: u64,
    /// Number of the newest sample.
    pub sequence: u32,
    /// Samples missing in the numbers.
    pub lost: u64,
    /// Samples received again.
    pub twice: u64,
    /// Whether ages count.
    pub is_watched: bool,
}

/// From where, and how, subscribers connect.
#[derive(Debug, Clone, Copy)]
pub struct Way<'a> {
    /// The server.
    pub server: SocketAddr,
    /// Their address, if the system is not to choose one.
    pub source: Option<IpAddr>,
    /// The settings of TLS, if the server speaks it.
    pub tls: Option<&'a Arc<ClientConfig>>,
}

impl Member {
    /// Begins to connect, as subscriber number `index` of those at its address.
    pub fn connect(way: Way<'_>, index: usize, request: &[u8]) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(way.server), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        if let Some(source) = way.source {
            // Chooses the port: the search of the system for a free one gets slower with more connections.
            let port = u16::try_from(index).ok().and_then(|index| FIRST_PORT.checked_add(index));
            socket.set_reuse_address(true)?;
            socket.bind(&SocketAddr::new(source, port.unwrap_or_default()).into())?;
        }
        match socket.connect(&way.server.into()) {
            Err(error) if error.raw_os_error() != Some(EINPROGRESS) => return Err(error),
            _ => {}
        }
        let received = Received {
            is_open: false,
            inbound: Vec::new(),
            messages: 0,
            sequence: 0,
            lost: 0,
            twice: 0,
            is_watched: true,
        };
        let stream = Stream::client(TcpStream::from_std(socket.into()), way.tls)?;
        Ok(Self { stream, received, outbound: request.to_vec() })
    }

    /// Returns what the subscriber has received.
    pub fn received(&self) -> &Received {
        &self.received
    }

    /// The same, to change how it counts.
    pub fn received_mut(&mut self) -> &mut Received {
        &mut self.received
    }

    /// The socket.
    pub fn socket(&mut self) -> &mut TcpStream {
        self.stream.socket()
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.outbound.extend_from_slice(bytes);
        self.flush()
    }

    /// Sends unsent bytes.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        while !self.outbound.is_empty() {
            match self.stream.write(&self.outbound) {
                Ok(length) => drop(self.outbound.drain(..length)),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => {
                    return Ok(());
                }
                Err(error) => return Err(error).context("a subscriber lost its connection"),
            }
        }
        // Freed: idle subscribers should take little memory.
        self.outbound = Vec::new();
        self.stream.flush().context("a subscriber lost its connection")
    }

    /// Reads received bytes; returns how many.
    pub fn read(&mut self, buffer: &mut [u8], tally: &mut Tally) -> anyhow::Result<u64> {
        self.read_each(buffer, tally, |_, _| {})
    }

    /// The same; each new sample goes to the function too, with its number and its age in nanoseconds.
    pub fn read_each(
        &mut self,
        buffer: &mut [u8],
        tally: &mut Tally,
        mut each: impl FnMut(u32, u64),
    ) -> anyhow::Result<u64> {
        let mut bytes = 0;
        loop {
            let received = &mut self.received;
            let taken = self
                .stream
                .read(buffer, |bytes| received.take(bytes, tally, &mut each).map_err(io::Error::other));
            let length = match taken {
                Ok(0) => bail!("server closed a subscriber's connection"),
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(bytes),
                Err(error) => return Err(error).context("a subscriber lost its connection"),
            };
            bytes += length as u64;
            // The buffer was not filled: the socket is empty until the next event.
            if length < buffer.len() {
                return Ok(bytes);
            }
        }
    }
}

impl Received {
    /// Whether the handshake is done.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    fn take(
        &mut self,
        bytes: &[u8],
        tally: &mut Tally,
        each: &mut impl FnMut(u32, u64),
    ) -> anyhow::Result<()> {
        if self.inbound.is_empty() {
            let taken = self.parse(bytes, tally, each)?;
            self.inbound.extend_from_slice(bytes.get(taken..).unwrap_or_default());
            return Ok(());
        }
        let mut held = mem::take(&mut self.inbound);
        held.extend_from_slice(bytes);
        let taken = self.parse(&held, tally, each)?;
        held.drain(..taken);
        if !held.is_empty() {
            self.inbound = held;
        }
        Ok(())
    }

    /// Parses frames; returns the number of consumed bytes.
    fn parse(
        &mut self,
        bytes: &[u8],
        tally: &mut Tally,
        each: &mut impl FnMut(u32, u64),
    ) -> anyhow::Result<usize> {
        let start = if self.is_open { 0 } else { self.welcome(bytes, tally)? };
        if !self.is_open {
            return Ok(0);
        }
        let now = packet::now();
        let mut frames = Frames::new(bytes.get(start..).unwrap_or_default());
        for message in &mut frames {
            self.messages += 1;
            tally.messages += 1;
            let message = message?;
            let stamp = Stamp::read(message).map(|stamp| (stamp, stamp.sequence));
            if let Some((stamp, last)) = stamp.or_else(|| Stamp::of_batch(message)) {
                tally.samples += u64::from(last - stamp.sequence) + 1;
                let newest = self.sequence.max(last);
                let next = mem::replace(&mut self.sequence, newest).wrapping_add(1);
                let age = now.saturating_sub(stamp.time);
                // The first sample can have any number; samples before it are not lost.
                if next > 1 {
                    self.lost += u64::from(stamp.sequence.saturating_sub(next));
                    self.twice += u64::from((last + 1).min(next).saturating_sub(stamp.sequence));
                }
                (stamp.sequence.max(next)..=last).for_each(|sequence| each(sequence, age));
                if self.is_watched {
                    tally.age(age);
                }
            }
        }
        Ok(start + frames.taken())
    }

    /// Bytes of the server's answer, if it is all there.
    fn welcome(&mut self, bytes: &[u8], tally: &mut Tally) -> anyhow::Result<usize> {
        const HEAD_END: &[u8] = b"\r\n\r\n";
        let Some(end) = bytes.windows(HEAD_END.len()).position(|window| window == HEAD_END) else {
            if bytes.len() > MAX_ANSWER {
                bail!("handshake response too long");
            }
            return Ok(0);
        };
        if !bytes.starts_with(b"HTTP/1.1 101") {
            bail!("the server refused: {}", String::from_utf8_lossy(bytes));
        }
        self.is_open = true;
        tally.welcomed += 1;
        Ok(end + HEAD_END.len())
    }
}
