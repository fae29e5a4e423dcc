//! Compares an archive with what the simulated probes have generated: each sample is stored once, or declared lost once for a
//! cause that a fault justifies.

use crate::{
    oracle::{End, Oracle, Run, TakenSamples},
    plan::{Fault, NodePlan, Plan},
    sample,
};
use anyhow::Context as _;
use oasis_history::{SampleOrMissing, Samples};
use oasis_store::{CheckEvent, History, Missing};
use oasis_wire::loss::Cause;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::RangeInclusive,
    path::Path,
};
use uuid::Uuid;

/// Bytes of batches that one read returns.
const READ_CHUNK_BYTES: usize = 1024 * 1024;

/// The sums over all runs, and what is wrong.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// Samples that probes generated.
    pub generated: u64,
    /// Samples that can be read from the archive.
    pub stored: u64,
    /// Missing samples by cause.
    pub declared: BTreeMap<String, u64>,
    /// Gaps that may have no cause, because the archive says that it has forgotten as many causes.
    causes_forgotten: u64,
    /// Violations of invariants.
    pub findings: Vec<String>,
}

/// Samples of one instance in one run, as the archive has them.
#[derive(Debug, Default)]
struct ArchivedRun {
    stored: BTreeSet<u64>,
    duplicates: u64,
    altered: u64,
    declared: Vec<(Cause, u64, Option<RangeInclusive<u64>>)>,
}

/// Judges a run of the simulation.
///
/// # Errors
/// If the archive cannot be read.
pub fn judge(archive: &Path, oracle: &Oracle, plan: &Plan) -> anyhow::Result<Account> {
    let mut account = Account { causes_forgotten: oracle.causes_forgotten, ..Account::default() };
    let history = History::open(archive).context("the archive cannot be opened to read")?;
    for (node, of_node) in plan.nodes.iter().enumerate() {
        for instance in 0..of_node.periods.len() {
            let found = read(&history, node, instance)?;
            for run in oracle.runs.iter().filter(|run| run.node == node) {
                let nothing = ArchivedRun::default();
                let found = found.get(&run.run).unwrap_or(&nothing);
                Case { plan, node: of_node, run, taken: &run.instances[instance], found }.judge(&mut account);
            }
        }
    }
    oasis_store::check(archive, |event| {
        if let CheckEvent::Damage(damage) = event {
            account.findings.push(format!("damaged: {}", damage.finding.kind));
        }
    })
    .context("the archive cannot be checked")?;
    Ok(account)
}

fn read(history: &History, node: usize, instance: usize) -> anyhow::Result<HashMap<Uuid, ArchivedRun>> {
    let names = (format!("node {node}"), format!("instance {instance}"));
    let mut samples = Samples::new(history, (&names.0, &names.1), 0, None, READ_CHUNK_BYTES);
    let mut found: HashMap<Uuid, ArchivedRun> = HashMap::new();
    while let Some(item) = samples.next()? {
        match item {
            SampleOrMissing::Sample(series, _, sample) => {
                let of_run = found.entry(series.run).or_default();
                let is_genuine = sample::is_genuine(series.run, instance, sample.sequence, &sample.values);
                of_run.altered += u64::from(!is_genuine);
                of_run.duplicates += u64::from(!of_run.stored.insert(sample.sequence));
            }
            SampleOrMissing::Missing(Missing { run, count, cause, numbers }) => {
                found.entry(run).or_default().declared.push((cause, count, numbers));
            }
        }
    }
    Ok(found)
}

/// One instance in one run.
struct Case<'a> {
    plan: &'a Plan,
    node: &'a NodePlan,
    run: &'a Run,
    taken: &'a TakenSamples,
    found: &'a ArchivedRun,
}

