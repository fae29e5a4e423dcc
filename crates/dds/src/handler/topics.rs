//! The topics of the domain that this handler writes: one for each probe type.

use super::room::Room;
use crate::{DdsError, InstanceKey, Match, Participant, TopicName, Writer, same_layout};
use oasis_wire::schema::ProbeType;
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

/// Topics at the same time. Each has a writer, which takes memory of all participants of the domain.
const MAX_TOPICS: usize = 256;
/// A topic has this part of all bytes at most, so that a subscriber of one topic that hangs leaves room for the others.
const TOPIC_SHARE_DIVISOR: usize = 4;

/// A topic, and its subscribers.
#[derive(Debug)]
pub struct Topic {
    writer: Writer,
    probe_type: Arc<ProbeType>,
    room: Room,
    /// Whether all topics together have room.
    has_share: bool,
    pub subscribers: usize,
}

impl Topic {
    /// Returns whether another sample may be written.
    pub fn has_room(&self) -> bool {
        self.has_share && self.room.has_room()
    }

    /// Writes a sample. Returns whether there was room.
    pub fn write(&mut self, key: &InstanceKey, time: u64, cdr: Vec<u8>) -> Result<bool, DdsError> {
        let length = cdr.len();
        let is_written = self.has_room() && self.writer.write(key, time, cdr)?;
        if is_written {
            self.room.take(length);
        }
        Ok(is_written)
    }
}

/// Why an instance has no topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoTopic {
    /// An instance of another type of this name has it.
    OtherType,
    /// There are too many.
    TooMany,
}

/// All topics.
#[derive(Debug)]
pub struct Topics {
    participant: Participant,
    /// Bytes that all writers together may keep.
    most_bytes: usize,
    topics: BTreeMap<TopicName, Topic>,
}

impl Topics {
    /// There is none yet.
    pub fn new(participant: Participant, most_bytes: usize) -> Self {
        Self { participant, most_bytes, topics: BTreeMap::new() }
    }

    /// Returns the topic of a probe type, which it creates.
    pub fn of(
        &mut self,
        name: &TopicName,
        probe_type: &Arc<ProbeType>,
    ) -> Result<Result<&mut Topic, NoTopic>, DdsError> {
        if !self.topics.contains_key(name) {
            if self.topics.len() >= MAX_TOPICS {
                return Ok(Err(NoTopic::TooMany));
            }
            let topic = Topic {
                writer: self.participant.writer(name)?,
                probe_type: probe_type.clone(),
                room: Room::new(self.most_bytes / TOPIC_SHARE_DIVISOR, Instant::now()),
                has_share: true,
                subscribers: 0,
            };
            self.topics.insert(name.clone(), topic);
        }
        Ok(match self.topics.get_mut(name) {
            Some(topic)
                if Arc::ptr_eq(&topic.probe_type, probe_type)
                    || same_layout(&topic.probe_type.metrics, &probe_type.metrics) =>
            {
                Ok(topic)
            }
            Some(_) => Err(NoTopic::OtherType),
            None => Err(NoTopic::TooMany),
        })
    }

    /// Removes the topics that have no instance any more.
    pub fn retain(&mut self, has_instance: impl Fn(&TopicName) -> bool) {
        self.topics.retain(|name, _| has_instance(name));
    }

    /// Polls subscribers. Returns the incompatible request of one.
    pub fn poll_subscribers(&mut self) -> Option<String> {
        let mut incompatible = None;
        for (name, topic) in &mut self.topics {
            for event in topic.writer.matches() {
                match event {
                    Match::Subscribers(count) => topic.subscribers = count,
                    Match::Incompatible(policy) => {
                        incompatible = Some(format!(
                            "a subscriber of topic {} gets nothing: it asks for another {policy} than is offered",
                            name.name
                        ));
                    }
                }
            }
        }
        incompatible
    }

    /// Shares the bytes that all topics together may keep.
    pub fn share_room(&mut self) {
        let now = Instant::now();
        for Topic { writer, room, .. } in self.topics.values_mut() {
            room.free_acknowledged(now, || writer.is_acknowledged(Duration::ZERO));
        }
        let has_share = self.kept_bytes() < self.most_bytes;
        self.topics.values_mut().for_each(|topic| topic.has_share = has_share);
    }

    /// Returns how many bytes writers keep at most.
    pub fn kept_bytes(&self) -> usize {
        self.topics.values().map(|topic| topic.room.used()).sum()
    }

    /// Returns the number of subscribers of each topic.
    pub fn subscribers(&self) -> BTreeMap<String, usize> {
        self.topics.iter().map(|(name, topic)| (name.name.clone(), topic.subscribers)).collect()
    }

    /// Waits until subscribers have all that was written, but no longer than this.
    pub fn flush(&self, deadline: Instant) {
        for topic in self.topics.values().filter(|topic| topic.subscribers > 0) {
            topic.writer.is_acknowledged(deadline.saturating_duration_since(Instant::now()));
        }
    }
}
