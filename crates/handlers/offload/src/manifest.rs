//! The manifest of a segment: its objects, series and gaps, as JSON. It is written when all objects are safe.

use oasis_store::Missing;
use oasis_wire::{loss::Cause, quantity::Epoch};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// The version of the form.
const VERSION: u32 = 1;
/// Most gaps in a manifest; samples of further ones are counted.
pub const MAX_GAPS: usize = 10_000;

/// The manifest of a segment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    version: u32,
    /// The epoch of the DAC.
    pub epoch: Epoch,
    /// The number of the segment in the archive.
    pub segment: u64,
    /// When it was sealed, in nanoseconds since 1970.
    pub sealed: u64,
    /// Samples in the objects.
    pub samples: u64,
    /// The objects.
    pub objects: Vec<ListedObject>,
    /// The series in the objects.
    pub series: Vec<ListedSeries>,
    /// Missing samples.
    pub gaps: Vec<ListedGap>,
    /// Samples of gaps beyond those that are listed.
    pub unlisted_gap_samples: u64,
    /// Samples with times after 2262, which Parquet cannot have. Only the archive has them.
    pub samples_beyond_times: u64,
}

/// An object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedObject {
    /// Its name below the prefix.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Its samples.
    pub rows: u64,
    /// Checksum of its bytes, as hexadecimal digits.
    pub sha256: String,
    /// Name of the probe type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Identifier of the probe type.
    pub uuid: Uuid,
    /// Version of the probe type.
    pub type_version: String,
    /// Least time, in nanoseconds since 1970.
    pub from_time: u64,
    /// Greatest time.
    pub to_time: u64,
    /// Instances.
    pub instances: u64,
}

/// A series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedSeries {
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub instance: Arc<str>,
    /// The run of the sequence numbers.
    pub run: Uuid,
    /// Name of the probe type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Samples in the objects.
    pub samples: u64,
    /// Sequence number of the last one in the segment.
    pub to_sequence: u64,
}

/// Missing samples before or within those of the segment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedGap {
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub instance: Arc<str>,
    /// The run of the sequence numbers.
    pub run: Uuid,
    /// Missing samples.
    pub samples: u64,
    /// The cause.
    pub cause: Cause,
    /// The first sequence number, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_sequence: Option<u64>,
    /// The last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_sequence: Option<u64>,
}

impl ListedGap {
    /// Describes missing samples of an instance.
    pub fn new((node, instance): (&Arc<str>, &Arc<str>), missing: Missing) -> Self {
        let Missing { run, count, cause, numbers } = missing;
        Self {
            node: node.clone(),
            instance: instance.clone(),
            run,
            samples: count,
            cause,
            from_sequence: numbers.as_ref().map(|numbers| *numbers.start()),
            to_sequence: numbers.as_ref().map(|numbers| *numbers.end()),
        }
    }
}

impl Manifest {
    /// Creates the manifest of a segment without objects.
    pub fn new(epoch: Epoch, segment: u64, sealed: u64) -> Self {
        Self {
            version: VERSION,
            epoch,
            segment,
            sealed,
            samples: 0,
            objects: Vec::new(),
            series: Vec::new(),
            gaps: Vec::new(),
            unlisted_gap_samples: 0,
            samples_beyond_times: 0,
        }
    }

    /// Parses a manifest of this segment; `None` if it is none: it was cut, or something else.
    pub fn parse(bytes: &[u8], epoch: Epoch, segment: u64) -> Option<Self> {
        let found: Self = serde_json::from_slice(bytes).ok()?;
        ((found.version, found.epoch, found.segment) == (VERSION, epoch, segment)).then_some(found)
    }

    /// Adds missing samples.
    pub fn add_gap(&mut self, gap: ListedGap) {
        if self.gaps.len() < MAX_GAPS {
            self.gaps.push(gap);
        } else {
            self.unlisted_gap_samples = self.unlisted_gap_samples.saturating_add(gap.samples);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_that_is_cut_or_of_another_segment_is_none() {
        let manifest = Manifest::new(Epoch(7), 3, 5);
        let text = serde_json::to_vec(&manifest).unwrap();
        assert_eq!(Manifest::parse(&text, Epoch(7), 3), Some(manifest));
        assert_eq!(Manifest::parse(&text, Epoch(8), 3), None);
        assert_eq!(Manifest::parse(&text, Epoch(7), 4), None);
        for cut in 0..text.len() {
            assert_eq!(Manifest::parse(&text[..cut], Epoch(7), 3), None);
        }
    }

    #[test]
    fn gaps_are_bounded_and_counted() {
        let mut manifest = Manifest::new(Epoch(7), 3, 5);
        let missing = Missing { run: Uuid::nil(), count: 2, cause: Cause::DiskFull, numbers: Some(4..=5) };
        for _ in 0..MAX_GAPS + 3 {
            manifest.add_gap(ListedGap::new((&"plant".into(), &"pump".into()), missing.clone()));
        }
        assert_eq!((manifest.gaps.len(), manifest.unlisted_gap_samples), (MAX_GAPS, 6));
    }
}
