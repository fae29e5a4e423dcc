//! The result of a scenario: counts for each invariant, and the verdict.

use super::account::Account;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

/// Longest recovery that is the aim.
pub const RECOVERY_TARGET: Duration = Duration::from_secs(3);

/// Characters of a verdict in the table.
const LONGEST_CELL: usize = 120;

/// Outcome of a scenario.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Its name.
    pub scenario: &'static str,
    /// The seed that repeats it.
    pub seed: u64,
    /// The samples of all nodes.
    pub account: Account,
    /// Undeclared samples according to the DAC's own audit, summed over its lives.
    pub audit_undeclared: u64,
    /// Causes of loss that the fault does not justify are avoidable.
    pub justified: Vec<&'static str>,
    /// Samples that readers of relays received again, or out of order.
    pub repeated_at_readers: u64,
    /// Samples that readers of relays miss without a gap.
    pub unannounced_to_readers: u64,
    /// DACs whose registries stayed different.
    pub different_registries: u64,
    /// Reports of health that were not true.
    pub untrue_health: u64,
    /// From the end of the fault until a new sample is stored: the longest, if the fault was repeated.
    pub recovery: Option<Duration>,
    /// Most memory of the DAC, bytes.
    pub peak_bytes: u64,
    /// The bound for that.
    pub bound_bytes: u64,
    /// Duration of the scenario.
    pub length: Duration,
    /// Further counts.
    pub notes: BTreeMap<&'static str, u64>,
    /// Further failures.
    pub failures: Vec<String>,
    /// Why the scenario cannot run here.
    pub skipped: Option<String>,
}

impl Outcome {
    /// Samples lost for a cause that the fault does not justify.
    pub fn avoidable(&self) -> u64 {
        let declared = self.account.declared.iter();
        declared.filter(|(cause, _)| !self.justified.contains(&cause.as_str())).map(|(_, count)| count).sum()
    }

    /// The invariants by name, with the count of violations.
    pub fn invariants(&self) -> [(&'static str, u64); 12] {
        [
            ("undeclared", self.account.undeclared),
            ("undeclared_in_audit", self.audit_undeclared),
            ("duplicates", self.account.duplicates),
            ("altered", self.account.altered),
            ("invented", self.account.invented),
            ("damaged", if self.justified.contains(&"damaged") { 0 } else { self.account.damaged }),
            ("avoidable", self.avoidable()),
            ("repeated_at_readers", self.repeated_at_readers),
            ("unannounced_to_readers", self.unannounced_to_readers),
            ("different_registries", self.different_registries),
            ("untrue_health", self.untrue_health),
            ("memory_above_bound", u64::from(self.peak_bytes > self.bound_bytes)),
        ]
    }

    /// Whether an invariant broke, or the scenario could not be finished.
    pub fn is_failed(&self) -> bool {
        !self.failures.is_empty() || self.invariants().iter().any(|(_, count)| *count > 0)
    }

    /// One word, and why.
    pub fn verdict(&self) -> String {
        if let Some(why) = &self.skipped {
            return format!("skipped: {why}");
        }
        if !self.is_failed() {
            return "passed".into();
        }
        let broken = self.invariants().into_iter().filter(|(_, count)| *count > 0);
        let broken = broken.map(|(name, count)| format!("{name} {count}"));
        let all: Vec<_> = broken.chain(self.failures.iter().cloned()).collect();
        format!("FAILED: {}", all.join("; "))
    }

    /// The headings of [`Outcome::row`].
    pub const HEADINGS: [&str; 10] = [
        "scenario",
        "seed",
        "generated",
        "stored",
        "declared by cause",
        "undeclared",
        "duplicates",
        "recovery, s",
        "peak, MiB",
        "verdict",
    ];

    /// A row of the table.
    pub fn row(&self) -> Vec<String> {
        let Account { generated, stored, declared, undeclared, duplicates, .. } = &self.account;
        let mut causes = String::new();
        for (cause, count) in declared {
            let _ = write!(causes, "{}{count} {cause}", if causes.is_empty() { "" } else { ", " });
        }
        let recovery = self.recovery.map_or("–".into(), |recovery| {
            let late = if recovery > RECOVERY_TARGET { " (!)" } else { "" };
            format!("{:.1}{late}", recovery.as_secs_f64())
        });
        vec![
            self.scenario.into(),
            self.seed.to_string(),
            generated.to_string(),
            stored.to_string(),
            if causes.is_empty() { "none".into() } else { causes },
            (undeclared + self.audit_undeclared).to_string(),
            duplicates.to_string(),
            recovery,
            format!("{:.0}", self.peak_bytes as f64 / 1_048_576.0),
            shortened(&self.verdict()),
        ]
    }

    /// A line of the record.
    pub fn json(&self) -> Value {
        json!({
            "scenario": self.scenario,
            "seed": self.seed,
            "generated": self.account.generated,
            "stored": self.account.stored,
            "declared": self.account.declared,
            "invariants": BTreeMap::from(self.invariants()),
            "recovery_s": self.recovery.map(|recovery| recovery.as_secs_f64()),
            "peak_bytes": self.peak_bytes,
            "bound_bytes": self.bound_bytes,
            "length_s": self.length.as_secs_f64(),
            "notes": self.notes,
            "failures": self.failures,
            "skipped": self.skipped,
            "passed": self.skipped.is_none() && !self.is_failed(),
        })
    }
}

/// Each invariant with its count over all scenarios that ran.
pub fn totals<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> String {
    let mut sums = Outcome::default().invariants();
    let mut scenarios = 0;
    for outcome in outcomes.filter(|outcome| outcome.skipped.is_none()) {
        scenarios += 1;
        for (sum, (_, count)) in sums.iter_mut().zip(outcome.invariants()) {
            sum.1 += count;
        }
    }
    let sums: Vec<_> = sums.iter().map(|(name, count)| format!("{name} {count}")).collect();
    format!("Invariants over {scenarios} scenarios: {}", sums.join(", "))
}

/// A cell of a table; the record has all of it.
fn shortened(text: &str) -> String {
    let mut short: String = text.replace(['|', '\n'], " ").chars().take(LONGEST_CELL).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_avoidable_unless_the_fault_justifies_it() {
        let mut outcome = Outcome { scenario: "x", ..Outcome::default() };
        assert_eq!(outcome.verdict(), "passed");
        outcome.account.declared.insert("disk_full".into(), 7);
        assert_eq!(outcome.verdict(), "FAILED: avoidable 7");
        outcome.justified.push("disk_full");
        assert_eq!(outcome.verdict(), "passed");
    }

    #[test]
    fn each_invariant_is_listed_with_its_sum() {
        let broken = Outcome { repeated_at_readers: 2, ..Outcome::default() };
        let skipped = Outcome { skipped: Some("no root".into()), ..broken.clone() };
        let totals = totals([&broken, &broken, &skipped].into_iter());
        assert!(totals.starts_with("Invariants over 2 scenarios: undeclared 0, "), "{totals}");
        assert!(
            totals.contains("repeated_at_readers 4, ") && totals.ends_with("memory_above_bound 0"),
            "{totals}"
        );
    }
}
