//! Where a rule runs: at the DAC to which the node of its input is connected, or was last. What has gone to another DAC ends here.

use super::Work;
use crate::checkpoint;
use oasis_dac::{Follower, Instance, now};
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

/// Which nodes are at other DACs.
#[derive(Debug, Default)]
pub struct Homes {
    /// The DAC of each of them.
    elsewhere: BTreeMap<String, String>,
    /// Whether alarms of them may be left.
    has_left: bool,
}

impl Homes {
    /// Whether a node is at another DAC.
    pub fn is_elsewhere(&self, node: &str) -> bool {
        self.elsewhere.contains_key(node)
    }
}

impl Work<'_> {
    /// Notes which nodes are at other DACs. Returns whether that has changed.
    pub(super) fn note_homes(&mut self) -> bool {
        if self.config.relayed {
            return false;
        }
        let elsewhere = self.dac.registry.homes_elsewhere();
        let has_changed = elsewhere != self.homes.elsewhere;
        self.homes.has_left |= has_changed;
        self.homes.elsewhere = elsewhere;
        has_changed
    }

    /// The instances that rules may read, and those that others have replaced and that were not read to their end.
    pub(super) fn instances_to_follow(&self) -> Vec<Arc<Instance>> {
        let mut instances = self.dac.registry.instances_to_follow(Follower::Rules);
        if self.config.relayed {
            let all = self.dac.registry.instances();
            instances.extend(all.into_iter().filter(|instance| instance.is_relayed()));
        }
        // A topic that another one has replaced is read to its end, although its node has gone.
        instances
            .retain(|instance| instance.is_retired() || !self.homes.elsewhere.contains_key(&*instance.node));
        instances
    }

    /// The instances of now that rules may read.
    pub(super) fn evaluated_instances(&self) -> Vec<Arc<Instance>> {
        match self.config.relayed {
            true => self.dac.registry.instances(),
            false => self.dac.registry.home_instances(),
        }
    }

    /// Ends the sources of nodes that have gone, once all that came before is evaluated. If they come back, their rules begin anew.
    pub(super) fn leave_moved(&mut self) {
        if self.homes.elsewhere.is_empty() {
            return;
        }
        let is_read = |source: &crate::source::Source| source.behind() == 0;
        let has_moved = |node: &str| self.homes.elsewhere.contains_key(node);
        let moved = self.sources.iter().filter(|(_, source)| has_moved(&source.instance.node));
        let (read, others): (Vec<_>, Vec<_>) = moved.partition(|(_, source)| is_read(source));
        let (read, has_others): (Vec<_>, _) =
            (read.into_iter().map(|(topic, _)| *topic).collect(), !others.is_empty());
        for topic in read {
            if let Some(source) = self.sources.get_mut(&topic) {
                source.forget_states();
            }
            self.end(topic);
            self.homes.has_left = true;
        }
        if has_others {
            // Look again.
            self.seen = None;
        }
    }

    /// Ends the alarms of nodes that have gone, once all that happened before is in the journal. The states of their rules are forgotten first, so
    /// that an alarm that has ended is raised again if its node comes back.
    pub(super) fn end_moved_alarms(&mut self) {
        if !self.homes.has_left || !self.has_facts || !self.pending.is_empty() {
            return;
        }
        let read: HashSet<&str> = self.sources.values().map(|source| &*source.instance.node).collect();
        let elsewhere = &self.homes.elsewhere;
        let home = |node: &str| elsewhere.get(node).filter(|_| !read.contains(node)).map(String::as_str);
        let moved = self.alarms.moved(home);
        let instances: HashSet<_> = moved.iter().map(|(key, _)| (&key.node, &key.instance)).collect();
        let (mut forgotten, mut ended) = (Vec::new(), Ok(()));
        for (node, instance) in instances {
            let key = checkpoint::key(node, instance);
            match self.alarms.checkpoint(&key) {
                Ok(kept) => forgotten.extend(
                    kept.and_then(|kept| Some((key, checkpoint::forgetting(&kept, self.dac.epoch())?))),
                ),
                Err(error) => ended = Err(error),
            }
        }
        let is_next = forgotten.is_empty();
        if is_next && ended.is_ok() && !moved.is_empty() {
            ended = self.alarms.end_moved(now(), home);
        }
        let has_others = elsewhere.keys().any(|node| read.contains(&**node));
        self.pending.checkpoints.append(&mut forgotten);
        match ended {
            // The alarms end once the checkpoints are there.
            Ok(()) => self.homes.has_left = has_others || !is_next,
            Err(error) => self.fail(&error.to_string()),
        }
    }
}
