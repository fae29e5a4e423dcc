//! A plant, shards and clients in one thread. A seed decides who does what next: connections move at any time, with samples, requests and answers under way.

use super::*;
use crate::{
    config::DoorsConfig,
    past::ArchiveAccess,
    test_plant::{Plant, counter},
    websocket::{
        connection::{ConnectionPermit, Protocol},
        inbox::{Inbox, PendingConnection},
        shard::{INBOX, SharedContext},
        shard_handle::ShardHandle,
        transport::Transport,
    },
};
use mio::{Events, Poll, Waker};
use oasis_dac::{Admission, Config, Dac, NO_OFFSET, listener::Addresses};
use oasis_websocket::{Decoder, Limits, Message, Opcode, Role, frame};
use oasis_wire::batch::Batch;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::{
    io::{ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::runtime::{Handle, Runtime};

const SHARDS: usize = 3;
const CLIENTS: usize = 4;
/// The first clients ask for samples ahead of their turn.
const ASK_FOR_AHEAD: usize = 2;

/// A client, and what it has received.
struct Client {
    stream: TcpStream,
    decoder: Decoder,
    /// Offsets of samples, in order of arrival.
    offsets: Vec<u64>,
    /// Sequence numbers of samples that came ahead of their turn.
    ahead: Vec<u64>,
    /// Kinds and numbers of answers, in order of arrival.
    answers: Vec<(String, u64)>,
    asked: u64,
}

impl Client {
    fn request(&mut self, mut request: Value) {
        self.asked += 1;
        request["id"] = json!(self.asked);
        let mut bytes = Vec::new();
        frame::write_masked(Opcode::Text, request.to_string().as_bytes(), [1, 2, 3, 4], &mut bytes);
        self.stream.write_all(&bytes).unwrap();
    }

    /// Takes what has arrived.
    fn receive(&mut self) {
        let mut buffer = [0; 64 * 1024];
        let length = match self.stream.read(&mut buffer) {
            Ok(0) => panic!("the connection was closed"),
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(error) => panic!("{error}"),
        };
        let Self { decoder, offsets, ahead, answers, .. } = self;
        let take = |message: Message<'_>| {
            match message {
                Message::Text(text) => {
                    let answer: Value = serde_json::from_str(text).unwrap();
                    answers.push((answer["op"].as_str().unwrap().into(), answer["id"].as_u64().unwrap_or(0)));
                }
                Message::Binary(bytes) => {
                    let probe_type = counter();
                    let batch = Batch::parse(bytes, &probe_type).unwrap();
                    match batch.header().offset {
                        NO_OFFSET => ahead.push(batch.header().first_sequence),
                        _ => offsets.extend(batch.samples().map(|sample| sample.offset)),
                    }
                }
                other => panic!("{other:?}"),
            }
            Ok::<_, oasis_websocket::Error>(())
        };
        decoder.decode(&mut buffer[..length], take).unwrap();
    }
}

struct World {
    around: SharedContext,
    plant: Plant,
    topic: u32,
    /// The last sequence number that was sent ahead of its turn.
    ahead: u64,
    shards: Vec<Shard>,
    clients: Vec<Client>,
    /// Connections that are at no shard.
    under_way: Vec<MigratingConnection>,
}

impl World {
    fn new() -> Self {
        let dac = Dac::new(Config::default());
        let plant = Plant::connect(&dac);
        let topic = dac.registry.find("plant", "counter").unwrap().topic.0;
        // Rounds without a rest between them.
        let config = DoorsConfig { flush_ms: 0, ..DoorsConfig::default() };
        let around = SharedContext {
            dac: dac.clone(),
            config: Arc::new(config),
            admission: Arc::new(Admission::new(CLIENTS)),
            archived: ArchiveAccess::new(None),
            permissions: Arc::new(oasis_http::permissions::Permissions::in_memory()),
            fleets: Arc::new(crate::fleet::Fleets::new(dac.clone())),
            runtime: Handle::current(),
        };
        let shards = (0..SHARDS).map(|number| shard(&around, number)).collect();
        let mut world =
            Self { around, plant, topic, ahead: 0, shards, clients: Vec::new(), under_way: Vec::new() };
        (0..CLIENTS).for_each(|number| world.connect(number % SHARDS));
        world
    }

    fn connect(&mut self, shard: usize) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, peer) = listener.accept().unwrap();
        accepted.set_nonblocking(true).unwrap();
        stream.set_nonblocking(true).unwrap();
        let total = self.around.admission.try_admit().unwrap();
        let place = ConnectionPermit::new(total, Addresses::new(1).try_admit(peer.ip()).unwrap(), None);
        let protocol = Protocol::Native(Default::default());
        let accepted = Transport::Plain(mio::net::TcpStream::from_std(accepted));
        let caller = oasis_http::permissions::Caller::local();
        let newcomer = PendingConnection { stream: accepted, caller, protocol, place, early: Vec::new() };
        let shard = &mut self.shards[shard];
        let seat = shard.home.meter.seat();
        shard.accept(newcomer, seat);
        let decoder = Decoder::new(Role::Client, Limits::default());
        let (offsets, ahead, answers) = Default::default();
        let mut client = Client { stream, decoder, offsets, ahead, answers, asked: 0 };
        let asks = self.clients.len() < ASK_FOR_AHEAD;
        let subscribe =
            json!({"op": "subscribe", "node": "plant", "instance": "counter", "from": "earliest"});
        client.request(if asks { with_ahead(subscribe) } else { subscribe });
        self.clients.push(client);
    }

    fn send_ahead(&mut self) {
        self.ahead = self.ahead.max(self.plant.taken) + 1;
        self.plant.send_ahead(self.topic, self.ahead);
        self.ahead += 1;
    }

    fn turn(&mut self, shard: usize) {
        let mut events = Events::with_capacity(64);
        let shard = &mut self.shards[shard];
        shard.poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
        shard.turn(&events);
    }

    /// Takes a connection out of a shard, if one can move.
    fn take_out(&mut self, shard: usize, which: usize) {
        let shard = &mut self.shards[shard];
        let keys: Vec<usize> = shard.connections.iter().map(|(key, _)| key).collect();
        let Some(&key) = keys.get(which % keys.len().max(1)) else { return };
        if shard.connections[key].can_move() {
            self.under_way.extend(shard.take_out(key));
        }
    }

    fn take_over(&mut self, shard: usize) {
        if let Some(moved) = self.under_way.pop() {
            let shard = &mut self.shards[shard];
            let seat = shard.home.meter.seat();
            shard.take_over(moved, seat);
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Samples(count) => self.plant.send(self.topic, count),
            Step::Ahead => self.send_ahead(),
            Step::Turn(shard) => self.turn(shard),
            Step::TakeOut(shard, which) => self.take_out(shard, which),
            Step::TakeOver(shard) => self.take_over(shard),
            Step::Ping(client) => self.clients[client].request(json!({"op": "ping", "client_time": 1})),
            Step::Receive(client) => self.clients[client].receive(),
        }
    }

    /// Lets everybody finish.
    fn finish(&mut self) {
        while !self.under_way.is_empty() {
            self.take_over(0);
        }
        self.send_ahead();
        let (samples, ahead, begun) = (self.plant.taken, self.ahead, Instant::now());
        let is_complete = |(number, client): (usize, &Client)| {
            (number >= ASK_FOR_AHEAD || client.ahead.last() == Some(&ahead))
                && client.offsets.len() as u64 >= samples
                && client.answers.len() as u64 > client.asked
        };
        while !self.clients.iter().enumerate().all(is_complete) {
            assert!(begun.elapsed() < Duration::from_secs(60), "something is lost");
            (0..SHARDS).for_each(|shard| self.turn(shard));
            self.clients.iter_mut().for_each(Client::receive);
        }
    }
}

