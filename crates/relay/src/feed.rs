//! One connection to an upstream that carries subscriptions.

use crate::{
    messages::Message,
    resume_point::{ResumePoint, Source},
};
use oasis_dac::{Instance, UpstreamDemand};
use oasis_wire::{
    batch::{self, BatchError, Header},
    gap::Gap,
    quantity::{Epoch, Offset, TopicId},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashMap},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Reason why a connection cannot continue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// Bytes that are no batch of the topic's type.
    #[error("the upstream sent an invalid batch of {node}/{instance}: {error}")]
    Batch {
        /// Node name.
        node: String,
        /// Instance name.
        instance: String,
        /// Error of the batch.
        error: BatchError,
    },
    /// Bytes that are no batch.
    #[error("the upstream sent an invalid batch: {0}")]
    Header(BatchError),
    /// A batch whose samples cannot be read.
    #[error("the upstream sent a batch of {node}/{instance} with damaged columns")]
    Columns {
        /// Node name.
        node: String,
        /// Instance name.
        instance: String,
    },
}

/// Topics whose places are remembered; the oldest topics are forgotten first.
const MAX_RESUME_POINTS: usize = 65_536;

/// Positions at which subscriptions continue, so that they survive their connections, and nodes that move from one upstream to
/// another. Shared by all upstreams.
#[derive(Debug, Clone, Default)]
pub struct ResumePoints(Arc<Mutex<ResumeTable>>);

/// Names of a node and its instance.
type Names = (Arc<str>, Arc<str>);

#[derive(Debug, Default)]
struct ResumeTable {
    places: BTreeMap<TopicId, (Names, SharedResumePoint)>,
    /// The last topic of each instance: readers continue with it after the one before.
    topics: HashMap<Names, TopicId>,
}

/// Locked while a batch is appended: for a moment two upstreams may send samples of the same node.
type SharedResumePoint = Arc<Mutex<ResumePoint>>;

impl ResumePoints {
    /// Notes that the subscription was ended for lack of readers.
    pub fn pause(&self, topic: TopicId) {
        let place = lock(&self.0).places.get(&topic).map(|(_, place)| place.clone());
        if let Some(place) = place {
            lock(&place).pause();
        }
    }

    /// Returns the place of an instance. A new topic of it begins where the one before ended.
    fn of(&self, instance: &Instance) -> SharedResumePoint {
        let mut known = lock(&self.0);
        if let Some((_, place)) = known.places.get(&instance.topic) {
            return place.clone();
        }
        let names = (instance.node.clone(), instance.name.clone());
        let before = known.topics.insert(names.clone(), instance.topic);
        let before = before.and_then(|topic| known.places.remove(&topic)).map(|(_, place)| place);
        let continues = instance.continues();
        let place = before.filter(|place| lock(place).leads_to(continues));
        let place = place.unwrap_or_else(|| Arc::new(Mutex::new(ResumePoint::of_new(continues))));
        known.places.insert(instance.topic, (names, place.clone()));
        known.bound();
        place
    }
}

impl ResumeTable {
    fn bound(&mut self) {
        while self.places.len() > MAX_RESUME_POINTS {
            let Some((topic, (names, _))) = self.places.pop_first() else { return };
            if self.topics.get(&names) == Some(&topic) {
                self.topics.remove(&names);
            }
        }
    }
}

/// A panic in the middle of a batch leaves the place before it.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A topic that is read.
#[derive(Debug)]
struct Fed {
    instance: Arc<Instance>,
    epoch: Epoch,
    /// The upstream's number of the topic.
    topic: u32,
    /// Offset of the next sample.
    next: Offset,
    place: SharedResumePoint,
    /// Samples that the upstream reported as missed before its first batch.
    missed: u64,
    /// The gaps before the next batch, with their causes.
    gaps_before: Vec<Gap>,
}

/// The subscriptions of one connection.
#[derive(Debug)]
pub struct Feed {
    places: ResumePoints,
    /// The life of the upstream.
    epoch: Epoch,
    last_id: i64,
    /// Requests without an answer.
    asked: HashMap<i64, PendingSubscription>,
    /// By the upstream's topic.
    fed: HashMap<u32, Fed>,
    /// The upstream's topics, by those here.
    topics: HashMap<TopicId, u32>,
}

