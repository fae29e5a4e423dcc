//! Reads the copies of all partitions into an archive: each sample once, by run and sequence number.

use super::continued::{RunKey, RunNumbers};
use anyhow::Context;
use oasis_nats::{Connection, Copied, Copies, Copy, Lost, PARTITIONS, Sorter, Target};
use oasis_recordings::import::{Import, ImportTotals, KnownSequences};
use oasis_store::{ArchiveConfig, History, Series, WritableStore};
use oasis_wire::{batch::Header, loss::Cause, quantity::Epoch, schema::ProbeType};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
    time::Duration,
};
use uuid::Uuid;

/// Bytes of copies that are sorted at once: those of an instance that came out of order by more are stored out of order.
const MAX_SORTED_BYTES: usize = 128 * 1024 * 1024;
/// Memory of a copy besides its batch.
const COPY_OVERHEAD_BYTES: usize = 512;
/// Losses that only say that another DAC has the samples.
const MAX_ELSEWHERE_LOSSES: usize = 100_000;
/// Longest catch-up: meanwhile the DAC accepts no connection.
const MAX_CATCH_UP_TIME: Duration = Duration::from_secs(60);

/// The totals of an import.
#[derive(Debug, Clone, Default)]
pub struct ImportResult {
    pub totals: ImportTotals,
    /// Messages that were read.
    pub copies: u64,
    /// Messages that are no copies, and why the last one is none.
    pub unreadable: u64,
    pub why_unreadable: String,
    /// Samples of copies after a hole that the node may still fill.
    pub after_holes: u64,
}

/// Imports all copies; `name` maps the names of nodes.
pub async fn import(
    target: &Target,
    archive: ArchiveConfig,
    name: impl Fn(&str) -> Arc<str>,
) -> anyhow::Result<ImportResult> {
    let connection = Connection::open(target, "oasis-import").await?;
    let mut filling = Filling::new(Import::begin(oasis_store::open(archive)?)?, None);
    for partition in 0..PARTITIONS {
        filling.add_partition(&connection, partition, &name).await?;
    }
    filling.finish()
}

/// Fills an archive, which no DAC has open yet, with copies of instances that it has: what this DAC had copied and not stored when it died, and what other DACs
/// received while the node was there. An error leaves the archive as it is, and is no reason not to start.
pub async fn catch_up(target: &Target, archive: &ArchiveConfig) {
    let caught = tokio::time::timeout(MAX_CATCH_UP_TIME, caught_up(target, archive)).await;
    match caught {
        Ok(Ok(ImportResult { totals, after_holes, unreadable, .. })) => {
            let ImportTotals { samples, known, causes, .. } = totals;
            tracing::info!(
                samples,
                known,
                causes,
                after_holes,
                unreadable,
                "the archive has caught up from NATS"
            );
        }
        Ok(Err(error)) => tracing::warn!("the archive has not caught up from NATS: {error:#}"),
        Err(_) => {
            let seconds = MAX_CATCH_UP_TIME.as_secs();
            tracing::warn!(
                seconds,
                "the archive has not caught up from NATS in time: oasis import --nats reads all"
            );
        }
    }
}

async fn caught_up(target: &Target, archive: &ArchiveConfig) -> anyhow::Result<ImportResult> {
    let opened = oasis_store::open(archive.clone())?;
    let instances = instances_of(&opened)?;
    if instances.is_empty() {
        return Ok(ImportResult::default());
    }
    let connection = Connection::open(target, "oasis-catch-up").await?;
    let continued = continued(&connection, &opened, &instances).await?;
    let mut filling = Filling::new(Import::begin(opened)?, Some(continued));
    for partition in 0..PARTITIONS {
        filling.add_partition(&connection, partition, |node| node.into()).await?;
    }
    filling.finish()
}

/// Node and instance.
type Names = (Arc<str>, Arc<str>);

fn instances_of(opened: &WritableStore) -> anyhow::Result<BTreeSet<Names>> {
    let instances = History(opened.store.clone()).instances()?;
    Ok(instances.into_iter().map(|(node, instance)| (node.into(), instance.into())).collect())
}

/// Checks the numbers of all copies first.
async fn continued(
    connection: &Connection,
    opened: &WritableStore,
    instances: &BTreeSet<Names>,
) -> anyhow::Result<BTreeMap<RunKey, u64>> {
    let mut continued = RunNumbers::default();
    for (node, instance) in instances {
        let of = |run: Uuid| (node.clone(), instance.clone(), run);
        for (run, numbers) in KnownSequences::of(&opened.store, node, instance)?.ranges() {
            continued.store(of(run), numbers);
        }
        for (run, loss) in opened.store.catalogue().losses_of(node, instance)? {
            continued.copy(of(run), *loss.numbers.start()..loss.numbers.end().saturating_add(1));
        }
    }
    for partition in 0..PARTITIONS {
        let Some(mut copies) = Copies::open(connection, partition).await? else { continue };
        while let Some(copied) = copies.next().await? {
            let (Copied::Copy(copy, _) | Copied::Losses(copy)) = copied else { continue };
            let head = &copy.head;
            if !instances.contains(&(head.node.clone(), head.instance.clone())) {
                continue;
            }
            let of = || (head.node.clone(), head.instance.clone(), head.run);
            head.lost.iter().for_each(|lost| continued.copy(of(), numbers_of(lost)));
            if let Some(numbers) = numbers(&copy) {
                continued.copy(of(), numbers);
            }
        }
    }
    Ok(continued.ends())
}

