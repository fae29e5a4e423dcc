//! The DAC as an edge node of Sparkplug B, and its instances as devices.

use crate::{
    missing::Missing,
    topic::{Described, PublishedSample, Topic},
};
use oasis_dac::Instance;
use oasis_format::table::{Cell, ColumnType};
use oasis_mqtt_client::{
    Will,
    sparkplug::{
        MAX_METRICS, NAMESPACE, OutgoingMetric, OutgoingValue, PayloadWriter, REBIRTH, SESSION_NUMBER,
    },
};
use oasis_wire::{
    batch::{Batch, Sample},
    quantity::TopicId,
};
use std::{collections::HashMap, sync::Arc};
use uuid::Uuid;

/// The metric with the rate of a probe, which a host can write.
pub const HERTZ: &str = "Device Control/hertz";
/// The metric that tells whether a probe takes samples, which a host can write.
pub const ENABLED: &str = "Device Control/enabled";
/// Longest unit, in bytes.
const MAX_UNIT_BYTES: usize = 63;

/// The metrics that each device has besides those of its type: name, and number of the type. The position is the alias.
const OWN_METRICS: [(&str, u64); 10] = [
    ("oasis/sequence", UINT64),
    ("oasis/run", STRING),
    ("oasis/time", UINT64),
    ("oasis/state", UINT16),
    ("oasis/missing/samples", UINT64),
    ("oasis/missing/cause", STRING),
    ("oasis/missing/from", UINT64),
    ("oasis/missing/to", UINT64),
    (HERTZ, DOUBLE),
    (ENABLED, BOOLEAN),
];
/// Positions in that list.
const SEQUENCE: u64 = 0;
const RUN: u64 = 1;
const TIME: u64 = 2;
const STATE: u64 = 3;
const MISSING_SAMPLES: u64 = 4;
const MISSING_CAUSE: u64 = 5;
const MISSING_FROM: u64 = 6;
const MISSING_TO: u64 = 7;
const HERTZ_ALIAS: u64 = 8;
const ENABLED_ALIAS: u64 = 9;
/// Aliases before those of the columns.
const OWN_ALIASES: u64 = 16;
/// Bits of an alias within a device.
const ALIAS_BITS: u32 = 16;
/// Numbers of types (6.4.16).
const UINT16: u64 = 6;
const UINT64: u64 = 8;
const DOUBLE: u64 = 10;
const BOOLEAN: u64 = 11;
const STRING: u64 = 12;

/// A message: topic and bytes.
pub type DeviceMessage = (String, Vec<u8>);

/// The edge node, between two connections.
#[derive(Debug)]
pub struct EdgeNode {
    group: String,
    edge: String,
    /// The number of the connection, which birth and death have.
    session: u8,
    /// The sequence number of the next message.
    next: u8,
    births: HashMap<TopicId, DeviceBirth>,
}

/// A device that is alive.
#[derive(Debug)]
struct DeviceBirth {
    described: Arc<Described>,
    /// The run that the host knows.
    run: Option<Uuid>,
}

impl EdgeNode {
    /// Creates an edge node that is not connected.
    pub fn new(group: &str, edge: &str) -> Self {
        Self { group: group.into(), edge: edge.into(), session: 0, next: 0, births: HashMap::new() }
    }

    /// Begins a connection of this number. Returns its death, which the broker publishes once the connection has ended.
    pub fn begin(&mut self, session: u8, now: u64) -> Will {
        (self.session, self.next) = (session, 0);
        self.births.clear();
        let mut payload = PayloadWriter::new(milliseconds(now));
        payload.push(&self.session_number());
        Will { topic: self.topic("NDEATH", None), payload: payload.finish(None) }
    }

    /// Returns the birth of the edge node. All devices are unknown to hosts until their births.
    pub fn birth(&mut self, now: u64) -> DeviceMessage {
        self.next = 0;
        self.births.clear();
        let mut payload = PayloadWriter::new(milliseconds(now));
        payload.push(&self.session_number());
        payload.push(&OutgoingMetric {
            name: Some(REBIRTH),
            timestamp: Some(milliseconds(now)),
            datatype: Some(BOOLEAN),
            value: OutgoingValue::Boolean(false),
            ..OutgoingMetric::default()
        });
        (self.topic("NBIRTH", None), payload.finish(Some(self.take_sequence())))
    }

