//! The copy of one segment.

use crate::{
    destination::{Destination, DestinationError, MAX_TEXT_BYTES, PutOrder, PutOutcome},
    gap_report,
    hour_objects::{FinishedObject, GrowingObject},
    manifest::{ListedGap, ListedObject, ListedSeries, Manifest},
    object_names,
    segment_ledger::EarlierAttempts,
    series_shares::{HourChoice, SegmentShares, TypeShares, UnreadParts},
    sorted_samples::{SortedSamples, UnreadableBatch},
};
use oasis_format::{Source, WriteError};
use oasis_store::{History, Missing, ReadError, catalogue::Segment};
use oasis_wire::{batch::Sample, quantity::Epoch, schema::ProbeType};
use object_store::path::Path;
use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::Arc,
};
use uuid::Uuid;

/// Samples between two checks for a request to stop.
const STOP_CHECK_SAMPLES: u64 = 4_096;
/// Most batches that cannot be decoded and are listed; samples of the others are counted.
const MAX_UNREADABLE: usize = 10_000;

/// Errors of a copy.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The handler stops.
    #[error("stopped")]
    Stopped,
    /// The catalogue.
    #[error("segments cannot be listed: {0}")]
    Listing(ReadError),
    /// The destination cannot be opened.
    #[error("cannot use offload.url: {0}")]
    Unusable(DestinationError),
    /// The archive.
    #[error("segment {0} cannot be read: {1}")]
    Archive(u64, ReadError),
    /// An object cannot be encoded.
    #[error("segment {0} cannot be encoded: {1}")]
    Encode(u64, WriteError),
    /// The destination.
    #[error(transparent)]
    Destination(#[from] DestinationError),
    /// The manifest.
    #[error("a manifest cannot be encoded: {0}")]
    Manifest(#[from] serde_json::Error),
}

impl CopyError {
    /// Whether others can be copied nevertheless.
    pub fn is_of_segment(&self) -> bool {
        match self {
            Self::Archive(..) | Self::Encode(..) | Self::Manifest(_) => true,
            Self::Destination(error) => matches!(error, DestinationError::TooLong(..)),
            Self::Stopped | Self::Listing(_) | Self::Unusable(_) => false,
        }
    }
}

/// The outcome of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyOutcome {
    /// All of the segment is safe.
    Complete(CopiedSegment),
    /// The segment is of the epoch of an import that is not complete.
    Importing,
    /// Retention has evicted it: nothing is listed.
    Evicted,
}

/// A segment that is safe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopiedSegment {
    /// Samples in its objects.
    pub samples: u64,
    /// Its objects.
    pub objects: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Objects of an interrupted attempt that were replaced or removed.
    pub replaced: u64,
    /// Samples that no object has.
    pub left_out: u64,
    /// Whether it was there already.
    pub is_found: bool,
}

/// Copies one segment.
pub struct SegmentCopy<'a> {
    history: &'a History,
    destination: &'a mut Destination,
    is_stopping: &'a dyn Fn() -> bool,
    unread: UnreadParts,
    name: String,
    manifest: Manifest,
    /// Samples by instance, run and type.
    by_series: BTreeMap<SeriesKey, u64>,
    /// Numbers of the next objects, by partition.
    parts: BTreeMap<String, u32>,
    /// An earlier attempt has put objects.
    is_resumed: bool,
    replaced: u64,
    unreadable: BTreeMap<(Arc<str>, Arc<str>, Uuid, u64), UnreadableBatch>,
}

type SeriesKey = (Arc<str>, Arc<str>, Uuid, String);

