//! A round: new samples of all instances, as many as one transaction accepts.

use super::{
    copy::{CopyData, Rows},
    database::{clean, day},
    recent::LruCache,
    refusal::{Refusal, Why},
    source::{ReadResult, Source},
    tables::{Shape, TooWide},
};
use jiff::civil::Date;
use oasis_handler::StoredSamples;
use oasis_history::Batch;
use oasis_store::Series;
use oasis_wire::{
    batch::{self, Header, Sample},
    quantity::{Position, TopicId},
    schema::ProbeType,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Approximate bytes of rows in one transaction.
pub const ROUND_BYTES: usize = 8 * 1024 * 1024;
/// Types whose table shapes are cached.
const MAX_CACHED_TYPES: usize = 256;

/// Rows for one table, with their days.
#[derive(Debug)]
pub struct Load {
    pub shape: Arc<Shape>,
    pub rows: CopyData,
    pub days: BTreeSet<Date>,
}

/// The contents of one transaction.
#[derive(Debug, Default)]
pub struct Round {
    pub loads: Vec<Load>,
    /// Node, instance, and the position after this round.
    pub positions: Vec<(String, String, Position)>,
    /// Positions of the sources before it.
    pub before: Vec<(TopicId, Position)>,
    /// Samples that neither log nor archive has any more.
    pub missing: u64,
    /// Samples that no table accepts.
    pub refusals: Vec<Refusal>,
    pub has_more: bool,
}

impl Round {
    /// Returns the rows of all tables.
    pub fn rows(&self) -> u64 {
        self.loads.iter().map(|load| load.rows.count() as u64).sum()
    }
}

/// A cached type, and the shape of its table.
type CachedType = (Arc<ProbeType>, Result<Arc<Shape>, TooWide>);

/// Collects one round after the other.
#[derive(Debug)]
pub struct Rounds {
    bytes: usize,
    types: LruCache<CachedType>,
    /// The topic that the last round ended with: the next one begins after it.
    last: Option<TopicId>,
}

impl Rounds {
    /// Creates rounds of approximately this many bytes.
    pub fn new(bytes: usize) -> Self {
        Self { bytes, types: LruCache::new(MAX_CACHED_TYPES), last: None }
    }

    /// Reads some of the new samples.
    pub async fn gather(
        &mut self,
        sources: &mut BTreeMap<TopicId, Source>,
        archive: Option<&Arc<dyn StoredSamples>>,
    ) -> Round {
        let (mut round, mut tables, mut bytes) = (Round::default(), Tables::new(), 0);
        for topic in in_turn(sources.keys().copied(), self.last) {
            let Some(source) = sources.get_mut(&topic) else { continue };
            let before = source.position();
            while bytes < self.bytes {
                let at = source.position();
                let found = match source.read(archive).await {
                    Ok(found) => found,
                    Err(error) => {
                        tracing::warn!(%error, "cannot read the archive for PostgreSQL");
                        break;
                    }
                };
                let is_done = found.batches.is_empty() && source.position() == at;
                bytes += self.add(found, &mut tables, &mut round);
                self.last = Some(topic);
                if is_done {
                    break;
                }
            }
            if source.position() != before {
                let (node, name) = (clean(&source.instance.node), clean(&source.instance.name));
                round.before.push((topic, before));
                round.positions.push((node, name, source.position()));
            }
            if bytes >= self.bytes {
                round.has_more = true;
                break;
            }
        }
        let loads = tables.into_values().map(Filling::seal);
        round.loads = loads.filter(|load| load.rows.count() > 0).collect();
        round
    }

    /// Adds samples to their table's load. Returns their bytes.
    fn add(&mut self, found: ReadResult, tables: &mut Tables, round: &mut Round) -> usize {
        round.missing += found.missing;
        let mut bytes = 0;
        for Batch { series, bytes: batch, wanted, .. } in found.batches {
            let samples = wanted.end.0 - wanted.start.0;
            let shape = match self.shape(&series.probe_type) {
                Ok(shape) => shape,
                Err(too_wide) => {
                    round.refusals.push(refusal(&too_wide, samples, &series, &batch));
                    continue;
                }
            };
            let Ok(parsed) = batch::Batch::parse(&batch, &series.probe_type) else {
                round.missing += samples;
                continue;
            };
            let table = tables.entry(shape.description.clone()).or_insert_with(|| Filling::new(shape));
            let is_wanted = |sample: &Sample| (wanted.start.0..wanted.end.0).contains(&sample.offset);
            let samples = parsed.samples().filter(is_wanted);
            bytes += table.add(&series, parsed.header().state, samples, &mut round.refusals);
        }
        bytes
    }

    fn shape(&mut self, probe_type: &Arc<ProbeType>) -> Result<Arc<Shape>, TooWide> {
        let is_it = |(known, _): &CachedType| Arc::ptr_eq(known, probe_type) || **known == **probe_type;
        if let Some((_, shape)) = self.types.find(is_it) {
            return shape.clone();
        }
        let shape = Shape::of(probe_type).map(Arc::new);
        if let Err(too_wide) = &shape {
            tracing::error!(probe_type = %probe_type.name, "PostgreSQL cannot store the probe type: its samples are refused: {too_wide}");
        }
        self.types.put((probe_type.clone(), shape.clone()));
        shape
    }
}

/// Returns the topics, starting after `last`: so one busy topic does not starve the others.
fn in_turn(topics: impl Iterator<Item = TopicId>, last: Option<TopicId>) -> Vec<TopicId> {
    let (before, mut behind): (Vec<_>, Vec<_>) =
        topics.partition(|topic| last.is_some_and(|last| *topic <= last));
    behind.extend(before);
    behind
}

fn refusal(too_wide: &TooWide, samples: u64, series: &Series, batch: &[u8]) -> Refusal {
    let sequence = Header::parse(batch).map_or(0, |header| header.first_sequence);
    let why = Why { code: None, detail: too_wide.to_string() };
    Refusal::new(&oasis_format::table::table_name(&series.probe_type.name), why, samples, (series, sequence))
}

/// Keyed by description.
type Tables = BTreeMap<Arc<str>, Filling>;

/// A load that is being filled.
struct Filling {
    shape: Arc<Shape>,
    rows: Rows,
    days: BTreeSet<Date>,
}

impl Filling {
    fn new(shape: Arc<Shape>) -> Self {
        Self { shape, rows: Rows::default(), days: BTreeSet::new() }
    }

    /// Adds samples. Returns their bytes. Those that no row can contain make one refusal.
    fn add(
        &mut self,
        series: &Arc<Series>,
        state: u16,
        samples: impl Iterator<Item = Sample>,
        refusals: &mut Vec<Refusal>,
    ) -> usize {
        let before = self.rows.len();
        let (mut refused, mut last) = (0, None);
        self.rows.begin(series);
        for sample in samples {
            match self.rows.push(&self.shape, series, state, &sample) {
                Ok(()) => self.days.extend(day(sample.time)),
                Err(beyond) => (refused, last) = (refused + 1, Some((beyond, sample.sequence))),
            }
        }
        if let Some((beyond, sequence)) = last {
            let why = Why { code: None, detail: beyond.to_string() };
            refusals.push(Refusal::new(&self.shape.wanted_name, why, refused, (series, sequence)));
        }
        self.rows.len() - before
    }

    fn seal(self) -> Load {
        Load { shape: self.shape, rows: self.rows.seal(), days: self.days }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_dac::TestDac;
    use super::*;
    use oasis_dac::Signal;

    /// Returns the samples of each of three rounds: instance and number.
    fn rounds(dac: &TestDac, bytes: usize) -> Vec<Vec<(String, usize)>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let signal = Arc::new(Signal::default());
        let instances = dac.dac.registry.instances().into_iter();
        let mut sources: BTreeMap<_, _> = instances
            .map(|instance| (instance.topic, Source::new(instance, None, None, signal.clone())))
            .collect();
        let mut rounds = Rounds::new(bytes);
        let mut round = || {
            let round = runtime.block_on(rounds.gather(&mut sources, None));
            let counts = round.loads.iter().map(|load| load.rows.count());
            let names = round.positions.iter().map(|(_, instance, _)| instance.clone());
            names.zip(counts).collect()
        };
        (0..3).map(|_| round()).collect()
    }

    #[test]
    fn a_topic_that_fills_each_round_does_not_starve_the_others() {
        let mut dac = TestDac::new(&["busy", "other"]);
        // One read returns 64 batches.
        (0..200).for_each(|_| dac.send("busy", 1));
        dac.send("other", 1);
        assert_eq!(
            rounds(&dac, 1),
            [[("busy".into(), 64)], [("other".into(), 1)], [("busy".into(), 64)]].map(|round| round.to_vec())
        );
    }

    #[test]
    fn a_row_has_the_series_of_its_sample() {
        let mut dac = TestDac::new(&["a", "b"]);
        dac.send("a", 3);
        dac.send("b", 2);
        let signal = Arc::new(Signal::default());
        let instances = dac.dac.registry.instances().into_iter();
        let mut sources: BTreeMap<_, _> = instances
            .map(|instance| (instance.topic, Source::new(instance, None, None, signal.clone())))
            .collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let round = runtime.block_on(Rounds::new(ROUND_BYTES).gather(&mut sources, None));
        let [load] = &round.loads[..] else { panic!("{} loads", round.loads.len()) };
        let whose =
            |row| load.rows.sample(row).map(|(series, sequence)| (series.instance.to_string(), sequence));
        let wanted = [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2)];
        for (row, (instance, sequence)) in wanted.into_iter().enumerate() {
            assert_eq!(whose(row), Some((instance.into(), sequence)));
        }
        assert_eq!(whose(5), None);
        // The pieces contain each row once.
        let bytes = |rows| load.rows.pieces(rows)[1].to_vec();
        assert_eq!([bytes(0..2), bytes(2..2), bytes(2..5)].concat(), bytes(0..5));
    }
}