    /// Returns the topics of commands to the edge node, and to its devices.
    pub fn command_topics(&self) -> [String; 2] {
        [self.topic("NCMD", None), self.topic("DCMD", Some("#"))]
    }

    /// Returns the device of a command; the first is `None` if the topic is none of a command, the second for the edge node itself.
    pub fn commanded<'t>(&self, topic: &'t str) -> Option<Option<&'t str>> {
        if topic == self.topic("NCMD", None) {
            return Some(None);
        }
        topic.strip_prefix(&self.topic("DCMD", Some(""))).map(Some)
    }

    /// Whether hosts know this type of the device.
    pub fn has_born(&self, id: TopicId, described: &Arc<Described>) -> bool {
        self.births.get(&id).is_some_and(|birth| {
            Arc::ptr_eq(&birth.described, described) || birth.described.probe_type == described.probe_type
        })
    }

    /// Whether the device is alive.
    pub fn is_alive(&self, id: TopicId) -> bool {
        self.births.contains_key(&id)
    }

    /// Returns the birth of a device, with the newest sample in the log.
    pub fn device_birth(&mut self, topic: &Topic, described: &Arc<Described>, now: u64) -> DeviceMessage {
        let instance = &*topic.instance;
        let newest = newest_sample(instance, described);
        let run = newest.as_ref().map(|(run, ..)| *run);
        let run_text = run.map(|run| run.to_string());
        let (mut payload, time) = (PayloadWriter::new(milliseconds(now)), milliseconds(now));
        let base = base(instance.topic);
        let state = instance.state();
        for (alias, (name, datatype)) in (0..).zip(OWN_METRICS) {
            let value = match (name, &newest) {
                (HERTZ, _) => match state.hertz {
                    Some(hertz) => OutgoingValue::Double(hertz.get()),
                    // A probe that its program pushes has no rate.
                    None => continue,
                },
                (ENABLED, _) => OutgoingValue::Boolean(state.enabled),
                ("oasis/sequence", Some((_, _, sample))) => OutgoingValue::Long(sample.sequence),
                ("oasis/time", Some((_, _, sample))) => OutgoingValue::Long(sample.time),
                ("oasis/state", Some((_, state, _))) => OutgoingValue::Uint((*state).into()),
                ("oasis/run", _) => run_text.as_deref().map_or(OutgoingValue::Null, OutgoingValue::Text),
                _ => OutgoingValue::Null,
            };
            let (name, alias, datatype) = (Some(name), Some(base + alias), Some(datatype));
            let timestamp = Some(time);
            payload.push(&OutgoingMetric {
                name,
                alias,
                datatype,
                timestamp,
                value,
                ..OutgoingMetric::default()
            });
        }
        let values = newest.as_ref().map_or(&[][..], |(_, _, sample)| &sample.values);
        let time = newest.as_ref().map_or(time, |(_, _, sample)| milliseconds(sample.time));
        for (column, alias) in described.table.columns.iter().zip(base + OWN_ALIASES..) {
            // A type without a sample has no cells.
            let cell = if values.is_empty() { Cell::Nothing } else { column.cell(values) };
            payload.push(&OutgoingMetric {
                name: Some(&column.name),
                alias: Some(alias),
                timestamp: Some(time),
                datatype: Some(datatype(&column.kind)),
                unit: column.unit.as_deref().filter(|unit| unit.len() <= MAX_UNIT_BYTES).unwrap_or_default(),
                value: value(&cell, &column.kind),
                ..OutgoingMetric::default()
            });
        }
        self.births.insert(instance.topic, DeviceBirth { described: described.clone(), run });
        (self.topic("DBIRTH", Some(&topic.name)), payload.finish(Some(self.take_sequence())))
    }

    /// Returns a sample as data. `connected` is when the connection began: earlier samples are of the past.
    pub fn device_data(
        &mut self,
        topic: &Topic,
        published: &PublishedSample,
        connected: u64,
    ) -> DeviceMessage {
        let PublishedSample { run, state, received, described, sample } = published;
        let time = milliseconds(sample.time);
        let base = base(topic.instance.topic);
        let is_historical = *received < connected;
        let mut payload = PayloadWriter::new(time);
        let mut push = |alias: u64, value: OutgoingValue<'_>| {
            let (alias, timestamp) = (Some(base + alias), Some(time));
            payload.push(&OutgoingMetric {
                alias,
                timestamp,
                is_historical,
                value,
                ..OutgoingMetric::default()
            });
        };
        push(SEQUENCE, OutgoingValue::Long(sample.sequence));
        push(TIME, OutgoingValue::Long(sample.time));
        push(STATE, OutgoingValue::Uint((*state).into()));
        if let Some(birth) =
            self.births.get_mut(&topic.instance.topic).filter(|birth| birth.run != Some(*run))
        {
            birth.run = Some(*run);
            push(RUN, OutgoingValue::Text(&run.to_string()));
        }
        let columns = &described.table.columns;
        for ((column, cell), alias) in
            columns.iter().zip(described.table.cells(&sample.values)).zip(OWN_ALIASES..)
        {
            push(alias, value(&cell, &column.kind));
        }
        (self.topic("DDATA", Some(&topic.name)), payload.finish(Some(self.take_sequence())))
    }

    /// Returns a gap as data.
    pub fn device_missing(&mut self, topic: &Topic, missing: &Missing, now: u64) -> DeviceMessage {
        let time = milliseconds(now);
        let base = base(topic.instance.topic);
        let run = missing.run.map(|run| run.to_string());
        let number = |number: Option<u64>| number.map_or(OutgoingValue::Null, OutgoingValue::Long);
        let (first, last) = (missing.numbers.map(|(first, _)| first), missing.numbers.map(|(_, last)| last));
        let mut values = vec![
            (MISSING_SAMPLES, number(missing.samples)),
            (MISSING_CAUSE, OutgoingValue::Text(missing.cause.word())),
            (MISSING_FROM, number(first)),
            (MISSING_TO, number(last)),
        ];
        if let (Some(run), Some(birth)) = (&run, self.births.get_mut(&topic.instance.topic)) {
            birth.run = missing.run;
            values.push((RUN, OutgoingValue::Text(run)));
        }
        self.data(topic, &values, base, time)
    }

    /// Returns rate and state of a probe as data, after a command.
    pub fn device_settings(&mut self, topic: &Topic, now: u64) -> DeviceMessage {
        let state = topic.instance.state();
        let hertz = state.hertz.map(|hertz| (HERTZ_ALIAS, OutgoingValue::Double(hertz.get())));
        let enabled = (ENABLED_ALIAS, OutgoingValue::Boolean(state.enabled));
        let values: Vec<_> = hertz.into_iter().chain([enabled]).collect();
        self.data(topic, &values, base(topic.instance.topic), milliseconds(now))
    }

    fn data(
        &mut self,
        topic: &Topic,
        values: &[(u64, OutgoingValue<'_>)],
        base: u64,
        time: u64,
    ) -> DeviceMessage {
        let mut payload = PayloadWriter::new(time);
        for (alias, value) in values {
            let (alias, timestamp, value) = (Some(base + alias), Some(time), *value);
            payload.push(&OutgoingMetric { alias, timestamp, value, ..OutgoingMetric::default() });
        }
        (self.topic("DDATA", Some(&topic.name)), payload.finish(Some(self.take_sequence())))
    }

    /// Returns the death of a device; `None` if it is not alive.
    pub fn device_death(&mut self, id: TopicId, device: &str, now: u64) -> Option<DeviceMessage> {
        self.births.remove(&id)?;
        let payload = PayloadWriter::new(milliseconds(now)).finish(Some(self.take_sequence()));
        Some((self.topic("DDEATH", Some(device)), payload))
    }

    fn topic(&self, kind: &str, device: Option<&str>) -> String {
        let Self { group, edge, .. } = self;
        match device {
            Some(device) => format!("{NAMESPACE}/{group}/{kind}/{edge}/{device}"),
            None => format!("{NAMESPACE}/{group}/{kind}/{edge}"),
        }
    }

    fn session_number(&self) -> OutgoingMetric<'static> {
        OutgoingMetric {
            name: Some(SESSION_NUMBER),
            datatype: Some(UINT64),
            value: OutgoingValue::Long(self.session.into()),
            ..OutgoingMetric::default()
        }
    }

    fn take_sequence(&mut self) -> u8 {
        let sequence = self.next;
        self.next = sequence.wrapping_add(1);
        sequence
    }
}