impl<'a> SegmentCopy<'a> {
    /// Copies a segment, unless its manifest is there. Any part of it can be repeated.
    ///
    /// # Errors
    /// If it cannot be read or put, or the handler stops.
    pub fn copy(
        history: &'a History,
        destination: &'a mut Destination,
        is_stopping: &'a dyn Fn() -> bool,
        (segment, earlier): (&Segment, EarlierAttempts),
        importing: Option<Epoch>,
    ) -> Result<CopyOutcome, CopyError> {
        let unread = |error| CopyError::Archive(segment.number, error);
        let is_listed =
            || history.0.catalogue().is_listed(segment.number).map_err(|error| unread(error.into()));
        let Some(epoch) = epoch_of(history, segment.number).map_err(unread)? else {
            let empty = CopiedSegment { is_found: true, ..CopiedSegment::default() };
            return Ok(if is_listed()? { CopyOutcome::Complete(empty) } else { CopyOutcome::Evicted });
        };
        if importing == Some(epoch) {
            return Ok(CopyOutcome::Importing);
        }
        let name = object_names::segment_name(epoch, segment.number);
        let path = object_names::manifest(&name).map_err(DestinationError::from)?;
        let known = destination.read(&path)?;
        if let Some(manifest) = known.and_then(|text| Manifest::parse(&text, epoch, segment.number)) {
            return Ok(CopyOutcome::Complete(CopiedSegment { is_found: true, ..summary(&manifest) }));
        }
        let shares = SegmentShares::read(history, segment.number, earlier.unread).map_err(unread)?;
        let mut copy = Self {
            history,
            destination,
            is_stopping,
            name,
            manifest: Manifest::new(epoch, segment.number, segment.sealed.0),
            by_series: BTreeMap::new(),
            parts: BTreeMap::new(),
            unread: earlier.unread,
            is_resumed: earlier.has_failed,
            replaced: 0,
            unreadable: BTreeMap::new(),
        };
        for of_type in &shares.types {
            copy.copy_type(of_type)?;
        }
        copy.add_series(&shares);
        copy.add_gaps(&shares)?;
        copy.remove_leftovers()?;
        let text = serde_json::to_vec(&copy.manifest)?;
        // A later start reads it again.
        if text.len() as u64 > MAX_TEXT_BYTES {
            return Err(DestinationError::TooLong(path, text.len() as u64).into());
        }
        // Only a part of an evicted segment may have been read.
        if !is_listed()? {
            return Ok(CopyOutcome::Evicted);
        }
        let (outcome, _) = copy.destination.put(&path, text, PutOrder::PutFirst)?;
        copy.replaced += u64::from(outcome == PutOutcome::Replaced);
        Ok(CopyOutcome::Complete(CopiedSegment { replaced: copy.replaced, ..summary(&copy.manifest) }))
    }

    fn copy_type(&mut self, of_type: &TypeShares) -> Result<(), CopyError> {
        for choice in of_type.hours(self.history, self.unread).map_err(|error| self.cannot_read(error))? {
            self.copy_hour(of_type, &choice)?;
        }
        Ok(())
    }

    fn copy_hour(&mut self, of_type: &TypeShares, choice: &HourChoice) -> Result<(), CopyError> {
        let mut growing: Option<GrowingObject> = None;
        // Names of the instances in the object that grows, in order.
        let mut instances = Vec::new();
        let mut count = 0_u64;
        let mut run_of = SampleCount::default();
        for (names, shares) in &of_type.instances {
            let mut samples = SortedSamples::new(self.history, shares, choice, self.unread);
            while let Some((source, state, sample)) =
                samples.next().map_err(|error| self.cannot_read(error))?
            {
                count += 1;
                if count.is_multiple_of(STOP_CHECK_SAMPLES) && (self.is_stopping)() {
                    return Err(CopyError::Stopped);
                }
                if let Some(full) = growing.take_if(|object| object.is_before(&source, &sample)) {
                    let names = mem::take(&mut instances);
                    self.put(of_type, choice, full, names.len())?;
                }
                self.push(&mut growing, &source, (state, &sample))?;
                if instances.last() != Some(&names) {
                    instances.push(names);
                }
                run_of.push(&source, &mut self.by_series);
            }
            run_of.finish(&mut self.by_series);
            self.manifest.samples_beyond_times += samples.beyond_times;
            self.note_unreadable(samples.unreadable);
        }
        match growing {
            Some(last) => self.put(of_type, choice, last, instances.len()),
            None => Ok(()),
        }
    }

