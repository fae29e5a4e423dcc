//! Which samples of an instance are there already.

use crate::store::{ReadError, Store};
use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    sync::Arc,
};
use uuid::Uuid;

/// Sequence numbers by run.
#[derive(Debug, Default)]
pub struct Known(HashMap<Uuid, Ranges>);

/// Ranges that do not touch each other, by their beginnings.
#[derive(Debug, Default)]
struct Ranges(BTreeMap<u64, u64>);

impl Known {
    /// What an archive has of an instance.
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

    /// Adds samples of a run; answers those that were not known, in order.
    pub fn add(&mut self, run: Uuid, sequences: Range<u64>) -> Vec<Range<u64>> {
        self.0.entry(run).or_default().add(sequences)
    }

    /// Whether all of these samples of a run are known.
    pub fn has(&self, run: Uuid, sequences: &Range<u64>) -> bool {
        self.0.get(&run).is_some_and(|known| known.has(sequences))
    }
}

impl Ranges {
    fn add(&mut self, new: Range<u64>) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        let (mut start, mut end, mut at) = (new.start, new.end, new.start);
        let touching: Vec<_> = self.touching(&new).collect();
        for (from, to) in touching {
            if from > at {
                missing.push(at..from.min(new.end));
            }
            at = at.max(to);
            (start, end) = (start.min(from), end.max(to));
            self.0.remove(&from);
        }
        if at < new.end {
            missing.push(at..new.end);
        }
        if start < end {
            self.0.insert(start, end);
        }
        missing
    }

    fn has(&self, wanted: &Range<u64>) -> bool {
        self.0.range(..=wanted.start).next_back().is_some_and(|(_, to)| *to >= wanted.end)
    }

    /// Those that overlap, or end or begin where it does.
    fn touching(&self, of: &Range<u64>) -> impl Iterator<Item = (u64, u64)> {
        let before = self.0.range(..of.start).next_back().filter(|(_, to)| **to >= of.start);
        before.into_iter().chain(self.0.range(of.start..=of.end)).map(|(from, to)| (*from, *to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn what_is_new_is_told_once(ranges in proptest::collection::vec((0_u64..50, 0_u64..10), 1..20)) {
            let (mut known, mut all) = (Ranges::default(), BTreeSet::new());
            for (from, length) in ranges {
                let told: Vec<u64> = known.add(from..from + length).into_iter().flatten().collect();
                let new: Vec<u64> = (from..from + length).filter(|number| all.insert(*number)).collect();
                prop_assert_eq!(told, new);
                prop_assert!(known.has(&(from..from + length)) || length == 0);
                prop_assert_eq!(known.has(&(from..from + 1)), all.contains(&from));
                let held: Vec<u64> = known.0.iter().flat_map(|(from, to)| *from..*to).collect();
                prop_assert_eq!(held, all.iter().copied().collect::<Vec<_>>());
                prop_assert!(known.0.iter().zip(known.0.iter().skip(1)).all(|((_, to), (from, _))| to < from));
            }
        }
    }
}
