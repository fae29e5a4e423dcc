//! A group: small batches that follow each other in a series, in one record. It contains one large batch of all their samples, and what else is in
//! their headers, so that each of them can be written again, byte for byte.

use bytes::Bytes;
use oasis_wire::{
    batch::{Batch, Choice, Encoder, Fields, Header, stamp},
    schema::{Metric, MetricType, ProbeType},
    value::{self, Value},
};
use std::{ops::Range, sync::LazyLock};

/// Bytes before the arrivals.
const HEADER_BYTES: usize = 8;

/// A sample for each batch: how many samples it has, its node time from the time of its last sample on, and its DAC time from its node time on.
static ARRIVALS: LazyLock<ProbeType> = LazyLock::new(|| {
    let metric = |name: &str, kind| Metric::new(name.to_owned(), kind);
    ProbeType {
        name: "Arrivals".into(),
        uuid: uuid::Uuid::nil(),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: vec![
            metric("count", MetricType::Uint16),
            metric("encoded", MetricType::Int64),
            metric("arrived", MetricType::Int64),
        ],
    }
});

/// A batch of a segment file, as readers get it.
#[derive(Debug, Clone)]
pub struct StoredBatch {
    /// A native batch. Of a group, all its samples; then DAC time and node time are those of the first batch.
    pub batch: Bytes,
    group: Option<Bytes>,
}

/// Why a group cannot be read although its record is intact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the group does not fit its type")]
pub struct BadGroup;

impl StoredBatch {
    /// A batch as it arrived.
    pub fn as_it_arrived(batch: Bytes) -> Self {
        Self { batch, group: None }
    }

    /// The batches of a group; `None` if the payload is not one.
    pub fn of_group(payload: Bytes) -> Option<Self> {
        let batch = payload.slice(whole(&payload)?);
        Some(Self { batch, group: Some(payload) })
    }

    /// Returns the batches as they arrived, in order.
    ///
    /// # Errors
    /// If it is a group that does not fit this type.
    pub fn arrived(&self, probe_type: &ProbeType) -> Result<Vec<Bytes>, BadGroup> {
        match &self.group {
            None => Ok(vec![self.batch.clone()]),
            Some(payload) => batches(payload, probe_type).ok_or(BadGroup),
        }
    }
}

/// Returns where the large batch is in the payload of a group.
pub fn whole(payload: &[u8]) -> Option<Range<usize>> {
    let length = u32::from_le_bytes(*payload.get(4..HEADER_BYTES)?.first_chunk()?);
    let start = HEADER_BYTES.checked_add(usize::try_from(length).ok()?)?;
    (start < payload.len()).then_some(start..payload.len())
}

/// Writes batches that follow each other as the payload of a group. `None` if reading it would not return the same bytes: another encoder may have made
/// them, or they do not fit the type.
pub fn write(probe_type: &ProbeType, arrived: &[&[u8]]) -> Option<Vec<u8>> {
    [Choice::Smallest, Choice::Plain].into_iter().find_map(|choice| {
        let payload = write_as(choice, probe_type, arrived)?;
        let read = batches(&payload, probe_type)?;
        (read.len() == arrived.len() && read.iter().zip(arrived).all(|(read, arrived)| read == arrived))
            .then_some(payload)
    })
}

fn write_as(choice: Choice, probe_type: &ProbeType, arrived: &[&[u8]]) -> Option<Vec<u8>> {
    let first = Header::parse(arrived.first()?).ok()?;
    let (mut whole, mut arrivals) = (Encoder::new(probe_type).ok()?, Encoder::new(&ARRIVALS).ok()?);
    let mut row = Vec::new();
    for batch in arrived {
        let batch = Batch::parse(batch, probe_type).ok()?;
        for sample in batch.samples() {
            value::write_row(probe_type, &sample.values, &mut row);
            whole.push(sample.time, &row).ok()?;
        }
        let header = batch.header();
        let times = [
            header.node_time.wrapping_sub(*batch.times().last()?),
            header.dac_time.wrapping_sub(header.node_time),
        ];
        let [encoded, arrived] = times.map(|time| Value::Int(time.cast_signed()));
        value::write_row(&ARRIVALS, &[Value::Uint(header.count.into()), encoded, arrived], &mut row);
        arrivals.push(0, &row).ok()?;
    }
    let mut payload = vec![choice as u8, 0, 0, 0, 0, 0, 0, 0];
    arrivals.finish(Fields::default(), &mut payload);
    let length = u32::try_from(payload.len() - HEADER_BYTES).ok()?;
    payload[4..HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
    let Header { topic, state, first_sequence, node_time, dropped_before, .. } = first;
    let mut batch = Vec::new();
    whole.finish(Fields { topic, state, first_sequence, node_time, dropped_before }, &mut batch);
    stamp(&mut batch, first.offset, first.dac_time);
    payload.extend_from_slice(&batch);
    Some(payload)
}

/// Writes the batches of a group again.
fn batches(payload: &[u8], probe_type: &ProbeType) -> Option<Vec<Bytes>> {
    let place = whole(payload)?;
    let choice = match payload.first()? {
        0 => Choice::Smallest,
        1 => Choice::Plain,
        _ => return None,
    };
    let arrivals = Batch::parse(payload.get(HEADER_BYTES..place.start)?, &ARRIVALS).ok()?;
    let whole = Batch::parse(payload.get(place)?, probe_type).ok()?;
    let head = whole.header();
    let mut encoder = Encoder::new(probe_type).ok()?.with_choice(choice);
    let (mut row, mut batches, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    let mut samples = whole.samples();
    let mut seen = 0_u64;
    for at in 0..arrivals.times().len() {
        let (Value::Uint(count), Value::Int(encoded), Value::Int(arrived)) =
            (arrivals.value(0, at)?, arrivals.value(1, at)?, arrivals.value(2, at)?)
        else {
            return None;
        };
        let mut time = 0;
        for _ in 0..count {
            let sample = samples.next()?;
            value::write_row(probe_type, &sample.values, &mut row);
            encoder.push(sample.time, &row).ok()?;
            time = sample.time;
        }
        let node_time = time.wrapping_add(encoded.cast_unsigned());
        let fields = Fields {
            topic: head.topic,
            state: head.state,
            first_sequence: head.first_sequence.wrapping_add(seen),
            node_time,
            dropped_before: if seen == 0 { head.dropped_before } else { 0 },
        };
        let start = batches.len();
        encoder.finish(fields, &mut batches);
        stamp(
            batches.get_mut(start..)?,
            head.offset.wrapping_add(seen),
            node_time.wrapping_add(arrived.cast_unsigned()),
        );
        ends.push(start..batches.len());
        seen += count;
    }
    let all = Bytes::from(batches);
    samples.next().is_none().then(|| ends.into_iter().map(|place| all.slice(place)).collect())
}
