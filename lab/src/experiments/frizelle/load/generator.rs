//! One process of clients: they begin over the ramp-up, send the next request when one is answered, and stop at the end of the test.

use super::{
    assertions::{Verdict, judge},
    client::{Client, Progress},
    tally::{ERROR_ANSWER, Tally},
};
use crate::{
    cpu,
    experiments::{
        fleet::{Report, Second},
        frizelle::{
            archive::{AnswerFile, UploadAddress},
            clock::now_ms,
        },
    },
};
use mio::{Events, Interest, Poll, Token};
use serde::{Deserialize, Serialize};
use std::{
    collections::VecDeque,
    io::{self, ErrorKind},
    mem,
    net::{Ipv4Addr, SocketAddr},
    str::FromStr,
    time::{Duration, Instant},
};

/// Delay before a client whose connection failed tries again.
const RECONNECT_DELAY: Duration = Duration::from_millis(100);
/// Longest wait between two readings of the clock.
const MAX_POLL_WAIT: Duration = Duration::from_millis(20);
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// Upper bound of events between two readings of the clock.
const MAX_POLL_EVENTS: usize = 1024;

/// Orders for a process of the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Orders {
    /// The server under test.
    pub server: SocketAddr,
    /// The number of the process.
    pub process: usize,
    /// Its clients.
    pub connections: usize,
    /// Time in which they begin.
    pub ramp_up: Duration,
    /// After this time no request is sent.
    pub duration: Duration,
    /// Longest wait for the last answers.
    pub drain: Duration,
    /// comet or poll.
    pub request_type: String,
    /// Events that clients subscribe to.
    pub request_events: String,
    /// Longest wait of a long poll.
    pub request_duration: Duration,
    /// Whether there are events: then a timeout is an error.
    pub is_event_set: bool,
    /// Whether a client keeps its connection.
    pub keeps_alive: bool,
    /// Milliseconds that the server's clock is ahead.
    pub clock_offset_ms: f64,
    /// Address to which all answers are sent at the end.
    pub archive: Option<UploadAddress>,
}

impl FromStr for Orders {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl Orders {
    /// Carries the orders out, and reports on standard output.
    pub fn run(&self) -> anyhow::Result<()> {
        cpu::raise_open_files()?;
        Generator::new(self)?.run()
    }

    fn request(&self) -> Vec<u8> {
        let body = format!(
            "type={}&events={}&duration={}",
            self.request_type,
            self.request_events,
            self.request_duration.as_millis(),
        );
        let close = if self.keeps_alive { "" } else { "Connection: close\r\n" };
        format!(
            "POST /request HTTP/1.1\r\nHost: {}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n{close}\r\n{body}",
            self.server,
            body.len(),
        )
        .into_bytes()
    }

    /// Addresses of the loopback network, many, so that each has ports left when answered requests have closed theirs.
    fn source(&self, client: usize) -> Ipv4Addr {
        let [process, high, low] =
            [self.process + 1, client / 200 % 200, client % 200].map(|part| (part % 250) as u8);
        Ipv4Addr::new(127, process, high + 1, low + 1)
    }
}

struct Generator<'a> {
    orders: &'a Orders,
    request: Vec<u8>,
    poll: Poll,
    clients: Vec<Seat>,
    /// Clients that have begun.
    begun: usize,
    /// Clients without an answer so far.
    unserved: usize,
    active: u64,
    /// Clients that try again.
    pausing: VecDeque<(Instant, usize)>,
    seen: AnswerTally,
    began: Instant,
    seconds: u64,
}

/// The place of a client, which has a connection or waits for its next.
#[derive(Default)]
struct Seat {
    client: Option<Client>,
    is_served: bool,
}

/// Tally of answers.
struct AnswerTally {
    tally: Tally,
    is_event_set: bool,
    clock_offset_ms: f64,
    file: Option<AnswerFile>,
}

impl<'a> Generator<'a> {
    fn new(orders: &'a Orders) -> anyhow::Result<Self> {
        let seen = AnswerTally {
            tally: Tally::default(),
            is_event_set: orders.is_event_set,
            clock_offset_ms: orders.clock_offset_ms,
            file: orders.archive.as_ref().map(|_| AnswerFile::new()).transpose()?,
        };
        Ok(Self {
            orders,
            request: orders.request(),
            poll: Poll::new()?,
            clients: (0..orders.connections).map(|_| Seat::default()).collect(),
            begun: 0,
            unserved: orders.connections,
            active: 0,
            pausing: VecDeque::new(),
            seen,
            began: Instant::now(),
            seconds: 0,
        })
    }

