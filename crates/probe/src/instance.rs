//! A probe instance inside the node: where its samples come from, and what commands do to it.

use crate::{
    clock::now_ns,
    deadband::{Changes, Limits},
    filling::{Filling, Taken},
    outbox::Progress,
    ring::Drain,
    schedule::Schedule,
    spool::Spooled,
    state::ProbeState,
};
use oasis_channel::{Command, Failure, InstanceState};
use oasis_wire::{quantity::Hertz, value::RowWriter};
use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

/// How often rings are looked at: what a pushed sample of an idle stream waits at most.
const LOOK: Duration = Duration::from_millis(2);

/// Something the node calls to get one sample and the probe's state.
pub type SampleFn = Box<dyn FnMut(&mut RowWriter<'_>) -> io::Result<ProbeState> + Send>;

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
        /// Keeps only changes, if the probe is on change.
        changes: Option<Changes>,
    },
    /// The application pushes into a ring.
    Pushed(Drain),
}

/// One instance, owned by the collector thread.
pub struct Instance {
    /// Index within the node.
    pub index: usize,
    /// Name, for messages.
    pub name: String,
    source: Source,
    /// The deadbands of a probe on change.
    limits: Option<Arc<Limits>>,
    enabled: bool,
    filling: Filling,
    row: Vec<u8>,
    failing: bool,
}

impl Instance {
    /// An instance at its start.
    pub fn new(
        index: usize,
        name: String,
        source: Source,
        limits: Option<Arc<Limits>>,
        filling: Filling,
    ) -> Self {
        Self { index, name, source, limits, enabled: true, filling, row: Vec::new(), failing: false }
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let seen = self.filling.last_sequence();
        let taken = match &self.source {
            Source::Periodic { .. } => seen,
            Source::Pushed(drain) => drain.shared.taken().max(seen),
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
        self.filling.flush(out);
    }

    /// Takes the samples that are due; full batches go to `out`.
    pub fn collect(&mut self, now: Instant, out: &mut Vec<Spooled>) {
        match &mut self.source {
            Source::Periodic { schedule, .. } => {
                if self.enabled && schedule.due(now) {
                    self.sample(Keep::Changes, out);
                }
            }
            Source::Pushed(_) => self.drain(out),
        }
    }

    /// Sends what is held if it waited long enough, or if the stream is idle.
    pub fn flush_if_due(&mut self, now: Instant, out: &mut Vec<Spooled>) {
        self.filling.flush_if_due(now, out);
    }

    /// When this instance next wants the collector, if ever.
    pub fn wake_at(&self, now: Instant) -> Option<Instant> {
        let sample = match &self.source {
            Source::Periodic { schedule, .. } => self.enabled.then(|| schedule.next()),
            // The application must not pay for waking us, so we look.
            Source::Pushed(_) => Some(now + self.look()),
        };
        self.filling.due().into_iter().chain(sample).min()
    }

    /// Twice in the time that samples wait for others, if they wait at all.
    fn look(&self) -> Duration {
        let linger = self.filling.linger();
        if linger.is_zero() { LOOK } else { LOOK.min(linger / 2) }
    }

    /// Does what a tool asked.
    pub fn command(
        &mut self,
        command: &Command,
        now: Instant,
        out: &mut Vec<Spooled>,
    ) -> Result<InstanceState, Failure> {
        match command {
            Command::Hertz { hertz: wanted } => match &mut self.source {
                Source::Periodic { hertz, schedule, .. } => {
                    *hertz = *wanted;
                    *schedule = Schedule::new(*wanted, now);
                }
                Source::Pushed(_) => return Err(self.not_periodic("has no rate")),
            },
            Command::Enable => self.set_enabled(true),
            Command::Disable => self.set_enabled(false),
            Command::SampleNow => match &self.source {
                Source::Periodic { .. } => {
                    self.sample(Keep::Whatever, out);
                    self.filling.flush(out);
                }
                Source::Pushed(_) => return Err(self.not_periodic("cannot be sampled from outside")),
            },
            Command::Deadband { metric, deadband } => self.set_deadband(metric, *deadband)?,
        }
        Ok(self.state())
    }

    fn set_enabled(&mut self, enabled: bool) {
        self.enabled = enabled;
        if let Source::Pushed(drain) = &self.source {
            drain.shared.set_enabled(enabled);
        }
    }

    fn set_deadband(&self, metric: &str, deadband: Option<f64>) -> Result<(), Failure> {
        let limits = self.limits.as_ref().ok_or_else(|| {
            Failure::new("not_on_change", format!("{:?} keeps every sample and has no deadbands", self.name))
        })?;
        limits.set(metric, deadband).map_err(|error| Failure::new("deadband_invalid", error.to_string()))
    }

    fn not_periodic(&self, what: &str) -> Failure {
        Failure::new("not_periodic", format!("{:?} is pushed by its application and {what}", self.name))
    }

    fn sample(&mut self, keep: Keep, out: &mut Vec<Spooled>) {
        let Source::Periodic { sample, changes, .. } = &mut self.source else { return };
        self.row.clear();
        let time = now_ns();
        let outcome = sample(&mut RowWriter::new(&mut self.row));
        if let Err(error) = &outcome
            && !self.failing
        {
            tracing::warn!(instance = %self.name, %error, "the probe cannot sample; trying again at its rate");
        }
        self.failing = outcome.is_err();
        let Ok(state) = outcome else { return };
        if let Some(changes) = changes {
            if keep == Keep::Changes && !changes.is_change(&self.row) {
                return;
            }
            changes.keep(&self.row);
        }
        self.filling.take(Taken { sequence: None, time, state, row: &self.row }, out);
    }

    fn drain(&mut self, out: &mut Vec<Spooled>) {
        let Source::Pushed(drain) = &mut self.source else { return };
        // At most so many at a time, so that one busy probe cannot starve the others for ever.
        for _ in 0..u16::MAX {
            let Some(record) = drain.pop() else { return };
            let (sequence, time, state) = (Some(record.sequence), record.time, record.state);
            self.filling.take(Taken { sequence, time, state, row: record.row }, out);
        }
    }
}

/// Which samples of a probe on change are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Changes,
    /// Somebody asked for a sample.
    Whatever,
}
