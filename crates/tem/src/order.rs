//! In which order a node or a tool tries DACs.

use crate::{heartbeat::Load, member::Liveness, name::DacName, view::DacView};
use sha2::{Digest, Sha256};
use std::cmp::Reverse;

/// Returns the weight of a DAC for a node (rendezvous hashing, Thaler and Ravishankar 1998). The DAC of the highest weight is the first choice. Whoever
/// computes it gets the same order, and a DAC that comes or goes moves only the nodes that it has.
pub fn weight(dac: &DacName, node: &str) -> u64 {
    let mut hash = Sha256::new();
    hash.update(dac.as_str());
    // No name of a DAC has this byte.
    hash.update([0]);
    hash.update(node);
    hash.finalize().iter().take(8).fold(0, |weight, byte| weight << 8 | u64::from(*byte))
}

/// Sorts DACs for a node by rendezvous hashing, late ones last.
pub fn for_node(dacs: &mut [DacView], node: &str) {
    dacs.sort_by_cached_key(|dac| (dac.state, Reverse(weight(&dac.name, node)), dac.name.clone()));
}

/// Sorts DACs by load: live before late ones, healthy ones first, then those with fewer nodes, samples and readers.
pub fn by_load(dacs: &mut [DacView]) {
    dacs.sort_by_cached_key(|dac| (dac.state, dac.health, figures(dac.load), dac.name.clone()));
}

/// An unknown load is the highest.
fn figures(load: Option<Load>) -> (u64, u64, u64) {
    load.map_or((u64::MAX, 0, 0), |load| (load.nodes, load.samples_per_second, load.readers))
}

impl DacView {
    /// Whether new nodes and readers can go there.
    pub fn is_live(&self) -> bool {
        self.state == Liveness::Live
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{heartbeat::Health, kind::Kind};
    use oasis_wire::quantity::Epoch;
    use std::collections::BTreeMap;

    fn dac(name: &str, nodes: u64) -> DacView {
        DacView {
            name: name.parse().unwrap(),
            epoch: Epoch(1),
            kind: Kind::Dac,
            doors: "http://x:1".into(),
            channel: "x:2".into(),
            software: "test".into(),
            state: Liveness::Live,
            silent_ms: 0,
            health: Health::Ok,
            load: Some(Load { nodes, ..Load::default() }),
            nodes: Vec::new(),
            attached: BTreeMap::new(),
            offline_nodes: Vec::new(),
            left_out: 0,
            is_tem: false,
        }
    }

    fn names(dacs: &[DacView]) -> Vec<&str> {
        dacs.iter().map(|dac| dac.name.as_str()).collect()
    }

    #[test]
    fn a_dac_that_goes_moves_only_its_own_nodes() {
        let first = |dacs: &[DacView], node: &str| {
            let mut dacs = dacs.to_vec();
            for_node(&mut dacs, node);
            dacs[0].name.to_string()
        };
        let all: Vec<_> = ["a", "b", "c", "d"].map(|name| dac(name, 0)).into();
        let without_b: Vec<_> = all.iter().filter(|dac| dac.name.as_str() != "b").cloned().collect();
        let mut nodes_of = BTreeMap::<String, usize>::new();
        for node in (0..1_000).map(|number| format!("node-{number}")) {
            let home = first(&all, &node);
            if home != "b" {
                assert_eq!(first(&without_b, &node), home, "{node}");
            }
            *nodes_of.entry(home).or_default() += 1;
        }
        assert!(
            nodes_of.len() == 4 && nodes_of.values().all(|count| (200..300).contains(count)),
            "{nodes_of:?}"
        );
    }

    #[test]
    fn the_weight_never_changes_between_versions() {
        assert_eq!(weight(&"hall-1".parse().unwrap(), "plant-7"), 0x6ee2_af51_c299_f6b2);
    }

    #[test]
    fn live_and_healthy_dacs_with_few_nodes_come_first() {
        let late = DacView { state: Liveness::Late, ..dac("late", 0) };
        let failing = DacView { health: Health::Failing, ..dac("failing", 0) };
        let unknown = DacView { load: None, ..dac("unknown", 0) };
        let mut dacs = vec![late.clone(), failing, unknown, dac("full", 9), dac("empty", 1)];
        by_load(&mut dacs);
        assert_eq!(names(&dacs), ["empty", "full", "unknown", "failing", "late"]);
        let mut dacs = vec![late, dac("a", 0)];
        for_node(&mut dacs, "x");
        assert_eq!(names(&dacs), ["a", "late"]);
    }
}
