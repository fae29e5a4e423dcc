//! Nodes that have gone to another DAC: their rules end, what they remembered is given to others, and then their alarms end.

use super::Work;
use crate::checkpoint;
use oasis_alarms::{AlarmKey, AlarmsError, Checkpoint, CheckpointKey, HandedCheckpoint};
use oasis_dac::now;
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    time::{Duration, Instant},
};

/// Time that the alarms of a node that has gone wait for another DAC to take them.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(10);
/// Minimum interval of checks.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Nodes that have gone.
#[derive(Debug, Default)]
pub struct Departures {
    /// Whether alarms of such nodes may be left.
    has_left: bool,
    looked: Option<Instant>,
    /// The last states of the rules, by node and instance, until they are given.
    states: BTreeMap<String, BTreeMap<String, Checkpoint>>,
    /// Nodes that wait for a DAC to take them.
    given: BTreeSet<String>,
}

impl Departures {
    /// Nodes may have gone.
    pub fn look_again(&mut self) {
        self.has_left = true;
    }

    /// A node is here again.
    pub fn return_home(&mut self, node: &str) {
        self.states.remove(node);
        self.given.remove(node);
    }

    fn is_due(&mut self) -> bool {
        let is_due = self.has_left && self.looked.is_none_or(|looked| looked.elapsed() >= MIN_CHECK_INTERVAL);
        if is_due {
            self.looked = Some(Instant::now());
        }
        is_due
    }
}

impl Work<'_> {
    /// Ends the sources of nodes that have gone, once all that came before is evaluated.
    pub(in crate::work) fn leave_moved(&mut self) {
        if self.homes.elsewhere.is_empty() {
            return;
        }
        let has_moved = |node: &str| self.homes.elsewhere.contains_key(node);
        let moved = self.sources.iter().filter(|(_, source)| has_moved(&source.instance.node));
        let (read, others): (Vec<_>, Vec<_>) = moved.partition(|(_, source)| source.behind() == 0);
        let (read, has_others): (Vec<_>, _) =
            (read.into_iter().map(|(topic, _)| *topic).collect(), !others.is_empty());
        for topic in read {
            if let Some(source) = self.sources.get_mut(&topic) {
                if let Some((key, last)) = source.checkpoint(&self.set) {
                    self.homes.departures.states.entry(key.node).or_default().insert(key.instance, last);
                }
                source.forget_states();
            }
            self.end(topic);
            self.homes.departures.look_again();
        }
        if has_others {
            // Look again.
            self.seen = None;
        }
    }

    /// Ends the alarms of nodes that have gone, once all that happened before is in the journal and another DAC has what it needs to continue. The states of
    /// their rules are forgotten first, so that an alarm that has ended is raised again if its node comes back.
    pub(in crate::work) fn end_moved_alarms(&mut self) {
        if !self.has_facts || !self.pending.is_empty() || !self.homes.departures.is_due() {
            return;
        }
        if let Err(error) = self.end_departures() {
            self.fail(&error.to_string());
        }
    }

    fn end_departures(&mut self) -> Result<(), AlarmsError> {
        let read: HashSet<&str> = self.sources.values().map(|source| &*source.instance.node).collect();
        let gone: BTreeMap<String, String> = {
            let gone = self.homes.elsewhere.iter().filter(|(node, _)| !read.contains(node.as_str()));
            gone.map(|(node, home)| (node.clone(), home.clone())).collect()
        };
        let has_others = gone.len() < self.homes.elsewhere.len();
        let mut ending: BTreeSet<String> =
            self.alarms.moved(|key| self.goes(key, &gone)).into_iter().map(|(key, _)| key.node).collect();
        let states = self.homes.departures.states.keys();
        let given = self.homes.departures.given.iter();
        ending.extend(states.chain(given).filter(|node| gone.contains_key(*node)).cloned());
        for node in &ending {
            self.give(node)?;
        }
        let is_taken = |node: &str| match self.alarms.left(node) {
            Some((is_given, age)) => is_given || age >= HANDOVER_TIMEOUT || !self.alarms.is_asked(),
            None => true,
        };
        let taken: BTreeSet<&str> = ending.iter().map(String::as_str).filter(|node| is_taken(node)).collect();
        let is_waiting = taken.len() < ending.len();
        let ends = |key: &AlarmKey| self.goes(key, &gone).filter(|_| taken.contains(key.node.as_str()));
        let mut forgotten = self.forgotten(self.alarms.moved(ends).into_iter().map(|(key, _)| key))?;
        let is_next = forgotten.is_empty();
        if is_next && !taken.is_empty() {
            self.alarms.end_moved(now(), ends)?;
        }
        // The alarms end once the checkpoints are there.
        self.homes.departures.given = if is_next {
            ending.iter().filter(|node| !taken.contains(node.as_str())).cloned().collect()
        } else {
            ending.clone()
        };
        self.pending.checkpoints.append(&mut forgotten);
        self.homes.departures.has_left = has_others || is_waiting || !is_next;
        Ok(())
    }

    /// The DAC to which an alarm goes with its node. Those of joints do not.
    fn goes<'g>(&self, key: &AlarmKey, gone: &'g BTreeMap<String, String>) -> Option<&'g str> {
        gone.get(&key.node).map(String::as_str).filter(|_| !self.joints.alarms.has(key))
    }

    /// The checkpoints of the instances of alarms without their states, as far as they have any.
    fn forgotten(
        &self,
        alarms: impl Iterator<Item = AlarmKey>,
    ) -> Result<Vec<(CheckpointKey, Checkpoint)>, AlarmsError> {
        let instances: BTreeSet<_> = alarms.map(|key| (key.node, key.instance)).collect();
        let mut forgotten = Vec::new();
        for (node, instance) in instances {
            let key = checkpoint::key(&node, &instance);
            let kept = self.alarms.checkpoint(&key)?;
            let kept = kept.and_then(|kept| checkpoint::forgetting(&kept, self.dac.epoch()));
            forgotten.extend(kept.map(|kept| (key, kept)));
        }
        Ok(forgotten)
    }

    /// Gives other DACs what was here of a node.
    fn give(&mut self, node: &str) -> Result<(), AlarmsError> {
        let states = self.homes.departures.states.remove(node);
        if states.is_none() && self.alarms.left(node).is_some() {
            return Ok(());
        }
        let mut handover = self.alarms.handover(node)?;
        for (instance, last) in states.into_iter().flatten() {
            handover.checkpoints.retain(|kept| kept.instance != instance);
            handover.checkpoints.push(HandedCheckpoint::new(instance, &last));
        }
        handover.alarms.retain(|alarm| !self.joints.alarms.stays(&alarm.view.key));
        handover.is_final = true;
        self.alarms.leave(handover);
        self.shared.lock().given_nodes += 1;
        Ok(())
    }
}
