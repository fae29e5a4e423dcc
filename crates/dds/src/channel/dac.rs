//! The DAC's end: accepts connections through DDS, and hands each to the data channel as a stream.

use super::{
    TO_DAC, TO_NODE, WINDOW,
    connections::Connections,
    endpoint::{Endpoint, Incoming, Outgoing, WriterId},
    message::{Content, Message, NoMessage},
};
use crate::{DdsConfig, DdsError};
use oasis_channel::carried::{Accept, Messages, StreamMessage, pair, pump};
use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{net::TcpStream, sync::mpsc};
use uuid::Uuid;

/// Pause before the domain is joined again.
const RETRY: Duration = Duration::from_secs(1);
/// Interval of checks for connections that have ended.
const CONNECTION_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of log lines about messages that are none of the channel.
const LOG: Duration = Duration::from_secs(60);

/// Accepts nodes through DDS for ever; a participant that no longer works is replaced.
pub async fn serve(config: DdsConfig, name: String, channel: Arc<dyn Accept>) {
    let mut was_failing = false;
    loop {
        let begun = Instant::now();
        if let Err(error) = accept(&config, &name, &channel).await {
            // One that fails each second is logged once.
            if !was_failing || begun.elapsed() >= LOG {
                tracing::error!(%error, "no nodes through DDS: retrying");
            }
            was_failing = true;
        }
        tokio::time::sleep(RETRY).await;
    }
}

async fn accept(config: &DdsConfig, name: &str, channel: &Arc<dyn Accept>) -> Result<(), DdsError> {
    let stopped = |_| DdsError("the runtime stops".into());
    let joining = config.clone();
    // The call waits for threads of the participant.
    let joined = tokio::task::spawn_blocking(move || Endpoint::join(&joining, TO_DAC, TO_NODE));
    let endpoint = joined.await.map_err(stopped)??;
    tracing::info!(dac = name, domain = config.domain, "nodes may connect through DDS");
    let mut dac = Dac {
        id: Uuid::new_v4(),
        name: name.to_owned(),
        out: endpoint.out.clone(),
        channel: channel.clone(),
        connections: Connections::default(),
        garbage: Garbage::default(),
    };
    let ended = dac.run(&endpoint).await;
    // And so does its end.
    tokio::task::spawn_blocking(move || drop(endpoint)).await.map_err(stopped)?;
    Err(ended)
}

/// The DAC, while its participant lives.
struct Dac {
    /// Chosen at random for each participant: names may be given twice.
    id: Uuid,
    name: String,
    out: Outgoing,
    channel: Arc<dyn Accept>,
    connections: Connections,
    garbage: Garbage,
}

impl Dac {
    async fn run(&mut self, endpoint: &Endpoint) -> DdsError {
        let mut look = tokio::time::interval(CONNECTION_CHECK_INTERVAL);
        loop {
            tokio::select! {
                incoming = endpoint.next() => match incoming {
                    Ok(incoming) => self.handle(incoming).await,
                    Err(error) => return error,
                },
                _ = look.tick() => {
                    self.connections.remove_ended();
                    if self.out.is_stalled() {
                        return DdsError(Outgoing::STALL.into());
                    }
                }
            }
            // DDS never makes the task wait, however much comes.
            tokio::task::yield_now().await;
        }
    }

    async fn handle(&mut self, Incoming { from, message }: Incoming) {
        let Message { connection, content } = match message {
            Ok(message) => message,
            Err(why) => return self.garbage.note(&why),
        };
        match content {
            Content::Ask(name) if name.is_empty() || name == self.name => {
                self.answer(connection, Content::Offer(self.id));
            }
            Content::Open(dac) if dac == self.id => self.open(connection, from).await,
            Content::StreamMessage(piece) => self.connections.deliver(connection, from, piece),
            // For another DAC, or for nodes.
            Content::Ask(_)
            | Content::Open(_)
            | Content::Offer(_)
            | Content::Accepted
            | Content::Refused(_) => {}
        }
    }

    async fn open(&mut self, id: Uuid, node: WriterId) {
        match self.begin(id, node).await {
            Ok(begun) => {
                // Before the first piece.
                self.answer(id, Content::Accepted);
                if let Some((stream, mut link)) = begun {
                    tokio::spawn(async move {
                        if let Err(error) = pump(stream, &mut link, WINDOW).await {
                            tracing::info!(%error, "a data channel over DDS has ended");
                        }
                    });
                }
            }
            Err(why) => self.answer(id, Content::Refused(why)),
        }
    }

    /// Returns what carries the connection; nothing if it has begun before.
    async fn begin(&mut self, id: Uuid, node: WriterId) -> Result<Option<(TcpStream, Link)>, String> {
        let Some(pieces) = self.connections.begin(id, node)? else { return Ok(None) };
        let (near, far) = pair().await.map_err(|error| error.to_string())?;
        self.channel.take(far)?;
        Ok(Some((near, Link { id, pieces, out: self.out.clone() })))
    }

    /// Answers a node. Without room it gets no answer, and asks again.
    fn answer(&self, connection: Uuid, content: Content) {
        if let Err(error) = self.out.try_send(&Message { connection, content }) {
            tracing::debug!(%error, "a node through DDS gets no answer");
        }
    }
}

/// The DAC's end of a connection.
struct Link {
    id: Uuid,
    pieces: mpsc::Receiver<StreamMessage>,
    out: Outgoing,
}

impl Messages for Link {
    async fn send(&mut self, piece: &StreamMessage) -> io::Result<()> {
        self.out.send(&Message { connection: self.id, content: Content::StreamMessage(piece.clone()) }).await
    }

    async fn receive(&mut self) -> io::Result<StreamMessage> {
        let ended = || io::Error::other("the node sends more than it may, or the participant has ended");
        self.pieces.recv().await.ok_or_else(ended)
    }

    /// RustDDS sends by itself.
    async fn flush(&mut self) {}
}

/// Messages that are none of the channel.
#[derive(Debug, Default)]
struct Garbage {
    count: u64,
    logged: Option<Instant>,
}

impl Garbage {
    fn note(&mut self, why: &NoMessage) {
        self.count += 1;
        if self.logged.is_none_or(|logged| logged.elapsed() >= LOG) {
            self.logged = Some(Instant::now());
            let count = self.count;
            tracing::warn!(count, %why, "ignoring messages on {TO_DAC} that are none of the channel");
        }
    }
}
