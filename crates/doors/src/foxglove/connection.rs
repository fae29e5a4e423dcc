//! One viewer: a task that reads its messages, and writes samples as fast as it takes them.

use super::{
    ViewerOptions,
    channels::{self, Channels, GAP_CHANNEL},
    commands::Outcome,
    control,
    messages::{ServerMessage, StatusLevel},
    refused::RefusedTopics,
    requests::{ClientMessage, ServiceCall, WantedSubscription},
    subscription::{Sink, Subscription},
};
use crate::{Doors, text::STALL, websocket::ConnectionPermit};
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use oasis_access::{Target, Verb};
use oasis_dac::{Cursor, Delivery, HeldMemory, Instance, Options, Signal, StartAt, listener::Stream};
use oasis_format::mcap::lost;
use oasis_http::permissions::Caller;
use oasis_websocket::{CloseCode, Decoder, Error, Limits, Message, Opcode, Role, close, frame};
use std::{collections::HashSet, io, pin::pin, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{MissedTickBehavior, interval, timeout},
};

/// Messages of viewers are lists of numbers and names.
const LIMITS: Limits = Limits { frame: 256 * 1024, message: 256 * 1024, output: 1024 * 1024 };
/// Bytes that are collected before they are written.
const TURN_BYTES: usize = 64 * 1024;
/// Bytes read at once.
const READ_BYTES: usize = 16 * 1024;
/// Interval of checks of the registry and of the rights of the caller.
const RECHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Timeout of the last message.
const GOODBYE_TIMEOUT: Duration = Duration::from_millis(500);
/// Most messages that are not understood, after which a viewer is closed.
const MAX_INVALID_MESSAGES: u32 = 100;
/// Most characters of a message about a refused one.
const MAX_STATUS_CHARACTERS: usize = 500;
/// Capabilities of the protocol that the DAC has.
const CAPABILITIES: &[&str] = &["parameters", "services"];
/// Encodings of calls of services.
const CALL_ENCODINGS: &[&str] = &["json"];

/// Why a connection ends.
#[derive(Debug)]
pub(super) enum End {
    /// The viewer is gone, or takes nothing.
    Gone,
    /// The DAC closes the connection with this reason.
    Closed(CloseCode, &'static str),
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        tracing::debug!(%error, "a viewer breaks a rule of WebSocket");
        Self::Closed(error.close_code(), "")
    }
}

/// Why there is no subscription.
#[derive(Debug)]
enum RefusedSubscription {
    /// The viewer asks for what does not exist.
    Wrong(String),
    /// A limit is reached: the topic of the channel, and the remedy.
    Limit { topic: String, remedy: String },
}

/// A viewer and what it reads.
pub(super) struct Connection {
    pub(super) doors: Doors,
    pub(super) caller: Caller,
    options: ViewerOptions,
    stream: Stream,
    decoder: Decoder,
    signal: Arc<Signal>,
    pub(super) channels: Channels,
    /// Version of the registry that the channels are of.
    registry_version: Option<u64>,
    subscriptions: Vec<Subscription>,
    /// Subscriptions to the channel of gaps.
    gap_readers: Vec<u32>,
    /// Channels that end once their samples are sent.
    ending: Vec<u32>,
    pub(super) commands: FuturesUnordered<BoxFuture<'static, Outcome>>,
    invalid_messages: u32,
    pub(super) out: Vec<u8>,
    message: Vec<u8>,
    unsent: HeldMemory,
    /// Index of the subscription that sends first.
    first: usize,
}

/// Serves a viewer until one of both ends.
pub async fn serve(
    doors: Doors,
    caller: Caller,
    options: ViewerOptions,
    (stream, mut early): (Stream, Vec<u8>),
    permit: ConnectionPermit,
) {
    if let Err(error) = bound_unsent(&stream, doors.config.send_buffer_bytes) {
        return tracing::info!(peer = %caller.peer(), %error, "a connection broke at its handshake");
    }
    let unsent = doors.dac.answers.hold();
    let mut connection = Connection {
        caller,
        options,
        stream,
        decoder: Decoder::new(Role::Server, LIMITS),
        signal: Arc::default(),
        channels: Channels::new(options.encoding),
        registry_version: None,
        subscriptions: Vec::new(),
        gap_readers: Vec::new(),
        ending: Vec::new(),
        commands: FuturesUnordered::new(),
        invalid_messages: 0,
        out: Vec::new(),
        message: Vec::new(),
        unsent,
        first: 0,
        doors,
    };
    if let Err(End::Closed(code, reason)) = connection.run(&mut early).await {
        close::write(code, reason, &mut connection.out);
        // A viewer that is gone, or takes nothing, needs no goodbye.
        let _ = timeout(GOODBYE_TIMEOUT, connection.flush()).await;
    }
    drop(permit);
}

