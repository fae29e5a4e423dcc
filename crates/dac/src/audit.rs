//! The accounting identity: each sample that was generated is received, declared lost with a cause, or not received yet.
//!
//! Its sides are counted at different places: sequence numbers by the node, received and missing samples by the ledger, appended samples by the topic log.

use crate::{Instance, Ledger};
use oasis_wire::loss::Cause;
use serde::Serialize;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The account of one instance in this epoch, over all runs of its node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// The present run; earlier ones are included.
    pub run: Option<Uuid>,
    /// Samples that were generated, according to the node: its latest report, or the newest sequence number.
    pub generated: u64,
    /// Samples that were received and appended to the topic log.
    pub received: u64,
    /// Samples that are missing, by cause.
    pub declared: BTreeMap<Cause, u64>,
    /// Samples that the node has not sent, according to its latest report: in its rings, batches and spool.
    pub spooled: u64,
    /// Samples that the node has sent and the DAC has not received.
    pub in_flight: u64,
    /// Samples that are in none of these, or in two. Must be 0.
    pub undeclared: u64,
}

impl Audit {
    /// Audits an instance.
    pub fn of(instance: &Instance) -> Self {
        let ledger = instance.ledger();
        // Under the ledger's lock: a session appends under it.
        let appended = instance.log.next().0.saturating_sub(instance.log.start().0);
        Self::new(&ledger, appended)
    }

    /// The log has `appended` samples, which came with the present type.
    fn new(ledger: &Ledger, appended: u64) -> Self {
        let accounted = ledger.accounted();
        let newest = ledger.last_sequence.max(ledger.node.taken);
        let sent = ledger.node.sent.clamp(ledger.last_sequence, newest);
        let (spooled, in_flight) = (newest - sent, sent - ledger.last_sequence);
        let mut declared = ledger.causes.clone();
        declared.remove(&Cause::Unexplained);
        let explained = declared.values().fold(ledger.received, |sum, count| sum.saturating_add(*count));
        Self {
            run: ledger.run(),
            generated: accounted.saturating_add(spooled).saturating_add(in_flight),
            received: ledger.received,
            spooled,
            in_flight,
            declared,
            undeclared: accounted
                .abs_diff(explained)
                .saturating_add((ledger.received - ledger.received_before).abs_diff(appended)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_channel::Drops;
    use oasis_wire::quantity::Nanos;
    use proptest::prelude::*;

    const NOW: Nanos = Nanos(0);

    #[test]
    fn samples_that_were_not_received_are_spooled_or_in_flight() {
        let mut ledger = Ledger::default();
        ledger.registered(Uuid::from_u128(1), NOW);
        ledger.counters(10, 7, Drops::default());
        ledger.batch(1, 4, 0, NOW);
        let audit = Audit::new(&ledger, 4);
        assert_eq!((audit.generated, audit.received, audit.undeclared), (10, 4, 0));
        assert_eq!((audit.spooled, audit.in_flight), (3, 3));
        assert_eq!(Audit::new(&ledger, 3).undeclared, 1, "the log lacks a sample that the ledger counts");
    }

    #[test]
    fn an_unexplained_gap_is_undeclared() {
        let mut ledger = Ledger::default();
        ledger.registered(Uuid::from_u128(1), NOW);
        ledger.batch(1, 1, 0, NOW);
        ledger.batch(5, 1, 2, NOW);
        assert_eq!(Audit::new(&ledger, 2).undeclared, 1);
    }

    proptest! {
        /// Whatever nodes report truly, restart and lose, nothing is undeclared.
        #[test]
        fn every_generated_sample_is_on_one_side(
            steps in prop::collection::vec((0_u8..4, 1_u64..20, 0_u64..5), 1..60),
        ) {
            let (mut ledger, mut run, mut taken, mut dropped, mut received) = (Ledger::default(), 1_u128, 0, 0, 0);
            let mut runs = BTreeMap::new();
            ledger.registered(Uuid::from_u128(run), NOW);
            for (step, count, lost) in steps {
                match step {
                    0 => {
                        // A new run, or an earlier one that continues.
                        let next = if count < 10 { runs.len() as u128 + 1 } else { u128::from(count - 9).min(run) };
                        runs.insert(run, (taken, dropped));
                        (taken, dropped) = runs.get(&next).copied().unwrap_or_default();
                        run = next;
                        ledger.registered(Uuid::from_u128(run), NOW);
                    }
                    1 => ledger.counters(taken, taken, Drops { ring_full: dropped, ..Drops::default() }),
                    2 => {
                        let first = ledger.last_sequence + lost + 1;
                        let drops = ledger.last_sequence + lost - taken.min(ledger.last_sequence + lost);
                        taken = taken.max(first + count - 1);
                        dropped += lost;
                        ledger.batch(first, count, lost.max(drops), NOW);
                        received += count;
                    }
                    _ => prop_assert!(ledger.lost_on_the_way(ledger.last_sequence + lost, NOW)),
                }
                let audit = Audit::new(&ledger, received);
                prop_assert_eq!(audit.undeclared, 0);
                let declared: u64 = audit.declared.values().sum();
                prop_assert_eq!(audit.generated, audit.received + declared + audit.spooled + audit.in_flight);
            }
        }
    }
}