fn numbers_of(&Lost(first, last, _): &Lost) -> Range<u64> {
    first..last.saturating_add(1)
}

/// Returns the sequence numbers of the batch.
fn numbers(copy: &Copy) -> Option<Range<u64>> {
    let header = Header::parse(&copy.batch).ok()?;
    Some(header.first_sequence..header.first_sequence.saturating_add(header.count.into()))
}

/// Sorts by instance, run and sequence number.
type Key = (Arc<str>, Arc<str>, Uuid, u64);

/// An archive that is being filled.
struct Filling {
    import: Import,
    /// By run, the number after the last one that is wanted; `None` if all are.
    wanted: Option<BTreeMap<RunKey, u64>>,
    elsewhere: Vec<(Names, Uuid, Lost)>,
    filled: ImportResult,
}

impl Filling {
    fn new(import: Import, wanted: Option<BTreeMap<RunKey, u64>>) -> Self {
        Self { import, wanted, elsewhere: Vec::new(), filled: ImportResult::default() }
    }

    async fn add_partition(
        &mut self,
        connection: &Connection,
        partition: u8,
        name: impl Fn(&str) -> Arc<str>,
    ) -> anyhow::Result<()> {
        let Some(mut copies) = Copies::open(connection, partition).await? else { return Ok(()) };
        let (mut sorter, mut sorted) = (Sorter::<Key, _>::new(MAX_SORTED_BYTES), Vec::new());
        while let Some(copied) = copies.next().await? {
            self.filled.copies += 1;
            let (copy, probe_type) = match copied {
                Copied::Copy(copy, probe_type) => (copy, probe_type),
                Copied::Losses(copy) => {
                    if self.is_wanted(&copy) {
                        self.lose(&copy, &name);
                    }
                    continue;
                }
                Copied::Unreadable(why) => {
                    self.filled.unreadable += 1;
                    self.filled.why_unreadable = why;
                    continue;
                }
            };
            if !self.is_wanted(&copy) {
                continue;
            }
            self.lose(&copy, &name);
            let Some(first) = copy.first_sequence() else { continue };
            let head = &copy.head;
            let key = (head.node.clone(), head.instance.clone(), head.run, first);
            let bytes = copy.batch.len() + COPY_OVERHEAD_BYTES;
            sorter.add(key, (copy, probe_type), bytes, &mut sorted);
            sorted.drain(..).try_for_each(|(copy, probe_type)| self.add(&copy, &probe_type, &name))?;
        }
        sorter.finish().try_for_each(|(copy, probe_type)| self.add(&copy, &probe_type, &name))
    }

    fn is_wanted(&mut self, copy: &Copy) -> bool {
        let Some(wanted) = &self.wanted else { return true };
        let head = &copy.head;
        let end = wanted.get(&(head.node.clone(), head.instance.clone(), head.run));
        let Some(end) = end else { return false };
        match numbers(copy) {
            Some(numbers) if numbers.end > *end => {
                self.filled.after_holes += numbers.end - numbers.start;
                false
            }
            _ => true,
        }
    }

    fn add(
        &mut self,
        copy: &Copy,
        probe_type: &Arc<ProbeType>,
        name: &impl Fn(&str) -> Arc<str>,
    ) -> anyhow::Result<()> {
        let head = &copy.head;
        let series = Series {
            node: name(&head.node),
            instance: head.instance.clone(),
            kind: head.kind,
            run: head.run,
            epoch: Epoch(0),
            probe_type: probe_type.clone(),
        };
        self.import
            .add(&series, &copy.batch)
            .with_context(|| format!("a copy of {}/{}", head.node, head.instance))
    }

    fn lose(&mut self, copy: &Copy, name: &impl Fn(&str) -> Arc<str>) {
        let head = &copy.head;
        for &lost in &head.lost {
            let names = (name(&head.node), head.instance.clone());
            // Another DAC knows more of them.
            if matches!(lost.2, Cause::OtherDac | Cause::BeforeEpoch) {
                if self.elsewhere.len() < MAX_ELSEWHERE_LOSSES {
                    self.elsewhere.push((names, head.run, lost));
                }
                continue;
            }
            self.import.lose(names, head.run, lost.0..=lost.1, lost.2);
        }
    }

    fn finish(mut self) -> anyhow::Result<ImportResult> {
        for (names, run, Lost(first, last, cause)) in std::mem::take(&mut self.elsewhere) {
            self.import.lose(names, run, first..=last, cause);
        }
        Ok(ImportResult { totals: self.import.finish()?, ..self.filled })
    }
}