impl Connection {
    async fn run(&mut self, early: &mut [u8]) -> Result<(), End> {
        let doors = self.doors.clone();
        let mut ended = pin!(doors.ended());
        let mut recheck = interval(RECHECK_INTERVAL);
        recheck.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut bytes = vec![0; READ_BYTES];
        self.greet();
        self.receive(early)?;
        loop {
            self.send_next();
            self.check_memory()?;
            // A viewer that takes nothing must not delay the end of the DAC.
            tokio::select! {
                biased;
                flushed = self.flush() => flushed?,
                () = &mut ended => return Err(End::Gone),
            }
            let has_more = self.has_more();
            tokio::select! {
                biased;
                () = &mut ended => return Err(End::Closed(CloseCode::GOING_AWAY, "the DAC ends")),
                _ = recheck.tick() => self.recheck()?,
                read = self.stream.read(&mut bytes) => match read {
                    Ok(0) | Err(_) => return Err(End::Gone),
                    Ok(count) => self.receive(&mut bytes[..count])?,
                },
                Some(outcome) = self.commands.next() => self.report(outcome),
                () = std::future::ready(()), if has_more => {}
                () = self.signal.raised() => {}
            }
        }
    }

    fn greet(&mut self) {
        let name = format!("OASIS {}", env!("CARGO_PKG_VERSION"));
        // A number of its own for each run of the DAC, so that a viewer keeps its data when it connects again.
        let session_id = self.doors.dac.epoch().to_string();
        ServerMessage::ServerInfo {
            name,
            capabilities: CAPABILITIES,
            supported_encodings: CALL_ENCODINGS,
            session_id,
        }
        .write(&mut self.out);
        let delivery = self.options.delivery;
        ServerMessage::status(StatusLevel::Info, delivery_status(delivery)).write(&mut self.out);
        ServerMessage::Advertise { channels: &[channels::gap_channel()] }.write(&mut self.out);
    }

    fn has_more(&self) -> bool {
        self.channels.has_waiting() || self.subscriptions.iter().any(Subscription::has_unread)
    }

    /// Collects the next messages: channels, then samples of each subscription in turn.
    fn send_next(&mut self) {
        if self.channels.has_waiting() {
            self.channels.advertise(&self.caller, &mut self.out);
        }
        let count = self.subscriptions.len();
        self.first = (self.first + 1) % count.max(1);
        let mut sink = Sink {
            encoding: self.options.encoding,
            gap_readers: &self.gap_readers,
            full: TURN_BYTES,
            out: &mut self.out,
            message: &mut self.message,
        };
        for step in 0..count {
            if let Some(subscription) = self.subscriptions.get_mut((self.first + step) % count) {
                subscription.send(&mut sink);
            }
        }
        self.end_channels();
    }

    /// Unadvertises channels whose last samples are sent.
    fn end_channels(&mut self) {
        if self.ending.is_empty() {
            return;
        }
        let subscriptions = &self.subscriptions;
        let has_rest =
            |id: &u32| subscriptions.iter().any(|known| known.channel == *id && known.has_unread());
        let (later, now): (Vec<u32>, Vec<u32>) = self.ending.iter().partition(|id| has_rest(id));
        self.ending = later;
        self.unadvertise(&now);
    }

    fn unadvertise(&mut self, ids: &[u32]) {
        if ids.is_empty() {
            return;
        }
        self.subscriptions.retain(|known| !ids.contains(&known.channel));
        let service_ids: Vec<u32> = ids.iter().flat_map(|id| control::service_ids(*id)).collect();
        ServerMessage::Unadvertise { channel_ids: ids }.write(&mut self.out);
        ServerMessage::UnadvertiseServices { service_ids: &service_ids }.write(&mut self.out);
    }

