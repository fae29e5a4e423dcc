//! A shard: one thread that owns its connections and waits for all of them at once.
//!
//! Only the topic logs are shared, so nothing is locked while writing. Unsent samples stay in the log; the shard keeps only a position in it. In each turn of
//! the loop, it reads sockets and takes events from other threads. If the [`Pace`] allows it, it writes to all connections that lag and whose socket has room.

use super::{
    connection::{Connection, ConnectionId, GOODBYE, Protocol},
    deltas::Deltas,
    end::End,
    fleet_subscription::FleetClock,
    inbox::{Event, Inbox, IncomingConnection, PendingConnection},
    pace::Pace,
    picture::Picture,
    push::WRITE,
    roster::Roster,
    shard_handle::ShardHandle,
    statistics::Statistics,
    topic::Topic,
};
use crate::{
    config::DoorsConfig,
    fleet::Fleets,
    past::{ArchiveAccess, times::has_passed},
};
use mio::{Events, Interest, Poll, Token};
use oasis_dac::{Admission, Dac, NamedRequest, PeerLine, Seat};
use oasis_http::permissions::Permissions;
use oasis_websocket::{CloseCode, Message, Opcode, close};
use oasis_wire::quantity::TopicId;
use rustix::time::{ClockId, clock_gettime};
use slab::Slab;
use std::{
    collections::{HashMap, VecDeque},
    io::ErrorKind,
    mem,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::runtime::Handle;

/// The inbox's token; a connection's is its key.
pub const INBOX: Token = Token(usize::MAX);
/// Edge-triggered: each change is reported once, and a socket is registered once.
pub const INTEREST: Interest = Interest::READABLE.add(Interest::WRITABLE);
/// Bytes read from one socket in a turn. A connection with more to read continues in the next turn, after the others.
const READ_CHUNK_BYTES: usize = 16 * 1024;
/// Frames taken from one connection in a turn.
const MAX_FRAMES: usize = 64;
/// Pause before a connection that sent more than it may is read again.
const THROTTLE_DELAY: Duration = Duration::from_millis(20);
/// Connections of which a part of a long message is written in a turn.
const MAX_FLUSHED: usize = 16;
/// Interval at which the shard checks for clients that do not read.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which the shard reads its processor time, which is a system call.
const CPU_INTERVAL: Duration = Duration::from_millis(100);
/// Pings that a client may send in that time.
const MAX_PINGS: u32 = 100;

/// State that all shards share.
#[derive(Debug, Clone)]
pub struct SharedContext {
    /// The DAC with its topic logs and commands.
    pub dac: Arc<Dac>,
    /// Bounds.
    pub config: Arc<DoorsConfig>,
    /// Counts what clients bring and why they were closed.
    pub admission: Arc<Admission>,
    /// Samples that the logs have evicted.
    pub archived: ArchiveAccess,
    /// Summaries of many instances.
    pub fleets: Arc<Fleets>,
    /// Permissions of all callers.
    pub permissions: Arc<Permissions>,
    /// For what takes time: commands, reading the past.
    pub runtime: Handle,
}

/// One event loop.
#[derive(Debug)]
pub struct Shard {
    pub(super) around: SharedContext,
    /// Its handle, with its counters.
    pub(super) home: Arc<ShardHandle>,
    /// The other shards.
    pub(super) roster: Arc<Roster>,
    pub(super) poll: Poll,
    pub(super) inbox: Arc<Inbox>,
    pub(super) connections: Slab<Connection>,
    pub(super) topics: Slab<Topic>,
    pub(super) slots: HashMap<TopicId, usize>,
    /// Topics with something new, and since when.
    pub(super) raised: Vec<(usize, Instant)>,
    /// Keys of connections that may lag.
    pub(super) queue: Vec<usize>,
    /// Slots of topics with bytes to share until the round ends.
    pub(super) served: Vec<usize>,
    pub(super) pace: Pace,
    /// Keys of connections that may have more to read, in turn.
    readable: VecDeque<usize>,
    buffer: Vec<u8>,
    /// Keys of connections that sent more than they may, and when they are read again.
    throttled: Vec<usize>,
    throttle_ends: Option<Instant>,
    /// Keys of connections with unsent bytes that their sockets have room for, in turn.
    flushing: VecDeque<usize>,
    /// Events of other threads, kept for its memory.
    mail: Vec<Event>,
    /// Serial number of the next connection, or of the next read of the past.
    pub(super) next_serial: u64,
    last_check: Instant,
    /// Connections with a sent close frame, and when they are closed, soonest first.
    leaving: VecDeque<(Instant, ConnectionId)>,
    /// The registry, as clients that watch it receive it.
    pub(super) picture: Picture,
    /// The same as changes.
    pub(super) deltas: Deltas,
    pub(super) statistics: Statistics,
    pub(super) fleet_clock: FleetClock,
    last_cpu: Instant,
    /// Idle connections that should move to other shards.
    pub(super) to_shed: usize,
    /// Whether all connections should move to other shards.
    pub(super) is_leaving: bool,
    /// Whether more connections can move at once.
    pub(super) is_moving: bool,
    pub(super) is_ending: bool,
}

impl Shard {
    /// A shard without connections.
    pub fn new(around: SharedContext, poll: Poll, home: Arc<ShardHandle>, roster: Arc<Roster>) -> Self {
        let now = Instant::now();
        let longest = Duration::from_millis(around.config.flush_ms);
        let inbox = home.inbox().clone();
        Self {
            around,
            home,
            roster,
            poll,
            inbox,
            connections: Slab::new(),
            topics: Slab::new(),
            slots: HashMap::new(),
            raised: Vec::new(),
            queue: Vec::new(),
            served: Vec::new(),
            pace: Pace::new(longest, now),
            readable: VecDeque::new(),
            buffer: vec![0; READ_CHUNK_BYTES],
            throttled: Vec::new(),
            throttle_ends: None,
            flushing: VecDeque::new(),
            mail: Vec::new(),
            next_serial: 0,
            last_check: now,
            leaving: VecDeque::new(),
            picture: Picture::default(),
            deltas: Deltas::default(),
            statistics: Statistics::default(),
            fleet_clock: FleetClock::default(),
            last_cpu: now,
            to_shed: 0,
            is_leaving: false,
            is_moving: false,
            is_ending: false,
        }
    }

    /// Serves until all connections have left and no further one comes, as a thread with this name.
    pub fn run(mut self, name: &str) {
        let pulse = self.around.dac.health.watch(name);
        let mut events = Events::with_capacity(1024);
        while !self.is_over() {
            if let Err(error) = self.poll.poll(&mut events, Some(self.patience()))
                && error.kind() != ErrorKind::Interrupted
            {
                tracing::error!(%error, "a shard cannot wait for its sockets");
                return;
            }
            self.home.meter.woken();
            let _call = pulse.begin("serving WebSockets");
            self.turn(&events);
        }
    }

    /// Does what sockets and other threads have caused, and what it is time for.
    pub(super) fn turn(&mut self, events: &Events) {
        for event in events.iter().filter(|event| event.token() != INBOX) {
            let key = event.token().0;
            if event.is_writable() {
                self.writable(key);
            }
            if event.is_readable() {
                self.enqueue_read(key);
            }
        }
        self.end_throttle();
        self.read_turn();
        let mut mail = mem::take(&mut self.mail);
        self.inbox.take(&mut mail);
        mail.drain(..).for_each(|event| self.on_event(event));
        self.mail = mail;
        self.round();
        self.serve_watchers();
        self.flush_turn();
        self.close_finished();
        self.check_stalled();
        self.hand_over();
        self.report_cpu();
    }

    /// Whether it has no connections and gets no more: then its inbox is closed.
    fn is_over(&self) -> bool {
        (self.is_ending || self.is_leaving) && self.connections.is_empty() && self.inbox.close_if_empty()
    }

    fn report_cpu(&mut self) {
        let now = Instant::now();
        if now >= self.last_cpu + CPU_INTERVAL {
            self.last_cpu = now;
            let time = clock_gettime(ClockId::ThreadCPUTime);
            // The clock counts from the beginning of the thread.
            self.home.meter.set_cpu(Duration::new(time.tv_sec as u64, time.tv_nsec as u32));
        }
    }

    /// Returns the time until the next work.
    fn patience(&self) -> Duration {
        if !(self.readable.is_empty() && self.flushing.is_empty()) || self.is_moving {
            return Duration::ZERO;
        }
        let goodbye = self.leaving.front().map(|(due, _)| *due);
        let next_check = self.last_check + CHECK_INTERVAL;
        let watching = [self.picture.due(), self.deltas.due(), self.statistics.due(), self.fleet_clock.due()];
        let due = [goodbye, self.throttle_ends].into_iter().chain(watching);
        // After the question for what is due at once: it must not seem to lie ahead.
        let now = Instant::now();
        let next = due.flatten().fold(next_check, Instant::min);
        let next = next.saturating_duration_since(now);
        if self.raised.is_empty() && self.queue.is_empty() { next } else { self.pace.wait(now).min(next) }
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Board(passenger, seat) => match passenger {
                IncomingConnection::Pending(newcomer) => self.accept(*newcomer, seat),
                IncomingConnection::Migrating(moved) => self.take_over(*moved, seat),
            },
            Event::Topic(slot, since) => self.raised.push((slot, since)),
            Event::Outcome { connection, request, outcome } => self.outcome(connection, request, &outcome),
            Event::Past { connection, serial, piece } => self.past_read(connection, serial, *piece),
            Event::Registry => self.registry_changed(),
            Event::Shed(count) => self.to_shed = count,
            Event::Leave => self.is_leaving = true,
            Event::End => {
                self.is_ending = true;
                let keys: Vec<usize> = self.connections.iter().map(|(key, _)| key).collect();
                keys.into_iter().for_each(|key| self.end(key, &End::ShuttingDown));
            }
            #[cfg(test)]
            Event::Panic => panic!("planted"),
        }
    }

    pub(super) fn accept(&mut self, newcomer: PendingConnection, seat: Seat) {
        let PendingConnection { stream, caller, protocol, place, mut early } = newcomer;
        let entry = self.connections.vacant_entry();
        let key = entry.key();
        self.next_serial += 1;
        let serial = self.next_serial;
        let connection = Connection::new(stream, caller, serial, protocol, place, seat);
        let connection = entry.insert(connection);
        if let Err(error) = self.poll.registry().register(connection.socket(), Token(key), INTEREST) {
            tracing::error!(%error, "a connection cannot be watched");
            self.connections.remove(key);
            return;
        }
        if self.is_ending {
            return self.end(key, &End::ShuttingDown);
        }
        let may_have_more = connection.may_have_read_ahead();
        let outcome = self.welcome(key).and_then(|()| self.take(key, &mut early));
        match outcome {
            Ok(has_frames) if has_frames || may_have_more => self.enqueue_read(key),
            Ok(_) => {}
            Err(end) => self.end(key, &end),
        }
    }

    /// Writes what waits, and then what the client lacks.
    fn writable(&mut self, key: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        match connection.flush_some(WRITE) {
            Ok(true) => return self.enqueue_flush(key),
            Ok(false) => {}
            Err(end) => self.end(key, &end),
        }
        self.has_room(key);
        self.enqueue(key);
    }

    /// Has unsent bytes of the connection written in the next turn.
    pub(super) fn enqueue_flush(&mut self, key: usize) {
        if let Some(connection) = self.connections.get_mut(key)
            && !mem::replace(&mut connection.is_flushing, true)
        {
            self.flushing.push_back(key);
        }
    }

    /// Writes long messages a part a turn: a client that has room for megabytes does not delay the others.
    fn flush_turn(&mut self) {
        for _ in 0..self.flushing.len().min(MAX_FLUSHED) {
            let Some(key) = self.flushing.pop_front() else { break };
            let Some(connection) = self.connections.get_mut(key) else { continue };
            connection.is_flushing = false;
            self.writable(key);
        }
    }

    /// Has the connection read in the next turn.
    pub(super) fn enqueue_read(&mut self, key: usize) {
        if let Some(connection) = self.connections.get_mut(key)
            && !mem::replace(&mut connection.is_readable, true)
        {
            self.readable.push_back(key);
        }
    }

    /// Reads from each connection that has something to read, within the budget of a turn: a client that sends without pause delays the others by
    /// one budget only.
    fn read_turn(&mut self) {
        let mut buffer = mem::take(&mut self.buffer);
        for _ in 0..self.readable.len() {
            let Some(key) = self.readable.pop_front() else { break };
            let Some(connection) = self.connections.get_mut(key) else { continue };
            connection.is_readable = false;
            match self.read(key, &mut buffer) {
                Ok(true) => self.enqueue_read(key),
                Ok(false) => {}
                Err(end) => self.end(key, &end),
            }
        }
        self.buffer = buffer;
    }

    /// Reads once, or takes frames that were read before. Returns whether there may be more: the system reports a readable socket only once.
    fn read(&mut self, key: usize, buffer: &mut [u8]) -> Result<bool, End> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(false) };
        if mem::take(&mut connection.has_frames) {
            self.take(key, &mut [])?;
            return Ok(true);
        }
        let allowed = connection.allowance.bytes(Instant::now()).min(buffer.len());
        if allowed == 0 {
            self.throttle(key);
            return Ok(false);
        }
        match connection.read(buffer.get_mut(..allowed).unwrap_or_default()) {
            Ok(0) => Err(End::Client),
            Ok(length) => {
                // A closing connection does not read.
                if !connection.is_leaving() {
                    self.take(key, buffer.get_mut(..length).unwrap_or_default())?;
                }
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// The connection has sent more than it may: it is read again after a pause.
    fn throttle(&mut self, key: usize) {
        self.throttled.push(key);
        self.throttle_ends.get_or_insert_with(|| Instant::now() + THROTTLE_DELAY);
    }

    /// Reads from throttled connections again, if it is time.
    fn end_throttle(&mut self) {
        if self.throttle_ends.is_some_and(|end| end <= Instant::now()) {
            self.throttle_ends = None;
            // The key of a connection that is gone may be another's: one read too many.
            mem::take(&mut self.throttled).into_iter().for_each(|key| self.enqueue_read(key));
        }
    }

    /// Takes bytes of a client, and at most the budget of a turn of its frames. Returns whether there are more.
    fn take(&mut self, key: usize, bytes: &mut [u8]) -> Result<bool, End> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(false) };
        let mut decoder = mem::take(&mut connection.decoder);
        let has_frames = decoder.decode_some(bytes, MAX_FRAMES, |message| self.message(key, message))?;
        if let Some(connection) = self.connections.get_mut(key) {
            connection.decoder = decoder;
            connection.has_frames = has_frames;
        }
        Ok(has_frames)
    }

    fn message(&mut self, key: usize, message: Message<'_>) -> Result<(), End> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
        match message {
            // Frames after a close frame are ignored, and no frame is sent after one.
            _ if connection.is_leaving() => Ok(()),
            Message::Ping(payload) => {
                connection.pings += 1;
                if connection.pings > MAX_PINGS {
                    return Err(End::Abuse("more than 100 pings in a second"));
                }
                connection.send(Opcode::Pong, payload)
            }
            Message::Pong(_) => Ok(()),
            Message::Close(code, _) => {
                self.leave(key, close::reply(code), "");
                Ok(())
            }
            Message::Text(text) => {
                self.around.admission.count_received(text.len());
                match connection.protocol {
                    Protocol::Native(_) => self.native_request(key, text),
                    Protocol::Eisa(_) => Err(End::WrongKind(
                        "clients without a subprotocol send binary commands; this was text",
                    )),
                }
            }
            Message::Binary(bytes) => {
                self.around.admission.count_received(bytes.len());
                match connection.protocol {
                    Protocol::Native(_) => Err(End::WrongKind("control messages are text; this was binary")),
                    Protocol::Eisa(_) => self.eisa_command(key, bytes),
                }
            }
        }
    }

    /// Sends a command to its node on another thread, so that samples keep flowing.
    pub(super) fn send_command(
        &self,
        key: usize,
        request: i64,
        who: &'static str,
        target: (String, String),
        wish: NamedRequest,
    ) {
        let Some(connection) = self.connections.get(key) else { return };
        let (dac, inbox) = (self.around.dac.clone(), self.inbox.clone());
        let (permissions, caller) = (self.around.permissions.clone(), connection.caller.clone());
        let connection = ConnectionId { key, serial: connection.serial };
        self.around.runtime.spawn(async move {
            let outcome = permissions.command(&dac, &caller, who, target, wish).await;
            inbox.post(Event::Outcome { connection, request, outcome });
        });
    }

    /// The connection of this id, if it is still the same one.
    pub(super) fn same(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.connections.get_mut(id.key).filter(|connection| connection.serial == id.serial)
    }

    /// Ends a connection if that is what came of serving it.
    pub(super) fn settle(&mut self, key: usize, outcome: Result<(), End>) {
        if let Err(end) = outcome {
            self.end(key, &end);
        }
    }

    pub(super) fn end(&mut self, key: usize, end: &End) {
        let Some(connection) = self.connections.get(key) else { return };
        let Some((code, word)) = end.code() else { return self.remove(key) };
        if let Some(word) = word {
            self.around.admission.count_refused(word);
            if let Some(left_out) = self.around.admission.may_log(PeerLine::Refused) {
                let others = left_out.others();
                tracing::info!(peer = %connection.caller.peer(), %end, others, "websocket closed");
            }
        }
        self.leave(key, code, &end.to_string());
    }

    /// Sends a close frame. The client closes the connection, or the shard after a timeout.
    fn leave(&mut self, key: usize, code: CloseCode, reason: &str) {
        let Some(connection) = self.connections.get_mut(key).filter(|connection| !connection.is_leaving())
        else {
            return;
        };
        connection.leave(code, reason);
        let id = ConnectionId { key, serial: connection.serial };
        self.leaving.push_back((Instant::now() + GOODBYE, id));
    }

    /// Closes connections whose timeout after the close frame has passed.
    fn close_finished(&mut self) {
        let now = Instant::now();
        while self.leaving.front().is_some_and(|(due, _)| *due <= now)
            && let Some((_, id)) = self.leaving.pop_front()
        {
            if self.same(id).is_some() {
                self.remove(id.key);
            }
        }
    }

    fn remove(&mut self, key: usize) {
        let Some(mut connection) = self.connections.try_remove(key) else { return };
        connection.abandon();
        // Closing the socket would do; this keeps an error from going unseen.
        if let Err(error) = self.poll.registry().deregister(connection.socket()) {
            tracing::debug!(%error, "a closed connection was not watched");
        }
        for subscription in mem::take(&mut connection.subscriptions) {
            self.forget_reader(&subscription);
        }
    }

    /// Closes clients that do not read, and ends subscriptions that have all samples of their time.
    fn check_stalled(&mut self) {
        let now = Instant::now();
        if now < self.last_check + CHECK_INTERVAL {
            return;
        }
        self.last_check = now;
        self.check_rights();
        let (mut stalled, mut over) = (Vec::new(), Vec::new());
        for (key, connection) in &mut self.connections {
            connection.pings = 0;
            if connection.is_stalled(now) {
                stalled.push(key);
            }
            if connection.subscriptions.iter().any(|subscription| has_passed(subscription.until())) {
                over.push(key);
            }
        }
        stalled.into_iter().for_each(|key| self.end(key, &End::Stalled));
        over.into_iter().for_each(|key| self.enqueue(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::websocket::{connection::ConnectionPermit, transport::Transport};
    use mio::Waker;
    use oasis_dac::{Config, listener::Addresses};
    use std::{
        io::Write,
        net::{TcpListener, TcpStream},
    };

    const PONG: [u8; 6] = [0x8a, 0x80, 1, 2, 3, 4];
    const PING: [u8; 6] = [0x89, 0x80, 1, 2, 3, 4];

    fn shard() -> Shard {
        let dac = Dac::new(Config::default());
        let around = SharedContext {
            dac: dac.clone(),
            config: Arc::default(),
            admission: Arc::new(Admission::new(2)),
            archived: ArchiveAccess::new(None),
            permissions: Arc::new(Permissions::in_memory()),
            fleets: Arc::new(crate::fleet::Fleets::new(dac.clone())),
            runtime: Handle::current(),
        };
        let poll = Poll::new().unwrap();
        let inbox = Arc::new(Inbox::new(Waker::new(poll.registry(), INBOX).unwrap()));
        let home = Arc::new(ShardHandle::new(0, around.dac.shards.open(0), inbox));
        Shard::new(around, poll, home, Arc::default())
    }

    /// A client of the shard.
    fn connect(shard: &mut Shard) -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, peer) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let stream = Transport::Plain(mio::net::TcpStream::from_std(stream));
        let total = shard.around.admission.try_admit().unwrap();
        let place = ConnectionPermit::new(total, Addresses::new(1).try_admit(peer.ip()).unwrap(), None);
        let protocol = Protocol::Native(Default::default());
        let seat = shard.home.meter.seat();
        let caller = oasis_http::permissions::Caller::local();
        shard.accept(PendingConnection { stream, caller, protocol, place, early: Vec::new() }, seat);
        client
    }

    #[tokio::test]
    async fn a_client_that_sends_without_pause_takes_one_budget_a_turn() {
        let mut shard = shard();
        let (mut greedy, mut modest) = (connect(&mut shard), connect(&mut shard));
        greedy.write_all(&PONG.repeat(4 * MAX_FRAMES)).unwrap();
        (0..2).for_each(|key| shard.enqueue_read(key));
        for turn in 1..4 {
            modest.write_all(&PING).unwrap();
            shard.read_turn();
            assert!(shard.connections[0].has_frames, "turn {turn}");
            assert_eq!(shard.connections[1].pings, turn);
        }
        assert_eq!(shard.patience(), Duration::ZERO, "there is more to read");
        (0..3).for_each(|_| shard.read_turn());
        assert!(shard.readable.is_empty(), "both sockets are empty");
    }
}
