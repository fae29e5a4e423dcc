//! The native protocol, `oasis.v1`: JSON text for control, native batches as they are for data.

use super::outgoing::{End, Outgoing};
use crate::{Doors, view};
use axum::extract::ws::{Message, WebSocket};
use futures_util::{StreamExt, stream::SplitStream};
use oasis_channel::{Command, InstanceState};
use oasis_dac::{CommandError, Cursor, From, Signal, Wake, now};
use oasis_wire::quantity::{Epoch, Position, TopicId};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, net::SocketAddr, pin::pin, sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

/// Segments written for one topic before the others get their turn.
const SEGMENTS_A_TURN: usize = 64;
/// Requests that make no sense before the client is closed.
const PATIENCE: u32 = 100;
/// Commands of one client under way at the same time.
const COMMANDS: usize = 64;
/// The registry is sent at most this often.
const REGISTRY_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Deserialize)]
struct Request {
    id: i64,
    #[serde(flatten)]
    what: What,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
enum What {
    Watch,
    Subscribe {
        node: String,
        instance: String,
        resume: Option<Position>,
        from: Option<Start>,
    },
    Unsubscribe {
        topic: TopicId,
    },
    Command {
        node: String,
        instance: String,
        #[serde(flatten)]
        command: Command,
    },
    Ping {
        client_time: f64,
    },
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Start {
    Now,
    Earliest,
}

#[derive(Debug, Serialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
enum Answer {
    Welcome {
        protocol: u32,
        server: &'static str,
        epoch: Epoch,
        dac_time: u64,
    },
    Registry {
        nodes: Vec<view::NodeView>,
        instances: Vec<view::InstanceView>,
    },
    Subscribed {
        id: i64,
        topic: TopicId,
        epoch: Epoch,
        offset: u64,
        instance: Box<view::InstanceWithSchema>,
    },
    Gap {
        topic: TopicId,
        #[serde(flatten)]
        range: Option<Range>,
        cause: &'static str,
    },
    Unsubscribed {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<i64>,
        topic: TopicId,
    },
    Result {
        id: i64,
        status: &'static str,
        #[serde(flatten)]
        state: InstanceState,
    },
    Pong {
        id: i64,
        client_time: f64,
        dac_time: u64,
    },
    Error {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<i64>,
        code: String,
        message: String,
    },
}

#[derive(Debug, Serialize)]
struct Range {
    from: u64,
    to: u64,
    count: u64,
}

/// One native client.
pub struct Connection {
    doors: Doors,
    peer: SocketAddr,
    out: Outgoing,
    signal: Arc<Signal>,
    cursors: BTreeMap<TopicId, Cursor>,
    /// Set once the client watches the registry.
    registry: Option<watch::Receiver<u64>>,
    results: mpsc::Sender<Answer>,
    nonsense: u32,
}

impl Connection {
    /// Serves a client until it goes or has to go.
    pub async fn run(doors: Doors, peer: SocketAddr, socket: WebSocket) {
        let (sink, stream) = socket.split();
        let (results, answered) = mpsc::channel(COMMANDS);
        let mut connection = Self {
            doors,
            peer,
            out: Outgoing::new(sink),
            signal: Arc::default(),
            cursors: BTreeMap::new(),
            registry: None,
            results,
            nonsense: 0,
        };
        let end = match connection.converse(stream, answered).await {
            Ok(()) => End::Client,
            Err(end) => end,
        };
        if let Some((_, Some(word))) = end.code() {
            connection.doors.doorkeeper.refused(word);
            tracing::info!(%peer, %end, "websocket closed");
        }
        connection.out.close(&end).await;
    }

    async fn converse(
        &mut self,
        mut stream: SplitStream<WebSocket>,
        mut answered: mpsc::Receiver<Answer>,
    ) -> Result<(), End> {
        self.out.json(&self.welcome()).await?;
        self.out.flush().await?;
        let mut registry_due = Instant::now();
        let mut registry_changed = false;
        let doors = self.doors.clone();
        let mut ended = pin!(doors.ended());
        loop {
            tokio::select! {
                () = &mut ended => return Err(End::ShuttingDown),
                message = stream.next() => match message {
                    None | Some(Ok(Message::Close(_))) => return Ok(()),
                    Some(message) => self.message(message?).await?,
                },
                Some(answer) = answered.recv() => self.out.json(&answer).await?,
                () = self.signal.raised() => {}
                () = changed(&mut self.registry) => registry_changed = true,
                () = tokio::time::sleep_until(registry_due), if registry_changed => {}
            }
            if registry_changed && Instant::now() >= registry_due {
                self.send_registry().await?;
                registry_changed = false;
                registry_due = Instant::now() + REGISTRY_PAUSE;
            }
            self.push().await?;
            self.out.flush().await?;
        }
    }

    /// Writes what each subscription is behind, a turn at a time.
    async fn push(&mut self) -> Result<(), End> {
        let mut retired = Vec::new();
        for (&topic, cursor) in &mut self.cursors {
            if cursor.is_behind() {
                let read = cursor.read(SEGMENTS_A_TURN);
                if let Some((from, to)) = read.missed {
                    let range = Range { from: from.0, to: to.0, count: to.0 - from.0 };
                    self.out.json(&Answer::Gap { topic, range: Some(range), cause: "log_retention" }).await?;
                }
                for segment in read.segments {
                    self.out.binary(segment.batch().clone()).await?;
                }
            }
            if cursor.is_behind() {
                self.signal.raise();
            } else if cursor.instance().retired() {
                retired.push(topic);
            }
        }
        for topic in retired {
            self.cursors.remove(&topic);
            self.out.json(&Answer::Unsubscribed { id: None, topic }).await?;
        }
        Ok(())
    }

