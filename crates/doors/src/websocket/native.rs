//! The native protocol, `oasis.v1`: JSON text for control, native batches as they are for data.

use super::{
    connection::{Connection, ConnectionId, Protocol},
    end::End,
    frame::{self, Opcode},
    shard::Shard,
};
use crate::view;
use oasis_channel::InstanceState;
use oasis_dac::{CommandError, Delivery, From, Options, Overflow, Skipped, Wish, now};
use oasis_wire::quantity::{Epoch, Position, TopicId};
use serde::{Deserialize, Serialize};

/// Requests that make no sense before the client is closed.
const PATIENCE: u32 = 100;
/// Commands of one client under way at the same time.
const COMMANDS: u32 = 64;

/// What is known of a native client.
#[derive(Debug, Default)]
pub struct NativeClient {
    /// Whether it wants to know of each change of the registry.
    watches: bool,
    nonsense: u32,
    commands: u32,
}

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
        #[serde(default)]
        delivery: Delivery,
        #[serde(default)]
        overflow: Overflow,
    },
    Unsubscribe {
        topic: TopicId,
    },
    Command {
        node: String,
        instance: String,
        #[serde(flatten)]
        wish: Wish,
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

impl Answer {
    /// Answers are made of texts, numbers and lists: nothing that JSON could refuse.
    fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    fn error(id: i64, code: &str, message: impl Into<String>) -> Self {
        Self::Error { id: Some(id), code: code.into(), message: message.into() }
    }
}

/// Appends the message that tells of samples which a subscriber will not get.
pub fn gap(topic: TopicId, skipped: Skipped, out: &mut Vec<u8>) {
    let range = Range { from: skipped.from.0, to: skipped.to.0, count: skipped.count() };
    let answer = Answer::Gap { topic, range: Some(range), cause: skipped.cause.word() };
    frame::put(Opcode::Text, &answer.json(), out);
}

fn client(connection: &mut Connection) -> Option<&mut NativeClient> {
    match &mut connection.protocol {
        Protocol::Native(client) => Some(client),
        _ => None,
    }
}

impl Shard {
    /// Greets a client, if its protocol has a greeting.
    pub(super) fn welcome(&mut self, key: usize) -> Result<(), End> {
        let is_native = self.connections.get_mut(key).is_some_and(|connection| client(connection).is_some());
        if !is_native {
            return Ok(());
        }
        let (epoch, dac_time) = (self.around.dac.epoch(), now().0);
        self.answer(key, &Answer::Welcome { protocol: 1, server: oasis_dac::SOFTWARE, epoch, dac_time })
    }

    /// Takes a text message.
    pub(super) fn native_request(&mut self, key: usize, text: &str) -> Result<(), End> {
        match serde_json::from_str(text) {
            Ok(Request { id, what }) => self.request(key, id, what),
            Err(error) => self.bad_request(key, text, &error),
        }
    }

    fn request(&mut self, key: usize, id: i64, what: What) -> Result<(), End> {
        match what {
            What::Watch => {
                if let Some(client) = self.connections.get_mut(key).and_then(client) {
                    client.watches = true;
                }
                // Now, and not only when something changes.
                self.answer(key, &self.registry())
            }
            What::Subscribe { node, instance, resume, from, delivery, overflow } => {
                let from = match (resume, from) {
                    (Some(position), _) => From::Position(position),
                    (None, Some(Start::Earliest)) => From::Earliest,
                    (None, Some(Start::Now) | None) => From::Now,
                };
                let options = Options { delivery, overflow };
                let answer = self.subscribe_native(key, id, (node, instance), from, options);
                answer.or_else(|error| self.answer(key, &error?))
            }
            What::Unsubscribe { topic } => {
                let answer = if self.unsubscribe(key, topic) {
                    Answer::Unsubscribed { id: Some(id), topic }
                } else {
                    let message = format!("there is no subscription to topic {topic}");
                    Answer::error(id, "unknown_topic", message)
                };
                self.answer(key, &answer)
            }
            What::Command { node, instance, wish } => self.command(key, id, (node, instance), wish),
            What::Ping { client_time } => {
                self.answer(key, &Answer::Pong { id, client_time, dac_time: now().0 })
            }
        }
    }

    /// Answers and subscribes; or says what is wrong, as an answer or as the end of the connection.
    fn subscribe_native(
        &mut self,
        key: usize,
        id: i64,
        (node, instance): (String, String),
        from: From,
        options: Options,
    ) -> Result<(), Result<Answer, End>> {
        let dac = self.around.dac.clone();
        let Some(found) = dac.registry.find(&node, &instance) else {
            let error = CommandError::UnknownInstance { node, instance };
            return Err(Ok(Answer::error(id, error.code(), error.to_string())));
        };
        let stream = match dac.derived.open(&dac.registry, &found, options.delivery) {
            Ok(stream) => stream,
            Err(error) => return Err(Ok(Answer::error(id, error.code(), error.to_string()))),
        };
        let topic = stream.topic;
        if self.reads(key, topic) {
            let message = format!("topic {topic} is subscribed already");
            return Err(Ok(Answer::error(id, "already_subscribed", message)));
        }
        let limit = self.around.config.max_subscriptions;
        if self.connections.get(key).is_some_and(|connection| connection.subscriptions.len() >= limit) {
            let message = format!("a connection may have {limit} subscriptions (doors.max_subscriptions)");
            return Err(Ok(Answer::error(id, "too_many_subscriptions", message)));
        }
        let instance = Box::new(view::with_schema(&dac.registry, &stream));
        let Some((offset, epoch_changed)) = self.subscribe(key, stream, from, options) else { return Ok(()) };
        self.answer(key, &Answer::Subscribed { id, topic, epoch: dac.epoch(), offset, instance })
            .map_err(Err)?;
        if epoch_changed {
            self.answer(key, &Answer::Gap { topic, range: None, cause: "epoch_changed" }).map_err(Err)?;
        }
        Ok(())
    }

    fn command(&mut self, key: usize, id: i64, target: (String, String), wish: Wish) -> Result<(), End> {
        let Some(client) = self.connections.get_mut(key).and_then(client) else { return Ok(()) };
        if client.commands >= COMMANDS {
            let message =
                format!("{COMMANDS} commands are under way on this connection: wait for their results");
            return self.answer(key, &Answer::error(id, "busy", message));
        }
        client.commands += 1;
        self.send_command(key, id, "websocket", target, wish);
        Ok(())
    }

    /// A command of a client has an outcome.
    pub(super) fn outcome(
        &mut self,
        id: ConnectionId,
        request: i64,
        outcome: &Result<InstanceState, CommandError>,
    ) {
        let Some(connection) = self.same(id) else { return };
        match &mut connection.protocol {
            // The format of 2012 has no answers.
            Protocol::Eisa(client) => return client.command_ended(outcome),
            Protocol::Native(client) => client.commands -= 1,
            #[cfg(feature = "echo")]
            Protocol::Echo => return,
        }
        let answer = match outcome {
            Ok(state) => Answer::Result { id: request, status: "done", state: *state },
            Err(error) => Answer::error(request, error.code(), error.to_string()),
        };
        let said = self.answer(id.key, &answer);
        self.settle(id.key, said);
    }

    /// Tells everybody who watches the registry of its change: one text for all of them.
    pub(super) fn send_registry(&mut self) {
        let watching = |(key, connection): (usize, &mut Connection)| {
            client(connection).is_some_and(|client| client.watches).then_some(key)
        };
        let keys: Vec<usize> = self.connections.iter_mut().filter_map(watching).collect();
        if keys.is_empty() {
            return;
        }
        let json = self.registry().json();
        for key in keys {
            let said = self.say(key, &json);
            self.settle(key, said);
        }
    }

    /// Tells a client of a subscription that has ended by itself.
    pub(super) fn say_unsubscribed(&mut self, key: usize, topic: TopicId) -> Result<(), End> {
        self.answer(key, &Answer::Unsubscribed { id: None, topic })
    }

    fn registry(&self) -> Answer {
        let registry = &self.around.dac.registry;
        Answer::Registry { nodes: view::nodes(registry), instances: view::instances(registry) }
    }

    fn bad_request(&mut self, key: usize, text: &str, error: &serde_json::Error) -> Result<(), End> {
        #[derive(Deserialize)]
        struct Numbered {
            id: i64,
        }
        if let Some(client) = self.connections.get_mut(key).and_then(client) {
            client.nonsense += 1;
            if client.nonsense > PATIENCE {
                return Err(End::Abuse("more than 100 bad requests"));
            }
        }
        let id = serde_json::from_str::<Numbered>(text).ok().map(|numbered| numbered.id);
        self.answer(key, &Answer::Error { id, code: "bad_request".into(), message: error.to_string() })
    }

    fn answer(&mut self, key: usize, answer: &Answer) -> Result<(), End> {
        self.say(key, &answer.json())
    }

    fn say(&mut self, key: usize, json: &[u8]) -> Result<(), End> {
        self.connections.get_mut(key).map_or(Ok(()), |connection| connection.say(Opcode::Text, json))
    }
}
