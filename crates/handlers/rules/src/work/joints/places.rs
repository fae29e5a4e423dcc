//! At which DAC a rule over several inputs is evaluated: where the nodes of all its instances are. If they are at several DACs, at the one of these that the
//! hash chooses, which relays the others. Epochs stand for DACs: all that relay one another know them, and not each has a name.

use crate::{joint::key, rendezvous, work::Work};
use oasis_alarms::{AlarmKey, CheckpointKey};
use oasis_dac::{Hop, Instance, NodeHome};
use oasis_rules::{Program, program::Body};
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

/// Most instances with which such rules may begin, of all DACs.
const MAX_CANDIDATES: usize = 20_000;

/// DAC at which a joint is evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JointLocation {
    Here,
    Elsewhere(Hop),
    /// This DAC does not know where this node is, or receives nothing of it.
    Waiting(String),
}

/// An instance with which a rule over several inputs begins.
pub struct Candidate {
    pub key: CheckpointKey,
    /// Numbers of program and rule.
    pub numbers: (usize, usize),
    pub driver: Arc<Instance>,
    pub place: JointLocation,
}

/// Chooses among the homes of some nodes; the one of life `own` is this DAC.
fn choose(key: &CheckpointKey, own: &str, homes: &[(&str, Option<NodeHome>)]) -> JointLocation {
    let mut epochs = BTreeMap::new();
    for (node, home) in homes {
        match home {
            Some(NodeHome::Here) => epochs.insert(own.to_owned(), JointLocation::Here),
            Some(NodeHome::Relayed(hop)) => {
                epochs.insert(hop.epoch.to_string(), JointLocation::Elsewhere(hop.clone()))
            }
            Some(NodeHome::Unreachable) | None => return JointLocation::Waiting((*node).to_owned()),
        };
    }
    let CheckpointKey { rule, node, instance } = key;
    // Joints of one rule are spread over the DACs.
    let chosen = rendezvous::choose(&format!("{rule} {node}/{instance}"), epochs.keys().map(String::as_str));
    let chosen = chosen.map(str::to_owned);
    chosen.and_then(|chosen| epochs.remove(&chosen)).unwrap_or(JointLocation::Here)
}

/// The nodes of a joint, that of its first instance first.
fn nodes_of(program: &Program, rule: usize, driver: &Instance) -> Vec<String> {
    let nodes = program.clocks(rule, (&driver.node, &driver.name));
    if nodes.is_empty() { vec![driver.node.to_string()] } else { nodes }
}