    async fn message(&mut self, message: Message) -> Result<(), End> {
        match message {
            Message::Text(text) => {
                self.doors.doorkeeper.received(text.len());
                match serde_json::from_str::<Request>(&text) {
                    Ok(request) => self.request(request).await,
                    Err(error) => self.bad_request(&text, &error).await,
                }
            }
            Message::Binary(_) => Err(End::WrongKind("control messages are text; this was binary")),
            // The library answers pings.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => Ok(()),
        }
    }

    async fn request(&mut self, Request { id, what }: Request) -> Result<(), End> {
        match what {
            What::Watch => {
                let mut registry = self.doors.dac.registry.watch();
                // Now, and not only when something changes.
                registry.mark_changed();
                self.registry = Some(registry);
                Ok(())
            }
            What::Subscribe { node, instance, resume, from } => {
                let from = match (resume, from) {
                    (Some(position), _) => From::Position(position),
                    (None, Some(Start::Earliest)) => From::Earliest,
                    (None, Some(Start::Now) | None) => From::Now,
                };
                self.subscribe(id, &node, &instance, from).await
            }
            What::Unsubscribe { topic } => match self.cursors.remove(&topic) {
                Some(_) => self.out.json(&Answer::Unsubscribed { id: Some(id), topic }).await,
                None => {
                    self.error(id, "unknown_topic", format!("there is no subscription to topic {topic}"))
                        .await
                }
            },
            What::Command { node, instance, command } => self.command(id, node, instance, command).await,
            What::Ping { client_time } => {
                self.out.json(&Answer::Pong { id, client_time, dac_time: now().0 }).await
            }
        }
    }

    async fn subscribe(&mut self, id: i64, node: &str, instance: &str, from: From) -> Result<(), End> {
        let dac = self.doors.dac.clone();
        let Some(found) = dac.registry.find(node, instance) else {
            let error = CommandError::UnknownInstance { node: node.into(), instance: instance.into() };
            return self.error(id, error.code(), error.to_string()).await;
        };
        let topic = found.topic;
        if self.cursors.contains_key(&topic) {
            return self
                .error(id, "already_subscribed", format!("topic {topic} is subscribed already"))
                .await;
        }
        let limit = self.doors.config.max_subscriptions;
        if self.cursors.len() >= limit {
            let message = format!("a connection may have {limit} subscriptions (doors.max_subscriptions)");
            return self.error(id, "too_many_subscriptions", message).await;
        }
        let instance = Box::new(view::with_schema(&dac.registry, &found));
        let (cursor, epoch_changed) = Cursor::new(found, from, &self.signal);
        let offset = cursor.next().0;
        self.out.json(&Answer::Subscribed { id, topic, epoch: dac.epoch(), offset, instance }).await?;
        if epoch_changed {
            self.out.json(&Answer::Gap { topic, range: None, cause: "epoch_changed" }).await?;
        }
        self.cursors.insert(topic, cursor);
        Ok(())
    }

    /// Waits for the node on a task of its own, so that data keeps flowing meanwhile.
    async fn command(
        &mut self,
        id: i64,
        node: String,
        instance: String,
        command: Command,
    ) -> Result<(), End> {
        let Ok(place) = self.results.clone().try_reserve_owned() else {
            let message =
                format!("{COMMANDS} commands are under way on this connection: wait for their results");
            return self.error(id, "busy", message).await;
        };
        let dac = self.doors.dac.clone();
        let who = format!("websocket {}", self.peer);
        tokio::spawn(async move {
            let result = dac.commands.send(&dac.registry, (&node, &instance), command, &who, now()).await;
            place.send(match result {
                Ok(state) => Answer::Result { id, status: "done", state },
                Err(error) => {
                    Answer::Error { id: Some(id), code: error.code().into(), message: error.to_string() }
                }
            });
        });
        Ok(())
    }

    async fn bad_request(&mut self, text: &str, error: &serde_json::Error) -> Result<(), End> {
        self.nonsense += 1;
        if self.nonsense > PATIENCE {
            return Err(End::Abuse("more than 100 bad requests"));
        }
        #[derive(Deserialize)]
        struct Numbered {
            id: i64,
        }
        let id = serde_json::from_str::<Numbered>(text).ok().map(|numbered| numbered.id);
        self.out.json(&Answer::Error { id, code: "bad_request".into(), message: error.to_string() }).await
    }

    async fn error(&mut self, id: i64, code: &str, message: String) -> Result<(), End> {
        self.out.json(&Answer::Error { id: Some(id), code: code.into(), message }).await
    }

    async fn send_registry(&mut self) -> Result<(), End> {
        let registry = &self.doors.dac.registry;
        let answer = Answer::Registry { nodes: view::nodes(registry), instances: view::instances(registry) };
        self.out.json(&answer).await
    }

    fn welcome(&self) -> Answer {
        Answer::Welcome {
            protocol: 1,
            server: oasis_dac::SOFTWARE,
            epoch: self.doors.dac.epoch(),
            dac_time: now().0,
        }
    }
}

/// Completes when the watched registry has changed; never while it is not watched.
async fn changed(registry: &mut Option<watch::Receiver<u64>>) {
    let Some(registry) = registry else { return std::future::pending().await };
    if registry.changed().await.is_err() {
        // The DAC outlives its connections, so this cannot happen; if it did, nothing would ever change again.
        std::future::pending().await
    }
}
