//! One client of the paper: opens a connection, and pings at its own period.

use super::{
    super::{dialect::Incoming, rival::Rival},
    tally::Shared,
};
use anyhow::{Context, bail};
use futures_util::{SinkExt, StreamExt};
use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};
use tokio::{
    net::{TcpSocket, TcpStream},
    time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout, timeout_at},
};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{self, Message, client::IntoClientRequest, http::HeaderValue, protocol::WebSocketConfig},
};

/// Timeout of a handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout of the last answers: an overloaded machine takes seconds.
const LAST_ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// Buffer of a connection: 25,000 of them must fit into memory. A file gets a larger one.
const BUFFER: usize = 4 * 1024;
const BUFFER_OF_FILES: usize = 64 * 1024;

/// A client without a connection.
pub struct Client {
    /// Address to connect to.
    pub server: SocketAddr,
    /// From where, if the server is on this machine.
    pub source: Ipv4Addr,
    /// Server whose protocol is spoken.
    pub rival: Rival,
    /// Whether it waits for the answer to a ping before the next.
    pub is_file: bool,
    /// Results of the client.
    pub pings: Shared,
    /// Between two pings.
    pub period: Duration,
    /// When it stops.
    pub end: Instant,
}

type Socket = WebSocketStream<TcpStream>;

impl Client {
    /// Pings until the end, and counts what it sees.
    pub async fn run(self) {
        let opened = timeout(HANDSHAKE_TIMEOUT, self.open()).await;
        let socket = match opened.context("no handshake in time").flatten() {
            Ok(socket) => socket,
            Err(why) => return self.pings.with(|pings| pings.refused(&why)),
        };
        self.pings.with(|pings| {
            pings.opened += 1;
            pings.open += 1;
        });
        let ended = self.ping(socket).await;
        self.pings.with(|pings| {
            pings.open -= 1;
            if let Err(why) = ended {
                pings.lost(&why);
            }
        });
    }

    /// Connects, shakes hands, and waits until pings can be sent.
    async fn open(&self) -> anyhow::Result<Socket> {
        let socket = TcpSocket::new_v4()?;
        if self.server.ip().is_loopback() {
            socket.bind(SocketAddr::from((self.source, 0)))?;
        }
        let stream = socket.connect(self.server).await?;
        stream.set_nodelay(true)?;
        let mut request = format!("ws://{}{}", self.server, self.rival.path()).into_client_request()?;
        if let Some(subprotocol) = self.rival.subprotocol() {
            request.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static(subprotocol));
        }
        let buffer = if self.is_file { BUFFER_OF_FILES } else { BUFFER };
        let config = WebSocketConfig::default().read_buffer_size(buffer).write_buffer_size(0);
        let (mut socket, _) = client_async_with_config(request, stream, Some(config)).await?;
        if let Some(greeting) = self.rival.greeting() {
            socket.send(Message::text(greeting)).await?;
        }
        loop {
            let message = socket.next().await.context("closed before it was ready")??;
            match self.read(&message) {
                Incoming::Ready => return Ok(socket),
                Incoming::Closed(reason) => bail!("the server closed the connection: {reason}"),
                _ => {}
            }
        }
    }

    /// An answer belongs to the oldest ping without one: each connection has one worker, which answers in order.
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
                    self.pings.with(|pings| pings.pings += 1);
                    socket.send(Message::text(self.rival.ping(sent, self.is_file))).await?;
                }
                () = sleep_until(self.end) => {}
            }
        }
        while !waiting.is_empty() {
            let message = timeout_at(self.end + LAST_ANSWER_TIMEOUT, socket.next()).await;
            let message = message.context("the last answers did not come in time")?;
            self.take(&mut socket, message, &mut waiting).await?;
        }
        Ok(())
    }

    async fn take(
        &self,
        socket: &mut Socket,
        message: Option<Result<Message, tungstenite::Error>>,
        waiting: &mut VecDeque<Instant>,
    ) -> anyhow::Result<()> {
        let (worker, reply) = match self.read(&message.context("the server closed the connection")??) {
            Incoming::Answer(worker) => (Some(worker), None),
            Incoming::AnswerThen(reply) => (Some(None), Some(reply)),
            Incoming::Reply(reply) => (None, Some(reply)),
            Incoming::Closed(reason) => bail!("the server closed the connection: {reason}"),
            Incoming::Ready | Incoming::Other => (None, None),
        };
        if let Some(worker) = worker {
            let sent = waiting.pop_front().context("an answer without a ping")?;
            self.pings.with(|pings| pings.answered(worker, sent.elapsed()));
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
            Message::Close(frame) => {
                Incoming::Closed(frame.as_ref().map_or_else(String::new, ToString::to_string))
            }
            _ => Incoming::Other,
        }
    }
}
