//! The batch of one instance that is being encoded.

use crate::{
    clock::now_ns,
    spool::{Missing, NewBatch},
    state::ProbeState,
};
use oasis_wire::batch::{self, Encoder, RowError};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Most bytes of rows in one batch, so also of one row.
pub const BATCH_BYTES: usize = 512 * 1024;

/// When a batch is complete and must be sent.
#[derive(Debug, Clone, Copy)]
pub struct Batching {
    /// Most samples in one batch.
    pub samples: usize,
    /// Most bytes of rows in one batch, unless a single row is larger.
    pub bytes: usize,
    /// Time that the first sample waits for others, unless the stream is idle.
    pub linger: Duration,
}

/// One sample of any source.
#[derive(Debug, Clone, Copy)]
pub struct NewSample<'a> {
    /// Its sequence number, or none if it is assigned here.
    pub sequence: Option<u64>,
    /// Its time.
    pub time: u64,
    /// The probe's state at that time.
    pub state: ProbeState,
    /// Number of missing samples before it that the flight recorder kept back.
    pub kept_back: u64,
    /// Number of missing samples before it that the node did not take, because it was stopped.
    pub not_taken: u64,
    /// Its packed row; empty if that was too long for its ring.
    pub row: &'a [u8],
    /// The most bytes of a row, if this one had more.
    pub limit: Option<usize>,
}

/// Why a sample cannot be encoded.
#[derive(Debug, thiserror::Error)]
enum SampleError {
    #[error(transparent)]
    Row(#[from] RowError),
    #[error("row too long: at most {0} bytes, cut its texts and vectors or give its probe a larger ring")]
    Long(usize),
    #[error("row too long: {0} bytes, a batch has at most {BATCH_BYTES}")]
    LongerThanBatch(usize),
}

/// Samples with consecutive sequence numbers and one state.
pub struct BatchBuilder {
    /// Index of the instance within the node, and its name for messages.
    instance: (usize, String),
    encoder: Encoder,
    batching: Batching,
    state: ProbeState,
    first_sequence: u64,
    next_sequence: u64,
    before: Missing,
    last_flush: Instant,
    /// Set while rows do not fit their schema.
    misfit: bool,
}

impl BatchBuilder {
    /// Creates an empty batch.
    pub fn new(index: usize, name: String, encoder: Encoder, batching: Batching, now: Instant) -> Self {
        Self {
            instance: (index, name),
            encoder,
            batching,
            state: ProbeState::NORMAL,
            first_sequence: 1,
            next_sequence: 1,
            before: Missing::default(),
            // Long ago, so that the first sample does not wait.
            last_flush: now.checked_sub(batching.linger).unwrap_or(now),
            misfit: false,
        }
    }

    /// Returns the last sequence number seen or assigned.
    pub fn last_sequence(&self) -> u64 {
        self.next_sequence - 1
    }

    /// Returns what is missing after the last batch, up to a number that no sample on its way here has; nothing if samples wait for the next batch.
    pub fn missing_to(&self, taken: u64) -> Missing {
        if !self.encoder.is_empty() {
            return Missing::default();
        }
        let ring_full = self.before.ring_full.saturating_add(taken.saturating_sub(self.last_sequence()));
        Missing { ring_full, ..self.before }
    }

    /// Returns when the samples must be sent, if there are any.
    pub fn due(&self) -> Option<Instant> {
        (!self.encoder.is_empty()).then(|| self.last_flush + self.batching.linger)
    }

    /// Returns how long a sample may wait for others.
    pub fn linger(&self) -> Duration {
        self.batching.linger
    }

    /// Adds a sample. A gap in the sequence numbers starts a new batch that reports it, and so does another state.
    pub fn take(&mut self, taken: NewSample<'_>, out: &mut Vec<NewBatch>) {
        let sequence = taken.sequence.unwrap_or(self.next_sequence + taken.not_taken);
        let hole = sequence - self.next_sequence;
        if hole > 0 || taken.state != self.state {
            self.flush(out);
            self.miss(hole, taken.kept_back, taken.not_taken);
            self.state = taken.state;
        }
        if self.encoder.bytes_held() + taken.row.len() > self.batching.bytes {
            self.flush(out);
        }
        if self.encoder.is_empty() {
            self.first_sequence = sequence;
        }
        self.next_sequence = sequence + 1;
        match self.encode(taken) {
            Ok(()) => self.misfit = false,
            Err(error) => self.refuse(&error, out),
        }
        if self.encoder.len() >= self.batching.samples || self.encoder.bytes_held() >= self.batching.bytes {
            self.flush(out);
        }
    }

    fn encode(&mut self, taken: NewSample<'_>) -> Result<(), SampleError> {
        if taken.row.len() > BATCH_BYTES {
            return Err(SampleError::LongerThanBatch(taken.row.len()));
        }
        if let Some(limit) = taken.limit {
            return Err(SampleError::Long(limit));
        }
        Ok(self.encoder.push(taken.time, taken.row)?)
    }

    /// Drops a row that is too long or does not fit its own schema, because of a faulty `Sample` implementation or foreign code. It
    /// is counted, and logged once until a row fits again.
    fn refuse(&mut self, error: &SampleError, out: &mut Vec<NewBatch>) {
        if !self.misfit {
            let instance = &self.instance.1;
            tracing::error!(%instance, %error, "sample cannot be encoded: samples are dropped and counted until one can");
        }
        self.misfit = true;
        self.flush(out);
        self.before.invalid_row = self.before.invalid_row.saturating_add(1);
        self.first_sequence = self.next_sequence;
    }

    /// Adds to the samples missing before the next batch, some of which the recorder kept back, or the node did not
    /// take.
    fn miss(&mut self, samples: u64, kept_back: u64, not_taken: u64) {
        let not_taken = not_taken.min(samples);
        let kept_back = kept_back.min(samples - not_taken);
        let ring_full = samples - not_taken - kept_back;
        self.before.not_taken = self.before.not_taken.saturating_add(not_taken);
        self.before.kept_back = self.before.kept_back.saturating_add(kept_back);
        self.before.ring_full = self.before.ring_full.saturating_add(ring_full);
    }

    /// Sends the samples if they have waited long enough, or if the stream is idle: nothing was sent within the
    /// linger time.
    pub fn flush_if_due(&mut self, now: Instant, out: &mut Vec<NewBatch>) {
        if self.due().is_some_and(|due| now >= due) {
            self.flush(out);
            self.last_flush = now;
        }
    }

    /// Sends the samples.
    pub fn flush(&mut self, out: &mut Vec<NewBatch>) {
        let count = self.encoder.len() as u16; // at most `batching.samples`, which is at most `u16::MAX`
        if count == 0 {
            return;
        }
        let fields = batch::Fields {
            topic: 0,
            state: self.state.0,
            first_sequence: self.first_sequence,
            node_time: now_ns(),
            // Overwritten when the batch is sent: the spool may have dropped others.
            dropped_before: 0,
        };
        let mut bytes = Vec::with_capacity(64 + self.encoder.bytes_held() / 4);
        self.encoder.finish(fields, &mut bytes);
        out.push(NewBatch {
            instance: self.instance.0,
            first_sequence: self.first_sequence,
            count,
            before: std::mem::take(&mut self.before),
            bytes: Arc::new(bytes),
        });
        self.first_sequence = self.next_sequence;
    }
}
