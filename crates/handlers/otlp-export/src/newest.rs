//! Collects the newest values of instances that have a new sample since they were sent.

use crate::request::{Batch, Point, SeriesName, number};
use oasis_dac::{Dac, Delivery, DemandGuard, Instance};
use oasis_format::table::{Column, Table};
use oasis_wire::{
    batch::Batch as Samples,
    pattern::matches,
    quantity::{Hertz, TopicId},
    schema::{Behavior, ProbeType},
};
use std::{
    collections::{BTreeSet, HashMap},
    ptr,
    sync::Arc,
};

/// Longest description of a metric, in characters.
const MAX_DESCRIPTION_CHARACTERS: usize = 256;
/// Values of one request.
const MAX_REQUEST_POINTS: usize = 2_000;

/// The instances that are sent, and the last sample of each.
#[derive(Debug)]
pub struct Newest {
    /// The rate that the exporter asks for, as any reader does: without readers, rules send no samples and some probes are slow.
    hertz: Hertz,
    followed: HashMap<TopicId, Followed>,
}

#[derive(Debug)]
struct Followed {
    _demand: DemandGuard,
    /// Offset of the sample that was sent last.
    sent: Option<u64>,
}

/// The columns of a probe type, and the series of each.
struct Columns {
    probe_type: Arc<ProbeType>,
    table: Table,
    names: Vec<SeriesName>,
}

impl Newest {
    /// `interval` is the time between two requests, in seconds.
    pub fn new(interval: u64) -> Self {
        let hertz = (1.0 / interval.max(1) as f64).max(Hertz::MIN);
        Self { hertz: Hertz::new(hertz).unwrap_or(Hertz::ONE), followed: HashMap::new() }
    }

    /// Collects what is new, at most `max_series` values. Returns also how many were beyond that.
    pub fn collect(&mut self, dac: &Dac, patterns: &[String], max_series: usize) -> (Vec<Batch>, u64) {
        let (mut batches, mut left, mut omitted) = (vec![Batch::default()], max_series, 0);
        let mut columns: Option<Columns> = None;
        let mut present = BTreeSet::new();
        for instance in dac.registry.instances().into_iter().filter(|instance| !instance.is_retired()) {
            let name = format!("{}/{}", instance.node, instance.name);
            if !patterns.iter().any(|pattern| matches(pattern, &name)) {
                continue;
            }
            present.insert(instance.topic);
            let demand =
                || Followed { _demand: instance.register_demand(Delivery::MaxHz(self.hertz)), sent: None };
            let sent = self.followed.entry(instance.topic).or_insert_with(demand).sent;
            // Instances of one type often follow one another.
            let known = columns.take().filter(|known| ptr::eq(&*known.probe_type, &*instance.probe_type));
            let of_type = columns.insert(known.unwrap_or_else(|| Columns::new(&instance.probe_type)));
            let Some((sequence, points)) = points_of(&instance, of_type, sent) else { continue };
            if points.len() > left {
                omitted += points.len() as u64;
                continue;
            }
            left -= points.len();
            if batches.last().is_some_and(|last| last.points() as usize + points.len() > MAX_REQUEST_POINTS) {
                batches.push(Batch::default());
            }
            if let Some(batch) = batches.last_mut() {
                batch.add(&instance, sequence, points);
            }
        }
        self.followed.retain(|topic, _| present.contains(topic));
        batches.retain(|batch| batch.points() > 0);
        (batches, omitted)
    }

    /// Marks the samples of a batch as sent.
    pub fn mark(&mut self, batch: &Batch) {
        for (topic, offset) in &batch.sent {
            if let Some(followed) = self.followed.get_mut(topic) {
                followed.sent = Some(*offset);
            }
        }
    }
}

/// Returns the newest sample's number and its values; `None` if it was sent before.
fn points_of(
    instance: &Instance,
    columns: &Columns,
    sent: Option<u64>,
) -> Option<(u64, Vec<(SeriesName, Point)>)> {
    let segment = instance.log.latest()?;
    // A batch with invalid columns has no newest sample; only its header was checked before.
    let batch = Samples::parse(segment.batch(), &instance.probe_type).ok()?;
    let sample = batch.samples().next_back()?;
    if sent == Some(sample.offset) {
        return None;
    }
    let cells = columns.names.iter().zip(columns.table.cells(&sample.values));
    let points = cells.filter_map(|(name, cell)| {
        let point = Point { instance: instance.name.to_string(), time: sample.time, value: number(&cell)? };
        Some((name.clone(), point))
    });
    Some((sample.offset, points.collect()))
}

impl Columns {
    fn new(probe_type: &Arc<ProbeType>) -> Self {
        let table = Table::new(probe_type);
        let names = table.columns.iter().map(|column| series_name(&table.name, column)).collect();
        Self { probe_type: probe_type.clone(), table, names }
    }
}

/// `TABLE.COLUMN`, in the letters that a name of OpenTelemetry may have.
fn series_name(table: &str, column: &Column) -> SeriesName {
    let plain = |letter: char| {
        let is_allowed = letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-' | '/');
        if is_allowed { letter } else { '_' }
    };
    let mut name: String = format!("{table}.{}", column.name).chars().map(plain).collect();
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        name.insert(0, 'x');
    }
    SeriesName {
        name: name.into(),
        unit: column.unit.as_deref().unwrap_or_default().into(),
        doc: column
            .doc
            .as_deref()
            .unwrap_or_default()
            .chars()
            .take(MAX_DESCRIPTION_CHARACTERS)
            .collect::<String>()
            .into(),
        is_counter: column.behavior == Some(Behavior::Counter),
    }
}
