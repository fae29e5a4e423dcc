//! Nodes that have come to this DAC: if another one had them last, their rules continue where that one has left them.

use super::Work;
use crate::checkpoint;
use oasis_alarms::{AlarmsError, Arrival, Checkpoint, CheckpointKey, CopyLookup, Handover, NodeConnection};
use oasis_dac::now;
use oasis_wire::quantity::{Offset, Position, TopicId};
use std::{
    collections::{BTreeMap, HashSet},
    time::{Duration, Instant},
};

/// Time that the rules of a node wait for its former DAC.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval at which others are asked meanwhile.
const REQUEST_INTERVAL: Duration = Duration::from_millis(100);

/// Nodes that have come.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// Nodes whose rules run here.
    settled: HashSet<String>,
    /// Nodes of which another DAC may have something, since when, and whether their rules run here already.
    waiting: BTreeMap<String, (Instant, bool)>,
    asked: Option<Instant>,
}

impl Arrivals {
    /// Whether the rules of a node do not run yet.
    pub fn is_waiting(&self, node: &str) -> bool {
        self.waiting.get(node).is_some_and(|(_, runs)| !runs)
    }

    /// Whether it is time to look again.
    pub fn is_due(&self) -> bool {
        !self.waiting.is_empty() && self.asked.is_none_or(|asked| asked.elapsed() >= REQUEST_INTERVAL)
    }

    /// Nodes have gone.
    pub fn forget(&mut self, elsewhere: &BTreeMap<String, String>) {
        self.settled.retain(|node| !elsewhere.contains_key(node));
        self.waiting.retain(|node, _| !elsewhere.contains_key(node));
    }
}

impl Work<'_> {
    /// Makes this DAC the home of the nodes that have come. Returns whether some have become so.
    pub(super) fn receive_nodes(&mut self) -> bool {
        let arriving = self.arriving();
        let known: HashSet<&str> = arriving.iter().map(|(node, _)| node.as_str()).collect();
        self.homes.arrivals.waiting.retain(|node, _| known.contains(node.as_str()));
        // Evaluated samples must be committed before other states replace them, and alarms need their rules.
        let can_take = self.has_facts && self.pending.is_empty();
        let mut arrivals = Vec::new();
        for (node, home) in arriving {
            let runs = self.sources.values().any(|source| *source.instance.node == *node);
            let since =
                self.homes.arrivals.waiting.entry(node.clone()).or_insert_with(|| (Instant::now(), runs)).0;
            if can_take && let Some(found) = self.found(&node, since) {
                arrivals.push(self.arrival(node, home, found));
            }
        }
        if can_take && self.homes.arrivals.is_due() {
            self.homes.arrivals.asked = Some(Instant::now());
            self.alarms.copies().request_poll();
        }
        let is_news = !arrivals.is_empty();
        if let Err(error) = self.settle(arrivals) {
            self.fail(&error.to_string());
        }
        is_news
    }

    /// Returns nodes that are connected here and were not handled yet, with their connections.
    fn arriving(&self) -> Vec<(String, NodeConnection)> {
        let settled = &self.homes.arrivals.settled;
        let is_new = |node: &str| *node != self.config.node && !settled.contains(node);
        let nodes = self.dac.registry.connected_here(is_new).into_iter();
        nodes
            .map(|(node, run, attach, since)| (node, NodeConnection { run, attach, since: since.0 }))
            .collect()
    }

    /// Returns the state of a node at another DAC; none as long as it may come.
    fn found(&self, node: &str, since: Instant) -> Option<Option<(String, Handover)>> {
        let (copies, own) = (self.alarms.copies(), self.alarms.home(node));
        match copies.find(node, since, own.as_ref()) {
            CopyLookup::Newest(newest) => Some(newest.map(|newest| *newest)),
            CopyLookup::Wait if since.elapsed() >= HANDOVER_TIMEOUT => {
                Some(copies.newest(node, own.as_ref()))
            }
            CopyLookup::Wait => None,
        }
    }

    fn arrival(&self, node: String, home: NodeConnection, found: Option<(String, Handover)>) -> Arrival {
        let Some((dac, handover)) = found else {
            return Arrival { node, home, from: None, checkpoints: Vec::new() };
        };
        let states = handover.checkpoints.iter().filter_map(|kept| kept.checkpoint(&node));
        let mut checkpoints: Vec<_> = states.filter_map(|(key, kept)| self.in_place(key, &kept)).collect();
        let known: HashSet<String> = checkpoints.iter().map(|(key, _)| key.instance.clone()).collect();
        let mut others: Vec<_> = handover.alarms.iter().map(|alarm| &alarm.view.key.instance).collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|instance| !known.contains(*instance));
        // Only the alarms of these instances are known.
        for instance in others {
            let key = checkpoint::key(&node, instance);
            checkpoints.extend(checkpoint::without_states().and_then(|kept| self.in_place(key, &kept)));
        }
        Arrival { node, home, from: Some((dac, handover.alarms)), checkpoints }
    }

    /// A checkpoint of another DAC at the place in the log of this one up to which the rules have read it.
    fn in_place(&self, key: CheckpointKey, kept: &Checkpoint) -> Option<(CheckpointKey, Checkpoint)> {
        let epoch = self.dac.epoch();
        let own = self.alarms.checkpoint(&key).ok().flatten().and_then(|own| checkpoint::position(&own));
        let log_start = || {
            let instance = self.dac.registry.find(&key.node, &key.instance)?;
            Some(Position { epoch, offset: instance.log.start() })
        };
        let own = own.filter(|own| own.epoch == epoch);
        let position = own.or_else(log_start).unwrap_or(Position { epoch, offset: Offset(0) });
        Some((key, checkpoint::taken_over(kept, position)?))
    }

    fn settle(&mut self, arrivals: Vec<Arrival>) -> Result<(), AlarmsError> {
        if arrivals.is_empty() {
            return Ok(());
        }
        let nodes: Vec<_> =
            arrivals.iter().map(|arrival| (arrival.node.clone(), arrival.from.is_some())).collect();
        for Arrival { node, from, .. } in &arrivals {
            if let Some((dac, alarms)) = from {
                tracing::info!(node, dac, alarms = alarms.len(), "rules of a node continue from another DAC");
            }
        }
        self.alarms.settle_homes(now(), arrivals)?;
        for (node, is_taken_over) in nodes {
            if is_taken_over {
                self.begin_again(&node);
                self.shared.lock().taken_nodes += 1;
                // The other one learns that its part is here.
                self.alarms.copies().request_poll();
            }
            self.homes.departures.return_home(&node);
            self.homes.arrivals.waiting.remove(&node);
            self.homes.arrivals.settled.insert(node);
        }
        Ok(())
    }

    /// Lets the rules of a node begin at their checkpoints, which another DAC has made.
    fn begin_again(&mut self, node: &str) {
        let topics: Vec<TopicId> = self
            .sources
            .iter()
            .filter(|(_, source)| *source.instance.node == *node)
            .map(|(topic, _)| *topic)
            .collect();
        for topic in topics {
            self.deadlines.set(topic, None);
            self.waiting.remove(&topic);
            self.sources.remove(&topic);
        }
        self.joints.all.retain(|joint| *joint.driver.node != *node);
    }
}
