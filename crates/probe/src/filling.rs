//! The batch of one instance that is being filled.

use crate::{
    clock::now_ns,
    spool::{Missing, Spooled},
    state::ProbeState,
};
use oasis_wire::batch::{self, Encoder, RowError};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Bytes of rows in one batch at most, so also the longest row.
pub const BATCH_BYTES: usize = 512 * 1024;

/// When a batch is full or old enough to go.
#[derive(Debug, Clone, Copy)]
pub struct Batching {
    /// Samples in one batch at most.
    pub samples: usize,
    /// Bytes of rows in one batch at most, unless a single row has more.
    pub bytes: usize,
    /// How long the first sample waits for others, unless the stream is idle.
    pub linger: Duration,
}

/// One sample, whoever took it.
#[derive(Debug, Clone, Copy)]
pub struct Taken<'a> {
    /// Its number, or none if numbers are given out here.
    pub sequence: Option<u64>,
    /// When it was taken.
    pub time: u64,
    /// The probe's state then.
    pub state: ProbeState,
    /// How many of the samples that are missing before it the flight recorder kept back.
    pub kept_back: u64,
    /// Its packed row.
    pub row: &'a [u8],
}

/// Why a sample cannot be sent.
#[derive(Debug, thiserror::Error)]
enum Misfit {
    #[error(transparent)]
    Row(#[from] RowError),
    #[error("the row has {bytes} bytes, and a batch takes {most}")]
    Long { bytes: usize, most: usize },
}

/// Samples of consecutive numbers and one state.
pub struct Filling {
    /// Index of the instance within the node, and its name for messages.
    instance: (usize, String),
    encoder: Encoder,
    batching: Batching,
    state: ProbeState,
    first_sequence: u64,
    next_sequence: u64,
    before: Missing,
    last_flush: Instant,
    /// The last row did not fit its schema.
    misfit: bool,
}

impl Filling {
    /// An empty batch.
    pub fn new(index: usize, name: String, encoder: Encoder, batching: Batching, now: Instant) -> Self {
        Self {
            instance: (index, name),
            encoder,
            batching,
            state: ProbeState::NORMAL,
            first_sequence: 1,
            next_sequence: 1,
            before: Missing::default(),
            // Long ago: the first sample does not wait.
            last_flush: now.checked_sub(batching.linger).unwrap_or(now),
            misfit: false,
        }
    }

    /// The last number seen or given out.
    pub fn last_sequence(&self) -> u64 {
        self.next_sequence - 1
    }

    /// When what is held has to go, if anything is.
    pub fn due(&self) -> Option<Instant> {
        (!self.encoder.is_empty()).then(|| self.last_flush + self.batching.linger)
    }

    /// How long a sample may wait for others.
    pub fn linger(&self) -> Duration {
        self.batching.linger
    }

    /// Puts one sample in. A hole in the numbers starts a new batch that tells of it, and so does another state.
    pub fn take(&mut self, taken: Taken<'_>, out: &mut Vec<Spooled>) {
        let sequence = taken.sequence.unwrap_or(self.next_sequence);
        let hole = sequence - self.next_sequence;
        if hole > 0 || taken.state != self.state {
            self.flush(out);
            self.miss(hole, taken.kept_back);
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

    fn encode(&mut self, taken: Taken<'_>) -> Result<(), Misfit> {
        if taken.row.len() > BATCH_BYTES {
            return Err(Misfit::Long { bytes: taken.row.len(), most: BATCH_BYTES });
        }
        Ok(self.encoder.push(taken.time, taken.row)?)
    }

    /// A `Sample` implementation, or another language's code, whose row does not fit its own schema: counted, and told once, until one fits
    /// again.
    fn refuse(&mut self, error: &Misfit, out: &mut Vec<Spooled>) {
        if !self.misfit {
            let instance = &self.instance.1;
            tracing::error!(%instance, %error, "samples are dropped, and counted, until one fits");
        }
        self.misfit = true;
        self.flush(out);
        self.before.invalid = self.before.invalid.saturating_add(1);
        self.first_sequence = self.next_sequence;
    }

    /// So many samples are missing before the next batch, some of them because they were kept back.
    fn miss(&mut self, samples: u64, kept_back: u64) {
        let kept_back = kept_back.min(samples);
        self.before.kept_back = self.before.kept_back.saturating_add(kept_back);
        self.before.dropped_ring = self.before.dropped_ring.saturating_add(samples - kept_back);
    }

    /// Sends what is held if it waited long enough, or if the stream is idle: nothing was sent within the linger time.
    pub fn flush_if_due(&mut self, now: Instant, out: &mut Vec<Spooled>) {
        if self.due().is_some_and(|due| now >= due) {
            self.flush(out);
            self.last_flush = now;
        }
    }

    /// Sends what is held.
    pub fn flush(&mut self, out: &mut Vec<Spooled>) {
        let count = self.encoder.len() as u16; // at most batching.samples, which is at most u16::MAX
        if count == 0 {
            return;
        }
        let fields = batch::Fields {
            topic: 0,
            state: self.state.0,
            first_sequence: self.first_sequence,
            node_time: now_ns(),
            // Written anew when the batch is sent: the spool may have dropped others.
            dropped_before: 0,
        };
        let mut bytes = Vec::with_capacity(64 + self.encoder.bytes_held() / 4);
        self.encoder.finish(fields, &mut bytes);
        out.push(Spooled {
            instance: self.instance.0,
            first_sequence: self.first_sequence,
            count,
            before: std::mem::take(&mut self.before),
            bytes: Arc::new(bytes),
        });
        self.first_sequence = self.next_sequence;
    }
}
