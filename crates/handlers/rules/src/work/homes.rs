//! Placement of rules: a rule runs at the DAC to which the node of its input is connected, or was last. Rules of nodes that left for another DAC end here
//! (`departures`), and rules of nodes that came from one continue (`arrivals`).

mod arrivals;
mod departures;

use super::Work;
use arrivals::Arrivals;
use departures::Departures;
use oasis_dac::{Follower, Instance};
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

/// Rounds of the thread are never so far apart while the process runs.
const MAX_ROUND_INTERVAL: Duration = Duration::from_secs(1);
/// Time in which a DAC discovers the places of nodes.
const DISCOVERY_TIME: Duration = Duration::from_secs(3);

/// Which nodes are at other DACs.
#[derive(Debug, Default)]
pub struct Homes {
    /// The DAC of each of them.
    elsewhere: BTreeMap<String, String>,
    arrivals: Arrivals,
    departures: Departures,
    rounds: Rounds,
}

/// The rounds of the thread. After a standstill of the process a node may be elsewhere, and this DAC has yet to learn of it.
#[derive(Debug, Default)]
struct Rounds {
    last: Option<Instant>,
    /// Until when silence may be a consequence of the standstill.
    uncertain: Option<Instant>,
}

impl Homes {
    /// Notes a round. Returns whether silence can be noticed: not for a while after a standstill of this process.
    pub fn hears(&mut self) -> bool {
        let now = Instant::now();
        let before = self.rounds.last.replace(now);
        if before.is_some_and(|before| now.duration_since(before) > MAX_ROUND_INTERVAL) {
            self.rounds.uncertain = Some(now + DISCOVERY_TIME);
        }
        self.rounds.uncertain.is_none_or(|until| now >= until)
    }

    /// Whether a node is at another DAC.
    pub fn is_elsewhere(&self, node: &str) -> bool {
        self.elsewhere.contains_key(node)
    }
}

impl Work<'_> {
    /// Notes which nodes are at other DACs, and takes over those that have come here. Returns whether that has changed.
    pub(super) fn note_homes(&mut self) -> bool {
        if self.config.relayed {
            return false;
        }
        let elsewhere = self.dac.registry.homes_elsewhere();
        let has_changed = elsewhere != self.homes.elsewhere;
        if has_changed {
            self.homes.departures.look_again();
            self.homes.arrivals.forget(&elsewhere);
        }
        self.homes.elsewhere = elsewhere;
        self.receive_nodes() | has_changed
    }

    /// Whether nodes have come, and it is time to look for what other DACs had of them.
    pub(super) fn is_time_to_receive(&self) -> bool {
        self.homes.arrivals.is_due()
    }

    /// The instances that rules may read, and those that others have replaced and that were not read to their end.
    pub(super) fn instances_to_follow(&self) -> Vec<Arc<Instance>> {
        let mut instances = self.dac.registry.instances_to_follow(Follower::Rules);
        if self.config.relayed {
            let all = self.dac.registry.instances();
            instances.extend(all.into_iter().filter(|instance| instance.is_relayed()));
        }
        // A topic that another one has replaced is read to its end, although its node has gone.
        instances.retain(|instance| {
            let is_here =
                !self.homes.is_elsewhere(&instance.node) && !self.homes.arrivals.is_waiting(&instance.node);
            instance.is_retired() || is_here
        });
        instances
    }

    /// The instances of now that rules may read.
    pub(super) fn evaluated_instances(&self) -> Vec<Arc<Instance>> {
        match self.config.relayed {
            true => self.dac.registry.instances(),
            false => self.dac.registry.home_instances(),
        }
    }
}
