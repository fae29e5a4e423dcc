//! The series of a sealed segment, by probe type.

use crate::sorted_samples::{HOUR, MAX_TIME};
use oasis_store::{History, ReadError, StoredBatch, catalogue::Extent, index::Entry, store::Unread};
use oasis_wire::{batch, quantity::Epoch, schema::ProbeType};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Most hours of a probe type in a segment. Samples of later ones are in the hour of 1970-01-01, with their own times.
pub const MAX_HOURS: usize = 200;

/// Policy for files, or parts of them, that the disk does not return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadParts {
    /// An error: another attempt may succeed.
    Fail,
    /// They are gaps.
    Skip,
}

/// The share of a series, with its batches in order.
#[derive(Debug)]
pub struct SeriesShare {
    /// The share.
    pub extent: Extent,
    /// Its batches and groups.
    pub entries: Vec<Entry>,
}

/// All of a probe type in a segment.
#[derive(Debug)]
pub struct TypeShares {
    /// The type.
    pub probe_type: Arc<ProbeType>,
    /// Its series, by names of node and instance.
    pub instances: BTreeMap<(Arc<str>, Arc<str>), Vec<SeriesShare>>,
}

/// The content of a sealed segment.
#[derive(Debug, Default)]
pub struct SegmentShares {
    /// The epoch of its samples; `None` if it has none.
    pub epoch: Option<Epoch>,
    /// By probe type.
    pub types: Vec<TypeShares>,
}

/// Samples of a probe type that become objects of one hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HourChoice {
    /// The hour, since 1970.
    pub hour: u64,
    /// All hours of the type: the one of 1970-01-01 takes those of others too.
    pub hours: Arc<BTreeSet<u64>>,
}

impl HourChoice {
    /// Whether samples of this time are chosen.
    pub fn has(&self, time: u64) -> bool {
        let hour = time / HOUR;
        hour == self.hour || (self.hour == 0 && !self.hours.contains(&hour))
    }

    /// Whether a batch may have a chosen sample.
    pub fn overlaps(&self, entry: &Entry) -> bool {
        let (least, greatest) = (entry.min_time / HOUR, entry.max_time / HOUR);
        (least..=greatest).contains(&self.hour)
            || (self.hour == 0 && !(least == greatest && self.hours.contains(&least)))
    }
}

impl SegmentShares {
    /// Lists the content of a sealed segment. A file that cannot be read has no batches if such parts are skipped.
    ///
    /// # Errors
    /// If catalogue or file cannot be read.
    pub fn read(history: &History, segment: u64, unread: UnreadParts) -> Result<Self, ReadError> {
        let shares = history.0.catalogue().shares(segment)?;
        let names: BTreeSet<_> = shares.into_iter().map(|share| (share.node, share.instance)).collect();
        let mut found = Self::default();
        for (node, instance) in names {
            let extents = history.0.catalogue().extents(&node, &instance, segment)?;
            for extent in extents.into_iter().take_while(|extent| extent.segment == segment) {
                let entries = match history.0.entries_and_lost(&extent) {
                    Err(ReadError::Io(_)) if unread == UnreadParts::Skip => Vec::new(),
                    found => found?.0,
                };
                found.epoch.get_or_insert(extent.series.epoch);
                let of_type = found.of_type(&extent.series.probe_type);
                let of_instance = of_type.instances.entry((node.clone(), instance.clone())).or_default();
                of_instance.push(SeriesShare { extent, entries });
            }
        }
        Ok(found)
    }

    fn of_type(&mut self, probe_type: &Arc<ProbeType>) -> &mut TypeShares {
        let known = self.types.iter().position(|of| of.probe_type == *probe_type);
        let at = known.unwrap_or_else(|| {
            self.types.push(TypeShares { probe_type: probe_type.clone(), instances: BTreeMap::new() });
            self.types.len() - 1
        });
        &mut self.types[at]
    }
}

impl TypeShares {
    /// Returns the hours of all samples, in order.
    ///
    /// # Errors
    /// If the file cannot be read, and such parts are not skipped.
    pub fn hours(&self, history: &History, unread: UnreadParts) -> Result<Vec<HourChoice>, ReadError> {
        let mut hours = BTreeSet::new();
        for share in self.instances.values().flatten() {
            for entry in &share.entries {
                let (least, greatest) = (entry.min_time / HOUR, entry.max_time / HOUR);
                if least == greatest {
                    add_hour(&mut hours, least);
                    continue;
                }
                // The samples of a batch over several hours may have none of most of them.
                for (_, batch) in batches(history, share, std::slice::from_ref(entry), unread)? {
                    // Later, they are read again and listed as a gap.
                    let times = batch::times(&batch.batch).unwrap_or(vec![entry.min_time, entry.max_time]);
                    times.into_iter().for_each(|time| add_hour(&mut hours, time / HOUR));
                }
            }
        }
        let hours = Arc::new(hours);
        Ok(hours.iter().map(|hour| HourChoice { hour: *hour, hours: hours.clone() }).collect())
    }
}

/// Reads batches and groups of a share, without damaged ones: the report of gaps has them.
///
/// # Errors
/// If the file cannot be read, and such parts are not skipped.
pub fn batches(
    history: &History,
    share: &SeriesShare,
    entries: &[Entry],
    unread: UnreadParts,
) -> Result<Vec<(Entry, StoredBatch)>, ReadError> {
    let found = match history.0.batches(&share.extent, entries) {
        Err(ReadError::Io(_)) if unread == UnreadParts::Skip => return Ok(Vec::new()),
        found => found?,
    };
    let mut batches = Vec::with_capacity(found.len());
    for (entry, batch) in entries.iter().zip(found) {
        match batch {
            Ok(batch) => batches.push((*entry, batch)),
            Err(Unread::Disk(error)) if unread == UnreadParts::Fail => return Err(ReadError::Io(error)),
            Err(_) => {}
        }
    }
    Ok(batches)
}

fn add_hour(hours: &mut BTreeSet<u64>, hour: u64) {
    // No object can have later times: the choice of 1970-01-01 counts them.
    let is_kept = hours.len() < MAX_HOURS && hour <= MAX_TIME / HOUR;
    if !hours.contains(&hour) {
        hours.insert(if is_kept { hour } else { 0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::quantity::Offset;

    #[test]
    fn beyond_the_most_hours_samples_are_in_the_first_one_once() {
        let mut hours = BTreeSet::new();
        (1..=1_000).for_each(|hour| add_hour(&mut hours, hour * 7));
        assert_eq!(hours.len(), MAX_HOURS + 1);
        let hours = Arc::new(hours);
        let choices: Vec<_> =
            hours.iter().map(|hour| HourChoice { hour: *hour, hours: hours.clone() }).collect();
        for time in (0..8_000).map(|hour| hour * HOUR + 5).chain([u64::MAX]) {
            let chosen: Vec<_> = choices.iter().filter(|choice| choice.has(time)).collect();
            assert_eq!(chosen.len(), 1, "{time}");
            let least = Entry {
                position: 0,
                first: Offset(0),
                count: 1,
                min_time: time,
                max_time: time,
                last_sequence: 1,
            };
            assert!(chosen[0].overlaps(&least));
            assert!(chosen[0].overlaps(&Entry { min_time: 0, max_time: u64::MAX, ..least }));
        }
    }
}