    /// Follows the registry and the rights of the caller.
    fn recheck(&mut self) -> Result<(), End> {
        let Ok(rights_changed) = self.caller.refresh(&self.doors.permissions) else {
            return Err(End::Closed(CloseCode::POLICY, "access has ended"));
        };
        let version = Some(self.doors.dac.registry.version());
        if !rights_changed && self.registry_version == version {
            return Ok(());
        }
        self.registry_version = version;
        let gone = self.channels.update(&self.doors.dac.registry, &self.caller);
        let may_read = |instance: &Instance| self.caller.may(Verb::ReadLive, target(instance));
        let is_finished = |id: &u32| {
            let reader = self.subscriptions.iter().find(|known| known.channel == *id);
            reader.is_none_or(|known| !(known.source().is_retired() && may_read(known.source())))
        };
        let (now, later): (Vec<u32>, Vec<u32>) = gone.iter().partition(|id| is_finished(id));
        self.ending.extend(later);
        self.unadvertise(&now);
        Ok(())
    }

    /// Ends a viewer whose messages would exceed the memory for all answers. A few may always wait.
    fn check_memory(&mut self) -> Result<(), End> {
        if self.unsent.set(self.out.len()) || self.out.len() <= 2 * TURN_BYTES {
            return Ok(());
        }
        self.doors.admission.count_refused("memory_limit");
        self.out.clear();
        Err(End::Closed(CloseCode::POLICY, "too much waits for all clients"))
    }

