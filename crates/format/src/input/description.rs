//! Describes a recording: its series, counts and times.

use super::{RecordedSeries, TakeError};
use oasis_wire::{batch, schema::ProbeType};
use std::{collections::HashMap, sync::Arc};
use uuid::Uuid;

/// The series of a recording.
#[derive(Debug, Default)]
pub struct Description {
    all: Vec<DescribedSeries>,
    places: HashMap<SeriesKey, usize>,
}

/// Node, instance and run.
type SeriesKey = (Option<Arc<str>>, Arc<str>, Uuid);

/// The samples of an instance in a run.
#[derive(Debug, Clone)]
pub struct DescribedSeries {
    /// Node name, if OASIS recorded it.
    pub node: Option<Arc<str>>,
    /// Instance name.
    pub instance: Arc<str>,
    /// Its type.
    pub probe_type: Arc<ProbeType>,
    /// Number of samples.
    pub samples: u64,
    /// Earliest time, nanoseconds since 1970.
    pub first: u64,
    /// Latest time, nanoseconds since 1970.
    pub last: u64,
}

impl Description {
    /// Adds a batch.
    ///
    /// # Errors
    /// If it cannot be decoded.
    pub fn add(&mut self, recorded: &RecordedSeries, bytes: &[u8]) -> Result<(), TakeError> {
        let samples = u64::from(batch::Header::parse(bytes)?.count);
        let (first, last) = batch::time_range(bytes)?;
        let key = (recorded.node.clone(), recorded.instance.clone(), recorded.run);
        let at = *self.places.entry(key).or_insert_with(|| {
            self.all.push(DescribedSeries {
                node: recorded.node.clone(),
                instance: recorded.instance.clone(),
                probe_type: recorded.probe_type.clone(),
                samples: 0,
                first,
                last,
            });
            self.all.len() - 1
        });
        if let Some(of) = self.all.get_mut(at) {
            of.samples += samples;
            of.first = of.first.min(first);
            of.last = of.last.max(last);
        }
        Ok(())
    }

    /// The series in the order of their first batch.
    pub fn series(&self) -> &[DescribedSeries] {
        &self.all
    }
}
