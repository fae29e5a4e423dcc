//! Puts copies into the order of their sequence numbers.
//!
//! JetStream keeps the order of arrival. A copy that was sent again comes after later ones, and so does what a node sent again to another DAC.

use std::collections::BTreeMap;

/// Sorts entries by key within a bound: at the bound, the first half of the entries leaves.
#[derive(Debug)]
pub struct Sorter<K, V> {
    entries: BTreeMap<(K, u64), V>,
    /// Distinguishes entries with equal keys.
    count: u64,
    bytes: usize,
    most: usize,
}

impl<K: Ord, V> Sorter<K, V> {
    /// Creates a sorter for about `most` bytes.
    pub fn new(most: usize) -> Self {
        Self { entries: BTreeMap::new(), count: 0, bytes: 0, most }
    }

    /// Adds an entry of this many bytes. Entries that leave for it are appended to `sorted`, in order.
    pub fn add(&mut self, key: K, entry: V, bytes: usize, sorted: &mut Vec<V>) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.entries.insert((key, self.count), entry);
        if self.bytes > self.most {
            // Sizes of entries are not kept: half of the entries stands for half of the bytes.
            for _ in 0..self.entries.len().div_ceil(2) {
                sorted.extend(self.entries.pop_first().map(|(_, entry)| entry));
            }
            self.bytes /= 2;
            if self.entries.is_empty() {
                self.bytes = 0;
            }
        }
    }

    /// Returns the rest, in order.
    pub fn finish(self) -> impl Iterator<Item = V> {
        self.entries.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_leave_in_order_and_equal_ones_in_that_of_their_arrival() {
        let (mut sorter, mut sorted) = (Sorter::new(1_000), Vec::new());
        for (at, key) in [3, 1, 2, 1].into_iter().enumerate() {
            sorter.add(key, (key, at), 10, &mut sorted);
        }
        sorted.extend(sorter.finish());
        assert_eq!(sorted, [(1, 1), (1, 3), (2, 2), (3, 0)]);
    }

    #[test]
    fn at_the_bound_the_first_half_leaves_and_no_entry_is_lost() {
        let (mut sorter, mut sorted) = (Sorter::new(100), Vec::new());
        (0..1_000).rev().for_each(|key| sorter.add(key, key, 10, &mut sorted));
        assert!(sorter.entries.len() <= 11);
        sorted.extend(sorter.finish());
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1_000).collect::<Vec<_>>());
    }
}
