//! The order in which nodes and instances changed: what a reader lacks that has read up to a revision.
//!
//! Every change raises the revision by one and moves its entry to the end of the order, so the log has one line for each
//! entry, however often it changed. A reader that begins at revision 0 receives everything; one that lags receives each
//! changed entry once. Removed entries stay in the log up to a bound; a reader from before that begins again at 0.

use crate::instance::Instance;
use oasis_wire::quantity::TopicId;
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    ops::Bound,
    sync::Arc,
};

/// Removed entries that stay in the log.
const REMOVALS_KEPT: usize = 32_768;

/// Names one entry of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Entry {
    /// A node by name.
    Node(Arc<str>),
    /// An instance by topic.
    Instance(TopicId),
}

impl From<&Instance> for Entry {
    fn from(instance: &Instance) -> Self {
        Self::Instance(instance.topic)
    }
}

/// A line of the log.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub entry: Entry,
    pub is_removed: bool,
}

/// The order of changes.
#[derive(Debug)]
pub(super) struct ChangeLog {
    last: u64,
    lines: BTreeMap<u64, Line>,
    /// Position of the line of an entry.
    places: HashMap<Entry, u64>,
    /// Revisions of removals, oldest first. Some of these entries may have come back since.
    removals: VecDeque<u64>,
    /// The newest removal that is no longer in the log.
    forgotten: u64,
    removals_kept: usize,
}

impl Default for ChangeLog {
    fn default() -> Self {
        Self::keeping(REMOVALS_KEPT)
    }
}

impl ChangeLog {
    fn keeping(removals_kept: usize) -> Self {
        let (lines, places, removals) = Default::default();
        Self { last: 0, lines, places, removals, forgotten: 0, removals_kept }
    }

    /// Returns the revision of the newest change; 0 before the first.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Returns the newest removal that a reader cannot receive any more. A reader from before it begins again at 0.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Records that an entry is new or has changed.
    pub fn change(&mut self, entry: Entry) {
        self.append(Line { entry, is_removed: false });
    }

    /// Records that an entry is gone.
    pub fn remove(&mut self, entry: Entry) {
        self.append(Line { entry, is_removed: true });
        self.removals.push_back(self.last);
        while self.removals.len() > self.removals_kept
            && let Some(revision) = self.removals.pop_front()
        {
            if self.lines.get(&revision).is_some_and(|line| line.is_removed)
                && let Some(line) = self.lines.remove(&revision)
            {
                self.places.remove(&line.entry);
                self.forgotten = revision;
            }
        }
    }

    /// Returns the lines after a revision, oldest first.
    pub fn after(&self, revision: u64) -> impl Iterator<Item = (u64, &Line)> {
        let lines = self.lines.range((Bound::Excluded(revision), Bound::Unbounded));
        lines.map(|(revision, line)| (*revision, line))
    }

    fn append(&mut self, line: Line) {
        self.last += 1;
        if let Some(before) = self.places.insert(line.entry.clone(), self.last) {
            self.lines.remove(&before);
        }
        self.lines.insert(self.last, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn instance(number: u32) -> Entry {
        Entry::Instance(TopicId(number))
    }

    fn read(log: &ChangeLog, after: u64) -> Vec<(u32, bool)> {
        let number = |line: &Line| match line.entry {
            Entry::Instance(TopicId(number)) => (number, line.is_removed),
            Entry::Node(_) => unreachable!("there are no nodes in these tests"),
        };
        log.after(after).map(|(_, line)| number(line)).collect()
    }

    #[test]
    fn an_entry_that_changed_twice_is_read_once_and_last() {
        let mut log = ChangeLog::default();
        [1, 2, 1].into_iter().for_each(|number| log.change(instance(number)));
        assert_eq!(read(&log, 0), [(2, false), (1, false)]);
        assert_eq!(read(&log, 2), [(1, false)]);
        assert_eq!((read(&log, 3), log.last()), (vec![], 3));
    }

    #[test]
    fn removals_beyond_the_bound_are_forgotten_and_the_log_says_up_to_where() {
        let mut log = ChangeLog::keeping(2);
        (1..=4).for_each(|number| log.change(instance(number)));
        (1..=2).for_each(|number| log.remove(instance(number)));
        log.change(instance(1));
        assert_eq!(log.forgotten(), 0);
        log.remove(instance(3));
        assert_eq!(log.forgotten(), 0, "instance 1 has come back: its removal is not in the log");
        log.remove(instance(4));
        assert_eq!(log.forgotten(), 6);
        assert_eq!(read(&log, 0), [(1, false), (3, true), (4, true)]);
        assert_eq!(log.places.len(), log.lines.len());
    }

    proptest! {
        /// A reader that reads some lines now and then, and begins again when it must, ends with what there is.
        #[test]
        fn a_reader_ends_with_the_entries_that_exist(
            steps in prop::collection::vec((0_u32..8, any::<bool>(), 0_usize..4), 1..200),
            kept in 1_usize..6,
        ) {
            let mut log = ChangeLog::keeping(kept);
            let (mut existing, mut seen) = (HashSet::new(), HashSet::new());
            let (mut cursor, mut begun) = (0, 0);
            let mut read = |log: &ChangeLog, most: usize, seen: &mut HashSet<u32>| {
                if log.forgotten() > cursor.max(begun) {
                    (cursor, begun) = (0, log.last());
                    seen.clear();
                }
                for (revision, line) in log.after(cursor).take(most) {
                    let Entry::Instance(TopicId(number)) = line.entry else { continue };
                    if line.is_removed { seen.remove(&number); } else { seen.insert(number); }
                    cursor = revision;
                }
            };
            for (number, is_removal, lines) in steps {
                if is_removal && existing.remove(&number) {
                    log.remove(instance(number));
                } else if !is_removal {
                    existing.insert(number);
                    log.change(instance(number));
                }
                read(&log, lines, &mut seen);
            }
            read(&log, usize::MAX, &mut seen);
            prop_assert_eq!(seen, existing);
        }
    }
}
