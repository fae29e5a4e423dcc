//! Union of several archives of one node: each sample is in one of them, or declared lost with a cause of its own.

use anyhow::Context;
use oasis_history::{SampleOrMissing, Samples};
use oasis_store::{History, Missing};
use oasis_wire::loss::Cause;
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};
use uuid::Uuid;

/// Bytes of batches that one read returns.
const READ_CHUNK_BYTES: usize = 1024 * 1024;

/// Samples and losses of all archives.
#[derive(Debug, Default)]
pub struct Union {
    /// Times by run and sequence number.
    samples: HashMap<(Uuid, u64), u64>,
    /// Samples that one archive has twice.
    pub duplicates: u64,
    /// Samples that archives have with different times.
    pub altered: u64,
    declared: Vec<Missing>,
}

impl Union {
    /// Adds an archive without a writer.
    pub fn add(&mut self, archive: &Path, names: (&str, &str)) -> anyhow::Result<()> {
        let history = History::open(archive).context("cannot open an archive")?;
        let mut samples = Samples::new(&history, names, 0, None, READ_CHUNK_BYTES);
        let mut own = HashMap::new();
        while let Some(found) = samples.next()? {
            match found {
                SampleOrMissing::Sample(series, _, sample) => {
                    let before = own.insert((series.run, sample.sequence), sample.time);
                    self.duplicates += u64::from(before.is_some());
                }
                SampleOrMissing::Missing(missing) => self.declared.push(missing),
            }
        }
        for (number, time) in own {
            let other = self.samples.insert(number, time);
            self.altered += u64::from(other.is_some_and(|other| other != time));
        }
        Ok(())
    }

    /// Returns how many samples there are.
    pub fn stored(&self) -> u64 {
        self.samples.len() as u64
    }

    /// Returns the cause that an archive declares for a sample; that another DAC has it is none.
    fn cause(&self, run: Uuid, number: u64) -> Option<Cause> {
        let elsewhere = [Cause::BeforeEpoch, Cause::OtherDac, Cause::Unexplained];
        let is_it = |missing: &&Missing| {
            missing.run == run
                && !elsewhere.contains(&missing.cause)
                && missing.numbers.as_ref().is_some_and(|numbers| numbers.contains(&number))
        };
        self.declared.iter().find(is_it).map(|missing| missing.cause)
    }

    /// Returns whether a sample of any run is declared lost.
    pub fn is_declared(&self, number: u64) -> bool {
        let mut runs: Vec<_> = self.declared.iter().map(|missing| missing.run).collect();
        runs.dedup();
        runs.into_iter().any(|run| self.cause(run, number).is_some())
    }

    /// Returns the missing samples of a run by cause, and the number without one. The node has taken `taken` samples.
    pub fn missing(&self, taken: u64) -> (BTreeMap<String, u64>, u64) {
        let (mut declared, mut undeclared) = (BTreeMap::new(), 0);
        let runs: std::collections::BTreeSet<_> = self.samples.keys().map(|(run, _)| *run).collect();
        let last = self.samples.keys().map(|(_, number)| *number).max().unwrap_or(0).max(taken);
        for run in runs {
            for number in (1..=last).filter(|number| !self.samples.contains_key(&(run, *number))) {
                match self.cause(run, number) {
                    Some(cause) => *declared.entry(cause.to_string()).or_default() += 1,
                    None => undeclared += 1,
                }
            }
        }
        (declared, undeclared)
    }
}
