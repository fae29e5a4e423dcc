//! A process of clients: each is a WebSocket of one relay, and counts the samples that it receives.

use crate::{
    cpu,
    crowd::{Dialect, Member, Tally, Way},
};
use anyhow::Context;
use mio::{Events, Interest, Poll, Token};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    io::{self, ErrorKind, Write},
    net::{IpAddr, SocketAddr},
    str::FromStr,
    time::{Duration, Instant},
};

/// Handshakes under way at the same time.
const WAVE: usize = 64;
/// Timeout of a client; after it, no more are connected.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);
/// Time between two reports at least.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);
/// Samples whose arrivals are reported.
const SAMPLES: usize = 16;

/// Orders for a process of clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    /// The relay.
    pub relay: SocketAddr,
    /// The address of the clients.
    pub source: IpAddr,
    /// Number of clients.
    pub clients: usize,
}

/// Results of a process of clients so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holding {
    /// WebSockets that are open.
    pub open: usize,
    /// Open WebSockets that have received a sample.
    pub served: usize,
    /// WebSockets that were refused, or have ended.
    pub ended: usize,
    /// Why the last one did.
    pub reason: Option<String>,
    /// Samples missing in the numbers.
    pub lost: u64,
    /// Samples received again.
    pub twice: u64,
    /// The newest samples by number.
    pub samples: BTreeMap<u32, Arrivals>,
}

/// Clients and age of a sample that has arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrivals {
    /// Clients that have it.
    pub clients: usize,
    /// The age with which the last of them got it, nanoseconds.
    pub longest_ns: u64,
}

impl FromStr for Orders {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl Orders {
    /// Connects all clients, and reports until the reports are no longer read.
    pub fn run(&self) -> anyhow::Result<()> {
        cpu::raise_open_files()?;
        let mut holder = Holder::new(self)?;
        loop {
            holder.connect_some()?;
            holder.turn()?;
            holder.report()?;
        }
    }
}

struct Holder<'a> {
    orders: &'a Orders,
    request: Vec<u8>,
    subscribe: Vec<u8>,
    poll: Poll,
    events: Events,
    buffer: Vec<u8>,
    /// None once a client has ended.
    members: Vec<Option<Member>>,
    tally: Tally,
    seen: Holding,
    reported: Option<Holding>,
    reported_at: Instant,
    /// When a handshake succeeded last.
    progress: Instant,
}

impl<'a> Holder<'a> {
    fn new(orders: &'a Orders) -> anyhow::Result<Self> {
        Ok(Self {
            request: Dialect::Native.request(orders.relay, ""),
            subscribe: Dialect::Native.subscribe()?,
            orders,
            poll: Poll::new()?,
            events: Events::with_capacity(1_024),
            buffer: vec![0; 64 * 1024],
            members: Vec::with_capacity(orders.clients),
            tally: Tally::default(),
            seen: Holding::default(),
            reported: None,
            reported_at: Instant::now(),
            progress: Instant::now(),
        })
    }

    /// Begins handshakes, as many as may be under way.
    fn connect_some(&mut self) -> anyhow::Result<()> {
        while self.members.len() < self.orders.clients && self.under_way() < WAVE {
            let way = Way { server: self.orders.relay, source: Some(self.orders.source), tls: None };
            let index = self.members.len();
            let mut member =
                Member::connect(way, index, &self.request).context("a client cannot be opened")?;
            let interest = Interest::READABLE | Interest::WRITABLE;
            self.poll.registry().register(member.socket(), Token(index), interest)?;
            self.members.push(Some(member));
        }
        if self.under_way() > 0 && self.progress.elapsed() > CONNECT_TIMEOUT {
            // Open connections are counted all the same.
            for index in 0..self.members.len() {
                let is_open = |member: &Member| member.received().is_open();
                if !self.members.get(index).and_then(Option::as_ref).is_none_or(is_open) {
                    self.end(index, "no answer to a handshake");
                }
            }
        }
        Ok(())
    }

    fn under_way(&self) -> usize {
        self.members.len() - self.seen.open - self.seen.ended
    }

    fn turn(&mut self) -> anyhow::Result<()> {
        match self.poll.poll(&mut self.events, Some(REPORT_INTERVAL)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        let ready: Vec<_> = self
            .events
            .iter()
            .map(|event| (event.token().0, event.is_readable(), event.is_writable()))
            .collect();
        for (index, is_readable, is_writable) in ready {
            if let Err(error) = self.serve(index, is_readable, is_writable) {
                self.end(index, &format!("{error:#}"));
            }
        }
        Ok(())
    }

    fn serve(&mut self, index: usize, is_readable: bool, is_writable: bool) -> anyhow::Result<()> {
        let Some(member) = self.members.get_mut(index).and_then(Option::as_mut) else { return Ok(()) };
        if is_writable {
            member.flush()?;
        }
        if !is_readable {
            return Ok(());
        }
        let (was_open, had) = (member.received().is_open(), member.received().messages);
        let (lost, twice) = (member.received().lost, member.received().twice);
        let (buffer, tally) = (&mut self.buffer, &mut self.tally);
        let samples = &mut self.seen.samples;
        member.read_each(buffer, tally, |sequence, age| note(samples, sequence, age))?;
        let received = member.received();
        self.seen.lost += received.lost - lost;
        self.seen.twice += received.twice - twice;
        self.seen.served += usize::from(had == 0 && received.messages > 0);
        if !was_open && received.is_open() {
            self.seen.open += 1;
            self.progress = Instant::now();
            member.send(&self.subscribe)?;
        }
        Ok(())
    }

    fn end(&mut self, index: usize, reason: &str) {
        let Some(mut member) = self.members.get_mut(index).and_then(Option::take) else { return };
        // The socket is closed in any case.
        let _ = self.poll.registry().deregister(member.socket());
        let received = member.received();
        self.seen.open -= usize::from(received.is_open());
        self.seen.served -= usize::from(received.messages > 0);
        self.seen.ended += 1;
        self.seen.reason = Some(reason.to_owned());
    }

    /// Reports what has changed, a few times a second.
    fn report(&mut self) -> anyhow::Result<()> {
        if self.reported_at.elapsed() < REPORT_INTERVAL || self.reported.as_ref() == Some(&self.seen) {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        serde_json::to_writer(&mut out, &self.seen)?;
        out.write_all(b"\n").and_then(|()| out.flush()).context("nobody reads the reports")?;
        (self.reported, self.reported_at) = (Some(self.seen.clone()), Instant::now());
        Ok(())
    }
}

fn note(samples: &mut BTreeMap<u32, Arrivals>, sequence: u32, age_ns: u64) {
    let arrivals = samples.entry(sequence).or_default();
    arrivals.clients += 1;
    arrivals.longest_ns = arrivals.longest_ns.max(age_ns);
    if samples.len() > SAMPLES {
        samples.pop_first();
    }
}
