//! Sets of numbers, as ranges.

use std::{collections::BTreeMap, ops::Range};

/// Disjoint ranges, by their starts.
#[derive(Debug, Default)]
pub struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds numbers. Returns the new ones, in order.
    pub fn add(&mut self, new: Range<u64>) -> Vec<Range<u64>> {
        if new.is_empty() {
            return Vec::new();
        }
        let missing = self.missing_in(&new);
        let touching: Vec<_> = self.touching(&new).collect();
        let (mut start, mut end) = (new.start, new.end);
        for (from, to) in touching {
            (start, end) = (start.min(from), end.max(to));
            self.0.remove(&from);
        }
        self.0.insert(start, end);
        missing
    }

    /// Returns the numbers of a range that are not contained, in order.
    pub fn missing_in(&self, of: &Range<u64>) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        if of.is_empty() {
            return missing;
        }
        let mut at = of.start;
        for (from, to) in self.touching(of) {
            if from > at {
                missing.push(at..from);
            }
            at = at.max(to);
        }
        if at < of.end {
            missing.push(at..of.end);
        }
        missing
    }

    /// Whether all of these numbers are contained.
    pub fn has(&self, wanted: &Range<u64>) -> bool {
        self.0.range(..=wanted.start).next_back().is_some_and(|(_, to)| *to >= wanted.end)
    }

    /// Returns the ranges, in order.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> {
        self.0.iter().map(|(from, to)| *from..*to)
    }

    /// The range from the least to the greatest number; empty if there is none.
    pub fn span(&self) -> Range<u64> {
        let (first, last) = (self.0.first_key_value(), self.0.last_key_value());
        first.zip(last).map_or(0..0, |((from, _), (_, to))| *from..*to)
    }

    /// Merges the first ranges, with the numbers between them, until at most `most` are left. Returns how many numbers were between them.
    pub fn limit(&mut self, most: usize) -> u64 {
        let mut between: u64 = 0;
        while self.0.len() > most.max(1)
            && let (Some((first, end)), Some((from, to))) = (self.0.pop_first(), self.0.pop_first())
        {
            between = between.saturating_add(from - end);
            self.0.insert(first, to);
        }
        between
    }

    /// Returns the ranges that overlap or touch a range.
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
        fn new_numbers_are_returned_once(ranges in proptest::collection::vec((0_u64..50, 0_u64..10), 1..20)) {
            let (mut known, mut all) = (Ranges::default(), BTreeSet::new());
            for (from, length) in ranges {
                let missing: Vec<u64> = known.missing_in(&(from..from + length)).into_iter().flatten().collect();
                let told: Vec<u64> = known.add(from..from + length).into_iter().flatten().collect();
                let new: Vec<u64> = (from..from + length).filter(|number| all.insert(*number)).collect();
                prop_assert_eq!(&told, &new);
                prop_assert_eq!(missing, new);
                prop_assert!(known.has(&(from..from + length)) || length == 0);
                prop_assert_eq!(known.has(&(from..from + 1)), all.contains(&from));
                let held: Vec<u64> = known.0.iter().flat_map(|(from, to)| *from..*to).collect();
                prop_assert_eq!(held, all.iter().copied().collect::<Vec<_>>());
                prop_assert!(known.0.iter().zip(known.0.iter().skip(1)).all(|((_, to), (from, _))| to < from));
                let ends = all.first().zip(all.last());
                prop_assert_eq!(known.span(), ends.map_or(0..0, |(first, last)| *first..last + 1));
            }
        }
    }

    #[test]
    fn at_the_limit_the_lowest_ranges_are_merged() {
        let mut known = Ranges::default();
        for range in [1..3, 5..6, 9..12, 20..21] {
            known.add(range);
        }
        assert_eq!(known.limit(2), 2 + 3);
        assert_eq!(known.0, BTreeMap::from([(1, 12), (20, 21)]));
        assert_eq!(known.limit(0), 8);
        assert_eq!((known.span(), known.has(&(1..21))), (1..21, true));
    }
}
