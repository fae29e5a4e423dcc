//! Collects the samples of a series into batches.

use super::{
    RecordedSeries,
    bounds::{MAX_HELD, MAX_KEPT, MAX_SAMPLES},
};
use oasis_wire::{
    batch::{Encoder, Fields, MAX_VALUES, RowError},
    schema::InvalidType,
};

/// Errors of adding a sample. `E` is the error of the receiver of batches.
#[derive(Debug)]
pub enum PushError<E> {
    /// A row does not match its type.
    Row(RowError),
    /// The receiver failed.
    Take(E),
}

impl<E> From<RowError> for PushError<E> {
    fn from(error: RowError) -> Self {
        Self::Row(error)
    }
}

/// A sample's time, sequence number and state.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    pub time: u64,
    pub sequence: u64,
    pub state: u16,
}

/// The receiver of batches.
pub type Take<'a, E> = dyn FnMut(&RecordedSeries, &[u8]) -> Result<(), E> + 'a;

#[derive(Debug)]
pub struct Samples {
    pub recorded: RecordedSeries,
    encoder: Encoder,
    most: usize,
    pub last_sequence: u64,
    /// Head of the first collected sample.
    first: Head,
    /// The next sequence number.
    next: Option<u64>,
}

impl Samples {
    /// `last_sequence` is the number before the first one.
    pub fn new(recorded: RecordedSeries, last_sequence: u64) -> Result<Self, InvalidType> {
        let encoder = Encoder::new(&recorded.probe_type)?;
        let most = (MAX_VALUES / (recorded.probe_type.metrics.len() + 1)).clamp(1, MAX_SAMPLES);
        let first = Head { time: 0, sequence: 0, state: 0 };
        Ok(Self { recorded, encoder, most, last_sequence, first, next: None })
    }

    /// Restores a sequence number from its last 32 bits: the nearest to the one before.
    #[cfg(feature = "mcap")]
    pub fn number(&self, low: u32) -> u64 {
        let ahead = low.wrapping_sub(self.last_sequence as u32) as i32;
        self.last_sequence.wrapping_add_signed(ahead.into())
    }

    /// Adds a row. Returns the number of completed batches.
    pub fn push<E>(&mut self, head: Head, row: &[u8], take: &mut Take<'_, E>) -> Result<usize, PushError<E>> {
        let is_full = self.encoder.len() >= self.most || self.held() + row.len() > MAX_HELD;
        let goes_on = self.next == Some(head.sequence) && head.state == self.first.state;
        let ended = if is_full || !goes_on { self.end_batch(take)? } else { 0 };
        if self.encoder.is_empty() {
            self.first = head;
        }
        self.encoder.push(head.time, row)?;
        self.next = head.sequence.checked_add(1);
        Ok(ended)
    }

    /// Collected bytes.
    pub fn held(&self) -> usize {
        self.encoder.bytes_held()
    }

    /// Completes a batch of the collected samples. Returns the number of batches.
    pub fn end_batch<E>(&mut self, take: &mut Take<'_, E>) -> Result<usize, PushError<E>> {
        if self.encoder.is_empty() {
            return Ok(0);
        }
        let fields = Fields {
            state: self.first.state,
            first_sequence: self.first.sequence,
            node_time: self.first.time,
            ..Fields::default()
        };
        let (mut batch, held) = (Vec::new(), self.held());
        self.encoder.finish(fields, &mut batch);
        if held > MAX_KEPT
            && let Ok(encoder) = Encoder::new(&self.recorded.probe_type)
        {
            self.encoder = encoder;
        }
        take(&self.recorded, &batch).map_err(PushError::Take)?;
        Ok(1)
    }
}
