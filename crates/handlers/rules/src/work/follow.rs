//! Which files, types and instances there are.

use super::Work;
use crate::{
    ruleset::RuleSet,
    source::{Begin, Source, StandingAlarms},
    unit::is_read,
};
use oasis_alarms::{Filter, RuleFacts};
use oasis_dac::{Follower, Instance, now};
use oasis_rules::Standing;
use oasis_rules_history::{Past, newest_dac_time_of, started_at};
use oasis_wire::{quantity::TopicId, schema::ProbeType};
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

/// Interval at which files, and shelves that end, are polled.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum interval at which the instances are polled.
const MIN_FOLLOW_INTERVAL: Duration = Duration::from_millis(20);
/// Most instances.
const MAX_INSTANCES: usize = 20_000;

impl Work<'_> {
    /// Alarms that stand and do not end, although their rules are not known: those of a file with errors, and of limits whose type no node has registered yet
    /// (`Plant::Pump.temperature high`).
    pub(super) fn unknown_rules(&self) -> Vec<RuleFacts> {
        let known: HashSet<String> = self.set.facts().into_iter().map(|facts| facts.name).collect();
        let filter = Filter { is_standing: true, ..Filter::default() };
        let mut facts = BTreeMap::new();
        for alarm in self.alarms.list(&filter).alarms {
            let name = alarm.key.rule;
            let is_known = |of: &str| self.types.iter().any(|known| known.name == of);
            let may_be_there = match name.split_once('.') {
                Some((of, _)) => self.config.pdl_limits && !is_known(of),
                None => self.set.lacks_rules,
            };
            if may_be_there && !known.contains(&name) {
                let (severity, latch) = (alarm.severity, false);
                let known = RuleFacts { name: name.clone(), severity, latch, message: None, notify: None };
                facts.insert(name, known);
            }
        }
        facts.into_values().collect()
    }

    /// Polls the files once a second, and when the API asks for it.
    pub(super) fn poll_files(&mut self) {
        let is_asked = self.rules.take_reload();
        if !is_asked && self.looked.is_some_and(|looked| looked.elapsed() < POLL_INTERVAL) {
            return;
        }
        let is_first = self.looked.replace(Instant::now()).is_none();
        if let Err(error) = self.alarms.tick(now()) {
            self.fail(&error.to_string());
        }
        self.connect();
        if let Some(output) = &mut self.output {
            output.flush();
        }
        if is_asked {
            self.files.forget();
        }
        let reading = self.pulse.begin("read files of rules");
        let looked = self.files.poll(self.config, SystemTime::now());
        drop(reading);
        if is_first || looked.has_changed {
            self.types = self.known_types();
            // An added rule has not seen earlier samples.
            self.begin = if self.is_loaded { Begin::Next } else { Begin::First };
            self.compile();
            self.is_loaded |= !self.set.lacks_rules;
            self.begin = Begin::First;
        } else if is_asked {
            self.publish();
        }
    }

    /// The types of all instances that rules may read; of several versions the newest comes last. Of those that only other DACs have, the ones that files
    /// name: rules may join them with others.
    pub(super) fn known_types(&self) -> Vec<Arc<ProbeType>> {
        let mut types: Vec<Arc<ProbeType>> = Vec::new();
        for instance in self.evaluated_instances() {
            if self.is_own(&instance) {
                continue;
            }
            types.retain(|known| *known != instance.probe_type);
            types.push(instance.probe_type.clone());
        }
        let mut seen: HashSet<String> = types.iter().map(|known| known.name.clone()).collect();
        for instance in self.dac.registry.instances() {
            let of = &instance.probe_type;
            let is_new = instance.is_relayed() && seen.insert(of.name.clone());
            let is_named = || self.files.all().iter().any(|file| file.names(&of.name));
            if is_new && is_named() {
                types.push(of.clone());
            }
        }
        types
    }

    /// Rules do not read their own results.
    pub(super) fn is_own(&self, instance: &Instance) -> bool {
        *instance.node == *self.config.node
    }

    pub(super) fn compile(&mut self) {
        let set = RuleSet::compile(&self.set, self.files.all(), &self.types, self.config.pdl_limits);
        let before = std::mem::replace(&mut self.set, Arc::new(set));
        self.connect();
        self.end_joints(&before);
        self.has_facts = false;
        let rules = self.set.names();
        self.limiter.retain(|rule| rules.contains(rule));
        let standing = self.standing();
        for (topic, source) in &mut self.sources {
            source.reload(&before, &self.set, &standing);
            self.deadlines.set(*topic, source.deadline(&self.set));
        }
        self.seen = None;
        self.follow_instances();
        self.publish();
        for refused in self.set.refused() {
            tracing::warn!("{refused}");
        }
        let mut state = self.shared.lock();
        (state.rules, state.refused) = (self.set.count(), self.set.refused());
        state.limits_left_out = self.set.limits_left_out;
    }

    pub(super) fn publish(&self) {
        let count = |program, input| {
            let read = self.sources.values().filter(|source| source.is_read_by(program, input)).count();
            read.max(self.joint_instances(program, input))
        };
        self.rules.publish(self.set.loaded(count));
    }

    /// Alarms that stand.
    pub(super) fn standing(&self) -> StandingAlarms {
        let filter = Filter { is_standing: true, ..Filter::default() };
        let alarms = self.alarms.list(&filter).alarms.into_iter();
        let active = alarms.filter(|alarm| alarm.state != Standing::Normal);
        active.map(|alarm| ((alarm.key.rule, alarm.key.node, alarm.key.instance), alarm.state)).collect()
    }

    /// Begins with instances that rules read, and ends with those that are gone.
    pub(super) fn follow_instances(&mut self) {
        // In this order: a topic that is not known then has no sample of before.
        let before = now().0.saturating_sub(1);
        let version = self.dac.registry.version();
        if self.seen == Some(version) {
            self.joints.known_until = before;
        }
        let is_forced = self.seen.is_none() || self.is_time_to_receive();
        let is_early = self.followed.elapsed() < MIN_FOLLOW_INTERVAL;
        if !is_forced && (self.seen == Some(version) || is_early) {
            return;
        }
        (self.seen, self.followed) = (Some(version), Instant::now());
        let is_forced = self.note_homes() || self.have_places_changed() || is_forced;
        let instances = self.instances_to_follow();
        let joined = self.instances_to_join(&instances);
        let topics: Vec<TopicId> = joined.iter().map(|instance| instance.topic).collect();
        // Most changes are of other things: what a node says of its clock.
        if std::mem::replace(&mut self.topics, topics) == self.topics && !is_forced {
            self.joints.known_until = before;
            return;
        }
        let types = self.known_types();
        if types != self.types {
            self.types = types;
            return self.compile();
        }
        self.leave_moved();
        let known: HashSet<TopicId> = instances.iter().map(|instance| instance.topic).collect();
        let gone = |(topic, source): (&TopicId, &mut Source)| {
            source.is_idle() || (!known.contains(topic) && source.is_over())
        };
        let gone: Vec<TopicId> = self
            .sources
            .iter_mut()
            .filter_map(|(topic, source)| gone((topic, source)).then_some(*topic))
            .collect();
        let standing = self.standing();
        self.follow_joints(&joined, &standing);
        self.joints.known_until = before;
        let before = (self.sources.len(), self.joints.all.len());
        self.find_life_before(&instances);
        let mut left_out = 0;
        for instance in instances {
            instance.follow(Follower::Rules);
            instance.end_following(Follower::Rules);
            if self.sources.contains_key(&instance.topic)
                || self.is_own(&instance)
                || !is_read(&self.set, &instance)
            {
                continue;
            }
            match self.sources.len() < MAX_INSTANCES {
                true => self.begin(instance, &standing),
                false => left_out += 1,
            }
        }
        for topic in gone {
            self.end(topic);
        }
        let mut state = self.shared.lock();
        (state.instances, state.instances_left_out) = (self.sources.len(), left_out);
        drop(state);
        if (self.sources.len(), self.joints.all.len()) != before {
            self.publish();
        }
        self.register_output();
    }

    /// Follows an instance, from where its topic before ended, or from its checkpoint.
    pub(super) fn begin(&mut self, instance: Arc<Instance>, standing: &StandingAlarms) {
        let is_before =
            |source: &Source| source.instance.node == instance.node && source.instance.name == instance.name;
        let topic = instance.topic;
        let before = self.sources.iter().find(|(_, source)| is_before(source)).map(|(topic, _)| *topic);
        let mut is_new = false;
        let source = match before.and_then(|before| Some((before, self.sources.get(&before)?.is_over()))) {
            // A retired topic is read to its end first.
            Some((_, false)) => {
                self.seen = None;
                return;
            }
            Some((before, true)) => {
                self.deadlines.set(before, None);
                let Some(mut source) = self.sources.remove(&before) else { return };
                source.move_to(instance, self.archive.as_ref(), &self.ready);
                source.reload(&self.set, &self.set, standing);
                source
            }
            None => {
                let key = crate::checkpoint::key(&instance.node, &instance.name);
                let checkpoint = match self.alarms.checkpoint(&key) {
                    // A checkpoint of removed rules: added rules do not begin there.
                    Ok(_) if self.begin == Begin::Next => None,
                    Ok(checkpoint) => checkpoint,
                    Err(error) => {
                        self.seen = None;
                        return self.fail(&error.to_string());
                    }
                };
                is_new = checkpoint.is_none();
                let rules = (&*self.set, standing);
                let archive = self.archive.as_ref();
                Source::new(instance, checkpoint.as_ref(), rules, archive, self.begin, &self.ready)
            }
        };
        self.sources.insert(topic, source);
        let deadline = self.sources.get_mut(&topic).and_then(|source| source.deadline(&self.set));
        self.deadlines.set(topic, deadline);
        if is_new {
            // After a crash the evaluation begins here again.
            self.checkpoint(topic);
        }
    }

    pub(super) fn end(&mut self, topic: TopicId) {
        self.checkpoint(topic);
        self.deadlines.set(topic, None);
        self.waiting.remove(&topic);
        self.sources.remove(&topic);
    }

    /// Finds how far the DAC's life before this one went. Only the archive has samples of it.
    pub(super) fn find_life_before(&mut self, instances: &[Arc<Instance>]) {
        let asks = self.set.programs.iter().any(|loaded| loaded.program.asks_for_silence());
        let Some(archive) = self.archive.as_ref().filter(|_| asks && self.before == 0) else { return };
        let past = Past::of_archive(archive.history());
        let read = instances.iter().filter(|instance| self.is_own(instance) || is_read(&self.set, instance));
        let begin = started_at(self.dac.epoch());
        let mut before = 1;
        for instance in read {
            match newest_dac_time_of(&past, [(&*instance.node, &*instance.name)]) {
                // Samples stored in this life have no information on the one before.
                Ok(newest) if newest >= begin => {}
                Ok(newest) => before = before.max(newest),
                Err(error) => tracing::warn!(%error, "rules cannot read how far the archive goes"),
            }
        }
        self.before = before;
    }
}