    async fn flush(&mut self) -> Result<(), End> {
        if self.out.is_empty() {
            return Ok(());
        }
        let write = async {
            self.stream.write_all(&self.out).await?;
            self.stream.flush().await
        };
        let written = timeout(STALL, write).await;
        self.out.clear();
        self.unsent.set(0);
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(End::Gone),
            Err(_) => {
                self.doors.admission.count_refused("stalled");
                Err(End::Gone)
            }
        }
    }

    fn receive(&mut self, bytes: &mut [u8]) -> Result<(), End> {
        let mut decoder = std::mem::replace(&mut self.decoder, Decoder::new(Role::Server, LIMITS));
        let received = decoder.decode(bytes, |message| self.handle(message));
        self.decoder = decoder;
        received
    }

    fn handle(&mut self, message: Message<'_>) -> Result<(), End> {
        match message {
            Message::Text(text) => match serde_json::from_str(text) {
                Ok(request) => self.apply(request),
                Err(error) => self.refuse(format!("a message is not understood: {error}")),
            },
            Message::Binary(bytes) => match ServiceCall::parse(bytes) {
                Some(call) => self.call(call),
                None => self.refuse("a binary message is not understood".into()),
            },
            Message::Ping(payload) => {
                frame::write_message(Opcode::Pong, payload, &mut self.out);
                // Pings without pause must not collect their answers.
                if self.out.len() > LIMITS.output { Err(End::Gone) } else { Ok(()) }
            }
            Message::Pong(_) => Ok(()),
            Message::Close(code, _) => Err(End::Closed(close::reply(code), "")),
        }
    }

    pub(super) fn refuse(&mut self, message: String) -> Result<(), End> {
        self.invalid_messages += 1;
        if self.invalid_messages > MAX_INVALID_MESSAGES {
            return Err(End::Closed(CloseCode::POLICY, "more than 100 bad messages"));
        }
        // A message may quote names of the viewer.
        let message: String = message.chars().take(MAX_STATUS_CHARACTERS).collect();
        ServerMessage::status(StatusLevel::Error, message).write(&mut self.out);
        Ok(())
    }

    fn apply(&mut self, request: ClientMessage) -> Result<(), End> {
        match request {
            ClientMessage::Subscribe { subscriptions } => self.subscribe_all(subscriptions),
            ClientMessage::Unsubscribe { subscription_ids } => {
                let ids = HashSet::<u32>::from_iter(subscription_ids);
                self.subscriptions.retain(|known| !ids.contains(&known.id));
                self.gap_readers.retain(|id| !ids.contains(id));
                Ok(())
            }
            ClientMessage::GetParameters { parameter_names, id } => {
                self.send_parameters(&parameter_names, id);
                self.check_memory()
            }
            ClientMessage::SetParameters { parameters, id } => {
                parameters.iter().try_for_each(|parameter| self.set(parameter, id.clone()))
            }
            ClientMessage::Other => self.refuse("an operation is not supported".into()),
        }
    }

    /// Adds subscriptions. Those that a limit refuses are one warning: a viewer that asks for all channels breaks no rule.
    fn subscribe_all(&mut self, all: Vec<WantedSubscription>) -> Result<(), End> {
        let mut refused = RefusedTopics::default();
        for wanted in all {
            match self.subscribe(wanted) {
                Ok(()) => {}
                Err(RefusedSubscription::Wrong(message)) => self.refuse(message)?,
                Err(RefusedSubscription::Limit { topic, remedy }) => refused.add(topic, remedy),
            }
        }
        if let Some(message) = refused.describe() {
            ServerMessage::status(StatusLevel::Warning, message).write(&mut self.out);
        }
        Ok(())
    }

    fn subscribe(
        &mut self,
        WantedSubscription { id, channel_id }: WantedSubscription,
    ) -> Result<(), RefusedSubscription> {
        let is_taken =
            self.subscriptions.iter().any(|known| known.id == id) || self.gap_readers.contains(&id);
        if is_taken {
            let topic = self.topic_of(channel_id);
            let message = format!("{topic} is refused: there is a subscription {id} already");
            return Err(RefusedSubscription::Wrong(message));
        }
        let most = self.doors.config.max_subscriptions;
        if self.subscriptions.len() + self.gap_readers.len() >= most {
            let remedy = format!("close panels, or raise doors.max_subscriptions, which is {most}");
            return Err(RefusedSubscription::Limit { topic: self.topic_of(channel_id), remedy });
        }
        if channel_id == GAP_CHANNEL {
            self.gap_readers.push(id);
            return Ok(());
        }
        let Some(instance) = self.channels.get(channel_id).cloned() else {
            let message =
                format!("there is no channel {channel_id}: its instance has gone, so subscribe again");
            return Err(RefusedSubscription::Wrong(message));
        };
        let options = Options { delivery: self.options.delivery, ..Options::default() };
        let opened = Cursor::open(&self.doors.dac, &instance, StartAt::Now, options, &self.signal);
        let (cursor, _) = opened.map_err(|error| RefusedSubscription::Limit {
            topic: channels::topic(&instance),
            remedy: error.to_string(),
        })?;
        self.subscriptions.push(Subscription::new(id, instance, cursor));
        Ok(())
    }

    /// Returns the topic of a channel, or its number if there is no such channel.
    fn topic_of(&self, channel_id: u32) -> String {
        match self.channels.get(channel_id) {
            _ if channel_id == GAP_CHANNEL => lost::TOPIC.to_owned(),
            Some(instance) => channels::topic(instance),
            None => format!("channel {channel_id}"),
        }
    }
}

/// Sets a socket to send at once, and bounds its unsent bytes in the system: what a viewer does not read waits in the topic log.
/// Returns what a viewer learns about the samples that it gets.
fn delivery_status(delivery: Delivery) -> String {
    match delivery {
        Delivery::Every => "delivery every: each sample is sent".to_owned(),
        other => format!("delivery {other}: add ?delivery=every to the address for each sample"),
    }
}

fn bound_unsent(stream: &Stream, bytes: usize) -> io::Result<()> {
    let socket = stream.socket();
    socket.set_nodelay(true)?;
    socket2::SockRef::from(socket).set_send_buffer_size(bytes)
}

fn target(instance: &Instance) -> Target<'_> {
    Target::Instance { node: &instance.node, instance: &instance.name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_viewer_that_does_not_get_each_sample_learns_how_to() {
        assert_eq!(delivery_status(Delivery::Every), "delivery every: each sample is sent");
        let newest = delivery_status(Delivery::Latest);
        assert_eq!(newest, "delivery latest: add ?delivery=every to the address for each sample");
    }
}
