//! The archive, compared with what nodes generated: each sample is stored once, or declared lost once.

use super::numbers::Numbers;
use anyhow::Context;
use oasis_history::{SampleOrMissing, Samples};
use oasis_store::{CheckEvent, History, Missing};
use oasis_wire::{batch::Sample, loss::Cause, value::Value};
use std::{
    collections::{BTreeMap, HashMap},
    ops::RangeInclusive,
    path::Path,
};
use uuid::Uuid;

/// Bytes of batches that one read returns.
const READ_CHUNK_BYTES: usize = 1024 * 1024;

/// The word for samples that a killed process took with it before it could report them.
pub const DIED_WITH_NODE: &str = "died_with_node";

/// One process of a node, and how many samples it generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// Name of the node.
    pub node: String,
    /// Its instance.
    pub instance: String,
    /// Number of the process among those of the node.
    pub life: u64,
    /// Samples.
    pub generated: u64,
    /// Whether it was killed, so that the last samples died with it.
    pub was_killed: bool,
}

/// The sums over all lives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Samples that probes generated.
    pub generated: u64,
    /// Samples that can be read from the archive.
    pub stored: u64,
    /// Missing samples by cause.
    pub declared: BTreeMap<String, u64>,
    /// Samples that are neither stored nor declared, or both.
    pub undeclared: u64,
    /// Samples that are stored twice.
    pub duplicates: u64,
    /// Samples whose values are not those of their sequence number.
    pub altered: u64,
    /// Samples that are declared lost and were never generated.
    pub invented: u64,
    /// Damaged places in files.
    pub damaged: u64,
}

/// Samples that the archive declares lost: how many, and which if it knows.
type Declared = (Cause, u64, Option<RangeInclusive<u64>>);

/// Samples of one life, as the archive has them.
#[derive(Debug, Default)]
struct ArchivedLife {
    stored: Numbers,
    declared: Vec<Declared>,
    duplicates: u64,
    altered: u64,
    /// Sequence numbers without a sample: the node did not take it.
    not_taken: u64,
}

impl Account {
    /// Reads an archive without a writer.
    pub fn of(archive: &Path, lives: &[Life]) -> anyhow::Result<Self> {
        let mut account = Self::default();
        let history = History::open(archive).context("cannot open the archive")?;
        let mut names: Vec<_> = lives.iter().map(|life| (&*life.node, &*life.instance)).collect();
        names.sort_unstable();
        names.dedup();
        for (node, instance) in names {
            let found = read(&history, node, instance)?;
            let of_node = lives.iter().filter(|life| (&*life.node, &*life.instance) == (node, instance));
            for life in of_node {
                account.add(life, found.get(&life.life).unwrap_or(&ArchivedLife::default()));
            }
        }
        oasis_store::check(archive, |event| {
            account.damaged += u64::from(matches!(event, CheckEvent::Damage(_)));
        })
        .context("cannot check the archive")?;
        Ok(account)
    }

    fn add(&mut self, life: &Life, found: &ArchivedLife) {
        let generated = life.generated.max(found.newest(life));
        let missing = generated - found.stored.count();
        let (mut declared, mut both) = (0_u64, 0);
        for (cause, count, numbers) in
            found.declared.iter().filter(|(cause, ..)| *cause != Cause::Unexplained)
        {
            let (real, stored) = match numbers {
                Some(numbers) => {
                    let real = *numbers.start()..=generated.min(*numbers.end());
                    let stored = real.clone().filter(|number| found.stored.contains(*number)).count();
                    (real.count() as u64, stored as u64)
                }
                None => (*count, 0),
            };
            if real > 0 {
                *self.declared.entry(cause.to_string()).or_default() += real;
            }
            self.invented = self.invented.saturating_add(count - real);
            declared += real;
            both += stored;
        }
        if found.not_taken > 0 {
            *self.declared.entry(Cause::NotTaken.to_string()).or_default() += found.not_taken;
        }
        let tail = generated - found.stored.greatest();
        let unreported = if life.was_killed { tail.min(missing.saturating_sub(declared)) } else { 0 };
        if unreported > 0 {
            *self.declared.entry(DIED_WITH_NODE.into()).or_default() += unreported;
        }
        self.generated += generated;
        self.stored += found.stored.count();
        self.undeclared += missing.abs_diff(declared + unreported) + both;
        self.duplicates += found.duplicates;
        self.altered += found.altered;
    }
}

impl ArchivedLife {
    /// The newest sample that certainly was generated: the process may have died between a sample and its note in the journal.
    fn newest(&self, life: &Life) -> u64 {
        let unnoted = life.generated + u64::from(life.was_killed);
        let declared = self.declared.iter().filter_map(|(_, _, numbers)| Some(*numbers.as_ref()?.end()));
        let is_declared = declared.max() >= Some(unnoted);
        self.stored.greatest().max(if is_declared { unnoted } else { 0 })
    }
}

