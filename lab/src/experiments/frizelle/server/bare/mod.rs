//! The limit: one event loop that parses as little as it can, and writes each answer to its socket as it is made.

mod http;
mod peer;

use super::{
    BACKLOG,
    answer::{Content, Emit, Received, Stamp, short},
    calls::{Call, EventRequest, log, set_logging},
    end_with_input,
};
use crate::order::ready;
use http::HttpRequest;
use mio::{Events, Interest, Poll, Token, net::TcpListener};
use peer::{Peer, Waiting};
use slab::Slab;
use socket2::{Domain, Socket, Type};
use std::{
    collections::{BTreeSet, HashMap},
    io::{self, ErrorKind},
    mem,
    net::SocketAddr,
    time::{Duration, Instant},
};

const LISTENER: Token = Token(usize::MAX);

/// An event, and the requests that wait for it.
#[derive(Debug, Default)]
struct Event {
    interval: Duration,
    next: Option<Instant>,
    waiting: Vec<RequestKey>,
}

/// A connection, and the request on it: both a number and a connection's place may be used again.
type RequestKey = (usize, u64);

struct Loop {
    poll: Poll,
    listener: TcpListener,
    peers: Slab<Peer>,
    events: HashMap<String, Event>,
    /// When long polls end.
    deadlines: BTreeSet<(Instant, usize)>,
    /// Requests that wait.
    pool: usize,
    /// Requests so far.
    serial: u64,
}

/// Serves in one thread.
pub fn serve(address: SocketAddr) -> anyhow::Result<()> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG.try_into()?)?;
    let mut listener = TcpListener::from_std(socket.into());
    let poll = Poll::new()?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    ready(&[listener.local_addr()?.to_string()])?;
    end_with_input();
    Loop {
        poll,
        listener,
        peers: Slab::new(),
        events: HashMap::new(),
        deadlines: BTreeSet::new(),
        pool: 0,
        serial: 0,
    }
    .run()
}