    fn push(
        &self,
        growing: &mut Option<GrowingObject>,
        source: &Arc<Source>,
        (state, sample): (u16, &Sample),
    ) -> Result<(), CopyError> {
        let pushed = match growing {
            Some(object) => object.push(source, state, sample),
            None => GrowingObject::begin(&source.probe_type, source, state, sample)
                .map(|object| *growing = Some(object)),
        };
        pushed.map_err(|error| self.unencoded(error))
    }

    /// Puts an object and lists it.
    fn put(
        &mut self,
        of_type: &TypeShares,
        choice: &HourChoice,
        object: GrowingObject,
        instances: usize,
    ) -> Result<(), CopyError> {
        if (self.is_stopping)() {
            return Err(CopyError::Stopped);
        }
        let FinishedObject { bytes, rows, times } = object.finish().map_err(|error| self.unencoded(error))?;
        let probe_type = &of_type.probe_type;
        let partition = object_names::partition(&probe_type.name, choice.hour);
        let part = self.parts.entry(partition.clone()).or_default();
        let path = object_names::object((&partition, &probe_type.name), &self.name, *part)
            .map_err(DestinationError::from)?;
        *part += 1;
        let length = bytes.len() as u64;
        let (outcome, sha256) = self.destination.put(&path, bytes, self.order())?;
        self.is_resumed |= outcome != PutOutcome::Created;
        self.replaced += u64::from(outcome == PutOutcome::Replaced);
        self.manifest.samples += rows;
        self.manifest.objects.push(ListedObject {
            path: path.to_string(),
            bytes: length,
            rows,
            sha256,
            type_name: probe_type.name.clone(),
            uuid: probe_type.uuid,
            type_version: probe_type.version.clone(),
            from_time: times.0,
            to_time: times.1,
            instances: instances as u64,
        });
        Ok(())
    }

    /// Objects of an earlier attempt are not sent again.
    fn order(&self) -> PutOrder {
        if self.is_resumed { PutOrder::LookFirst } else { PutOrder::PutFirst }
    }

    fn note_unreadable(&mut self, batches: Vec<UnreadableBatch>) {
        for batch in batches {
            let source = &batch.source;
            let key = (source.node.clone(), source.instance.clone(), source.run, *batch.numbers.start());
            if self.unreadable.len() < MAX_UNREADABLE || self.unreadable.contains_key(&key) {
                self.unreadable.insert(key, batch);
            } else {
                let samples = (batch.numbers.end() - batch.numbers.start()).saturating_add(1);
                let unlisted = &mut self.manifest.unlisted_gap_samples;
                *unlisted = unlisted.saturating_add(samples);
            }
        }
    }

    fn add_series(&mut self, shares: &SegmentShares) {
        for of_type in &shares.types {
            for share in of_type.instances.values().flatten() {
                let series = &share.extent.series;
                let type_name = of_type.probe_type.name.clone();
                let (node, instance, run) = (series.node.clone(), series.instance.clone(), series.run);
                let key = (node, instance, run, type_key(&series.probe_type));
                let samples = self.by_series.get(&key).copied().unwrap_or_default();
                let (node, instance, run, _) = key;
                let to_sequence = share.extent.last_sequence;
                let listed = ListedSeries { node, instance, run, type_name, samples, to_sequence };
                self.manifest.add_series(listed);
            }
        }
    }