fn with_ahead(mut subscribe: Value) -> Value {
    subscribe["ahead"] = json!(true);
    subscribe
}

fn shard(around: &SharedContext, number: usize) -> Shard {
    let poll = Poll::new().unwrap();
    let inbox = Arc::new(Inbox::new(Waker::new(poll.registry(), INBOX).unwrap()));
    let home = Arc::new(ShardHandle::new(number, around.dac.shards.open(number), inbox));
    Shard::new(around.clone(), poll, home, Arc::default())
}

#[derive(Debug, Clone)]
enum Step {
    Samples(u64),
    Ahead,
    Turn(usize),
    TakeOut(usize, usize),
    TakeOver(usize),
    Ping(usize),
    Receive(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (1_u64..5).prop_map(Step::Samples),
        Just(Step::Ahead),
        (0..SHARDS).prop_map(Step::Turn),
        (0..SHARDS).prop_map(Step::Turn),
        (0..SHARDS, 0..CLIENTS).prop_map(|(shard, which)| Step::TakeOut(shard, which)),
        (0..SHARDS).prop_map(Step::TakeOver),
        (0..CLIENTS).prop_map(Step::Ping),
        (0..CLIENTS).prop_map(Step::Receive),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Each client receives every sample once and in order, and every answer once and in order. Those that ask also receive
    /// the newest sample ahead of its turn, once.
    #[test]
    fn a_moving_connection_loses_nothing_and_repeats_nothing(steps in steps()) {
        let runtime = Runtime::new().unwrap();
        let _entered = runtime.enter();
        let mut world = World::new();
        steps.iter().for_each(|step| world.step(step));
        world.finish();
        for (number, client) in world.clients.iter().enumerate() {
            prop_assert!(client.ahead.is_sorted_by(|one, other| one < other), "{:?}", client.ahead);
            prop_assert_eq!(client.ahead.is_empty(), number >= ASK_FOR_AHEAD);
            let all: Vec<u64> = (0..world.plant.taken).collect();
            prop_assert_eq!(&client.offsets, &all);
            let words = ["welcome", "subscribed"].into_iter().chain(std::iter::repeat("pong"));
            let answers: Vec<(String, u64)> = words.map(str::to_owned).zip(0..=client.asked).collect();
            prop_assert_eq!(&client.answers, &answers);
        }
        let seats: usize = world.around.dac.shards.figures().iter().map(|shard| shard.connections).sum();
        prop_assert_eq!(seats, CLIENTS);
    }
}
