//! A probe instance inside the node: where its samples come from, and what commands do to it.

use crate::{
    clock::now_ns,
    deadband::{Changes, Limits},
    filling::{Filling, Taken},
    governor::{Importance, Load},
    outbox::Progress,
    recorder::Recorder,
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
        /// Rate that was asked for.
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
    recorder: Option<Recorder>,
    filling: Filling,
    row: Vec<u8>,
    failing: bool,
    /// What the governor leaves of its rate, 1 if all.
    share: f64,
    /// Since the governor looked last.
    load: Load,
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
        let load = Load::default();
        Self {
            index,
            name,
            source,
            limits,
            enabled: true,
            recorder: None,
            filling,
            row: Vec::new(),
            failing: false,
            share: 1.0,
            load,
        }
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let seen =
            self.filling.last_sequence().max(self.recorder.as_ref().map_or(0, Recorder::last_sequence));
        let taken = match &self.source {
            Source::Periodic { .. } => seen,
            Source::Pushed(drain) => drain.taken().max(seen),
        };
        Progress { taken, state: self.state() }
    }

    fn state(&self) -> InstanceState {
        let hertz = match &self.source {
            Source::Periodic { hertz, .. } => Some(*hertz),
            Source::Pushed(_) => None,
        };
        InstanceState { hertz, enabled: self.enabled, recorder: self.recorder.as_ref().map(Recorder::span) }
    }

    /// There is a DAC now that knows none of the samples so far: one that is sent only on change would leave it without any.
    pub fn renew(&self) {
        self.limits.iter().for_each(|limits| limits.renew());
    }

    /// From now on only what lies around a trigger is sent.
    pub fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// What it has cost since the last call.
    pub fn take_load(&mut self) -> Load {
        let importance = self.load.importance;
        std::mem::replace(&mut self.load, Load { importance, ..Load::default() })
    }

    /// Lets the governor lower its rate; only a rate of the node's can be.
    pub fn set_importance(&mut self, importance: Importance) {
        if matches!(self.source, Source::Periodic { .. }) {
            self.load.importance = Some(importance);
        }
    }

    /// The governor leaves it so much of its rate.
    pub fn set_share(&mut self, share: f64, now: Instant) {
        if share != self.share {
            self.share = share;
            self.reschedule(now);
        }
    }

    /// The rate it runs at, if that is lower than what was asked for.
    pub fn lowered(&self) -> Option<Hertz> {
        match &self.source {
            Source::Periodic { hertz, .. } if self.share < 1.0 => Some(share_of(*hertz, self.share)),
            _ => None,
        }
    }

    fn reschedule(&mut self, now: Instant) {
        if let Source::Periodic { hertz, schedule, .. } = &mut self.source {
            *schedule = Schedule::new(share_of(*hertz, self.share), now);
        }
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
                Source::Periodic { hertz, .. } => {
                    *hertz = *wanted;
                    self.reschedule(now);
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
            Command::Trigger => {
                // What was pushed before the command is before it.
                self.drain(out);
                let Some(recorder) = &mut self.recorder else {
                    let message = format!("{:?} has no flight recorder", self.name);
                    return Err(Failure::new("no_recorder", message));
                };
                recorder.fire(now_ns(), &mut self.filling, out);
            }
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
        let began = Instant::now();
        let outcome = sample(&mut RowWriter::new(&mut self.row));
        self.load.callbacks += began.elapsed();
        self.load.samples += 1;
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
        let taken = Taken { sequence: None, time, state, kept_back: 0, row: &self.row };
        pass(taken, &mut self.recorder, &mut self.filling, out);
    }

    fn drain(&mut self, out: &mut Vec<Spooled>) {
        let Source::Pushed(drain) = &mut self.source else { return };
        // At most so many at a time, so that one busy probe cannot starve the others for ever.
        for _ in 0..u16::MAX {
            let Some(record) = drain.pop() else { return };
            let (sequence, time, state) = (Some(record.sequence), record.time, record.state);
            self.load.samples += 1;
            let taken = Taken { sequence, time, state, kept_back: 0, row: record.row };
            pass(taken, &mut self.recorder, &mut self.filling, out);
        }
    }
}

/// On its way to a batch a sample passes the flight recorder, if there is one.
fn pass(taken: Taken<'_>, recorder: &mut Option<Recorder>, filling: &mut Filling, out: &mut Vec<Spooled>) {
    match recorder {
        Some(recorder) => recorder.take(taken, filling, out),
        None => filling.take(taken, out),
    }
}

fn share_of(hertz: Hertz, share: f64) -> Hertz {
    Hertz::new((hertz.get() * share).max(Hertz::MIN)).unwrap_or(hertz)
}

/// Which samples of a probe on change are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Changes,
    /// Somebody asked for a sample.
    Whatever,
}
