//! Backlog: samples that connected nodes have taken and a DAC has not received.

use crate::{Instance, Node};
use oasis_wire::{batch, quantity::Nanos};

/// The samples of a node that are not received yet, and not declared lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of samples, by the node's last reports: in its rings, its spool, or on the way.
    pub samples: u64,
    /// Age of the oldest of them, at most, in nanoseconds; none if there are none or no clock is known.
    pub within_ns: Option<u64>,
}

impl Backlog {
    /// Returns the backlog of a node that is connected to this DAC, before any instance is added.
    pub fn of(node: &Node) -> Option<Self> {
        (node.is_online() && node.path().is_empty()).then(Self::default)
    }

    /// Adds an instance of the node. A flight recorder keeps samples back on purpose, so its samples are no backlog.
    pub fn add(&mut self, node: &Node, instance: &Instance, now: Nanos) {
        let waiting = {
            let ledger = instance.ledger();
            let is_present = ledger.run() == Some(node.identity.run);
            if is_present { ledger.node.taken.saturating_sub(ledger.last_sequence) } else { 0 }
        };
        if waiting == 0 || instance.state().recorder.is_some() {
            return;
        }
        // A session locks the ledger before the log: not both here.
        let newest = instance.log.latest().filter(|segment| segment.run() == node.identity.run);
        let taken = newest.and_then(|segment| batch::time_range(segment.batch()).ok());
        let within = taken.zip(node.clock_offset_ns).map(|((_, last), offset)| age(last, offset, now));
        self.note(waiting, within);
    }

    fn note(&mut self, samples: u64, within_ns: Option<u64>) {
        self.within_ns = match self.samples {
            0 => within_ns,
            _ => self.within_ns.zip(within_ns).map(|(known, added)| known.max(added)),
        };
        self.samples = self.samples.saturating_add(samples);
    }
}

/// The age of what a node took at a time of its clock, or 0 if that is yet to come.
fn age(taken: u64, offset: i64, Nanos(now): Nanos) -> u64 {
    now.saturating_sub(taken.saturating_add_signed(offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_instance_says_how_far_behind_a_node_is() {
        let mut backlog = Backlog::default();
        backlog.note(3, Some(20));
        backlog.note(4, Some(90));
        backlog.note(1, Some(30));
        assert_eq!(backlog, Backlog { samples: 8, within_ns: Some(90) });
    }

    #[test]
    fn without_the_age_of_one_instance_no_age_is_true_for_all() {
        let mut backlog = Backlog::default();
        backlog.note(3, Some(20));
        backlog.note(1, None);
        backlog.note(u64::MAX, Some(20));
        assert_eq!(backlog, Backlog { samples: u64::MAX, within_ns: None });
    }

    #[test]
    fn a_sample_of_any_clock_has_an_age() {
        assert_eq!(age(1_000, -300, Nanos(1_200)), 500);
        assert_eq!(age(u64::MAX, i64::MAX, Nanos(7)), 0, "it is yet to come");
        assert_eq!(age(0, i64::MIN, Nanos(u64::MAX)), u64::MAX);
    }
}
