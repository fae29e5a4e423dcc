//! The load generator: many subscribers in one thread, each with as little work as possible.

mod dialect;
mod frames;
mod member;
mod tally;
mod text;

pub use dialect::Dialect;
pub use frames::Frames;
pub use member::{Member, Way};
pub use tally::Tally;
pub use text::{TextCrowd, TextDoor};

use anyhow::{Context, bail};
use mio::{Events, Interest, Poll, Token};
use std::{
    io,
    net::{IpAddr, SocketAddr},
    ops::Range,
    time::{Duration, Instant},
};

/// Handshakes under way at the same time: less than a listener keeps for its server to accept.
const WAVE: usize = 128;
/// Bytes that are read from a socket at once: a burst and more.
const READ_BUFFER_BYTES: usize = 256 * 1024;
/// Timeout without messages.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(10);

/// Subscribers of one server.
#[derive(Debug)]
pub struct Crowd {
    poll: Poll,
    events: Events,
    members: Vec<Member>,
    buffer: Vec<u8>,
    /// Received so far.
    pub tally: Tally,
    /// Bytes received.
    pub bytes: u64,
    /// Time spent on received messages, without polling.
    pub busy: Duration,
}

impl Crowd {
    /// Connects `count` subscribers and waits for their handshakes.
    pub fn connect(
        server: SocketAddr,
        source: Option<IpAddr>,
        dialect: Dialect,
        count: usize,
    ) -> anyhow::Result<Self> {
        Self::enter(Way { server, source, tls: None }, dialect, "", count)
    }

    /// The same, with TLS perhaps, and with a header that says who the subscribers are.
    pub fn enter(way: Way<'_>, dialect: Dialect, header: &str, count: usize) -> anyhow::Result<Self> {
        let mut crowd = Self {
            poll: Poll::new()?,
            events: Events::with_capacity(1024),
            members: Vec::with_capacity(count),
            buffer: vec![0; READ_BUFFER_BYTES],
            tally: Tally::default(),
            bytes: 0,
            busy: Duration::ZERO,
        };
        let request = dialect.request(way.server, header);
        let (mut open, mut heard) = (0, Instant::now());
        while crowd.tally.welcomed < count {
            while crowd.members.len() < count.min(crowd.tally.welcomed + WAVE) {
                crowd.add(way, &request).context("cannot connect a subscriber")?;
            }
            crowd.turn(Duration::from_millis(10))?;
            if crowd.tally.welcomed > open {
                (open, heard) = (crowd.tally.welcomed, Instant::now());
            } else if heard.elapsed() > MESSAGE_TIMEOUT {
                bail!("stalled after {open} of {count} handshakes");
            }
        }
        let subscribe = dialect.subscribe()?;
        crowd.members.iter_mut().try_for_each(|member| member.send(&subscribe))?;
        Ok(crowd)
    }

    fn add(&mut self, way: Way<'_>, request: &[u8]) -> io::Result<()> {
        let index = self.members.len();
        let mut member = Member::connect(way, index, request)?;
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(member.socket(), Token(index), interest)?;
        self.members.push(member);
        Ok(())
    }

    /// The number of subscribers.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Reads received messages; waits at most `patience` for the first.
    pub fn turn(&mut self, patience: Duration) -> anyhow::Result<()> {
        match self.poll.poll(&mut self.events, Some(patience)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        let began = Instant::now();
        for event in &self.events {
            let Some(member) = self.members.get_mut(event.token().0) else { continue };
            if event.is_writable() {
                member.flush()?;
            }
            if event.is_readable() {
                self.bytes += member.read(&mut self.buffer, &mut self.tally)?;
            }
        }
        self.busy += began.elapsed();
        Ok(())
    }

    /// Reads messages for this long.
    pub fn linger(&mut self, length: Duration) -> anyhow::Result<()> {
        let end = Instant::now() + length;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            self.turn(left)?;
        }
    }

    /// Waits until `messages` have come in total. Polls without sleeping: waking this side would cost the server a call to the other core for
    /// each write, more often for a slower server. Remote subscribers have no such cost.
    pub fn wait_for(&mut self, messages: u64) -> anyhow::Result<()> {
        let (mut heard, mut had) = (Instant::now(), self.tally.messages);
        while self.tally.messages < messages {
            self.turn(Duration::ZERO)?;
            if self.tally.messages > had {
                (heard, had) = (Instant::now(), self.tally.messages);
            } else if heard.elapsed() > MESSAGE_TIMEOUT {
                bail!("stalled after {had} of {messages} messages");
            }
        }
        Ok(())
    }

    /// Waits until no more messages arrive.
    pub fn settle(&mut self) -> anyhow::Result<()> {
        loop {
            let had = self.tally.messages;
            self.linger(Duration::from_millis(100))?;
            if self.tally.messages == had {
                return Ok(());
            }
        }
    }

    /// Whether every subscriber has received a message.
    pub fn all_served(&self) -> bool {
        self.members.iter().all(|member| member.received().messages > 0)
    }

    /// Counts into this tally from now on, and resets gaps.
    pub fn count_into(&mut self, tally: Tally) {
        (self.tally, self.bytes) = (tally, 0);
        self.members.iter_mut().for_each(|member| member.received_mut().lost = 0);
    }

    /// Stops reading from these subscribers.
    pub fn stop(&mut self, who: Range<usize>) -> anyhow::Result<()> {
        for member in self.members.get_mut(who).context("so many are not here")? {
            self.poll.registry().deregister(member.socket())?;
        }
        Ok(())
    }

    /// Resumes reading from these subscribers.
    pub fn resume(&mut self, who: Range<usize>) -> anyhow::Result<()> {
        let first = who.start;
        for (index, member) in
            self.members.get_mut(who).context("so many are not here")?.iter_mut().enumerate()
        {
            let interest = Interest::READABLE | Interest::WRITABLE;
            self.poll.registry().register(member.socket(), Token(first + index), interest)?;
        }
        Ok(())
    }

    /// Records ages of these subscribers only.
    pub fn watch(&mut self, who: Range<usize>) {
        for (index, member) in self.members.iter_mut().enumerate() {
            member.received_mut().is_watched = who.contains(&index);
        }
    }

    /// Samples that watched subscribers did not receive: gaps in their numbers, and their lag to the newest.
    pub fn lost(&self) -> u64 {
        let watched = || self.members.iter().map(Member::received).filter(|received| received.is_watched);
        let newest = watched().map(|received| received.sequence).max().unwrap_or_default();
        watched().map(|received| received.lost + u64::from(newest - received.sequence)).sum()
    }
}