    fn run(mut self) -> anyhow::Result<()> {
        let mut events = Events::with_capacity(MAX_POLL_EVENTS);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let elapsed = self.began.elapsed();
            self.report_seconds(elapsed)?;
            if self.is_over(elapsed) {
                break;
            }
            self.begin_due(elapsed);
            match self.poll.poll(&mut events, Some(MAX_POLL_WAIT)) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
                _ => {}
            }
            for event in &events {
                self.serve(event.token().0, event.is_writable(), &mut buffer);
            }
        }
        let AnswerTally { mut tally, file, .. } = self.seen;
        tally.clients_served = (self.orders.connections - self.unserved) as u64;
        Report::Summary(tally).print()?;
        match (file, &self.orders.archive) {
            (Some(file), Some(to)) => file.upload(to, self.orders.process),
            _ => Ok(()),
        }
    }

    /// Whether the test is over. Long polls get their last answers; comet requests are cut off when each has had one, if there are events.
    fn is_over(&self, elapsed: Duration) -> bool {
        let is_comet = self.orders.request_type == "comet";
        let is_complete =
            if is_comet { !self.orders.is_event_set || self.unserved == 0 } else { self.active == 0 };
        let is_drained = self.begun == self.orders.connections && is_complete;
        elapsed >= self.orders.duration && (is_drained || elapsed >= self.orders.duration + self.orders.drain)
    }

    /// Every client begins, also if this process is late.
    fn begin_due(&mut self, elapsed: Duration) {
        let share = elapsed.as_secs_f64() / self.orders.ramp_up.as_secs_f64().max(1e-3);
        let due = (self.orders.connections as f64 * share.min(1.0)).ceil() as usize;
        while self.begun < due {
            self.connect(self.begun);
            self.begun += 1;
        }
        if elapsed >= self.orders.duration {
            return;
        }
        let now = Instant::now();
        while let Some((_, client)) = self.pausing.front().copied().filter(|(at, _)| *at <= now) {
            self.pausing.pop_front();
            self.connect(client);
        }
    }

    fn connect(&mut self, index: usize) {
        let connected =
            Client::connect(self.orders.server, self.orders.source(index)).and_then(|mut client| {
                self.poll.registry().register(
                    client.stream(),
                    Token(index),
                    Interest::READABLE | Interest::WRITABLE,
                )?;
                Ok(client)
            });
        match connected {
            Ok(client) => {
                self.active += 1;
                if let Some(seat) = self.clients.get_mut(index) {
                    seat.client = Some(client);
                }
            }
            Err(error) => self.fail(index, &error),
        }
    }

    fn fail(&mut self, index: usize, error: &io::Error) {
        self.seen.tally.error(&error.to_string());
        self.pausing.push_back((Instant::now() + RECONNECT_DELAY, index));
    }

    fn serve(&mut self, index: usize, is_writable: bool, buffer: &mut [u8]) {
        let Some(seat) = self.clients.get_mut(index) else { return };
        let Some(client) = &mut seat.client else { return };
        let written = if is_writable { client.write(&self.request) } else { Ok(()) };
        let seen = &mut self.seen;
        let (before, now) = (seen.tally.responses, now_ms() + seen.clock_offset_ms);
        let progress = written.and_then(|()| client.read(buffer, &mut |line| seen.answer(line, now)));
        if seen.tally.responses > before && !seat.is_served {
            seat.is_served = true;
            self.unserved -= 1;
        }
        match progress {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => self.next(index),
            Err(error) => self.lose(index, &error),
        }
    }

    /// The next request of a client whose last one is answered.
    fn next(&mut self, index: usize) {
        let is_over = self.began.elapsed() >= self.orders.duration;
        let Some(seat) = self.clients.get_mut(index) else { return };
        match &mut seat.client {
            Some(client) if self.orders.keeps_alive && !is_over => {
                if let Err(error) = client.again(&self.request) {
                    self.lose(index, &error);
                }
            }
            _ => {
                seat.client = None;
                self.active -= 1;
                if !is_over {
                    self.connect(index);
                }
            }
        }
    }

    /// A connection has failed.
    fn lose(&mut self, index: usize, error: &io::Error) {
        if let Some(seat) = self.clients.get_mut(index) {
            seat.client = None;
            self.active -= 1;
        }
        self.fail(index, error);
    }

    fn report_seconds(&mut self, elapsed: Duration) -> anyhow::Result<()> {
        while elapsed >= REPORT_INTERVAL * (self.seconds as u32 + 1) {
            let tally = &mut self.seen.tally;
            let second = Second {
                second: self.seconds,
                active: self.active,
                responses: tally.responses,
                errors: tally.error_count(),
                longest: mem::take(&mut tally.longest),
            };
            self.seconds += 1;
            Report::<Tally>::Second(second).print()?;
        }
        Ok(())
    }
}

impl AnswerTally {
    fn answer(&mut self, line: &[u8], now: f64) {
        if let Some(file) = &mut self.file {
            // An answer that cannot be written is missing in the archive, whose answers are counted.
            let _ = file.append(line);
        }
        let (verdict, connections) = judge(line, self.is_event_set);
        self.tally.connections_peak = self.tally.connections_peak.max(connections);
        match verdict {
            Verdict::Event(event) => self.tally.event(&event, now),
            Verdict::Expected => self.tally.expected_timeouts += 1,
            Verdict::UnexpectedTimeout => self.tally.unexpected_timeouts += 1,
            Verdict::Error => return self.tally.error(ERROR_ANSWER),
        }
        self.tally.responses += 1;
    }
}
