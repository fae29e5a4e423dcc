//! Adds what is stored to the registry of a DAC that starts.

use oasis_dac::{Registry, RestoreCounts, RunOwner, StoredInstance, StoredNode, StoredRun};
use oasis_store::{OpenError, WritableStore};

/// Adds the stored nodes and instances to a registry, as offline. Call it before the first node connects.
///
/// # Errors
/// If the catalogue fails.
pub fn restore(writable: &WritableStore, registry: &Registry) -> Result<RestoreCounts, OpenError> {
    let (nodes, instances) = {
        let catalogue = writable.store.catalogue();
        (catalogue.nodes()?, catalogue.stored()?)
    };
    let rolled = writable.store.rollups.instances();
    let nodes: Vec<_> = nodes.into_iter().map(node).collect();
    let stored = instances.into_iter().map(|instance| {
        let mut stored = instance_of(instance);
        if stored.last_time == 0 {
            let names = (stored.node.clone(), stored.instance.clone());
            stored.last_time = rolled.get(&names).copied().unwrap_or_default();
        }
        stored
    });
    Ok(registry.restore(&nodes, stored.collect()))
}

fn node(node: oasis_store::catalogue::StoredNode) -> StoredNode {
    let oasis_store::catalogue::StoredNode { name, uuid, host, software, last_seen, run, owner, former } =
        node;
    let owner = owner.map(RunOwner::from_bytes);
    let former = former.into_iter().map(|(run, owner)| (run, RunOwner::from_bytes(owner))).collect();
    StoredNode { name, uuid, host, software, last_seen, run, owner, former }
}

fn instance_of(stored: oasis_store::catalogue::StoredInstance) -> StoredInstance {
    let oasis_store::catalogue::StoredInstance { node, instance, probe_type, kind, run, runs, last_time } =
        stored;
    let runs = runs.into_iter().map(|oasis_store::catalogue::StoredRun { run, last_sequence, taken }| {
        StoredRun { run, last_sequence, taken }
    });
    StoredInstance { node, instance, probe_type, kind, run, runs: runs.collect(), last_time }
}
