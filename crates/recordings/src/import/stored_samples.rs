//! Stored samples of a run, read again to compare them with those of a recording.
//!
//! A recording without a run of its own gets one that is made of its first sample. Two recordings that begin alike then
//! have the same run and the same sequence numbers, and only their samples tell them apart.

use oasis_store::{
    catalogue::Extent,
    index::Entry,
    store::{ReadError, Store},
};
use oasis_wire::{
    batch::{Batch, Sample},
    schema::ProbeType,
    value,
};
use serde_json::Value;
use std::{
    collections::{HashMap, hash_map},
    ops::Range,
    sync::Arc,
};
use uuid::Uuid;

/// The version of UUIDs that are made of a name, here of a first sample (RFC 9562, 5.5).
const NAME_BASED: usize = 5;

/// Returns whether a run was made of the first sample of a recording.
pub fn is_made_of_first_sample(run: Uuid) -> bool {
    run.get_version_num() == NAME_BASED
}

/// Stored samples of an instance by run, as far as they were needed.
#[derive(Debug, Default)]
pub struct StoredSamples {
    runs: HashMap<Uuid, Vec<StoredPart>>,
    /// The batch that was read last: samples of a recording come in order.
    last: Option<(Uuid, usize, Arc<Batch>)>,
}

#[derive(Debug)]
struct StoredPart {
    sequences: Range<u64>,
    extent: Arc<Extent>,
    entry: Entry,
}

impl StoredSamples {
    /// Returns the first of these samples of a batch that is stored with another time or other values. Samples that are
    /// not stored, or cannot be read, count as equal.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn first_different(
        &mut self,
        store: &Arc<Store>,
        (node, instance, run): (&str, &str, Uuid),
        (batch, probe_type): (&Batch, &ProbeType),
    ) -> Result<Option<u64>, ReadError> {
        let parts = match self.runs.entry(run) {
            hash_map::Entry::Occupied(known) => known.into_mut(),
            hash_map::Entry::Vacant(unknown) => unknown.insert(parts(store, node, instance, run)?),
        };
        for sample in batch.samples() {
            let at = parts.partition_point(|part| part.sequences.end <= sample.sequence);
            let Some(part) = parts.get(at).filter(|part| part.sequences.contains(&sample.sequence)) else {
                continue;
            };
            let stored = match &self.last {
                Some((of, place, stored)) if (*of, *place) == (run, at) => stored.clone(),
                _ => {
                    let Some(stored) = part.read(store)? else { continue };
                    let stored = Arc::new(stored);
                    self.last = Some((run, at, stored.clone()));
                    stored
                }
            };
            let index = sample.sequence.wrapping_sub(stored.header().first_sequence);
            let before = usize::try_from(index).ok().and_then(|index| stored.get(index));
            let stored_type = &part.extent.series.probe_type;
            if before.is_some_and(|before| !is_same((&before, stored_type), (&sample, probe_type))) {
                return Ok(Some(sample.sequence));
            }
        }
        Ok(None)
    }
}

impl StoredPart {
    fn read(&self, store: &Store) -> Result<Option<Batch>, ReadError> {
        let read = store.batches(&self.extent, &[self.entry])?;
        let stored = read.into_iter().filter_map(Result::ok).next();
        Ok(stored
            .and_then(|stored| Batch::parse_oversized(&stored.batch, &self.extent.series.probe_type).ok()))
    }
}

/// Lists the batches of a run in the order of their sequence numbers.
fn parts(store: &Arc<Store>, node: &str, instance: &str, run: Uuid) -> Result<Vec<StoredPart>, ReadError> {
    let mut parts = Vec::new();
    for extent in store.extents(node, instance, 0)? {
        if extent.series.run != run {
            continue;
        }
        let extent = Arc::new(extent);
        for entry in store.entries(&extent, extent.first, usize::MAX)? {
            let end = entry.last_sequence.saturating_add(1);
            let sequences = end.saturating_sub(entry.count.into())..end;
            parts.push(StoredPart { sequences, extent: extent.clone(), entry });
        }
    }
    parts.sort_by_key(|part| part.sequences.start);
    Ok(parts)
}

/// Returns whether two samples have the same time and, in the metrics of both, the same values. A column that has got
/// another type since then still has the values that it had.
fn is_same((a, type_a): (&Sample, &ProbeType), (b, type_b): (&Sample, &ProbeType)) -> bool {
    if a.time != b.time {
        return false;
    }
    if type_a == type_b {
        return row(a, type_a) == row(b, type_b);
    }
    let (a, b) = (value::to_json(type_a, &a.values), value::to_json(type_b, &b.values));
    a.iter().all(|(name, value)| b.get(name).is_none_or(|other| is_same_value(value, other)))
}

fn row(sample: &Sample, probe_type: &ProbeType) -> Vec<u8> {
    let mut row = Vec::new();
    value::write_row(probe_type, &sample.values, &mut row);
    row
}

fn is_same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::String(text), Value::Number(number)) | (Value::Number(number), Value::String(text)) => {
            text.trim().parse::<f64>().ok() == number.as_f64()
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_number_stays_the_same_as_another_type() {
        let same = [(json!(5), json!(5.0)), (json!("5"), json!(5)), (json!(null), json!(null))];
        assert!(same.iter().all(|(a, b)| is_same_value(a, b)));
        let different = [(json!(5), json!(6)), (json!("a"), json!(5)), (json!(null), json!(0))];
        assert!(different.iter().all(|(a, b)| !is_same_value(a, b)));
    }
}