/// A subscription that was asked for.
#[derive(Debug)]
struct PendingSubscription {
    instance: Arc<Instance>,
    /// Whether it ends as soon as it has begun.
    is_unwanted: bool,
}

impl Feed {
    /// Creates a connection to an upstream in this epoch, without subscriptions.
    pub fn new(places: ResumePoints, epoch: Epoch) -> Self {
        let (asked, fed, topics) = Default::default();
        Self { places, epoch, last_id: 0, asked, fed, topics }
    }

    /// Returns the request that subscribes to an instance where its log here ends, if that is known.
    pub fn subscribe(&mut self, instance: Arc<Instance>, wanted: UpstreamDemand) -> Value {
        self.last_id += 1;
        let mut request = json!({
            "op": "subscribe", "id": self.last_id, "node": &*instance.node, "instance": &*instance.name,
            "gaps": true,
        });
        let place = *lock(&self.places.of(&instance));
        if let Some(resume) = place.resume(self.epoch) {
            request["resume"] = resume.into();
        }
        if let UpstreamDemand::Rate(hertz) = wanted {
            request["rate"] = hertz.get().into();
        }
        self.asked.insert(self.last_id, PendingSubscription { instance, is_unwanted: false });
        request
    }

    /// Returns the request that ends a subscription, if there is one.
    pub fn unsubscribe(&mut self, topic: TopicId) -> Option<Value> {
        self.places.pause(topic);
        if let Some(fed) = self.topics.get(&topic).and_then(|there| self.fed.get(there)) {
            fed.instance.pause_relayed();
        }
        self.abandon(topic)
    }

    /// Returns the request that ends a subscription, because the topic's node has moved to another upstream.
    pub fn abandon(&mut self, topic: TopicId) -> Option<Value> {
        let asked = self.asked.values_mut().filter(|asked| asked.instance.topic == topic);
        asked.for_each(|asked| asked.is_unwanted = true);
        let there = self.topics.remove(&topic)?;
        self.fed.remove(&there);
        self.last_id += 1;
        Some(json!({"op": "unsubscribe", "id": self.last_id, "topic": there}))
    }

    /// Returns the request for another rate.
    pub fn rate(&mut self, topic: TopicId, wanted: UpstreamDemand) -> Option<Value> {
        let there = self.topics.get(&topic)?;
        self.last_id += 1;
        let mut request = json!({"op": "rate", "id": self.last_id, "topic": there});
        if let UpstreamDemand::Rate(hertz) = wanted {
            request["hertz"] = hertz.get().into();
        }
        Some(request)
    }

    /// Takes a message. Returns a request that follows from it, and a topic whose subscription has ended.
    pub fn take(&mut self, message: Message) -> (Option<Value>, Option<TopicId>) {
        match message {
            Message::Subscribed { id, topic, epoch, offset, instance } => {
                let Some(PendingSubscription { instance: asked, is_unwanted }) = self.asked.remove(&id)
                else {
                    return (None, None);
                };
                if is_unwanted {
                    return (Some(json!({"op": "unsubscribe", "id": 0, "topic": topic})), None);
                }
                if *instance.schema != *asked.probe_type {
                    // The registry will say so, and bring the instance again.
                    return (Some(json!({"op": "unsubscribe", "id": 0, "topic": topic})), Some(asked.topic));
                }
                let here = asked.topic;
                let place = self.places.of(&asked);
                self.topics.insert(here, topic);
                let (next, missed, gaps_before) = (offset, 0, Vec::new());
                self.fed
                    .insert(topic, Fed { instance: asked, epoch, topic, next, place, missed, gaps_before });
                (None, None)
            }
            Message::Gap { topic, count, to, .. } => {
                if let Some(fed) = self.fed.get_mut(&topic) {
                    fed.miss(count.unwrap_or_default());
                    fed.next = to.unwrap_or(fed.next);
                }
                (None, None)
            }
            Message::GapsBefore { topic, gaps } => {
                if let Some(fed) = self.fed.get_mut(&topic) {
                    let gaps = gaps.into_iter().filter(Gap::is_valid);
                    gaps.for_each(|gap| gap.add_to(&mut fed.gaps_before));
                }
                (None, None)
            }
            Message::Epoch { topic, epoch, offset } => {
                if let Some(fed) = self.fed.get_mut(&topic) {
                    (fed.epoch, fed.next) = (epoch, offset);
                }
                (None, None)
            }
            Message::TypeChanged { topic, .. } | Message::Unsubscribed { topic, .. } => {
                (None, self.end(topic))
            }
            Message::Error { id: Some(id), code, message } => {
                let Some(PendingSubscription { instance: asked, is_unwanted }) = self.asked.remove(&id)
                else {
                    return (None, None);
                };
                let (node, instance) = (&*asked.node, &*asked.name);
                tracing::debug!(node, instance, code, message, "the upstream refuses a subscription");
                (None, Some(asked.topic).filter(|_| !is_unwanted))
            }
            _ => (None, None),
        }
    }