/// The samples of one instance, by the life that their values name.
fn read(history: &History, node: &str, instance: &str) -> anyhow::Result<HashMap<u64, ArchivedLife>> {
    let mut samples = Samples::new(history, (node, instance), 0, None, READ_CHUNK_BYTES);
    let mut found: HashMap<u64, ArchivedLife> = HashMap::new();
    let mut lives: HashMap<Uuid, u64> = HashMap::new();
    // Sequence numbers of a run without a sample, up to here.
    let mut not_taken: HashMap<Uuid, u64> = HashMap::new();
    let mut missing = Vec::new();
    while let Some(item) = samples.next()? {
        match item {
            SampleOrMissing::Sample(series, _, sample) => {
                let Some((number, life)) = named(&sample) else { continue };
                let life = *lives.entry(series.run).or_insert(life);
                let of_life = found.entry(life).or_default();
                let skipped = not_taken.get(&series.run).copied().unwrap_or_default();
                of_life.altered += u64::from(number + skipped != sample.sequence);
                of_life.duplicates += u64::from(!of_life.stored.add(sample.sequence.saturating_sub(skipped)));
            }
            SampleOrMissing::Missing(mut of_run) => {
                let skipped = not_taken.entry(of_run.run).or_default();
                of_run.numbers = of_run.numbers.map(|numbers| {
                    numbers.start().saturating_sub(*skipped)..=numbers.end().saturating_sub(*skipped)
                });
                if of_run.cause == Cause::NotTaken {
                    *skipped += of_run.count;
                }
                missing.push(of_run);
            }
        }
    }
    for Missing { run, count, cause, numbers } in missing {
        // Without any sample of the run its process is unknown.
        let Some(found) = lives.get(&run).and_then(|life| found.get_mut(life)) else { continue };
        match cause {
            Cause::NotTaken => found.not_taken += count,
            _ => found.declared.push((cause, count, numbers)),
        }
    }
    Ok(found)
}

/// Number and life of a sample; nothing for a forged one.
fn named(sample: &Sample) -> Option<(u64, u64)> {
    match sample.values.as_slice() {
        [Value::Uint(number), Value::Uint(life @ 1..), ..] => Some((*number, *life)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(stored: impl IntoIterator<Item = u64>, declared: &[(Cause, u64)]) -> ArchivedLife {
        let declared = declared.iter().map(|(cause, count)| (*cause, *count, None)).collect();
        let mut found = ArchivedLife { declared, ..ArchivedLife::default() };
        stored.into_iter().for_each(|number| assert!(found.stored.add(number)));
        found
    }

    fn account(generated: u64, was_killed: bool, found: &ArchivedLife) -> Account {
        let life = Life { node: "n".into(), instance: "i".into(), life: 1, generated, was_killed };
        let mut account = Account::default();
        account.add(&life, found);
        account
    }

    #[test]
    fn a_missing_sample_is_undeclared_unless_it_has_a_cause() {
        let gap = found((1..=10).chain(13..=20), &[(Cause::SpoolFull, 2)]);
        assert_eq!((account(20, false, &gap).undeclared, account(20, false, &gap).stored), (0, 18));
        let silent = found((1..=10).chain(13..=20), &[]);
        assert_eq!(account(20, false, &silent).undeclared, 2);
        let unexplained = found((1..=10).chain(13..=20), &[(Cause::Unexplained, 2)]);
        assert_eq!(account(20, false, &unexplained).undeclared, 2);
    }

    #[test]
    fn only_the_last_samples_of_a_killed_node_die_with_it() {
        let cut = found(1..=17, &[]);
        assert_eq!(account(20, false, &cut).undeclared, 3);
        let killed = account(20, true, &cut);
        assert_eq!((killed.undeclared, killed.declared[DIED_WITH_NODE]), (0, 3));
        let gap = found((1..=10).chain(13..=17), &[]);
        assert_eq!(account(20, true, &gap).undeclared, 2);
    }

    #[test]
    fn a_sample_that_is_stored_and_declared_is_undeclared() {
        assert_eq!(account(20, false, &found(1..=20, &[(Cause::DiskFull, 2)])).undeclared, 2);
    }

    #[test]
    fn a_declared_sample_that_was_never_generated_is_invented() {
        let mut forged = found(1..=18, &[]);
        forged.declared.push((Cause::BeforeEpoch, (1 << 62) - 18, Some(19..=1 << 62)));
        let account = account(20, false, &forged);
        assert_eq!((account.undeclared, account.declared["before_epoch"]), (0, 2));
        assert_eq!(account.invented, (1 << 62) - 20);
    }

    #[test]
    fn the_sample_during_which_a_node_was_killed_may_be_declared() {
        let mut killed = found(1..=20, &[]);
        killed.declared.push((Cause::NodeRestart, 1, Some(21..=21)));
        let account = account(20, true, &killed);
        assert_eq!((account.generated, account.undeclared, account.invented), (21, 0, 0));
    }
}
