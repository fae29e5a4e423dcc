//! The native protocol, `oasis.v1`: JSON text for control, native batches as they are for data.

use super::{
    client::NativeClient,
    connection::{Connection, ConnectionId, Protocol},
    end::End,
    messages::{Answer, Request, Subscribe, What},
    past_state::PastState,
    rights::whole_picture_refused,
    shard::Shard,
};
use crate::{
    past::{
        Source,
        times::{Begin, NotAllowed},
    },
    resume::Resumed,
    view,
};
use oasis_access::Verb;
use oasis_channel::InstanceState;
use oasis_dac::{CommandError, Delivery, Instance, NamedRequest, StartAt, now};
use oasis_http::permissions::{self, CommandFailure};
use oasis_websocket::Opcode;
use oasis_wire::{
    loss::Cause,
    quantity::{Hertz, Position, TopicId},
};
use serde::Deserialize;

/// Upper bound of invalid requests, after which the client is closed.
const MAX_INVALID_REQUESTS: u32 = 100;
/// Commands of one client under way at the same time.
const MAX_COMMANDS: u32 = 64;

/// The id of an invalid request.
#[derive(Debug, Deserialize)]
struct RequestId {
    id: i64,
}

/// Why a subscription failed.
enum Refusal {
    /// Its parameters are invalid.
    NotAllowed(NotAllowed),
    /// A word that clients see, and what to do.
    Code(&'static str, String),
    /// The connection ends with it.
    End(End),
}

impl From<NotAllowed> for Refusal {
    fn from(error: NotAllowed) -> Self {
        Self::NotAllowed(error)
    }
}

impl From<permissions::Refusal> for Refusal {
    fn from(refusal: permissions::Refusal) -> Self {
        Self::Code(refusal.code(), refusal.to_string())
    }
}

impl From<End> for Refusal {
    fn from(end: End) -> Self {
        Self::End(end)
    }
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
            Err(error) => {
                let numbered = serde_json::from_str::<RequestId>(text).ok();
                self.bad_request(key, numbered.map(|numbered| numbered.id), error.to_string())
            }
        }
    }

    fn request(&mut self, key: usize, id: i64, what: What) -> Result<(), End> {
        match what {
            What::Watch(wanted) => {
                let sees_everything =
                    self.connections.get(key).is_some_and(|connection| connection.caller.sees_everything());
                if !wanted.deltas && !sees_everything {
                    return self.answer(key, &whole_picture_refused(Some(id)));
                }
                // Now, and not only when something changes.
                self.watch(key, &wanted);
                Ok(())
            }
            What::Subscribe(wanted) => {
                let answer = self.subscribe_native(key, id, &wanted);
                answer.or_else(|refusal| self.refuse(key, id, refusal))
            }
            What::Unsubscribe { topic } => self.unsubscribe_native(key, id, topic),
            What::Rate { topic, hertz } => self.ask_for_rate(key, id, topic, hertz),
            What::Fleet(wanted) => self.subscribe_fleet(key, id, &wanted),
            What::EndFleet { fleet } => self.end_fleet(key, id, fleet),
            What::Command { node, instance, wish } => self.command(key, id, (node, instance), wish),
            What::Ping { client_time } => {
                self.answer(key, &Answer::Pong { id, client_time, dac_time: now().0 })
            }
        }
    }

    /// Subscribes and answers; at once, unless it has to be found out where the past begins.
    fn subscribe_native(&mut self, key: usize, id: i64, wanted: &Subscribe) -> Result<(), Refusal> {
        let dac = self.around.dac.clone();
        let (options, times) = (wanted.options(), wanted.times()?);
        let (node, instance) = (wanted.node.clone(), wanted.instance.clone());
        self.ask_to_read(key, wanted, times.needs(wanted.resume.is_some()))?;
        let Some(found) = dac.registry.find(&node, &instance) else {
            let error = CommandError::UnknownInstance { node, instance };
            return Err(Refusal::Code("unknown_instance", error.to_string()));
        };
        let opened = dac.derived.open(&dac.registry, &found, options.delivery);
        let stream = opened.map_err(|error| Refusal::Code(error.code(), error.to_string()))?;
        let topic = stream.topic;
        if self.reads(key, topic) {
            let message = format!("topic {topic} is subscribed already");
            return Err(Refusal::Code("already_subscribed", message));
        }
        let limit = self.around.config.max_subscriptions;
        if self.connections.get(key).is_some_and(|connection| connection.subscriptions.len() >= limit) {
            let message = format!("a connection may have {limit} subscriptions (doors.max_subscriptions)");
            return Err(Refusal::Code("too_many_subscriptions", message));
        }
        let past = || {
            let source = Source::of(&times, &found.probe_type);
            source.map_err(|message| Refusal::Code("too_wide", message))
        };
        let resumed = wanted.resume.map(|at| at.of(&found, dac.epoch()));
        let (from, source) = match resumed {
            Some(Resumed::Past(at)) if self.around.archived.serves_of(&found, options) => {
                (StartAt::Earliest, Some(at.source()))
            }
            Some(Resumed::Past(at)) => (at.in_log(), None),
            Some(Resumed::Log(from)) => (from, None),
            None if times.from == Begin::Now && times.last.is_none() => (StartAt::Now, None),
            None => (StartAt::Earliest, past()?),
        };
        let is_at_its_log = source.is_none();
        let past = PastState::new(times.until, source, id);
        let asked = wanted.rate.map_or(options.delivery, Delivery::MaxHz);
        let begun = self.subscribe(key, stream.clone(), from, (options, asked, wanted.gaps), past);
        if wanted.ahead {
            self.show_ahead(key, topic);
        }
        let begun = begun.filter(|_| is_at_its_log);
        let Some((offset, epoch_changed)) = begun else { return Ok(()) };
        self.say_subscribed(key, id, &stream, Position { epoch: dac.epoch(), offset })?;
        if epoch_changed {
            self.answer(key, &Answer::gap(topic, None, Cause::EpochChanged))?;
        }
        Ok(())
    }

    /// Asks whether a client may have samples as they arrive, and samples of the past.
    fn ask_to_read(
        &self,
        key: usize,
        wanted: &Subscribe,
        (live, past): (bool, bool),
    ) -> Result<(), permissions::Refusal> {
        let Some(connection) = self.connections.get(key) else { return Ok(()) };
        let needed = [(live, Verb::ReadLive), (past, Verb::ReadPast)];
        let mut needed = needed.into_iter().filter(|(is_needed, _)| *is_needed);
        needed.try_for_each(|(_, verb)| {
            connection.caller.authorize_instance(verb, &wanted.node, &wanted.instance)
        })
    }

    /// Answers a subscription; before that comes the schema, if the client gets schemas once and has not received this one.
    pub(super) fn say_subscribed(
        &mut self,
        key: usize,
        id: i64,
        stream: &Instance,
        begin: Position,
    ) -> Result<(), End> {
        let hash = stream.schema_hash;
        let known = self.connections.get_mut(key).and_then(client).and_then(|client| client.schemas.as_mut());
        let is_inline = known.is_none();
        if known.is_some_and(|known| known.add(hash)) {
            self.answer(key, &Answer::Schema { sha256: hash, schema: stream.probe_type.clone() })?;
        }
        let instance = Box::new(view::subscribed(&self.around.dac.registry, stream, is_inline));
        let Position { epoch, offset } = begin;
        self.answer(key, &Answer::Subscribed { id, topic: stream.topic, epoch, offset, instance })
    }

    fn refuse(&mut self, key: usize, id: i64, refusal: Refusal) -> Result<(), End> {
        match refusal {
            Refusal::NotAllowed(error) => self.bad_request(key, Some(id), error.to_string()),
            Refusal::Code(code, message) => self.answer(key, &Answer::error(id, code, message)),
            Refusal::End(end) => Err(end),
        }
    }

    fn unsubscribe_native(&mut self, key: usize, id: i64, topic: TopicId) -> Result<(), End> {
        let Some(subscription) = self.unsubscribe(key, topic) else {
            let message = format!("there is no subscription to topic {topic}");
            return self.answer(key, &Answer::error(id, "unknown_topic", message));
        };
        if let Some(asked) = subscription.past.and_then(|past| past.request) {
            let message = format!("the subscription to topic {topic} was ended before it began");
            self.answer(key, &Answer::error(asked, "unsubscribed", message))?;
        }
        self.answer(key, &Answer::Unsubscribed { id: Some(id), topic, cause: None })
    }

    /// Asks for another rate of a probe that follows demand; every sample of it still comes.
    fn ask_for_rate(&mut self, key: usize, id: i64, topic: TopicId, hertz: Option<Hertz>) -> Result<(), End> {
        let slot = self.slots.get(&topic).copied();
        let connection = self.connections.get_mut(key);
        let subscription = connection.and_then(|connection| {
            connection.subscriptions.iter_mut().find(|subscription| Some(subscription.topic) == slot)
        });
        let instance = slot.and_then(|slot| self.topics.get(slot)).map(|topic| topic.instance.clone());
        let Some((subscription, instance)) = subscription.zip(instance) else {
            let message = format!("there is no subscription to topic {topic}");
            return self.answer(key, &Answer::error(id, "unknown_topic", message));
        };
        let asked = hertz.map_or(subscription.options.delivery, Delivery::MaxHz);
        subscription.asking = instance.register_demand(asked);
        self.answer(key, &Answer::Rate { id, topic })
    }

    fn command(
        &mut self,
        key: usize,
        id: i64,
        target: (String, String),
        wish: NamedRequest,
    ) -> Result<(), End> {
        let Some(client) = self.connections.get_mut(key).and_then(client) else { return Ok(()) };
        if client.commands >= MAX_COMMANDS {
            let message =
                format!("{MAX_COMMANDS} commands are under way on this connection: wait for their results");
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
        outcome: &Result<InstanceState, CommandFailure>,
    ) {
        let admission = self.around.admission.clone();
        let Some(connection) = self.same(id) else { return };
        match &mut connection.protocol {
            // The format of 2012 has no answers.
            Protocol::Eisa(client) => return client.command_ended(outcome, &admission),
            Protocol::Native(client) => client.commands -= 1,
        }
        let answer = match outcome {
            Ok(state) => Answer::Result { id: request, status: "done", state: *state },
            Err(error) => Answer::error(request, error.code(), error.to_string()),
        };
        let said = self.answer(id.key, &answer);
        self.settle(id.key, said);
    }

    /// Notifies a client of a subscription that has ended by itself.
    pub(super) fn say_unsubscribed(
        &mut self,
        key: usize,
        topic: TopicId,
        cause: &'static str,
    ) -> Result<(), End> {
        self.answer(key, &Answer::Unsubscribed { id: None, topic, cause: Some(cause) })
    }

    pub(super) fn bad_request(&mut self, key: usize, id: Option<i64>, message: String) -> Result<(), End> {
        if let Some(client) = self.connections.get_mut(key).and_then(client) {
            client.nonsense += 1;
            if client.nonsense > MAX_INVALID_REQUESTS {
                return Err(End::Abuse("more than 100 bad requests"));
            }
        }
        self.answer(key, &Answer::Error { id, code: "bad_request".into(), message })
    }

    pub(super) fn answer(&mut self, key: usize, answer: &Answer) -> Result<(), End> {
        self.send(key, &answer.json())
    }

    fn send(&mut self, key: usize, json: &[u8]) -> Result<(), End> {
        self.connections.get_mut(key).map_or(Ok(()), |connection| connection.send(Opcode::Text, json))
    }
}
