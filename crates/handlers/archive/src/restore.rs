//! Adds what is stored to the registry of a DAC that starts.

use oasis_dac::{Registry, RestoreCounts};
use oasis_store::{CatalogueError, History, OpenError, WritableStore};
use oasis_wire::stored::StoredInstance;
use std::collections::BTreeSet;

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

/// Adds the nodes and instances of an import, by their names, to the registry of a DAC that runs.
///
/// # Errors
/// If the catalogue fails.
pub fn restore_imported(
    history: &History,
    names: &BTreeSet<(String, String)>,
    registry: &Registry,
) -> Result<RestoreCounts, CatalogueError> {
    let catalogue = history.0.catalogue();
    let (mut nodes, mut instances) = (catalogue.nodes()?, catalogue.stored()?);
    drop(catalogue);
    let is_imported =
        |stored: &StoredInstance| names.contains(&(stored.node.to_string(), stored.instance.to_string()));
    instances.retain(is_imported);
    nodes.retain(|node| names.iter().any(|(name, _)| *name == node.name));
    Ok(registry.restore_imported(&nodes, instances))
}
