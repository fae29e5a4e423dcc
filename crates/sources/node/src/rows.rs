//! Rows of one type that wait for the next batch.

use crate::{Rejected, SourceLoss};
use oasis_channel::Drops;
use oasis_wire::{
    batch::{Encoder, Fields, MAX_BATCH},
    quantity::TopicId,
    schema::ProbeType,
};
use std::sync::Arc;
use uuid::Uuid;

/// Most bytes of a sample's values.
pub const MAX_SAMPLE_BYTES: usize = 512 * 1024;
/// Most samples of a batch.
const MAX_BATCH_SAMPLES: usize = 4_096;
/// Most bytes of a batch, plain.
const MAX_BATCH_BYTES: usize = MAX_BATCH * 3 / 4;
/// Bytes of an encoder that stay allocated between two batches.
const MAX_IDLE_BYTES: usize = 4_096;

/// The topic and the next number of a series.
#[derive(Debug, Clone, Copy)]
pub struct Registration {
    /// The run of the node.
    pub run: Uuid,
    /// The topic of the instance.
    pub topic: TopicId,
    /// The sequence number of the next sample.
    pub next_sequence: u64,
}

/// A batch, and the number of its samples.
#[derive(Debug)]
pub struct SeriesBatch {
    pub bytes: Vec<u8>,
    pub samples: u64,
}

/// Rows of one type since the last batch.
#[derive(Debug)]
pub struct PendingRows {
    pub probe_type: Arc<ProbeType>,
    encoder: Encoder,
    /// Present once the DAC knows the instance with this type.
    pub registration: Option<Registration>,
    /// Samples that are missing before the next batch.
    missing_before: u32,
    /// Samples that are missing before all batches, by cause.
    pub missing: Drops,
}

impl PendingRows {
    /// Creates it without rows.
    ///
    /// # Errors
    /// If the type is invalid.
    pub fn new(probe_type: Arc<ProbeType>) -> Result<Self, Rejected> {
        let encoder = Encoder::new(&probe_type).map_err(|error| Rejected::Refused(error.to_string()))?;
        Ok(Self { probe_type, encoder, registration: None, missing_before: 0, missing: Drops::default() })
    }

    /// Returns the number of the newest sample of a batch; 0 if there is none.
    pub fn last_sequence(&self) -> u64 {
        self.registration.map_or(0, |registration| registration.next_sequence - 1)
    }

    /// Returns the run and the number of the newest row, sent or not; `None` before the instance is registered.
    pub fn newest(&self) -> Option<(Uuid, u64)> {
        let Registration { run, next_sequence, .. } = self.registration?;
        Some((run, next_sequence.saturating_add(self.encoder.len() as u64).saturating_sub(1)))
    }

    /// Returns whether a row of this length needs another batch than those before it.
    pub fn is_full(&self, row_bytes: usize) -> bool {
        let bytes = self.encoder.most_bytes_with(row_bytes);
        self.encoder.len() >= MAX_BATCH_SAMPLES || (!self.encoder.is_empty() && bytes > MAX_BATCH_BYTES)
    }

    /// Adds a row. Returns whether it is the first one of a batch.
    ///
    /// # Errors
    /// If it is too long, or does not fit the type.
    pub fn push(&mut self, time: u64, row: &[u8]) -> Result<bool, Rejected> {
        check_row(row)?;
        self.encoder.push(time, row).map_err(|error| Rejected::Refused(error.to_string()))?;
        Ok(self.encoder.len() == 1)
    }

    /// Discards the rows since the last batch, whose numbers the next ones get. Returns how many there were.
    pub fn discard(&mut self) -> u64 {
        let count = self.encoder.len() as u64;
        if count > 0
            && let Ok(encoder) = Encoder::new(&self.probe_type)
        {
            self.encoder = encoder;
            return count;
        }
        0
    }

    /// Gives samples that are missing their numbers. Called without rows.
    pub fn skip(&mut self, count: u32, loss: SourceLoss) {
        let Some(registration) = self.registration.as_mut() else { return };
        registration.next_sequence += u64::from(count);
        self.missing_before = self.missing_before.saturating_add(count);
        let by_cause = match loss {
            SourceLoss::Network => &mut self.missing.network,
            SourceLoss::Overrun => &mut self.missing.ring_full,
        };
        *by_cause = by_cause.saturating_add(count.into());
    }

    /// Takes the batch of all samples since the last one; `None` if there are none.
    pub fn take_batch(&mut self, now: u64) -> Option<SeriesBatch> {
        let registration = self.registration.as_mut()?;
        let count = self.encoder.len();
        if count == 0 {
            return None;
        }
        let held = self.encoder.bytes_held();
        let mut batch = Vec::with_capacity(held / 2 + 64);
        let (topic, first_sequence) = (registration.topic.0, registration.next_sequence);
        let fields =
            Fields { topic, state: 0, first_sequence, node_time: now, dropped_before: self.missing_before };
        self.missing_before = 0;
        self.encoder.finish(fields, &mut batch);
        registration.next_sequence += count as u64;
        if held > MAX_IDLE_BYTES
            && let Ok(encoder) = Encoder::new(&self.probe_type)
        {
            self.encoder = encoder;
        }
        Some(SeriesBatch { bytes: batch, samples: count as u64 })
    }
}

/// Checks the length of a row.
pub fn check_row(row: &[u8]) -> Result<(), Rejected> {
    match row.len() {
        bytes if bytes > MAX_SAMPLE_BYTES => Err(Rejected::TooLong { bytes, max: MAX_SAMPLE_BYTES }),
        _ => Ok(()),
    }
}
