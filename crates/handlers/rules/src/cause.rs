//! Why something is unknown or silent, as the ledger and the registry know it.

use oasis_dac::{Dac, Instance};
use oasis_rules::RESTART;
use oasis_wire::loss::Cause;
use std::collections::BTreeSet;
use uuid::Uuid;

/// The causes of the samples that are missing before one of this run and number. `noted` is what the reader of the samples said.
pub fn of_missing(
    instance: &Instance,
    (run, first): (Uuid, u64),
    last: Option<(Uuid, u64, u64)>,
    missing: u64,
    noted: Option<Cause>,
) -> Option<String> {
    if missing == RESTART {
        return last.map(|(before, ..)| match before == run {
            true => "the clock of the node was set back".to_owned(),
            false => Cause::NodeRestart.word().to_owned(),
        });
    }
    let begin = first.saturating_sub(missing);
    let ledger = instance.ledger();
    let overlaps = |from: u64, to: u64| from < first && to >= begin;
    let of_ledger =
        ledger.gaps.iter().filter(|gap| gap.run == run && overlaps(gap.from_sequence, gap.to_sequence));
    let causes: BTreeSet<&str> = of_ledger.map(|gap| gap.cause).chain(noted).map(Cause::word).collect();
    (!causes.is_empty()).then(|| causes.into_iter().collect::<Vec<_>>().join(", "))
}

/// Why an instance sends nothing since this DAC time: its node is offline, its samples are lost, or it has stopped.
pub fn of_silence(dac: &Dac, instance: &Instance, since: u64) -> String {
    if dac.registry.node(&instance.node).is_none_or(|node| !node.is_online()) {
        return "offline".into();
    }
    let ledger = instance.ledger();
    let lost = ledger.gaps.iter().rev().find(|gap| gap.time.0 >= since);
    lost.map_or_else(|| "stopped".into(), |gap| format!("lost: {}", gap.cause.word()))
}