/// Whether a device can have all columns of a type.
pub fn fits(described: &Described) -> bool {
    let columns = &described.table.columns;
    let is_own = |name: &str| OWN_METRICS.iter().any(|(own, _)| *own == name);
    columns.len() + OWN_METRICS.len() <= MAX_METRICS && !columns.iter().any(|column| is_own(&column.name))
}

/// The newest sample of a log whose samples have this type, with its run and state.
fn newest_sample(instance: &Instance, described: &Described) -> Option<(Uuid, u16, Sample)> {
    if instance.probe_type != described.probe_type {
        return None;
    }
    let newest = instance.log.newest(&instance.probe_type)?;
    let batch = Batch::parse(newest.batch(), &instance.probe_type).ok()?;
    let state = batch.header().state;
    Some((newest.run(), state, batch.samples().next_back()?))
}

/// Returns the aliases of rate and state of a device.
pub fn control_aliases(topic: TopicId) -> (u64, u64) {
    (base(topic) + HERTZ_ALIAS, base(topic) + ENABLED_ALIAS)
}

/// The alias of the first metric of a device: aliases are unique in an edge node.
fn base(topic: TopicId) -> u64 {
    u64::from(topic.0) << ALIAS_BITS
}

fn milliseconds(nanoseconds: u64) -> u64 {
    nanoseconds / 1_000_000
}

