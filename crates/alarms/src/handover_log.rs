//! Handovers to other DACs: nodes that have changed since a position, and the state of nodes that have gone.

use crate::Handover;
use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

/// Most nodes whose changes are known. Those that changed first are forgotten.
const MAX_NODES: usize = 20_000;
/// Most bytes of what was there of nodes that have gone. The ones that went first are forgotten.
const MAX_DEPARTED_BYTES: usize = 64 << 20;
/// Time without a question after which no other DAC asks any more. They ask each second; it is longer than a standstill
/// of this process.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(60);
/// After a start, others that know this DAC ask within this time.
const FIRST_QUESTION_TIMEOUT: Duration = Duration::from_secs(10);

/// Changes of nodes, and handovers of nodes that have gone, for other DACs.
#[derive(Debug)]
pub struct HandoverLog {
    /// The number of the last change of each node.
    nodes: HashMap<String, u64>,
    changes: BTreeMap<u64, String>,
    last: u64,
    gone: BTreeMap<String, DepartedNode>,
    gone_bytes: usize,
    started: Instant,
    /// When another DAC asked last.
    asked: Option<Instant>,
}

impl Default for HandoverLog {
    fn default() -> Self {
        Self {
            nodes: HashMap::new(),
            changes: BTreeMap::new(),
            last: 0,
            gone: BTreeMap::new(),
            gone_bytes: 0,
            started: Instant::now(),
            asked: None,
        }
    }
}

/// A node that has gone to another DAC.
#[derive(Debug)]
struct DepartedNode {
    handover: Handover,
    bytes: usize,
    since: Instant,
    /// Whether another DAC has it.
    is_given: bool,
}

impl HandoverLog {
    /// Something of a node has changed.
    pub fn touch(&mut self, node: &str) {
        self.last += 1;
        if let Some(before) = self.nodes.insert(node.into(), self.last) {
            self.changes.remove(&before);
        }
        self.changes.insert(self.last, node.into());
        if self.changes.len() > MAX_NODES
            && let Some((_, first)) = self.changes.pop_first()
        {
            self.nodes.remove(&first);
        }
    }

    /// Returns up to `most` nodes that have changed after a position, the first change first, with the positions after
    /// each.
    pub fn after(&self, position: u64, most: usize) -> Vec<(u64, String)> {
        let later = self.changes.range(position.saturating_add(1)..).take(most);
        later.map(|(number, node)| (*number, node.clone())).collect()
    }

    /// Another DAC asks.
    pub fn note_question(&mut self) {
        self.asked = Some(Instant::now());
    }

    /// Whether other DACs ask, and will take the state that a node leaves here.
    pub fn is_asked(&self) -> bool {
        self.started.elapsed() < FIRST_QUESTION_TIMEOUT
            || self.asked.is_some_and(|asked| asked.elapsed() < QUESTION_TIMEOUT)
    }

    /// A node has gone, and this was here of it.
    pub fn leave(&mut self, handover: Handover) {
        let node = handover.node.clone();
        self.return_home(&node);
        let bytes = handover.bytes();
        self.gone_bytes += bytes;
        self.gone
            .insert(node.clone(), DepartedNode { handover, bytes, since: Instant::now(), is_given: false });
        while self.gone_bytes > MAX_DEPARTED_BYTES {
            let first = self.gone.iter().min_by_key(|(_, gone)| gone.since).map(|(node, _)| node.clone());
            let Some(first) = first else { break };
            self.return_home(&first);
        }
        self.touch(&node);
    }

    /// A node is here again: what it had left is of no use any more.
    pub fn return_home(&mut self, node: &str) {
        if let Some(gone) = self.gone.remove(node) {
            self.gone_bytes -= gone.bytes;
        }
    }

    /// Returns the state that a node left when it went.
    pub fn gone(&self, node: &str) -> Option<&Handover> {
        self.gone.get(node).map(|gone| &gone.handover)
    }

    /// Another DAC has received all changes up to a position, as far as they are visible for it.
    pub fn note_received(&mut self, position: u64, is_visible: impl Fn(&str, &str) -> bool) {
        if position > self.last {
            // No DAC was given such a position.
            return;
        }
        for (node, gone) in self.gone.iter_mut().filter(|(_, gone)| !gone.is_given) {
            let is_received = self.nodes.get(node).is_some_and(|change| *change <= position);
            let mut alarms = gone.handover.alarms.iter();
            gone.is_given = is_received && alarms.all(|alarm| is_visible(node, &alarm.view.key.instance));
        }
    }

    /// Whether another DAC has what was here of a node, and how long ago that has gone.
    pub fn state_of(&self, node: &str) -> Option<(bool, Duration)> {
        self.gone.get(node).map(|gone| (gone.is_given, gone.since.elapsed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handover(node: &str) -> Handover {
        Handover {
            node: node.into(),
            home: None,
            is_final: true,
            alarms: Vec::new(),
            checkpoints: Vec::new(),
            left_out: 0,
        }
    }

    #[test]
    fn each_node_is_listed_once_at_its_last_change() {
        let mut given = HandoverLog::default();
        ["a", "b", "a"].iter().for_each(|node| given.touch(node));
        assert_eq!(given.after(0, 9), [(2, "b".into()), (3, "a".into())]);
        assert_eq!((given.after(2, 9), given.after(0, 1).len()), (vec![(3, "a".into())], 1));
        (0..2 * MAX_NODES).for_each(|number| given.touch(&number.to_string()));
        assert_eq!((given.changes.len(), given.nodes.len()), (MAX_NODES, MAX_NODES));
    }

    #[test]
    fn a_node_that_has_gone_is_given_until_it_returns() {
        let mut given = HandoverLog::default();
        given.leave(handover("a"));
        assert_eq!(given.after(0, 9).len(), 1);
        given.note_received(0, |_, _| true);
        // No DAC was given that.
        given.note_received(2, |_, _| true);
        assert!(!given.state_of("a").unwrap().0);
        given.note_received(1, |_, _| true);
        assert!(given.state_of("a").unwrap().0 && given.gone("a").is_some());
        given.return_home("a");
        assert_eq!((given.state_of("a"), given.gone_bytes), (None, 0));
    }
}