impl Loop {
    fn run(mut self) -> anyhow::Result<()> {
        let mut events = Events::with_capacity(1024);
        loop {
            let now = Instant::now();
            let next = self.events.values().filter_map(|event| event.next);
            let next = next.chain(self.deadlines.first().map(|(deadline, _)| *deadline)).min();
            let patience = next.map(|next| next.saturating_duration_since(now));
            match self.poll.poll(&mut events, patience) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
                _ => {}
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept()?,
                    Token(key) => self.converse(key),
                }
            }
            self.emit_due();
            self.end_late();
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((mut stream, _)) => {
                    stream.set_nodelay(true)?;
                    let entry = self.peers.vacant_entry();
                    let interest = Interest::READABLE | Interest::WRITABLE;
                    self.poll.registry().register(&mut stream, Token(entry.key()), interest)?;
                    entry.insert(Peer::new(stream));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                // An error of the connection, or the limit of open files: the next call may succeed.
                Err(_) => return Ok(()),
            }
        }
    }

    fn converse(&mut self, key: usize) {
        let Some(peer) = self.peers.get_mut(key) else { return };
        let read = peer.flush().and_then(|()| peer.read());
        match read {
            Ok(Some(request)) => self.answer(key, &request),
            Ok(None) => {}
            Err(_) => self.remove(key),
        }
    }

    fn answer(&mut self, key: usize, request: &HttpRequest) {
        let said = match Call::parse(&request.target) {
            Ok(Call::Request) => return self.receive(key, request),
            Ok(Call::Timestamp { client }) => short::time(&client),
            Ok(Call::Log { is_enabled }) => {
                set_logging(is_enabled);
                short::logging(is_enabled)
            }
            Ok(Call::SetEvent { name, interval }) => {
                let said = short::event(&name, interval);
                let event = self.events.entry(name).or_default();
                (event.interval, event.next) = (interval, Some(Instant::now() + interval));
                said
            }
            Ok(Call::ClearEvents) => {
                self.events.values_mut().for_each(|event| event.next = None);
                short::cleared()
            }
            Err(error) => short::error(&error),
        };
        self.finish(key, said.as_bytes());
    }

    fn receive(&mut self, key: usize, request: &HttpRequest) {
        let wish = match EventRequest::parse(&request.body) {
            Ok(wish) => wish,
            Err(error) => return self.finish(key, short::error(&error).as_bytes()),
        };
        log(|| format!("request {wish:?}"));
        self.pool += 1;
        self.serial += 1;
        for name in &wish.events {
            self.events.entry(name.clone()).or_default().waiting.push((key, self.serial));
        }
        let deadline = (!wish.is_comet).then(|| Instant::now() + wish.duration);
        self.deadlines.extend(deadline.map(|deadline| (deadline, key)));
        let Some(peer) = self.peers.get_mut(key) else { return };
        let received = Received::new(&wish, self.pool);
        peer.waiting = Some(Waiting { received, serial: self.serial, deadline });
        if wish.is_comet && peer.write(http::COMET_HEAD).is_err() {
            self.remove(key);
        }
    }

    /// Answers and, if the client asked for that, closes.
    fn finish(&mut self, key: usize, body: &[u8]) {
        self.forget(key);
        let Some(peer) = self.peers.get_mut(key) else { return };
        if peer.finish(body).is_err() || peer.is_done() {
            self.peers.remove(key);
        }
    }

    fn emit_due(&mut self) {
        let now = Instant::now();
        let is_due = |event: &Event| event.next.is_some_and(|next| next <= now);
        let due: Vec<String> =
            self.events.iter().filter(|(_, event)| is_due(event)).map(|(name, _)| name.clone()).collect();
        due.iter().for_each(|name| self.emit(name));
    }

    fn emit(&mut self, name: &str) {
        let created = Stamp::now();
        let Some(event) = self.events.get_mut(name) else { return };
        event.next = Some(created.clock + event.interval);
        let mut places = mem::take(&mut event.waiting);
        let emit = Emit { name: name.to_owned(), created, total: places.len() };
        let mut place = 0;
        places.retain(|(key, serial)| {
            place += 1;
            self.send(*key, *serial, Content::Event(&emit, place))
        });
        log(|| format!("emitted {name} to {}", emit.total));
        if let Some(event) = self.events.get_mut(name) {
            event.waiting.append(&mut places);
        }
    }

    /// Answers a request, and returns whether it waits for more.
    fn send(&mut self, key: usize, serial: u64, content: Content<'_>) -> bool {
        let Some(peer) = self.peers.get_mut(key) else { return false };
        let Some(waiting) = peer.waiting.as_ref().filter(|waiting| waiting.serial == serial) else {
            return false;
        };
        let line = waiting.received.answer(content, self.pool);
        if waiting.deadline.is_some() {
            self.finish(key, &line);
            return false;
        }
        let is_sent = peer.write(&http::chunk(&line)).is_ok();
        if !is_sent {
            self.remove(key);
        }
        is_sent
    }

    /// Ends long polls whose maximum duration is over.
    fn end_late(&mut self) {
        let now = Instant::now();
        while let Some((_, key)) = self.deadlines.first().copied().filter(|(deadline, _)| *deadline <= now) {
            self.deadlines.pop_first();
            let serial =
                self.peers.get(key).and_then(|peer| peer.waiting.as_ref()).map(|waiting| waiting.serial);
            if let Some(serial) = serial {
                self.send(key, serial, Content::Timeout);
            }
        }
    }

    fn remove(&mut self, key: usize) {
        self.forget(key);
        self.peers.try_remove(key);
    }

    /// The request of this connection waits no longer.
    fn forget(&mut self, key: usize) {
        let waiting = self.peers.get_mut(key).and_then(|peer| peer.waiting.take());
        if let Some(waiting) = waiting {
            self.pool -= 1;
            if let Some(deadline) = waiting.deadline {
                self.deadlines.remove(&(deadline, key));
            }
        }
    }
}