    fn end(&mut self, there: u32) -> Option<TopicId> {
        let here = self.fed.remove(&there)?.instance.topic;
        self.topics.remove(&here);
        Some(here)
    }

    /// Takes a batch. `clock_offset_ns` is this clock minus the upstream's.
    ///
    /// # Errors
    /// If it is not one of a subscribed topic: the connection must end.
    pub fn batch(&mut self, bytes: Vec<u8>, clock_offset_ns: i64) -> Result<(), FeedError> {
        let header = Header::parse(&bytes).map_err(FeedError::Header)?;
        // Batches under way when a subscription ended.
        let Some(fed) = self.fed.get_mut(&header.topic) else { return Ok(()) };
        let mut gaps_before = mem::take(&mut fed.gaps_before);
        let (instance, shared) = (fed.instance.clone(), fed.place.clone());
        let mut place = lock(&shared);
        let names = || (instance.node.to_string(), instance.name.to_string());
        let invalid = |error| {
            let (node, instance) = names();
            FeedError::Batch { node, instance, error }
        };
        batch::check(&bytes, &instance.probe_type).map_err(invalid)?;
        let (source, run) = (fed.source(), instance.ledger().run());
        let old = place.already_here(source, run, &header);
        if old >= header.count.into() {
            return Ok(());
        }
        if old > 0 {
            // They are before samples that are here.
            gaps_before.clear();
        }
        let bytes = without_first(bytes, &instance, old, header.count).ok_or_else(|| {
            let (node, instance) = names();
            FeedError::Columns { node, instance }
        })?;
        let header = Header::parse(&bytes).map_err(FeedError::Header)?;
        if place.misses_pause(source, &header) {
            // A reader that resumes learns that it misses some: their numbers say which.
            instance.skip_relayed_pause();
        }
        instance.skip_relayed(place.missing_before(source, run, fed.missed, &header));
        let after = place.after(source, run, &header);
        instance.begin_relayed_run(after.run());
        if !instance.append_relayed(bytes, gaps_before, clock_offset_ns).map_err(invalid)? {
            return Ok(());
        }
        fed.next = Offset(header.offset.saturating_add(header.count.into()));
        *place = after;
        fed.missed = 0;
        Ok(())
    }
}

impl Fed {
    /// Returns the topic at the upstream that its samples come from.
    fn source(&self) -> Source {
        Source { epoch: self.epoch, topic: self.topic }
    }

    /// Notes that `count` samples are missing at the upstream.
    fn miss(&mut self, count: u64) {
        let place = *lock(&self.place);
        if place.continues(self.source()).is_some() {
            if place.has_paused() {
                // The next batch shows that it is not the one after the last.
                return;
            }
            return self.instance.skip_relayed(count);
        }
        // They may be here already.
        self.missed = self.missed.saturating_add(count);
    }
}

/// Returns a batch without its first samples; none if they cannot be read.
fn without_first(bytes: Vec<u8>, instance: &Instance, old: u64, count: u16) -> Option<Vec<u8>> {
    match usize::try_from(old).ok()? {
        0 => Some(bytes),
        old => batch::cut(&bytes, &instance.probe_type, old..count.into()),
    }
}
