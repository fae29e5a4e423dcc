//! All instances that are published, and their turns.

use crate::{
    MqttPublishConfig,
    feed::{Archive, Feed},
    positions::Positions,
    topic::{Item, Topic},
};
use oasis_dac::{Dac, Delivery, Instance, Wake};
use oasis_handler::StoredSamples;
use oasis_wire::{pattern::matches, quantity::TopicId};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::Bound,
    sync::Arc,
};

/// The instances that are published.
pub struct Topics {
    /// In the order of their turns.
    pub all: BTreeMap<TopicId, Topic>,
    /// The topic of each instance.
    by_name: HashMap<(Arc<str>, Arc<str>), TopicId>,
    /// The topic whose chunk is being published, or was last.
    turn: Option<TopicId>,
    /// Instances that are not published, because of a limit.
    pub omitted: u64,
    /// The reason for the newest of them.
    pub why_omitted: Option<String>,
    version: Option<u64>,
}

/// The parts that following instances needs.
pub struct Following<'a> {
    pub dac: &'a Dac,
    pub config: &'a MqttPublishConfig,
    pub positions: &'a Positions,
    pub archive: Option<&'a Arc<dyn StoredSamples>>,
    pub wake: &'a Arc<dyn Wake>,
    /// Makes the name of an instance in topics; `None` if it is too long.
    pub name: &'a dyn Fn(&Instance) -> Option<String>,
}

impl Topics {
    /// Creates it without instances.
    pub fn new() -> Self {
        Self {
            all: BTreeMap::new(),
            by_name: HashMap::new(),
            turn: None,
            omitted: 0,
            why_omitted: None,
            version: None,
        }
    }

    /// Follows the registry. Returns the topics that have ended.
    pub fn follow(&mut self, following: &Following<'_>) -> Vec<TopicId> {
        let version = following.dac.registry.version();
        let has_ended = |topic: &Topic| topic.instance.is_retired() && topic.is_settled();
        if self.version == Some(version) && !self.all.values().any(has_ended) {
            return Vec::new();
        }
        self.version = Some(version);
        (self.omitted, self.why_omitted) = (0, None);
        let mut ended = Vec::new();
        let mut present = HashSet::new();
        for instance in following.dac.registry.instances().into_iter().filter(|one| !one.is_retired()) {
            let path = format!("{}/{}", instance.node, instance.name);
            if !following.config.instances.iter().any(|pattern| matches(pattern, &path)) {
                continue;
            }
            present.insert(instance.topic);
            if self.all.contains_key(&instance.topic) {
                continue;
            }
            if let Err(why) = self.add(instance, following, &mut ended) {
                self.omitted += 1;
                self.why_omitted = Some(format!("{path:?}: {why}"));
            }
        }
        // Instances that were forgotten, and retired ones without a successor.
        let is_gone = |topic: &Topic| !present.contains(&topic.instance.topic) && topic.is_settled();
        let gone: Vec<TopicId> =
            self.all.values().filter(|one| is_gone(one)).map(|one| one.instance.topic).collect();
        for topic in gone {
            self.remove(topic, &mut ended);
        }
        ended
    }

    fn add(
        &mut self,
        instance: Arc<Instance>,
        following: &Following<'_>,
        ended: &mut Vec<TopicId>,
    ) -> Result<(), String> {
        let name = (instance.node.clone(), instance.name.clone());
        let mut mark = following.positions.get(&name);
        if let Some(before) = self.by_name.get(&name).copied() {
            let Some(topic) = self.all.get(&before) else { return Ok(()) };
            if !topic.is_over() {
                // The earlier topic is published to its end first.
                self.version = None;
                return Ok(());
            }
            mark = Some(topic.acknowledged());
            self.remove(before, ended);
        }
        if self.all.len() >= following.config.max_instances {
            return Err("there are more instances than mqtt_publish.max_instances".into());
        }
        let in_topics = (following.name)(&instance).ok_or("its name is too long for a topic")?;
        let delivery = following.config.delivery;
        let (feed, last) = if delivery == Delivery::Every {
            let feed = Feed::every(&instance, mark, following.archive, following.wake);
            (feed, mark.and_then(|mark| mark.last))
        } else {
            let feed = Feed::thinned(following.dac, &instance, delivery, following.wake);
            (feed.map_err(|error| error.to_string())?, None)
        };
        self.by_name.insert(name, instance.topic);
        self.all.insert(instance.topic, Topic::new(instance, in_topics, feed, last));
        Ok(())
    }

    fn remove(&mut self, topic: TopicId, ended: &mut Vec<TopicId>) {
        if let Some(removed) = self.all.remove(&topic) {
            self.by_name.remove(&removed.instance_name());
            ended.push(topic);
        }
    }

    /// Returns the topic of an instance by its name in topics.
    pub fn find(&self, name: &str) -> Option<&Topic> {
        self.all.values().find(|topic| topic.name == name)
    }

    /// Returns the next item: the rest of a chunk first, then a chunk of the next instance.
    pub fn next_item(&mut self, archive: &Archive<'_>) -> Option<(TopicId, Item)> {
        let begun = self.turn.and_then(|turn| self.all.get_mut(&turn)).filter(|topic| topic.is_begun());
        let rest = begun.and_then(|topic| Some((topic.instance.topic, topic.next_item(archive)?)));
        if rest.is_some() {
            return rest;
        }
        // Reading may find nothing, so each instance has one turn.
        for _ in 0..self.all.len() {
            let id = self.next_turn()?;
            self.turn = Some(id);
            if let Some(item) = self.all.get_mut(&id).and_then(|topic| topic.next_item(archive)) {
                return Some((id, item));
            }
        }
        None
    }

    /// Returns the next instance with something to publish, after the one that had the last turn.
    fn next_turn(&self) -> Option<TopicId> {
        let after = self.turn.map_or(Bound::Unbounded, Bound::Excluded);
        let (later, all) = (self.all.range((after, Bound::Unbounded)), self.all.iter());
        later.chain(all).find(|(_, topic)| topic.has_items()).map(|(id, _)| *id)
    }

    /// Whether there is something to publish.
    pub fn has_items(&self) -> bool {
        self.all.values().any(Topic::has_items)
    }

    /// Returns to what is acknowledged. Returns the number of samples that are published again.
    pub fn rewind(&mut self) -> u64 {
        self.all.values_mut().map(Topic::rewind).sum()
    }

    /// The number of samples that wait in topic logs.
    pub fn unread(&self) -> u64 {
        self.all.values().map(Topic::unread).sum()
    }
}
