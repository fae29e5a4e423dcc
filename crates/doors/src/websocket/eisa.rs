//! The format of 2012: clients that offer no subprotocol get one EISA packet in each binary frame and nothing else.
//!
//! They send commands of 256 bytes; nodes and instances go by their names. A schema, which has no packet, comes as one text frame.

use super::outgoing::{End, Outgoing};
use crate::Doors;
use axum::extract::ws::{Message, WebSocket};
use bytes::Bytes;
use futures_util::{StreamExt, stream::SplitStream};
use oasis_channel::Command;
use oasis_dac::{Cursor, From, Instance, Packets, Signal, Wake, now};
use oasis_wire::{
    batch::Batch,
    eisa::{self, ClientCommand},
};
use std::{collections::BTreeMap, net::SocketAddr, pin::pin, sync::Arc};

/// Segments written for one registration before the others get their turn.
const SEGMENTS_A_TURN: usize = 16;
/// Commands under way; a client of 2012 gets no answers, so more than these are dropped and counted.
const COMMANDS: usize = 64;

/// One client of 2012.
pub struct Connection {
    doors: Doors,
    peer: SocketAddr,
    out: Outgoing,
    signal: Arc<Signal>,
    /// By node and instance name.
    cursors: BTreeMap<(String, String), Cursor>,
    commands: Arc<tokio::sync::Semaphore>,
}

impl Connection {
    /// Serves a client until it goes or has to go.
    pub async fn run(doors: Doors, peer: SocketAddr, socket: WebSocket) {
        let (sink, stream) = socket.split();
        let mut connection = Self {
            doors,
            peer,
            out: Outgoing::new(sink),
            signal: Arc::default(),
            cursors: BTreeMap::new(),
            commands: Arc::new(tokio::sync::Semaphore::new(COMMANDS)),
        };
        let end = match connection.converse(stream).await {
            Ok(()) => End::Client,
            Err(end) => end,
        };
        if let Some((_, Some(word))) = end.code() {
            connection.doors.doorkeeper.refused(word);
            tracing::info!(%peer, %end, "websocket of 2012 closed");
        }
        connection.out.close(&end).await;
    }

    async fn converse(&mut self, mut stream: SplitStream<WebSocket>) -> Result<(), End> {
        let doors = self.doors.clone();
        let mut ended = pin!(doors.ended());
        loop {
            tokio::select! {
                () = &mut ended => return Err(End::ShuttingDown),
                message = stream.next() => match message {
                    None | Some(Ok(Message::Close(_))) => return Ok(()),
                    Some(message) => self.message(message?).await?,
                },
                () = self.signal.raised() => {}
            }
            self.push().await?;
            self.out.flush().await?;
        }
    }

    async fn push(&mut self) -> Result<(), End> {
        for cursor in self.cursors.values_mut().filter(|cursor| cursor.is_behind()) {
            // A gap has no packet in this format: the sequence numbers show it.
            for segment in cursor.read(SEGMENTS_A_TURN).segments {
                let instance = cursor.instance();
                let packets = instance.log.eisa(&segment, |batch| packets(instance, batch));
                for packet in packets.iter() {
                    self.out.binary(packet.clone()).await?;
                }
            }
            if cursor.is_behind() {
                self.signal.raise();
            }
        }
        Ok(())
    }

    async fn message(&mut self, message: Message) -> Result<(), End> {
        match message {
            Message::Binary(bytes) => {
                self.doors.doorkeeper.received(bytes.len());
                let command =
                    ClientCommand::decode(&bytes).map_err(|error| End::Protocol(error.to_string()))?;
                self.command(command).await
            }
            Message::Text(_) => {
                Err(End::WrongKind("clients without a subprotocol send binary commands; this was text"))
            }
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => Ok(()),
        }
    }

    async fn command(&mut self, command: ClientCommand) -> Result<(), End> {
        let dac = &self.doors.dac;
        match command {
            ClientCommand::Register { node, instance } => {
                let Some(found) = dac.registry.find(&node, &instance) else {
                    return self.unanswerable("unknown_instance");
                };
                if self.cursors.len() >= self.doors.config.max_subscriptions {
                    return self.unanswerable("too_many_subscriptions");
                }
                let signal = &self.signal;
                self.cursors
                    .entry((node, instance))
                    .or_insert_with(|| Cursor::new(found, From::Now, signal).0);
            }
            ClientCommand::Unregister { node, instance } => {
                self.cursors.remove(&(node, instance));
            }
            ClientCommand::Hertz { node, instance, hertz } => {
                let Ok(hertz) = hertz.parse() else { return self.unanswerable("hertz_out_of_range") };
                return self.send(node, instance, Command::Hertz { hertz });
            }
            ClientCommand::Schema { node, instance } => {
                let Some(found) = dac.registry.find(&node, &instance) else {
                    return self.unanswerable("unknown_instance");
                };
                self.out.json(&*found.probe_type).await?;
            }
        }
        Ok(())
    }

    fn send(&self, node: String, instance: String, command: Command) -> Result<(), End> {
        let Ok(place) = self.commands.clone().try_acquire_owned() else { return self.unanswerable("busy") };
        let dac = self.doors.dac.clone();
        let who = format!("websocket of 2012 {}", self.peer);
        tokio::spawn(async move {
            if let Err(error) =
                dac.commands.send(&dac.registry, (&node, &instance), command, &who, now()).await
            {
                tracing::info!(who, %error, "command failed");
            }
            drop(place);
        });
        Ok(())
    }

    /// The format has no errors: the client sees nothing happen, the operator sees a counter.
    fn unanswerable(&self, word: &str) -> Result<(), End> {
        self.doors.doorkeeper.refused(word);
        tracing::info!(peer = %self.peer, word, "a client of 2012 asked for what cannot be");
        Ok(())
    }
}

/// A batch as EISA packets, in one allocation. A batch whose columns break the rules has none.
fn packets(instance: &Instance, batch: &[u8]) -> Packets {
    let mut bytes = Vec::new();
    let mut ends = Vec::new();
    if let Ok(batch) = Batch::parse(batch, &instance.probe_type) {
        for sample in batch.samples() {
            eisa::write_sample(
                &instance.probe_type,
                &instance.name,
                batch.header().state,
                &sample,
                &mut bytes,
            );
            ends.push(bytes.len());
        }
    }
    let bytes = Bytes::from(bytes);
    let mut start = 0;
    ends.into_iter().map(|end| bytes.slice(std::mem::replace(&mut start, end)..end)).collect()
}
