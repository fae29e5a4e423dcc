//! The ledger of a relayed instance: what the DAC upstream counts. Its causes are those of the node's home, whatever lies between.

use super::{GAPS_KEPT, Gap, Ledger, NodeCounters};
use oasis_wire::{loss::Cause, quantity::Nanos};
use serde::Deserialize;
use std::collections::BTreeMap;
use uuid::Uuid;

/// A ledger as another DAC reports it. Causes that this version does not know are unexplained.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct UpstreamLedger {
    received: u64,
    first_sequence: u64,
    last_sequence: u64,
    #[serde(default)]
    stored_before: u64,
    missing: u64,
    unexplained: u64,
    causes: BTreeMap<String, u64>,
    duplicates: u64,
    node: NodeCounters,
    gaps: Vec<UpstreamGap>,
    gaps_forgotten: u64,
}

/// A gap in it.
#[derive(Debug, Clone, Deserialize)]
struct UpstreamGap {
    from_sequence: u64,
    to_sequence: u64,
    count: u64,
    cause: String,
    time: Nanos,
    run: Uuid,
}

impl Ledger {
    /// Sets the run that a relayed instance is in.
    pub(crate) fn relay_run(&mut self, run: Option<Uuid>) {
        self.run = run;
    }

    /// Returns when the newest batch arrived at the upstream, by the clock here; none of an instance that is not relayed.
    pub(crate) fn arrived_upstream(&self) -> Option<Nanos> {
        self.arrived_upstream
    }

    /// Records the numbers of a batch that has come.
    pub(crate) fn note_relayed(&mut self, first: u64, last: u64) {
        if self.first_sequence == 0 || first < self.first_sequence {
            self.first_sequence = first;
        }
        self.last_sequence = last;
    }

    pub(crate) fn note_upstream(&mut self, received: u64, missing: u64, arrived: Nanos) -> bool {
        (self.received, self.missing, self.arrived_upstream) = (received, missing, Some(arrived));
        self.lacks_causes()
    }

    fn lacks_causes(&self) -> bool {
        self.missing != self.causes.values().fold(0, |sum: u64, count| sum.saturating_add(*count))
    }

    pub(crate) fn take_upstream(&mut self, upstream: UpstreamLedger) -> bool {
        let UpstreamLedger { mut gaps, causes, .. } = upstream;
        let known = |word: &str| Cause::from_word(word).unwrap_or(Cause::Unexplained);
        let forgotten = gaps.len().saturating_sub(self.room.kept().min(GAPS_KEPT));
        gaps.drain(..forgotten);
        self.causes.clear();
        for (word, count) in causes {
            let of_cause = self.causes.entry(known(&word)).or_default();
            *of_cause = of_cause.saturating_add(count);
        }
        let gap = |gap: UpstreamGap| {
            let UpstreamGap { from_sequence, to_sequence, count, cause, time, run } = gap;
            Gap { from_sequence, to_sequence, count, cause: known(&cause), time, run }
        };
        self.gaps = gaps.into_iter().map(gap).collect();
        self.gaps_forgotten = upstream.gaps_forgotten.saturating_add(forgotten as u64);
        (self.received, self.missing) = (upstream.received, upstream.missing);
        (self.first_sequence, self.last_sequence) = (upstream.first_sequence, upstream.last_sequence);
        (self.stored_before, self.unexplained) = (upstream.stored_before, upstream.unexplained);
        (self.duplicates, self.node) = (upstream.duplicates, upstream.node);
        self.lacks_causes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_reads_back_as_another_dac_wrote_it() {
        let run = Uuid::from_u128(1);
        let mut home = Ledger::default();
        home.registered(run, Nanos(0));
        home.batch(1, 5, 0, Nanos(1));
        home.batch(8, 3, 2, Nanos(2));
        let mut relayed = Ledger::default();
        relayed.relay_run(Some(run));
        assert!(!relayed.note_upstream(5, 0, Nanos(1)));
        assert!(relayed.note_upstream(8, 2, Nanos(2)), "two are missing, and nothing says why");
        let json = serde_json::to_value(&home).unwrap();
        assert!(!relayed.take_upstream(serde_json::from_value(json.clone()).unwrap()));
        assert_eq!(serde_json::to_value(&relayed).unwrap(), json);
        assert!(!relayed.note_upstream(8, 2, Nanos(2)));
        assert_eq!(relayed.arrived_upstream(), Some(Nanos(2)));
    }

    #[test]
    fn a_cause_of_a_later_version_is_unexplained() {
        let mut json = serde_json::to_value(Ledger::default()).unwrap();
        json["causes"] = serde_json::json!({"eclipse": 3, "ring_full": 2});
        json["missing"] = 5.into();
        let mut relayed = Ledger::default();
        relayed.take_upstream(serde_json::from_value(json).unwrap());
        assert_eq!(relayed.causes, [(Cause::RingFull, 2), (Cause::Unexplained, 3)].into());
    }
}
