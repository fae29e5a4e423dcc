//! All series of a file while their samples are collected: numbers them, and bounds the memory of all together.

use super::{
    InputError, Lost, RecordedSeries, TakeBatch,
    bounds::{MAX_BATCHES, MAX_HELD_TOGETHER, MAX_ROW},
    samples::{Head, Samples},
};
use oasis_wire::{loss::Cause, probe_kind::ProbeKind, schema::ProbeType};
use std::sync::Arc;
use uuid::Uuid;

/// The series of a file.
#[derive(Debug, Default)]
pub struct SeriesSet {
    all: Vec<Samples>,
    /// Collected bytes.
    held: usize,
    batches: usize,
}

impl SeriesSet {
    /// Adds a series without samples. `identity` must be the same whenever the file is read, and no other file have it.
    ///
    /// # Errors
    /// If its type exceeds a bound.
    pub fn add(
        &mut self,
        instance: &str,
        probe_type: Arc<ProbeType>,
        identity: &[u8],
    ) -> Result<usize, InputError> {
        self.add_recorded(RecordedSeries {
            node: None,
            instance: instance.into(),
            kind: ProbeKind::Pushed,
            run: Uuid::new_v5(&Uuid::NAMESPACE_OID, &[instance.as_bytes(), &[0], identity].concat()),
            probe_type,
        })
    }

    /// Adds a series with its source.
    ///
    /// # Errors
    /// If its type exceeds a bound.
    pub fn add_recorded(&mut self, recorded: RecordedSeries) -> Result<usize, InputError> {
        self.all.push(Samples::new(recorded, 0)?);
        Ok(self.all.len() - 1)
    }

    /// Adds the next sample of a series.
    ///
    /// # Errors
    /// If the receiver fails, or the file exceeds a bound.
    pub fn push(
        &mut self,
        at: usize,
        time: u64,
        row: &[u8],
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        let last = self.all.get(at).map_or(0, |samples| samples.last_sequence);
        self.push_numbered(at, Head { time, sequence: last.saturating_add(1), state: 0 }, row, take)
    }

    /// Adds a sample with its number.
    ///
    /// # Errors
    /// As [`SeriesSet::push`].
    pub fn push_numbered(
        &mut self,
        at: usize,
        head: Head,
        row: &[u8],
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        if row.len() > MAX_ROW {
            let why = format!("a sample has {} bytes, at most {MAX_ROW} are allowed", row.len());
            return Err(InputError::file(why, "leave long texts and arrays out of the recording"));
        }
        let Some(samples) = self.all.get_mut(at) else { return Ok(()) };
        samples.last_sequence = head.sequence;
        let before = samples.held();
        self.batches += samples.push(head, row, take)?;
        self.held = (self.held + samples.held()).saturating_sub(before);
        if self.held > MAX_HELD_TOGETHER {
            self.finish(take)?;
        }
        if self.batches > MAX_BATCHES {
            let why = format!("the samples need more than {MAX_BATCHES} batches");
            return Err(InputError::file(why, "import a part of the file at a time"));
        }
        Ok(())
    }

    /// Leaves the next numbers of a series out, because the recording lacks their samples.
    pub fn lose(&mut self, at: usize, count: u64, cause: Cause) -> Option<Lost> {
        let samples = self.all.get_mut(at).filter(|_| count > 0)?;
        let first = samples.last_sequence.saturating_add(1);
        samples.last_sequence = samples.last_sequence.saturating_add(count);
        Some(Lost {
            node: samples.recorded.node.as_deref().map(str::to_owned),
            instance: samples.recorded.instance.to_string(),
            run: samples.recorded.run,
            numbers: first..=samples.last_sequence,
            cause,
        })
    }

    /// Completes all batches.
    ///
    /// # Errors
    /// If the receiver fails.
    pub fn finish(&mut self, take: &mut TakeBatch<'_>) -> Result<(), InputError> {
        for samples in &mut self.all {
            self.batches += samples.end_batch(take)?;
        }
        self.held = 0;
        Ok(())
    }
}