    /// Lists what is missing, by instance.
    fn add_gaps(&mut self, shares: &SegmentShares) -> Result<(), CopyError> {
        let mut done = BTreeSet::new();
        for of_type in &shares.types {
            for names in of_type.instances.keys() {
                if !done.insert(names) {
                    continue;
                }
                // An instance can have several types in a segment.
                let of_instance = shares.types.iter().filter_map(|of_type| of_type.instances.get(names));
                let extents: Vec<_> = of_instance.flatten().map(|share| &share.extent).collect();
                let of_names = (&*names.0, &*names.1);
                let found = gap_report::missing_in(self.history, self.is_stopping, of_names, &extents);
                let found = found.map_err(|error| self.cannot_read(error))?;
                for missing in found.ok_or(CopyError::Stopped)? {
                    self.manifest.add_gap(ListedGap::new((&names.0, &names.1), missing));
                }
            }
        }
        for UnreadableBatch { source, numbers, cause } in mem::take(&mut self.unreadable).into_values() {
            let count = (numbers.end() - numbers.start()).saturating_add(1);
            let missing = Missing { run: source.run, count, cause, numbers: Some(numbers) };
            self.manifest.add_gap(ListedGap::new((&source.node, &source.instance), missing));
        }
        Ok(())
    }

    /// Removes objects of an earlier attempt that this one has not put: another release may cut objects elsewhere.
    fn remove_leftovers(&mut self) -> Result<(), CopyError> {
        if !self.is_resumed {
            return Ok(());
        }
        // Some disks return a name in another case than the one it was put with.
        let own: BTreeSet<String> =
            self.manifest.objects.iter().map(|object| object.path.to_lowercase()).collect();
        for partition in self.parts.keys() {
            let folder = Path::parse(partition).map_err(|error| DestinationError::Store(error.into()))?;
            let start = format!("{}-", self.name);
            let is_kept = |path: &Path| own.contains(&path.as_ref().to_lowercase());
            self.replaced += self.destination.remove_others(&folder, &start, is_kept)?;
        }
        Ok(())
    }

    fn cannot_read(&self, error: ReadError) -> CopyError {
        CopyError::Archive(self.manifest.segment, error)
    }

    fn unencoded(&self, error: WriteError) -> CopyError {
        CopyError::Encode(self.manifest.segment, error)
    }
}

/// Counts samples by series; those of one series follow each other.
#[derive(Debug, Default)]
struct SampleCount {
    source: Option<Arc<Source>>,
    samples: u64,
}

impl SampleCount {
    fn push(&mut self, source: &Arc<Source>, counts: &mut BTreeMap<SeriesKey, u64>) {
        if self.source.as_ref().is_none_or(|last| !Arc::ptr_eq(last, source)) {
            self.finish(counts);
            self.source = Some(source.clone());
        }
        self.samples += 1;
    }

    fn finish(&mut self, counts: &mut BTreeMap<SeriesKey, u64>) {
        let Some(source) = self.source.take() else { return };
        let (node, instance) = (source.node.clone(), source.instance.clone());
        let key = (node, instance, source.run, type_key(&source.probe_type));
        *counts.entry(key).or_default() += mem::take(&mut self.samples);
    }
}

/// Returns a text that differs for types of one name.
fn type_key(probe_type: &ProbeType) -> String {
    format!("{} {} {}", probe_type.uuid, probe_type.version, probe_type.name)
}

/// Returns the epoch of a segment; `None` if it has no samples.
fn epoch_of(history: &History, segment: u64) -> Result<Option<Epoch>, ReadError> {
    let Some((node, instance)) = history.0.catalogue().first_instance(segment)? else { return Ok(None) };
    let extents = history.0.catalogue().extents(&node, &instance, segment)?;
    Ok(extents.first().filter(|extent| extent.segment == segment).map(|extent| extent.series.epoch))
}

fn summary(manifest: &Manifest) -> CopiedSegment {
    CopiedSegment {
        samples: manifest.samples,
        objects: manifest.objects.len() as u64,
        bytes: manifest.objects.iter().map(|object| object.bytes).sum(),
        left_out: manifest.samples_beyond_times,
        ..CopiedSegment::default()
    }
}
