//! Adds what is stored to the registry of a DAC that starts.

use oasis_dac::{Registry, RestoreCounts};
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
    let stored = instances.into_iter().map(|mut stored| {
        if stored.last_time == 0 {
            let names = (stored.node.clone(), stored.instance.clone());
            stored.last_time = rolled.get(&names).copied().unwrap_or_default();
        }
        stored
    });
    Ok(registry.restore(&nodes, stored.collect()))
}
