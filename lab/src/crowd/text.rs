//! Many clients of a text door in one thread, each with as little work as possible.

use super::tally::Tally;
use crate::{
    packet,
    servers::{INSTANCE, NODE},
};
use anyhow::{Context, bail};
use mio::{Events, Interest, Poll, Token, net::TcpStream};
use std::{
    io::{self, ErrorKind, Read, Write},
    mem,
    net::SocketAddr,
    time::{Duration, Instant},
};

/// Delay of a polling client after each answer.
const POLL_DELAY: Duration = Duration::from_millis(250);
/// Longest wait of a long poll, seconds.
const HOLD: u32 = 20;
/// Bytes that are read from a socket at once.
const READ_BUFFER_BYTES: usize = 64 * 1024;
/// Requests under way while clients connect.
const WAVE: usize = 128;
/// Timeout without progress while clients connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A text door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextDoor {
    /// Server-sent events.
    Events,
    /// Lines of an answer without an end.
    Stream,
    /// An answer as soon as there is something.
    LongPoll,
    /// An answer at once, and a rest.
    Poll,
}

impl TextDoor {
    fn path(self) -> &'static str {
        match self {
            Self::Events => "/api/v1/samples/events",
            Self::Stream => "/api/v1/samples/stream",
            Self::LongPoll => "/api/v1/samples/wait",
            Self::Poll => "/api/v1/samples",
        }
    }

    fn is_endless(self) -> bool {
        matches!(self, Self::Events | Self::Stream)
    }

    fn request(self, resume: &str) -> String {
        let instance = INSTANCE.replace(' ', "%20");
        let more = match (self, resume) {
            (_, "") => String::new(),
            (Self::LongPoll, resume) => format!("&resume={resume}&timeout={HOLD}"),
            (_, resume) => format!("&resume={resume}"),
        };
        // The first answer of a long poll has the position to resume at.
        let path = if resume.is_empty() && self == Self::LongPoll { Self::Poll.path() } else { self.path() };
        format!("GET {path}?node={NODE}&instance={instance}{more} HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }
}

/// Clients of one door.
#[derive(Debug)]
pub struct TextCrowd {
    door: TextDoor,
    poll: Poll,
    events: Events,
    members: Vec<Member>,
    /// Whether polling clients ask again. They do once all have connected: before, they would delay others.
    asks_again: bool,
    buffer: Vec<u8>,
    /// Received so far.
    pub tally: Tally,
    /// Bytes of all answers, their heads included.
    pub bytes: u64,
}

#[derive(Debug)]
struct Member {
    stream: TcpStream,
    outbound: Vec<u8>,
    inbound: Vec<u8>,
    /// Whether its first answer has begun.
    is_open: bool,
    /// When it asks again.
    due: Option<Instant>,
    /// Number of the newest sample.
    sequence: u64,
    /// Samples that are missing in the numbers.
    lost: u64,
}

impl TextCrowd {
    /// Connects `count` clients, and waits until all have an answer.
    pub fn connect(server: SocketAddr, door: TextDoor, count: usize) -> anyhow::Result<Self> {
        let mut crowd = Self {
            door,
            poll: Poll::new()?,
            events: Events::with_capacity(1024),
            members: Vec::with_capacity(count),
            asks_again: false,
            buffer: vec![0; READ_BUFFER_BYTES],
            tally: Tally::default(),
            bytes: 0,
        };
        let (mut open, mut heard) = (0, Instant::now());
        while crowd.tally.welcomed < count {
            while crowd.members.len() < count.min(crowd.tally.welcomed + WAVE) {
                crowd.add(server).context("cannot connect a client")?;
            }
            crowd.turn(Duration::from_millis(10))?;
            if crowd.tally.welcomed > open {
                (open, heard) = (crowd.tally.welcomed, Instant::now());
            } else if heard.elapsed() > CONNECT_TIMEOUT {
                bail!("stalled after {open} of {count} clients");
            }
        }
        crowd.asks_again = true;
        Ok(crowd)
    }

    fn add(&mut self, server: SocketAddr) -> io::Result<()> {
        let mut stream = TcpStream::connect(server)?;
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(&mut stream, Token(self.members.len()), interest)?;
        self.members.push(Member {
            stream,
            outbound: self.door.request("").into_bytes(),
            inbound: Vec::new(),
            is_open: false,
            due: None,
            sequence: 0,
            lost: 0,
        });
        Ok(())
    }

    /// Reads what has come, and asks what is due; waits at most `patience` for the first.
    fn turn(&mut self, patience: Duration) -> anyhow::Result<()> {
        match self.poll.poll(&mut self.events, Some(patience)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        for event in &self.events {
            let Some(member) = self.members.get_mut(event.token().0) else { continue };
            if event.is_writable() {
                member.flush()?;
            }
            if event.is_readable() {
                self.bytes += member.read(&mut self.buffer)?;
                member.take(self.door, &mut self.tally)?;
            }
        }
        if self.asks_again && self.door == TextDoor::Poll {
            let now = Instant::now();
            for member in &mut self.members {
                if member.due.is_some_and(|due| due <= now) {
                    member.due = None;
                    member.flush()?;
                }
            }
        }
        Ok(())
    }

    /// Reads messages for this long.
    pub fn linger(&mut self, length: Duration) -> anyhow::Result<()> {
        let end = Instant::now() + length;
        // Polling clients ask when their rest is over, which is no event.
        let longest = if self.door == TextDoor::Poll { Duration::from_millis(5) } else { length };
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            self.turn(left.min(longest))?;
        }
    }

    /// Counts into this tally from now on, and forgets bytes and gaps.
    pub fn count_into(&mut self, tally: Tally) {
        (self.tally, self.bytes) = (tally, 0);
        self.members.iter_mut().for_each(|member| member.lost = 0);
    }

    /// Samples that clients did not receive: gaps in their numbers, and their lag to the newest.
    pub fn lost(&self) -> u64 {
        let newest = self.members.iter().map(|member| member.sequence).max().unwrap_or_default();
        self.members.iter().map(|member| member.lost + newest - member.sequence).sum()
    }
}

impl Member {
    fn flush(&mut self) -> anyhow::Result<()> {
        while self.due.is_none() && !self.outbound.is_empty() {
            match self.stream.write(&self.outbound) {
                Ok(length) => drop(self.outbound.drain(..length)),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => {
                    break;
                }
                Err(error) => return Err(error).context("a client lost its connection"),
            }
        }
        Ok(())
    }

    /// Reads all that is there; returns how much.
    fn read(&mut self, buffer: &mut [u8]) -> anyhow::Result<u64> {
        let mut bytes = 0;
        loop {
            match self.stream.read(buffer) {
                Ok(0) => bail!("the DAC closed a client's connection"),
                Ok(length) => {
                    self.inbound.extend_from_slice(buffer.get(..length).unwrap_or_default());
                    bytes += length as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(bytes),
                Err(error) => return Err(error).context("a client lost its connection"),
            }
        }
    }

    /// Takes complete lines of an answer without an end, or complete answers.
    fn take(&mut self, door: TextDoor, tally: &mut Tally) -> anyhow::Result<()> {
        let complete = if door.is_endless() { last_line(&self.inbound) } else { answer(&self.inbound)? };
        let Some(length) = complete else { return Ok(()) };
        let rest = self.inbound.split_off(length);
        let text = mem::replace(&mut self.inbound, rest);
        let text = String::from_utf8_lossy(&text);
        if !self.is_open {
            let status = text.split(' ').nth(1).unwrap_or_default();
            anyhow::ensure!(status == "200", "the DAC refused a client: {text}");
            self.is_open = true;
            tally.welcomed += 1;
        }
        self.count(&text, tally);
        if !door.is_endless() {
            let resume = values(&text, "\"next\":\"").last().context("an answer without a position")?;
            self.outbound = door.request(resume).into_bytes();
            self.due = (door == TextDoor::Poll).then(|| Instant::now() + POLL_DELAY);
            self.flush()?;
        }
        Ok(())
    }

    /// Counts samples, and the ages of messages since the DAC received them.
    fn count(&mut self, text: &str, tally: &mut Tally) {
        let now = packet::now();
        for received in values(text, "\"dac_time\":").filter_map(|time| time.parse::<u64>().ok()) {
            tally.messages += 1;
            tally.age(now.saturating_sub(received));
        }
        for sequence in values(text, "\"sequence\":").filter_map(|number| number.parse::<u64>().ok()) {
            tally.samples += 1;
            let before = mem::replace(&mut self.sequence, sequence);
            if before > 0 {
                self.lost += sequence.saturating_sub(before + 1);
            }
        }
    }
}

/// Returns the text after each occurrence of a key, up to the next quotation mark, comma or bracket.
fn values<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(key).skip(1).map(|rest| rest.split(['"', ',', '}', ']']).next().unwrap_or_default())
}

/// The length up to and including the last line end.
fn last_line(bytes: &[u8]) -> Option<usize> {
    Some(bytes.iter().rposition(|&byte| byte == b'\n')? + 1)
}

/// The length of a complete answer (RFC 9112 sections 6 and 7.1).
fn answer(bytes: &[u8]) -> anyhow::Result<Option<usize>> {
    const HEAD_END: &[u8] = b"\r\n\r\n";
    let Some(head) = bytes.windows(HEAD_END.len()).position(|window| window == HEAD_END) else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(bytes.get(..head).unwrap_or_default()).to_ascii_lowercase();
    let begin = head + HEAD_END.len();
    if let Some(length) = text.lines().find_map(|line| line.strip_prefix("content-length:")) {
        let end = begin + length.trim().parse::<usize>().context("a length that is none")?;
        return Ok((bytes.len() >= end).then_some(end));
    }
    let mut at = begin;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(line) = rest.windows(2).position(|window| window == b"\r\n") else { return Ok(None) };
        let size = str::from_utf8(rest.get(..line).unwrap_or_default()).unwrap_or_default();
        let size = usize::from_str_radix(size, 16).context("a chunk without a size")?;
        at += line + 2 + size + 2;
        if at > bytes.len() {
            return Ok(None);
        }
        if size == 0 {
            return Ok(Some(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_complete_with_its_length_or_its_last_chunk() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP";
        assert_eq!(answer(whole).unwrap(), Some(whole.len() - 4));
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
        assert_eq!(answer(chunked).unwrap(), Some(chunked.len()));
        for cut in 0..chunked.len() {
            assert_eq!(answer(&chunked[..cut]).unwrap(), None, "{cut}");
        }
        assert!(answer(b"HTTP/1.1 200 OK\r\n\r\nxyz\r\n").is_err());
    }

    #[test]
    fn values_stand_behind_their_keys() {
        let text = r#"{"next":"ab:7","samples":[{"sequence":6},{"sequence":7,"x":1}]}"#;
        assert_eq!(values(text, "\"sequence\":").collect::<Vec<_>>(), ["6", "7"]);
        assert_eq!(values(text, "\"next\":\"").last(), Some("ab:7"));
    }
}