impl Work<'_> {
    /// Whether there are rules over several inputs.
    pub(in crate::work) fn has_joins(&self) -> bool {
        self.set.programs.iter().any(|loaded| loaded.program.joins().next().is_some())
    }

    /// Returns the instances that such rules may read: those of other rules, and those that this DAC relays.
    pub(in crate::work) fn instances_to_join(&self, followed: &[Arc<Instance>]) -> Vec<Arc<Instance>> {
        let mut instances = followed.to_vec();
        if self.has_joins() {
            let known: HashSet<_> = followed.iter().map(|instance| instance.topic).collect();
            let all = self.dac.registry.instances().into_iter();
            instances
                .extend(all.filter(|instance| instance.is_relayed() && !known.contains(&instance.topic)));
        }
        instances
    }

    /// Whether a node that decides where such rules are evaluated is elsewhere than before.
    pub(in crate::work) fn have_places_changed(&self) -> bool {
        let mut homes = self.joints.homes.iter();
        homes.any(|(node, home)| self.dac.registry.home_of(node) != *home)
    }

    /// The instances with which rules over several inputs begin, at this DAC or another one. Also returns how many are too many.
    pub(super) fn candidates(&mut self, instances: &[Arc<Instance>]) -> (Vec<Candidate>, usize) {
        let (mut found, mut known, mut left_out) = (Vec::new(), HashSet::new(), 0);
        let mut homes = BTreeMap::new();
        let own = self.dac.epoch().to_string();
        for (number, loaded) in self.set.programs.iter().enumerate() {
            let program = &loaded.program;
            for rule in program.joins() {
                let Some(of) = program.rules.get(rule) else { continue };
                let Some(input) = program.inputs.get(of.input) else { continue };
                for driver in instances {
                    let is_read = !self.is_own(driver)
                        && input.reads(&driver.probe_type)
                        && input.matches(&driver.node, &driver.name);
                    if !is_read || !known.insert(key(&of.name, driver)) {
                        continue;
                    }
                    if found.len() >= MAX_CANDIDATES {
                        left_out += 1;
                        continue;
                    }
                    let nodes = nodes_of(program, rule, driver);
                    let mut home = |node: &str| {
                        let look = || self.dac.registry.home_of(node);
                        homes.entry(node.to_owned()).or_insert_with(look).clone()
                    };
                    let of_nodes: Vec<_> = nodes.iter().map(|node| (&**node, home(node))).collect();
                    // Its node has gone, and nothing of it comes here.
                    if of_nodes.first().is_some_and(|(_, home)| *home == Some(NodeHome::Unreachable)) {
                        continue;
                    }
                    let key = key(&of.name, driver);
                    let place = choose(&key, &own, &of_nodes);
                    found.push(Candidate { key, numbers: (number, rule), driver: driver.clone(), place });
                }
            }
        }
        self.joints.homes = homes;
        (found, left_out)
    }

    /// The alarms of a joint, with the numbers of their rules: its own, and those that read what it derives.
    pub(super) fn alarms_of_joint(
        &self,
        (program, rule): (usize, usize),
        CheckpointKey { node, instance, .. }: &CheckpointKey,
    ) -> Vec<(usize, AlarmKey)> {
        let Some(loaded) = self.set.programs.get(program) else { return Vec::new() };
        let rules =
            loaded.program.rules.iter().enumerate().filter(|(at, of)| {
                matches!(of.body, Body::Alarm(_)) && loaded.program.joined(*at) == Some(rule)
            });
        let alarm =
            |rule: &str| AlarmKey { rule: rule.to_owned(), node: node.clone(), instance: instance.clone() };
        rules.map(|(at, rule)| (at, alarm(&rule.name))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::quantity::Epoch;
    use proptest::prelude::*;

    fn joint(number: u32) -> CheckpointKey {
        CheckpointKey { rule: "Dry".into(), node: "a".into(), instance: format!("pump {number}") }
    }

    fn hop(epoch: u64) -> Hop {
        Hop { dac: format!("hall-{epoch}"), epoch: Epoch(epoch), clock_offset_ns: None, round_trip_ns: None }
    }

    /// As one DAC sees the homes of nodes.
    fn seen(own: u64, homes: &[u64]) -> Vec<(&'static str, Option<NodeHome>)> {
        let home = |epoch: &u64| match *epoch == own {
            true => ("node", Some(NodeHome::Here)),
            false => ("node", Some(NodeHome::Relayed(hop(*epoch)))),
        };
        homes.iter().map(home).collect()
    }

    fn place(number: u32, own: u64, homes: &[u64]) -> JointLocation {
        choose(&joint(number), &Epoch(own).to_string(), &seen(own, homes))
    }

    #[test]
    fn it_is_where_all_its_nodes_are() {
        assert_eq!(place(1, 7, &[7, 7]), JointLocation::Here);
        assert_eq!(place(1, 7, &[8, 8]), JointLocation::Elsewhere(hop(8)));
    }

    #[test]
    fn nothing_is_evaluated_without_a_node() {
        for missing in [None, Some(NodeHome::Unreachable)] {
            let homes = [("a", Some(NodeHome::Here)), ("b", missing)];
            assert_eq!(choose(&joint(1), "7", &homes), JointLocation::Waiting("b".into()));
        }
    }

    proptest! {
        #[test]
        fn all_that_relay_one_another_choose_the_same_home(
            number in 0_u32..1_000, homes in prop::collection::vec(1_u64..6, 1..8),
        ) {
            let here: Vec<u64> = (1..7).filter(|own| place(number, *own, &homes) == JointLocation::Here).collect();
            prop_assert_eq!(here.len(), 1);
            prop_assert!(homes.contains(&here[0]), "it is the home of a node");
            for own in 1..7 {
                let is_right = match place(number, own, &homes) {
                    JointLocation::Here => own == here[0],
                    JointLocation::Elsewhere(hop) => hop.epoch.0 == here[0],
                    JointLocation::Waiting(_) => false,
                };
                prop_assert!(is_right);
            }
        }
    }
}
