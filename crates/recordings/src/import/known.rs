//! Stored samples of an instance.

use oasis_store::{
    ranges::Ranges,
    store::{ReadError, Store},
};
use std::{collections::HashMap, ops::Range, sync::Arc};
use uuid::Uuid;

/// Stored sequence numbers by run.
#[derive(Debug, Default)]
pub struct KnownSequences(HashMap<Uuid, Ranges>);

impl KnownSequences {
    /// Reads the stored sequence numbers of an instance.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(store: &Arc<Store>, node: &str, instance: &str) -> Result<Self, ReadError> {
        let mut known = Self::default();
        for extent in store.extents(node, instance, 0)? {
            for entry in store.entries(&extent, extent.first, usize::MAX)? {
                let end = entry.last_sequence.saturating_add(1);
                known.add(extent.series.run, end.saturating_sub(entry.count.into())..end);
            }
        }
        Ok(known)
    }

    /// Returns all numbers, as ranges of runs.
    pub fn ranges(&self) -> impl Iterator<Item = (Uuid, Range<u64>)> {
        self.0.iter().flat_map(|(run, known)| known.iter().map(|range| (*run, range)))
    }

    /// Adds samples of a run. Returns the new ones, in order.
    pub fn add(&mut self, run: Uuid, sequences: Range<u64>) -> Vec<Range<u64>> {
        self.0.entry(run).or_default().add(sequences)
    }

    /// Whether all of these samples of a run are known.
    pub fn has(&self, run: Uuid, sequences: &Range<u64>) -> bool {
        self.0.get(&run).is_some_and(|known| known.has(sequences))
    }
}