fn datatype(kind: &ColumnType) -> u64 {
    match kind {
        ColumnType::Int(8) => 1,
        ColumnType::Int(16) => 2,
        ColumnType::Int(32) => 3,
        ColumnType::Int(_) => 4,
        ColumnType::Uint(8) => 5,
        ColumnType::Uint(16) => 6,
        ColumnType::Uint(32) => 7,
        ColumnType::Uint(_) => 8,
        ColumnType::Real32 => 9,
        ColumnType::Real64 => 10,
        ColumnType::Boolean => 11,
        ColumnType::Text | ColumnType::Enum(_) | ColumnType::Json(_) => 12,
        // Bytes.
        ColumnType::Blob => 17,
    }
}

/// The value of a cell. Numbers of at most 32 bits have a field of their own in the payload, which readers take from the type.
fn value<'a>(cell: &'a Cell<'_>, kind: &ColumnType) -> OutgoingValue<'a> {
    match (cell, kind) {
        (Cell::Nothing, _) => OutgoingValue::Null,
        (Cell::Int(value), ColumnType::Int(8 | 16 | 32)) => {
            i32::try_from(*value).map_or(OutgoingValue::Null, OutgoingValue::Int)
        }
        (Cell::Int(value), _) => OutgoingValue::Long(value.cast_unsigned()),
        (Cell::Uint(value), ColumnType::Uint(8 | 16 | 32)) => {
            u32::try_from(*value).map_or(OutgoingValue::Null, OutgoingValue::Uint)
        }
        (Cell::Uint(value), _) => OutgoingValue::Long(*value),
        (Cell::Real32(value), _) => OutgoingValue::Float(*value),
        (Cell::Real64(value), _) => OutgoingValue::Double(*value),
        (Cell::Boolean(value), _) => OutgoingValue::Boolean(*value),
        (Cell::Text(text), _) => OutgoingValue::Text(text),
        // A broker keeps each message for its subscribers: a file is null.
        (Cell::Blob(_), _) => OutgoingValue::Null,
    }
}
