//! A probe instance inside the node: where its samples come from, and the batch that is being filled.

use crate::{clock::now_ns, outbox::Progress, ring::Drain, schedule::Schedule, spool::Spooled};
use oasis_channel::{Command, Failure, InstanceState};
use oasis_wire::{
    batch::{self, Encoder},
    quantity::Hertz,
    value::RowWriter,
};
use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

/// How often rings are looked at: what a pushed sample of an idle stream waits at most.
const LOOK: Duration = Duration::from_millis(2);

/// Something the node calls to get one sample.
pub type SampleFn = Box<dyn FnMut(&mut RowWriter<'_>) -> io::Result<()> + Send>;

/// Where samples come from.
pub enum Source {
    /// The node calls, on a schedule.
    Periodic {
        /// Writes one sample's row.
        sample: SampleFn,
        /// Rate.
        hertz: Hertz,
        /// When next.
        schedule: Schedule,
    },
    /// The application pushes into a ring.
    Pushed(Drain),
}

/// When a batch is full or old enough to go.
#[derive(Debug, Clone, Copy)]
pub struct Batching {
    /// Samples in one batch at most.
    pub samples: usize,
    /// Bytes of rows in one batch at most.
    pub bytes: usize,
    /// How long the first sample waits for others, unless the stream is idle.
    pub linger: Duration,
}

/// One instance, owned by the collector thread.
pub struct Instance {
    /// Index within the node.
    pub index: usize,
    /// Name, for messages.
    pub name: String,
    source: Source,
    enabled: bool,
    encoder: Encoder,
    batching: Batching,
    first_sequence: u64,
    dropped_before: u32,
    next_sequence: u64,
    last_flush: Instant,
    row: Vec<u8>,
    failing: bool,
}

impl Instance {
    /// An instance at its start.
    pub fn new(
        index: usize,
        name: String,
        source: Source,
        encoder: Encoder,
        batching: Batching,
        now: Instant,
    ) -> Self {
        Self {
            index,
            name,
            source,
            enabled: true,
            encoder,
            batching,
            first_sequence: 1,
            dropped_before: 0,
            next_sequence: 1,
            // Long ago: the first sample does not wait.
            last_flush: now.checked_sub(batching.linger).unwrap_or(now),
            row: Vec::new(),
            failing: false,
        }
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let taken = match &self.source {
            Source::Periodic { .. } => self.next_sequence - 1,
            Source::Pushed(drain) => drain.shared.taken().max(self.next_sequence - 1),
        };
        Progress { taken, state: self.state() }
    }

    fn state(&self) -> InstanceState {
        let hertz = match &self.source {
            Source::Periodic { hertz, .. } => Some(*hertz),
            Source::Pushed(_) => None,
        };
        InstanceState { hertz, enabled: self.enabled }
    }

    /// Takes what the application has pushed and sends all that is held: the node is ending.
    pub fn finish(&mut self, out: &mut Vec<Spooled>) {
        self.drain(out);
        self.flush(out);
    }

    /// Takes the samples that are due; full batches go to `out`.
    pub fn collect(&mut self, now: Instant, out: &mut Vec<Spooled>) {
        match &mut self.source {
            Source::Periodic { schedule, .. } => {
                if self.enabled && schedule.due(now) {
                    self.sample(out);
                }
            }
            Source::Pushed(_) => self.drain(out),
        }
    }

    /// Sends what is held if it waited long enough, or if the stream is idle: nothing was sent within the linger time.
    pub fn flush_if_due(&mut self, now: Instant, out: &mut Vec<Spooled>) {
        if !self.encoder.is_empty() && now >= self.last_flush + self.batching.linger {
            self.flush(out);
            self.last_flush = now;
        }
    }

    /// When this instance next wants the collector, if ever.
    pub fn wake_at(&self, now: Instant) -> Option<Instant> {
        let flush = (!self.encoder.is_empty()).then(|| self.last_flush + self.batching.linger);
        let sample = match &self.source {
            Source::Periodic { schedule, .. } => self.enabled.then(|| schedule.next()),
            // The application must not pay for waking us, so we look.
            Source::Pushed(_) => Some(now + LOOK.min(self.batching.linger / 2)),
        };
        flush.into_iter().chain(sample).min()
    }

    fn flush(&mut self, out: &mut Vec<Spooled>) {
        let count = self.encoder.len() as u16; // at most batching.samples, which is at most u16::MAX
        if count == 0 {
            return;
        }
        let fields = batch::Fields {
            topic: 0,
            state: 0,
            first_sequence: self.first_sequence,
            node_time: now_ns(),
            dropped_before: std::mem::take(&mut self.dropped_before),
        };
        let mut bytes = Vec::with_capacity(64 + self.encoder.bytes_held() / 4);
        self.encoder.finish(fields, &mut bytes);
        out.push(Spooled {
            instance: self.index,
            first_sequence: self.first_sequence,
            count,
            dropped_ring: fields.dropped_before,
            bytes: Arc::new(bytes),
        });
        self.first_sequence = self.next_sequence;
    }

    /// Does what a tool asked.
    pub fn command(
        &mut self,
        command: Command,
        now: Instant,
        out: &mut Vec<Spooled>,
    ) -> Result<InstanceState, Failure> {
        match command {
            Command::Hertz { hertz: wanted } => match &mut self.source {
                Source::Periodic { hertz, schedule, .. } => {
                    *hertz = wanted;
                    *schedule = Schedule::new(wanted, now);
                }
                Source::Pushed(_) => return Err(self.not_periodic("has no rate")),
            },
            Command::Enable => self.set_enabled(true),
            Command::Disable => self.set_enabled(false),
            Command::SampleNow => match &self.source {
                Source::Periodic { .. } => {
                    self.sample(out);
                    self.flush(out);
                }
                Source::Pushed(_) => return Err(self.not_periodic("cannot be sampled from outside")),
            },
        }
        Ok(self.state())
    }

    fn set_enabled(&mut self, enabled: bool) {
        self.enabled = enabled;
        if let Source::Pushed(drain) = &self.source {
            drain.shared.set_enabled(enabled);
        }
    }

    fn not_periodic(&self, what: &str) -> Failure {
        Failure::new("not_periodic", format!("{:?} is pushed by its application and {what}", self.name))
    }

    fn sample(&mut self, out: &mut Vec<Spooled>) {
        let Source::Periodic { sample, .. } = &mut self.source else { return };
        self.row.clear();
        let time = now_ns();
        let outcome = sample(&mut RowWriter::new(&mut self.row));
        if let Err(error) = &outcome
            && !self.failing
        {
            tracing::warn!(instance = %self.name, %error, "the probe cannot sample; trying again at its rate");
        }
        self.failing = outcome.is_err();
        if outcome.is_ok() {
            let row = std::mem::take(&mut self.row);
            self.take(self.next_sequence, time, &row, out);
            self.row = row;
        }
    }

    fn drain(&mut self, out: &mut Vec<Spooled>) {
        // At most what a ring can hold is drained at a time, so that one busy probe cannot starve the others for ever.
        for _ in 0..u16::MAX {
            let Source::Pushed(drain) = &mut self.source else { return };
            let Some(record) = drain.pop() else { return };
            let (sequence, time) = (record.sequence, record.time);
            self.row.clear();
            self.row.extend_from_slice(record.row);
            let row = std::mem::take(&mut self.row);
            self.take(sequence, time, &row, out);
            self.row = row;
        }
    }

    /// Puts one sample into the batch. A hole in the numbers starts a new batch that tells of it.
    fn take(&mut self, sequence: u64, time: u64, row: &[u8], out: &mut Vec<Spooled>) {
        let hole = sequence - self.next_sequence;
        if hole > 0 {
            self.flush(out);
            self.dropped_before = self.dropped_before.saturating_add(u32::try_from(hole).unwrap_or(u32::MAX));
        }
        if self.encoder.is_empty() {
            self.first_sequence = sequence;
        }
        self.next_sequence = sequence + 1;
        if let Err(error) = self.encoder.push(time, row) {
            // A Sample implementation whose row does not fit its own schema: counted as dropped like any other.
            tracing::error!(instance = %self.name, %error, "a sample does not fit its schema");
            self.flush(out);
            self.dropped_before = self.dropped_before.saturating_add(1);
            self.first_sequence = self.next_sequence;
        }
        if self.encoder.len() >= self.batching.samples || self.encoder.bytes_held() >= self.batching.bytes {
            self.flush(out);
        }
    }
}
