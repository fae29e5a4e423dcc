//! The samples of relayed instances on their way from one DAC to another: subscriptions, answers and batches as on a WebSocket.

use fastrand::Rng;
use oasis_dac::{Cursor, Dac, Instance, Options, Signal, StartAt, Upstream, UpstreamDemand, UpstreamEvents};
use oasis_relay::{Feed, Message, ResumePoints};
use oasis_wire::{
    batch,
    quantity::{Epoch, Position, TopicId},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

/// Message that the upstream has sent.
enum Sent {
    Message(Value),
    Batch(Vec<u8>),
}

/// A subscription at the upstream.
struct Subscription {
    cursor: Cursor,
}

/// A connection of a DAC with subscriptions at another one.
pub struct Line {
    there: Arc<Dac>,
    feed: Feed,
    subscriptions: Vec<Subscription>,
    /// On its way.
    sent: VecDeque<Sent>,
    /// Topics here that have a subscription, or will have one.
    subscribed: BTreeSet<TopicId>,
    /// Topics here whose subscriptions have ended: tried again at the next renewal.
    lapsed: BTreeSet<TopicId>,
}

impl Line {
    pub fn new(there: &Arc<Dac>, places: &ResumePoints) -> Self {
        let (subscriptions, sent, subscribed, lapsed) = Default::default();
        let feed = Feed::new(places.clone(), there.epoch());
        Self { there: there.clone(), feed, subscriptions, sent, subscribed, lapsed }
    }

    /// The epoch of the DAC that it is connected to.
    pub fn epoch(&self) -> Epoch {
        self.there.epoch()
    }

    /// The connection is lost, with what is on it. The next one is to this DAC.
    pub fn reconnect(&mut self, there: &Arc<Dac>, places: &ResumePoints, upstream: &Upstream) {
        let before = std::mem::take(&mut self.subscribed);
        *self = Self::new(there, places);
        before.into_iter().for_each(|topic| self.subscribe(upstream, topic));
    }

    /// Readers here want something else.
    pub fn hear_readers(&mut self, upstream: &Upstream, events: &mut UpstreamEvents) {
        while let Ok(topic) = events.wanted.try_recv() {
            match upstream.wanted(topic) {
                Some((_, UpstreamDemand::Nothing)) if self.subscribed.remove(&topic) => {
                    let request = self.feed.unsubscribe(topic);
                    self.send_request(request);
                }
                Some((_, UpstreamDemand::Nothing)) | None => {}
                Some(_) if !self.subscribed.contains(&topic) => self.subscribe(upstream, topic),
                Some(_) => {}
            }
        }
    }

    fn subscribe(&mut self, upstream: &Upstream, topic: TopicId) {
        if let Some((instance, wanted)) = upstream.wanted(topic).filter(|_| upstream.has(topic)) {
            self.subscribed.insert(topic);
            let request = self.feed.subscribe(instance, wanted);
            self.send_request(Some(request));
        }
    }

    /// Runs now and then: subscriptions of nodes that have moved end, and others begin again.
    pub fn renew_subscriptions(&mut self, upstream: &Upstream) {
        let moved: Vec<_> = self.subscribed.iter().copied().filter(|topic| !upstream.has(*topic)).collect();
        for topic in moved {
            self.subscribed.remove(&topic);
            let request = self.feed.abandon(topic);
            self.send_request(request);
        }
        let lapsed = std::mem::take(&mut self.lapsed);
        for topic in lapsed.difference(&self.subscribed.clone()) {
            self.subscribe(upstream, *topic);
        }
    }

    /// The upstream carries out a request.
    fn send_request(&mut self, request: Option<Value>) {
        let Some(request) = request else { return };
        let answer = match &request["op"] {
            op if op == "subscribe" => self.begin(&request),
            op if op == "unsubscribe" => {
                self.subscriptions.retain(|known| known.cursor.instance().topic.0 != request["topic"]);
                json!({"op": "unsubscribed", "topic": request["topic"]})
            }
            op => panic!("{op}"),
        };
        self.sent.push_back(Sent::Message(answer.clone()));
        if answer["gap"] == true {
            let gap = json!({"op": "gap", "topic": answer["topic"], "cause": "epoch_changed"});
            self.sent.push_back(Sent::Message(gap));
        }
    }

    fn begin(&mut self, request: &Value) -> Value {
        let refused = |code| json!({"op": "error", "id": request["id"], "code": code, "message": ""});
        let (node, name) = (request["node"].as_str().unwrap(), request["instance"].as_str().unwrap());
        let Some(instance) = self.there.registry.find(node, name) else { return refused("unknown_instance") };
        let is_same = |known: &Subscription| known.cursor.instance().topic == instance.topic;
        if self.subscriptions.iter().any(is_same) {
            return refused("already_subscribed");
        }
        let start = request["resume"].as_str().map_or(StartAt::Now, |resume| start(resume, &instance));
        let opened =
            Cursor::open(&self.there, &instance, start, Options::default(), &Arc::<Signal>::default());
        let (cursor, is_unknown) = opened.unwrap();
        let offset = cursor.next();
        self.subscriptions.push(Subscription { cursor });
        json!({
            "op": "subscribed", "id": request["id"], "topic": instance.topic, "epoch": self.there.epoch(), "offset": offset,
            "instance": {"node": node, "instance": name, "schema": *instance.probe_type}, "gap": is_unknown,
        })
    }

    /// The upstream sends what is new, some segments at most of each topic.
    pub fn send(&mut self, most: usize) {
        let sent = &mut self.sent;
        self.subscriptions.retain_mut(|Subscription { cursor }| {
            let instance = cursor.instance().clone();
            let topic = instance.topic;
            let turn = cursor.turn(most);
            if let Some(skipped) = turn.skipped {
                let (from, to) = (skipped.from, skipped.to);
                sent.push_back(Sent::Message(json!({
                    "op": "gap", "topic": topic, "from": from, "to": to, "count": skipped.count(), "cause": "log_retention",
                })));
            }
            for segment in &turn.segments {
                let first = segment.first_held();
                let old = usize::try_from(turn.wanted.0.saturating_sub(first.0)).unwrap();
                let whole = segment.batch().to_vec();
                let bytes = match old {
                    0 => whole,
                    old => batch::cut(&whole, &instance.probe_type, old..segment.count().into()).unwrap(),
                };
                sent.push_back(Sent::Batch(bytes));
            }
            let is_over = !cursor.has_unread() && instance.is_retired();
            if is_over {
                let cause = "type_changed";
                sent.push_back(Sent::Message(json!({"op": "unsubscribed", "topic": topic, "cause": cause})));
            }
            !is_over
        });
    }

    /// Messages of the upstream arrive.
    pub fn deliver(&mut self, most: usize) {
        for _ in 0..most {
            match self.sent.pop_front() {
                None => return,
                Some(Sent::Batch(bytes)) => self.feed.batch(bytes, 0).unwrap(),
                Some(Sent::Message(json)) => {
                    let message: Message = serde_json::from_value(json).unwrap();
                    let (request, ended) = self.feed.take(message);
                    self.send_request(request);
                    if let Some(topic) = ended.filter(|topic| self.subscribed.remove(topic)) {
                        self.lapsed.insert(topic);
                    }
                }
            }
        }
    }

    /// A part of what can happen, at random.
    pub fn step(&mut self, random: &mut Rng, upstream: &Upstream, events: &mut UpstreamEvents) {
        match random.u32(0..10) {
            0..3 => self.hear_readers(upstream, events),
            3..6 => self.send(random.usize(1..4)),
            6..9 => self.deliver(random.usize(1..6)),
            _ => self.renew_subscriptions(upstream),
        }
    }
}

/// Returns where a subscription continues, as the WebSocket door does.
pub fn start(resume: &str, instance: &Instance) -> StartAt {
    let log = &instance.log;
    let (position, portable) = match resume.split_once(' ') {
        Some((position, portable)) => (Some(position), Some(portable)),
        None if resume.contains('@') => (None, Some(resume)),
        None => (Some(resume), None),
    };
    let position = position.map(|at| at.parse::<Position>().unwrap());
    let portable = portable.map(|at| at.parse().unwrap());
    match (position, portable) {
        (Some(at), _) if at.epoch == log.epoch() => StartAt::Position(at),
        (_, Some(at)) if log.find(at).is_some() => StartAt::Portable(at),
        (Some(at), _) => StartAt::Position(at),
        (None, Some(at)) => StartAt::Portable(at),
        (None, None) => StartAt::Now,
    }
}
