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
/// Most bytes of gaps in a manifest.
const MAX_GAPS_BYTES: usize = 16 << 20;
/// Most bytes of series in a manifest; further ones are counted. Objects, which are always listed, have the rest of the longest text.
const MAX_SERIES_BYTES: usize = 16 << 20;

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
    /// Series beyond those that are listed.
    #[serde(default)]
    pub unlisted_series: u64,
    /// Missing samples.
    pub gaps: Vec<ListedGap>,
    /// Samples of gaps beyond those that are listed.
    pub unlisted_gap_samples: u64,
    /// Samples with times after 2262, which Parquet cannot have. Only the archive has them.
    pub samples_beyond_times: u64,
    /// Bytes of the series that are listed.
    #[serde(skip)]
    series_bytes: usize,
    /// Bytes of the gaps that are listed.
    #[serde(skip)]
    gap_bytes: usize,
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
            unlisted_series: 0,
            gaps: Vec::new(),
            unlisted_gap_samples: 0,
            samples_beyond_times: 0,
            series_bytes: 0,
            gap_bytes: 0,
        }
    }

    /// Parses a manifest of this segment; `None` if it is none: it was cut, or something else.
    pub fn parse(bytes: &[u8], epoch: Epoch, segment: u64) -> Option<Self> {
        let found: Self = serde_json::from_slice(bytes).ok()?;
        ((found.version, found.epoch, found.segment) == (VERSION, epoch, segment)).then_some(found)
    }

    /// Adds a series.
    pub fn add_series(&mut self, series: ListedSeries) {
        let bytes = text_bytes(&series);
        if self.series_bytes.saturating_add(bytes) <= MAX_SERIES_BYTES {
            self.series_bytes += bytes;
            self.series.push(series);
        } else {
            self.unlisted_series += 1;
        }
    }

    /// Adds missing samples.
    pub fn add_gap(&mut self, gap: ListedGap) {
        let bytes = text_bytes(&gap);
        if self.gaps.len() < MAX_GAPS && self.gap_bytes.saturating_add(bytes) <= MAX_GAPS_BYTES {
            self.gap_bytes += bytes;
            self.gaps.push(gap);
        } else {
            self.unlisted_gap_samples = self.unlisted_gap_samples.saturating_add(gap.samples);
        }
    }
}

/// Returns the bytes of an item of a list.
fn text_bytes(item: &impl Serialize) -> usize {
    serde_json::to_vec(item).map_or(usize::MAX, |text| text.len() + 1)
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

    #[test]
    fn a_manifest_with_long_names_can_be_read_again() {
        let mut manifest = Manifest::new(Epoch(7), 3, 5);
        let name: Arc<str> = "\u{1}".repeat(4_000).into();
        let missing = Missing { run: Uuid::nil(), count: 2, cause: Cause::DiskFull, numbers: Some(4..=5) };
        for _ in 0..2_000 {
            manifest.add_series(ListedSeries {
                node: name.clone(),
                instance: name.clone(),
                run: Uuid::nil(),
                type_name: "Tank".into(),
                samples: 1,
                to_sequence: 1,
            });
            manifest.add_gap(ListedGap::new((&name, &name), missing.clone()));
        }
        let listed = (manifest.series.len() as u64, manifest.gaps.len() as u64);
        assert!(listed.0 > 100 && listed.1 > 100, "{listed:?}");
        assert_eq!(
            (manifest.unlisted_series, manifest.unlisted_gap_samples),
            (2_000 - listed.0, 2 * (2_000 - listed.1))
        );
        let text = serde_json::to_vec(&manifest).unwrap();
        assert!(text.len() as u64 <= crate::destination::MAX_TEXT_BYTES / 2 + 1_000, "{}", text.len());
        let again = Manifest::parse(&text, Epoch(7), 3).unwrap();
        assert_eq!((again.series, again.gaps), (manifest.series, manifest.gaps));
    }
}
