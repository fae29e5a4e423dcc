//! The load generator, a process of its own: opens connections at a rate, and pings on each of them.

use super::{
    dialect::Incoming,
    plan::{Cell, Rival},
    tally::{Summary, Tally},
};
use crate::{cpu, faults::random::Random};
use anyhow::Context;
use clap::Args;
use futures_util::{SinkExt, StreamExt};
use std::{
    collections::VecDeque,
    net::SocketAddr,
    process::{Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    net::{TcpSocket, TcpStream},
    time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout},
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest, http::HeaderValue},
};

/// Shortest time between two pings of a connection; the paper's clients may draw 0.
const SHORTEST_PERIOD: Duration = Duration::from_millis(10);
/// Timeout of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long each answer may take after the last ping.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// Connections from one source address: a machine has 28,000 ports for each.
const PORTS: usize = 20_000;

/// The orders of a load generator.
#[derive(Debug, Clone, Args)]
pub struct Load {
    server: SocketAddr,
    rival: Rival,
    /// New connections a second.
    #[arg(long)]
    rate: f64,
    /// Seconds in which connections are opened, and as many again with all of them open.
    #[arg(long)]
    ramp: f64,
    /// Mean milliseconds between two pings.
    #[arg(long)]
    period_ms: u64,
    /// Whether a file answers a ping. Then a client that waits for its file does not ping again.
    #[arg(long)]
    file: bool,
    #[arg(long)]
    seed: u64,
}

impl Load {
    /// Applies a cell's load to a server from another process, and returns what its clients saw.
    pub fn apply(server: SocketAddr, rival: Rival, cell: &Cell, seed: u64) -> anyhow::Result<Summary> {
        let rival = clap::ValueEnum::to_possible_value(&rival).context("a rival without a name")?;
        let file = (cell.file > 0).then_some("--file");
        let output = Command::new(std::env::current_exe()?)
            .args(["mueller-load", &server.to_string(), rival.get_name()])
            .args(["--rate", &cell.rate.to_string(), "--ramp", &cell.ramp.as_secs_f64().to_string()])
            .args(["--period-ms", &cell.period.as_millis().to_string(), "--seed", &seed.to_string()])
            .args(file)
            .stderr(Stdio::inherit())
            .output()?;
        anyhow::ensure!(output.status.success(), "the load generator failed: {}", output.status);
        serde_json::from_slice(&output.stdout).context("the load generator printed no summary")
    }

    /// Runs as a load generator: prints its summary.
    pub fn run(&self) -> anyhow::Result<()> {
        cpu::raise_open_files()?;
        let tally = Arc::new(Mutex::new(Tally::new()?));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.connect_all(&tally));
        println!("{}", serde_json::to_string(&lock(&tally).summary())?);
        Ok(())
    }

    async fn connect_all(&self, tally: &Arc<Mutex<Tally>>) {
        let mut random = Random::new(self.seed, "mueller");
        let begin = Instant::now();
        let end = begin + Duration::from_secs_f64(2.0 * self.ramp);
        let mut clients = Vec::new();
        for number in 0..(self.rate * self.ramp) as usize {
            sleep_until(begin + Duration::from_secs_f64(number as f64 / self.rate)).await;
            let period = random.millis(0..2 * self.period_ms + 1).max(SHORTEST_PERIOD);
            let client = Client { rival: self.rival, is_file: self.file, tally: tally.clone(), period, end };
            clients.push(tokio::spawn(client.run(self.server, number)));
        }
        for client in clients {
            // A panic of a client is a lost connection, which is counted below.
            let _ = client.await;
        }
    }
}

/// One client of the paper: opens a connection, and pings at its own period.
struct Client {
    rival: Rival,
    is_file: bool,
    tally: Arc<Mutex<Tally>>,
    period: Duration,
    end: Instant,
}

type Socket = WebSocketStream<TcpStream>;

impl Client {
    async fn run(self, server: SocketAddr, number: usize) {
        let opened = timeout(HANDSHAKE, self.open(server, number)).await;
        let socket = match opened.context("no handshake in time").flatten() {
            Ok(socket) => socket,
            Err(why) => return lock(&self.tally).refused(&why),
        };
        lock(&self.tally).opened += 1;
        if let Err(why) = self.ping(socket).await {
            lock(&self.tally).lost(&why);
        }
    }

    /// Connects, shakes hands, and waits until pings can be sent.
    async fn open(&self, server: SocketAddr, number: usize) -> anyhow::Result<Socket> {
        let source = TcpSocket::new_v4()?;
        source.bind(SocketAddr::from(([127, 0, 0, u8::try_from(2 + number / PORTS)?], 0)))?;
        let stream = source.connect(server).await?;
        stream.set_nodelay(true)?;
        let mut request = format!("ws://{server}{}", self.rival.path()).into_client_request()?;
        if let Some(subprotocol) = self.rival.subprotocol() {
            request.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static(subprotocol));
        }
        let (mut socket, _) = client_async(request, stream).await?;
        if let Some(greeting) = self.rival.greeting() {
            socket.send(Message::text(greeting)).await?;
        }
        loop {
            let message = socket.next().await.context("closed before it was ready")??;
            if self.read(&message) == Incoming::Ready {
                return Ok(socket);
            }
        }
    }

    /// Pings until the end. An answer belongs to the oldest ping without one: each connection has one worker, which answers in order.
    async fn ping(&self, mut socket: Socket) -> anyhow::Result<()> {
        let mut pings = interval_at(Instant::now() + self.period, self.period);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut sent, mut waiting) = (0, VecDeque::new());
        while Instant::now() < self.end {
            tokio::select! {
                message = socket.next() => self.take(&mut socket, message, &mut waiting).await?,
                _ = pings.tick(), if !self.is_file || waiting.is_empty() => {
                    sent += 1;
                    waiting.push_back(Instant::now());
                    lock(&self.tally).pings += 1;
                    socket.send(Message::text(self.rival.ping(sent, self.is_file))).await?;
                }
                () = sleep_until(self.end) => {}
            }
        }
        while !waiting.is_empty() {
            let message = timeout(LAST_ANSWERS, socket.next()).await;
            let message = message.context("the last answers did not come in time")?;
            self.take(&mut socket, message, &mut waiting).await?;
        }
        Ok(())
    }

    async fn take(
        &self,
        socket: &mut Socket,
        message: Option<Result<Message, tokio_tungstenite::tungstenite::Error>>,
        waiting: &mut VecDeque<Instant>,
    ) -> anyhow::Result<()> {
        let (worker, reply) = match self.read(&message.context("the server closed the connection")??) {
            Incoming::Answer(worker) => (Some(worker), None),
            Incoming::AnswerThen(reply) => (Some(None), Some(reply)),
            Incoming::Reply(reply) => (None, Some(reply)),
            Incoming::Ready | Incoming::Other => (None, None),
        };
        if let Some(worker) = worker {
            let sent = waiting.pop_front().context("an answer without a ping")?;
            lock(&self.tally).answered(worker, sent.elapsed());
        }
        if let Some(reply) = reply {
            socket.send(Message::text(reply)).await?;
        }
        Ok(())
    }

    fn read(&self, message: &Message) -> Incoming {
        match message {
            Message::Text(text) => self.rival.read(text),
            Message::Binary(bytes) => self.rival.read_binary(bytes),
            _ => Incoming::Other,
        }
    }
}

fn lock(tally: &Mutex<Tally>) -> std::sync::MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}
