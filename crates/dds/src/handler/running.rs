//! The handler's thread: follows the instances, publishes their samples, and retries.

use super::{
    source::{Outcome, Source, Turn},
    state::{Condition, Loss, SharedState},
    topics::{NoTopic, Topics},
};
use crate::{DdsConfig, DdsError, Participant};
use oasis_dac::{Dac, Follower, Signal, Wake};
use oasis_handler::{Context, Failure};
use oasis_wire::{pattern::matches, quantity::TopicId};
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// Pause before it tries again to join the domain.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Interval at which subscribers and lag are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Interval at which instances are polled while the registry does not change.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(1);
/// Pause before a writer without room is tried again.
const FULL_RETRY_DELAY: Duration = Duration::from_millis(5);
/// Longest wait at shutdown for subscribers that have not acknowledged.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Publishes until it has to stop.
pub fn run(config: &DdsConfig, shared: &Arc<SharedState>, context: Context) -> Result<(), Failure> {
    shared.lock().domain = config.domain;
    let participant = loop {
        match Participant::join(config) {
            Ok(participant) => break participant,
            Err(error) => shared.note(Condition::Failing, Some(error.to_string())),
        }
        if context.stopping.wait_for(RETRY_DELAY) {
            return Ok(());
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure(format!("no runtime: {error}")))?;
    let work = Work::new(config, participant, shared.clone(), &context);
    runtime.block_on(work.run()).map_err(|error| Failure(error.to_string()))
}

/// State of the thread.
struct Work {
    config: DdsConfig,
    dac: Arc<Dac>,
    shared: Arc<SharedState>,
    topics: Topics,
    registry: watch::Receiver<u64>,
    signal: Arc<Signal>,
    sources: BTreeMap<TopicId, Source>,
    /// Whether the instances that were there first are known: they begin with samples from now on.
    has_looked: bool,
    ended: watch::Receiver<bool>,
}

impl Work {
    fn new(
        config: &DdsConfig,
        participant: Participant,
        shared: Arc<SharedState>,
        context: &Context,
    ) -> Self {
        Self {
            config: config.clone(),
            registry: context.dac.registry.watch(),
            dac: context.dac.clone(),
            shared,
            topics: Topics::new(participant, config.buffer_bytes),
            signal: Arc::default(),
            sources: BTreeMap::new(),
            has_looked: false,
            ended: context.stopping.watch(),
        }
    }

    async fn run(mut self) -> Result<(), DdsError> {
        let (mut look, mut follow) =
            (tokio::time::interval(POLL_INTERVAL), tokio::time::interval(FOLLOW_INTERVAL));
        self.shared.note(Condition::Publishing, None);
        self.follow_instances()?;
        loop {
            let is_full = self.round()?;
            if *self.ended.borrow() {
                self.topics.flush(Instant::now() + SHUTDOWN_TIMEOUT);
                return Ok(());
            }
            let signal = self.signal.clone();
            tokio::select! {
                () = signal.raised(), if !is_full => {}
                () = tokio::time::sleep(FULL_RETRY_DELAY), if is_full => {}
                _ = self.registry.changed() => self.follow_instances()?,
                _ = self.ended.changed() => {}
                _ = follow.tick() => self.follow_instances()?,
                _ = look.tick() => self.poll_subscribers(),
            }
        }
    }

    fn follow_instances(&mut self) -> Result<(), DdsError> {
        let instances = self.dac.registry.instances_to_follow(Follower::Dds);
        self.sources.retain(|_, source| !source.is_over());
        // A topic that was replaced is published to its end first.
        let names = |source: &Source| (source.instance.node.clone(), source.instance.name.clone());
        let replaced = self.sources.values().filter(|source| source.instance.is_retired()).map(names);
        let mut replaced: HashSet<_> = replaced.collect();
        for instance in instances {
            let names = (instance.node.clone(), instance.name.clone());
            if self.sources.contains_key(&instance.topic) || replaced.contains(&names) {
                continue;
            }
            instance.follow(Follower::Dds);
            // The source reads it to its end, also if it is not listed any more.
            instance.end_following(Follower::Dds);
            if instance.is_retired() {
                replaced.insert(names);
            }
            let name = format!("{}/{}", instance.node, instance.name);
            if self.config.instances.iter().any(|pattern| matches(pattern, &name)) {
                let source = Source::new(instance.clone(), !self.has_looked, self.signal.clone());
                self.sources.insert(instance.topic, source);
            }
        }
        self.has_looked = true;
        self.follow_topics()
    }

    /// Creates a topic for each type, so that subscribers find it before its first sample.
    fn follow_topics(&mut self) -> Result<(), DdsError> {
        let used: HashSet<_> = self.sources.values().map(|source| &source.topic).collect();
        self.topics.retain(|name| used.contains(name));
        for source in self.sources.values() {
            // One without a topic is reported with its first sample.
            let _ = self.topics.of(&source.topic, &source.instance.probe_type)?;
        }
        Ok(())
    }

    /// Publishes a few segments of each instance. Returns whether a writer has no room.
    fn round(&mut self) -> Result<bool, DdsError> {
        let mut is_full = false;
        self.topics.share_room();
        for source in self.sources.values_mut() {
            match turn(source, &mut self.topics, &self.shared)? {
                Turn::Done => {}
                Turn::More => self.signal.raise(),
                Turn::Full => is_full = true,
            }
        }
        Ok(is_full)
    }

    /// Polls subscribers, and reports.
    fn poll_subscribers(&mut self) {
        let incompatible = self.topics.poll_subscribers();
        let mut state = self.shared.lock();
        if let Some(what) = incompatible {
            tracing::warn!("{what}");
            state.incompatible = Some(what);
        }
        state.topics = self.topics.subscribers();
        state.kept_bytes = self.topics.kept_bytes();
        state.behind = self.sources.values().map(Source::behind).sum();
    }
}

/// Publishes the next samples of an instance.
fn turn(source: &mut Source, topics: &mut Topics, shared: &SharedState) -> Result<Turn, DdsError> {
    if source.behind() == 0 {
        return Ok(Turn::Done);
    }
    let topic = match topics.of(&source.topic, &source.instance.probe_type)? {
        Ok(topic) => topic,
        Err(why) => {
            let samples = source.skip();
            let (cause, why) = explain(why, &source.topic.name);
            shared.lose(source.lost(cause, samples, &why));
            return Ok(Turn::Done);
        }
    };
    // Samples without a subscriber are not written.
    if topic.subscribers == 0 {
        source.skip();
        return Ok(Turn::Done);
    }
    let mut outcome = Outcome::default();
    let turn = source.publish(topic, &mut outcome);
    shared.lock().published += outcome.published;
    outcome.lost.into_iter().for_each(|lost| shared.lose(lost));
    turn
}

fn explain(why: NoTopic, topic: &str) -> (Loss, String) {
    match why {
        NoTopic::OtherType => {
            let why = format!("topic {topic} belongs to a type of the same name with other metrics");
            (Loss::OtherType, why)
        }
        NoTopic::TooMany => (Loss::TooManyTopics, format!("no room for topic {topic}")),
    }
}