impl Case<'_> {
    fn judge(&self, account: &mut Account) {
        let ArchivedRun { stored, duplicates, altered, declared } = self.found;
        let mut wrong = Wrong::default();
        wrong.add("duplicates", *duplicates);
        wrong.add("altered", *altered);
        wrong.add("invented", stored.range(self.taken.last + 1..).count() as u64);
        let mut known = stored.clone();
        let (mut uncounted, mut of_ring) = (0, 0);
        for (cause, count, numbers) in declared {
            *account.declared.entry(cause.to_string()).or_default() += count;
            of_ring += if *cause == Cause::RingFull { *count } else { 0 };
            match numbers {
                None if self.is_justified(*cause, 0) => uncounted += count,
                None => wrong.add(&format!("avoidable {cause}"), *count),
                Some(numbers) => {
                    let is_forgotten = *cause == Cause::Unexplained && account.causes_forgotten > 0;
                    account.causes_forgotten -= u64::from(is_forgotten);
                    self.judge_declared((*cause, is_forgotten), numbers, &mut known, &mut wrong);
                }
            }
        }
        // A DAC that ends may have listed some causes of a gap that grew afterwards: the sum is right, its parts are not.
        let may_overflow = self.is_justified(Cause::SpoolFull, 0);
        if !self.plan.has(Fault::ends_dac) || !may_overflow {
            wrong.add(
                "ring_full but not dropped by it",
                of_ring.saturating_sub(self.taken.dropped.len() as u64),
            );
        }
        self.judge_rest(&known, uncounted, account, &mut wrong);
        account.generated += self.taken.last;
        account.stored += stored.len() as u64;
        account.findings.extend(wrong.0.iter().map(|(what, (count, first))| {
            let Run { node, end, .. } = self.run;
            let TakenSamples { last, dropped, spooled, in_file, settled, stored } = self.taken;
            let (is_dropped, was_stored) = (dropped.contains(first), stored.contains(first));
            format!(
                "{what}: {count} samples, the first is {first} (dropped by the ring: {is_dropped}, stored: {was_stored}), \
                 of node {node}, which took {last}, spooled {spooled}, had {in_file} in its file and {settled} settled: {end:?}"
            )
        }));
    }

    fn judge_declared(
        &self,
        (cause, is_forgotten): (Cause, bool),
        numbers: &RangeInclusive<u64>,
        known: &mut BTreeSet<u64>,
        wrong: &mut Wrong,
    ) {
        let end = (*numbers.end()).min(self.taken.last);
        wrong.add("declared and never generated", numbers.end() - end.max(numbers.start() - 1));
        for number in *numbers.start()..=end {
            if !known.insert(number) {
                let what = if self.found.stored.contains(&number) {
                    "stored and declared"
                } else {
                    "declared twice"
                };
                wrong.note(what, number);
            }
            if is_forgotten {
                continue;
            }
            if cause == Cause::Unexplained {
                wrong.note("undeclared (unexplained)", number);
            } else if !self.is_justified(cause, number) {
                wrong.note(&format!("avoidable {cause}"), number);
            }
        }
    }

    /// Judges the numbers that are neither stored nor declared.
    fn judge_rest(&self, known: &BTreeSet<u64>, uncounted: u64, account: &mut Account, wrong: &mut Wrong) {
        // A loss may be declared after samples that no process has any more.
        let newest = self.found.stored.last().copied().unwrap_or(0);
        let mut uncounted = uncounted;
        let mut died = 0;
        for number in (1..=self.taken.last).filter(|number| !known.contains(number)) {
            if uncounted > 0 {
                uncounted -= 1;
            } else if number < newest {
                wrong.note("undeclared", number);
            } else if self.taken.stored.contains(&number) {
                wrong.note("stored before, and undeclared", number);
            } else if self.may_die(number) || self.is_run_unknown(number) {
                died += 1;
            } else {
                wrong.note("undeclared at the end of a run", number);
            }
        }
        if died > 0 {
            *account.declared.entry("died_with_node".into()).or_default() += died;
        }
    }

    /// Whether a sample at the end of a run may remain unknown to all.
    fn may_die(&self, number: u64) -> bool {
        match self.run.end {
            None | Some(End::Delivered) => {
                self.taken.dropped.range(number..).count() as u64 == self.taken.last - number + 1
            }
            Some(End::Left | End::Killed | End::PowerCut) => !self.is_promised(number),
        }
    }

    /// Whether a sample is of a run that the archive does not know, because all of it was lost before the archive.
    fn is_run_unknown(&self, number: u64) -> bool {
        self.found.stored.is_empty() && number <= self.taken.settled
    }

    /// Whether the file spool must not lose a sample.
    fn is_promised(&self, number: u64) -> bool {
        let node = self.run.node;
        let loses_files = self.plan.has(|fault| match fault {
            Fault::CutNode { node: cut, .. } => *cut == node,
            Fault::FullDisk { node: full, .. } => *full == Some(node),
            _ => false,
        });
        number <= self.taken.in_file
            && !self.taken.dropped.contains(&number)
            && !loses_files
            && !self.node.is_tight()
            && !self.plan.has(Fault::is_of_disk)
    }

    /// Whether a fault justifies a loss.
    fn is_justified(&self, cause: Cause, number: u64) -> bool {
        let node = self.run.node;
        let has = |is_it: &dyn Fn(&Fault) -> bool| self.plan.has(is_it);
        let spool = self.node.is_tight()
            || has(&|fault| match fault {
                Fault::CutNode { node: cut, .. } => *cut == node,
                Fault::FullDisk { node: full, .. } => *full == Some(node),
                _ => false,
            });
        let is_stored = self.taken.stored.contains(&number);
        match cause {
            Cause::RingFull => !self.taken.dropped.is_empty(),
            Cause::SpoolFull => spool,
            Cause::NodeDropped => spool || !self.taken.dropped.is_empty(),
            Cause::NodeRestart => {
                self.taken.dropped.contains(&number)
                    || has(&|fault| matches!(fault, Fault::Liar { .. }))
                    || (self.run.end != Some(End::Delivered) && !self.is_promised(number))
            }
            Cause::Network => self.node.udp,
            // A node keeps what is not stored, as long as it has room for it.
            Cause::BeforeEpoch => !is_stored && (spool || self.node.udp || self.plan.has(Fault::is_of_disk)),
            Cause::ArchiveLag => self.plan.topic_bytes < 1024 * 1024,
            Cause::DiskFull => has(&|fault| matches!(fault, Fault::FullDisk { node: None, .. })),
            Cause::DiskError => has(&|fault| matches!(fault, Fault::FailingSyncs { .. })),
            _ => false,
        }
    }
}

/// Violations: how many samples, and the first.
#[derive(Default)]
struct Wrong(BTreeMap<String, (u64, u64)>);

impl Wrong {
    fn note(&mut self, what: &str, number: u64) {
        let (count, first) = self.0.entry(what.into()).or_insert((0, number));
        (*count, *first) = (*count + 1, number.min(*first));
    }

    fn add(&mut self, what: &str, count: u64) {
        if count > 0 {
            self.0.entry(what.into()).or_insert((0, 0)).0 += count;
        }
    }
}
