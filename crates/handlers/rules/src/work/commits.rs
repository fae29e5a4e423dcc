//! Commits of evaluated samples: they become durable, and then others receive the results.

use super::Work;
use oasis_alarms::{Checkpoint, CheckpointKey, Round, RuleEvent};
use oasis_dac::now;
use oasis_wire::quantity::TopicId;
use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

/// Pause before a commit is tried again.
pub const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Bytes of checkpoints in a round.
const CHECKPOINT_BYTES: usize = 64 * 1024 * 1024;

/// Least time between two removals of checkpoints.
const MIN_REMOVAL_INTERVAL: Duration = Duration::from_secs(60);

/// Results that are not committed yet.
#[derive(Debug, Default)]
pub struct Pending {
    pub events: Vec<RuleEvent>,
    pub checkpoints: Vec<(CheckpointKey, Checkpoint)>,
    pub retry: Option<Instant>,
}

impl Pending {
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.checkpoints.is_empty()
    }
}

impl Work<'_> {
    pub(super) fn checkpoint(&mut self, topic: TopicId) {
        if let Some(source) = self.sources.get_mut(&topic) {
            source.is_dirty = false;
            let checkpoint = source.checkpoint(&self.set);
            self.pending.checkpoints.retain(|(key, _)| *key != source.key());
            self.pending.checkpoints.extend(checkpoint);
        }
    }

    /// Keeps the states that have changed, within the bytes of a round.
    pub(super) fn checkpoint_dirty(&mut self) {
        let dirty: Vec<_> =
            self.sources.iter().filter(|(_, source)| source.is_dirty).map(|(topic, _)| *topic).collect();
        let mut bytes = self.keep_dirty_joints(CHECKPOINT_BYTES);
        for topic in dirty {
            if bytes > CHECKPOINT_BYTES {
                return;
            }
            self.checkpoint(topic);
            bytes += self.pending.checkpoints.last().map_or(0, |(_, kept)| kept.state.len());
        }
        self.kept = Instant::now();
    }

    /// Commits what is pending. After a failure it stays, and the next round waits for it.
    pub(super) fn commit(&mut self) {
        if !self.has_facts {
            self.tell_alarms();
        }
        if self.pending.is_empty() || !self.has_facts {
            return;
        }
        let newest = self.pending.events.iter().map(|event| event.dac_time).max();
        let (events, checkpoints) = (self.pending.events.clone(), self.pending.checkpoints.clone());
        let committing = self.pulse.begin("commit events of rules");
        let committed = self.alarms.commit(Round { now: now(), events, checkpoints });
        drop(committing);
        match committed {
            Ok(committed) => {
                let Pending { events, .. } = std::mem::take(&mut self.pending);
                self.act(events, committed.duplicates > 0);
                let mut state = self.shared.lock();
                state.failure = None;
                state.events += committed.events as u64;
                state.known_events += committed.duplicates as u64;
                state.refused_checkpoints += committed.refused_checkpoints as u64;
                state.commits += 1;
                if let Some(newest) = newest {
                    state.latency_ns = now().0.saturating_sub(newest);
                }
                drop(state);
                if committed.refused_checkpoints > 0 {
                    self.remove_checkpoints();
                }
            }
            Err(error) => self.fail(&error.to_string()),
        }
    }

    /// Makes room for checkpoints: the rules of instances that the DAC does not know begin anew should they come back.
    fn remove_checkpoints(&mut self) {
        if self.removed.is_some_and(|removed| removed.elapsed() < MIN_REMOVAL_INTERVAL) {
            return;
        }
        self.removed = Some(Instant::now());
        let instances = self.dac.registry.instances();
        let known: HashSet<(&str, &str)> =
            instances.iter().map(|instance| (&*instance.node, &*instance.name)).collect();
        let removed = self.alarms.retain_checkpoints(|key| known.contains(&(&*key.node, &*key.instance)));
        if let Err(error) = removed {
            self.fail(&error.to_string());
        }
    }

    /// Gives new events to the readers of results, and commands probes after those that are not too old.
    pub(super) fn act(&mut self, mut events: Vec<RuleEvent>, has_known: bool) {
        // After a crash events are found again that have been acted on.
        events.retain(|event| !has_known || event.dac_time > self.resumed);
        if let Some(output) = self.output.as_mut().filter(|_| !events.is_empty()) {
            events.iter().for_each(|event| output.result(event));
            output.flush();
        }
        if !self.set.has_actions() {
            return;
        }
        let time = Instant::now();
        let instances = self.dac.registry.home_instances();
        let own = &*self.config.node;
        let others = || {
            let names = instances.iter().map(|instance| (&*instance.node, &*instance.name));
            names.filter(|(node, _)| *node != own).collect()
        };
        for event in events.iter().filter(|event| !event.late) {
            for order in self.limiter.orders(event, self.set.actions(&event.rule), others, time) {
                let is_taken = self.sender.send(order);
                let counts = &mut self.limiter.counts;
                *(if is_taken { &mut counts.sent } else { &mut counts.dropped }) += 1;
            }
        }
        self.shared.lock().commands = self.limiter.counts;
    }

    pub(super) fn fail(&mut self, why: &str) {
        let mut state = self.shared.lock();
        if state.failure.is_none() {
            tracing::error!(error = why, "rules cannot commit their events, retrying");
        }
        state.failure = Some(format!("cannot commit events: {why}"));
        drop(state);
        self.pending.retry = Some(Instant::now() + RETRY_DELAY);
    }

    /// Says to the alarms which rules there are.
    pub(super) fn tell_alarms(&mut self) {
        let mut facts = self.set.facts();
        facts.extend(self.unknown_rules());
        match self.alarms.set_rules(&facts) {
            Ok(()) => self.has_facts = true,
            Err(error) => self.fail(&error.to_string()),
        }
    }
}
