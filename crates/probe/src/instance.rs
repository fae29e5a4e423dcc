//! A probe instance inside the node: the source of its samples, and the commands to it.

use crate::{
    batch_builder::{BatchBuilder, NewSample},
    clock::now_ns,
    deadband::{ChangeFilter, Limits},
    governor::{Importance, Load},
    outbox::Progress,
    process::Process,
    recorder::Recorder,
    ring::Drain,
    schedule::Schedule,
    spool::{Missing, NewBatch},
    state::ProbeState,
    survive,
};
use oasis_channel::{Declared, Failure, InstanceState};
use oasis_wire::{command::Command, quantity::Hertz, value::RowWriter};
use std::{
    fmt, io,
    sync::Arc,
    time::{Duration, Instant},
};

/// Time between two checks of a ring: the longest wait of a pushed sample in an idle stream.
const RING_POLL_INTERVAL: Duration = Duration::from_millis(2);

/// A callback that writes one sample and returns the probe's state.
pub type SampleFn = Box<dyn FnMut(&mut RowWriter<'_>) -> io::Result<ProbeState> + Send>;

/// The source of samples.
pub enum Source {
    /// The node calls the probe on a schedule.
    Periodic {
        /// Writes one sample's row.
        sample: SampleFn,
        /// The requested rate; none for as fast as the node can.
        hertz: Option<Hertz>,
        /// When it is due next.
        schedule: Schedule,
        /// Keeps only changes, for a probe on change.
        changes: Option<ChangeFilter>,
        /// Samples that were due since the last one, while the node was stopped.
        not_taken: u64,
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
    /// The deadbands, for a probe on change.
    limits: Option<Arc<Limits>>,
    enabled: bool,
    recorder: Option<Recorder>,
    filling: BatchBuilder,
    row: Vec<u8>,
    failing: bool,
    /// The share of its rate that the governor allows; 1 for all of it.
    share: f64,
    /// Samples that a periodic probe takes until it is disabled; none for no end.
    flushes: Option<u64>,
    /// Cost since the governor's last review.
    load: Load,
}

impl fmt::Debug for Instance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, name, .. } = self;
        formatter.debug_struct("Instance").field("index", index).field("name", name).finish_non_exhaustive()
    }
}

impl Instance {
    /// Creates an instance.
    pub fn new(
        index: usize,
        name: String,
        source: Source,
        limits: Option<Arc<Limits>>,
        filling: BatchBuilder,
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
            flushes: None,
            load,
        }
    }

    /// Returns its progress.
    pub fn progress(&self) -> Progress {
        let seen =
            self.filling.last_sequence().max(self.recorder.as_ref().map_or(0, Recorder::last_sequence));
        let taken = match &self.source {
            Source::Periodic { .. } => seen,
            Source::Pushed(drain) => drain.taken().max(seen),
        };
        Progress { taken, missing: self.missing(taken), state: self.state() }
    }

    /// Returns what is missing after the last batch, if no sample waits anywhere.
    fn missing(&self, taken: u64) -> Missing {
        let is_waiting = match &self.source {
            Source::Periodic { .. } => false,
            Source::Pushed(drain) => !drain.is_empty(),
        };
        // A flight recorder may still send what it has.
        let is_recorded = self.recorder.is_some();
        if is_waiting || is_recorded { Missing::default() } else { self.filling.missing_to(taken) }
    }

    fn state(&self) -> InstanceState {
        let hertz = match &self.source {
            Source::Periodic { hertz, .. } => *hertz,
            Source::Pushed(_) => None,
        };
        InstanceState { hertz, enabled: self.enabled, recorder: self.recorder.as_ref().map(Recorder::span) }
    }

    /// Returns what the program has declared. Called before it takes samples, and commands change it.
    pub fn declared(&self) -> Declared {
        let InstanceState { hertz, enabled, .. } = self.state();
        let deadbands = self.limits.iter().flat_map(|limits| limits.finite()).collect();
        Declared { hertz, enabled, deadbands }
    }

    /// Handles a new DAC, which has none of the samples so far: a probe on change sends its next sample in any case.
    pub fn renew(&self) {
        self.limits.iter().for_each(|limits| limits.renew());
    }

    /// Sets the process in which the node starts.
    pub fn set_home(&self, process: Process) {
        if let Source::Pushed(drain) = &self.source {
            drain.shared.set_home(process);
        }
    }

    /// Adds a flight recorder: from now on only samples around a trigger are sent.
    pub fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// Starts disabled: a command enables it.
    pub fn disable(&mut self) {
        self.set_enabled(false);
    }

    /// Samples as fast as the node can, until a command sets a rate. Returns whether it is periodic.
    pub fn unlimit(&mut self, now: Instant) -> bool {
        let Source::Periodic { hertz, .. } = &mut self.source else { return false };
        *hertz = None;
        self.reschedule(now);
        true
    }

    /// Takes this many samples and is disabled then. Returns whether it is periodic.
    pub fn stop_after(&mut self, flushes: u64) -> bool {
        self.flushes = Some(flushes);
        self.enabled &= flushes > 0;
        matches!(self.source, Source::Periodic { .. })
    }

    /// Returns its cost since the last call.
    pub fn take_load(&mut self) -> Load {
        let importance = self.load.importance;
        std::mem::replace(&mut self.load, Load { importance, ..Load::default() })
    }

    /// Allows the governor to lower its rate, if it is periodic.
    pub fn set_importance(&mut self, importance: Importance) {
        if matches!(self.source, Source::Periodic { .. }) {
            self.load.importance = Some(importance);
        }
    }

    /// Sets the share of its rate that the governor allows.
    pub fn set_share(&mut self, share: f64, now: Instant) {
        if share != self.share {
            self.share = share;
            self.reschedule(now);
        }
    }

    /// Returns the actual rate, if it is lower than requested.
    pub fn lowered(&self) -> Option<Hertz> {
        match &self.source {
            Source::Periodic { hertz, .. } if self.share < 1.0 => Some(share_of(*hertz, self.share)),
            _ => None,
        }
    }

    fn reschedule(&mut self, now: Instant) {
        if let Source::Periodic { hertz, schedule, .. } = &mut self.source {
            *schedule = match hertz {
                None if self.share >= 1.0 => Schedule::always(now),
                _ => Schedule::new(share_of(*hertz, self.share), now),
            };
        }
    }

    /// Has a pushed probe refuse samples: the node is shutting down.
    pub fn end(&self) {
        if let Source::Pushed(drain) = &self.source {
            drain.end();
        }
    }

    /// Takes all samples from the ring and sends them, after [`Instance::end`].
    pub fn finish(&mut self, out: &mut Vec<NewBatch>) {
        while self.drain(out) > 0 {}
        if let Source::Pushed(drain) = &self.source {
            drain.finish();
        }
        self.filling.flush(out);
    }

    /// Takes the samples that are due; appends full batches to `out`. Returns whether the program has pushed some.
    pub fn collect(&mut self, now: Instant, out: &mut Vec<NewBatch>) -> bool {
        match &mut self.source {
            Source::Periodic { schedule, changes, not_taken, .. } => {
                if !self.enabled {
                    return false;
                }
                let Some(due) = schedule.due(now) else { return false };
                // A change cannot be ruled out: a probe on change has numbers for changes only.
                if changes.is_none() {
                    *not_taken = not_taken.saturating_add(due.missed);
                }
                self.sample(Keep::ChangeFilter, out);
                false
            }
            Source::Pushed(_) => self.drain(out) > 0,
        }
    }

    /// Sends the samples if they have waited long enough, or if the stream is idle.
    pub fn flush_if_due(&mut self, now: Instant, out: &mut Vec<NewBatch>) {
        self.filling.flush_if_due(now, out);
    }

    /// Returns when the collector must call this instance next, if ever, apart from polls of its ring.
    pub fn wake_at(&self) -> Option<Instant> {
        let sample = match &self.source {
            Source::Periodic { schedule, .. } => self.enabled.then(|| schedule.next()),
            Source::Pushed(_) => None,
        };
        self.filling.due().into_iter().chain(sample).min()
    }

    /// Returns the interval at which its ring is polled, if it has one: twice within the time that samples wait for others, if they wait at all.
    ///
    /// A busy application must not pay for waking the collector, so the collector polls.
    pub fn poll_interval(&self) -> Option<Duration> {
        let Source::Pushed(_) = &self.source else { return None };
        let linger = self.filling.linger();
        Some(if linger.is_zero() { RING_POLL_INTERVAL } else { RING_POLL_INTERVAL.min(linger / 2) })
    }

    /// Executes a command.
    pub fn command(
        &mut self,
        command: &Command,
        now: Instant,
        out: &mut Vec<NewBatch>,
    ) -> Result<InstanceState, Failure> {
        match command {
            Command::Hertz { hertz: wanted } => match &mut self.source {
                Source::Periodic { hertz, .. } => {
                    *hertz = Some(*wanted);
                    self.reschedule(now);
                }
                Source::Pushed(_) => return Err(self.not_periodic("has no rate")),
            },
            Command::Enable => {
                // The points while it was disabled were not due.
                if !self.enabled {
                    self.reschedule(now);
                }
                self.set_enabled(true);
            }
            Command::Disable => self.set_enabled(false),
            Command::SampleNow => match &self.source {
                Source::Periodic { .. } => {
                    self.sample(Keep::Whatever, out);
                    self.filling.flush(out);
                }
                Source::Pushed(_) => return Err(self.not_periodic("cannot be sampled from outside")),
            },
            Command::Trigger => {
                // Samples pushed before the command belong before it.
                self.drain(out);
                let Some(recorder) = &mut self.recorder else {
                    let message = format!("{:?} has no flight recorder", self.name);
                    return Err(Failure::new("no_recorder", message));
                };
                recorder.fire(now_ns(), &mut self.filling, out);
            }
            Command::Deadband { metric, deadband } => self.set_deadband(metric, *deadband)?,
            Command::Demand(_) | Command::DemandOff | Command::Reset { .. } => {
                let message = format!("{} is a command for the DAC, not for the node", command.name());
                return Err(Failure::new("unknown_command", message));
            }
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
            Failure::new(
                "not_on_change",
                format!("{:?} is not a probe on change: it has no deadbands", self.name),
            )
        })?;
        limits.set(metric, deadband).map_err(|error| Failure::new("deadband_invalid", error.to_string()))
    }

    fn not_periodic(&self, what: &str) -> Failure {
        Failure::new("not_periodic", format!("{:?} is pushed by its application and {what}", self.name))
    }

    fn sample(&mut self, keep: Keep, out: &mut Vec<NewBatch>) {
        let Source::Periodic { sample, changes, not_taken, .. } = &mut self.source else { return };
        self.row.clear();
        let time = now_ns();
        let began = Instant::now();
        // A panic of the program's own code ends neither its program nor the other probes.
        let outcome = survive::call(|| sample(&mut RowWriter::new(&mut self.row)));
        self.load.callbacks += began.elapsed();
        self.load.samples += 1;
        if let Err(error) = &outcome
            && !self.failing
        {
            tracing::warn!(instance = %self.name, %error, "probe failed to take a sample: the node retries at the probe's rate");
        }
        self.failing = outcome.is_err();
        let Ok(state) = outcome else { return };
        if let Some(changes) = changes {
            if keep == Keep::ChangeFilter && !changes.is_change(&self.row) {
                return;
            }
            changes.keep(&self.row);
        }
        let not_taken = std::mem::take(not_taken);
        let taken =
            NewSample { sequence: None, time, state, kept_back: 0, not_taken, row: &self.row, limit: None };
        pass(taken, &mut self.recorder, &mut self.filling, out);
        if let Some(left) = &mut self.flushes {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.set_enabled(false);
                self.filling.flush(out);
            }
        }
    }

    /// Takes samples from the ring. Returns how many.
    fn drain(&mut self, out: &mut Vec<NewBatch>) -> u16 {
        let Source::Pushed(drain) = &mut self.source else { return 0 };
        // A bounded number at once, so that one busy probe cannot starve the others.
        for count in 0..u16::MAX {
            let Some(record) = drain.pop() else { return count };
            let (sequence, time, state) = (Some(record.sequence), record.time, record.state);
            self.load.samples += 1;
            let (row, limit) = (record.row, record.limit);
            let taken = NewSample { sequence, time, state, kept_back: 0, not_taken: 0, row, limit };
            pass(taken, &mut self.recorder, &mut self.filling, out);
        }
        u16::MAX
    }
}

/// Passes a sample to its batch, through the flight recorder if there is one.
fn pass(
    taken: NewSample<'_>,
    recorder: &mut Option<Recorder>,
    filling: &mut BatchBuilder,
    out: &mut Vec<NewBatch>,
) {
    match recorder {
        Some(recorder) => recorder.take(taken, filling, out),
        None => filling.take(taken, out),
    }
}

/// A share of a rate, or of the highest one for a probe without a rate.
fn share_of(hertz: Option<Hertz>, share: f64) -> Hertz {
    let hertz = hertz.unwrap_or(Hertz::FASTEST);
    Hertz::new((hertz.get() * share).max(Hertz::MIN)).unwrap_or(hertz)
}

/// Which samples of a probe on change are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    ChangeFilter,
    /// A command has requested the sample.
    Whatever,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{batch_builder::Batching, flight_recorder::FlightRecorder};
    use oasis_wire::{batch::Encoder, schema::ProbeType};

    fn beat() -> ProbeType {
        let (uuid, version) = (uuid::Uuid::nil(), "1.0".into());
        ProbeType { name: "Beat".into(), uuid, version, doc: None, rate: None, metrics: Vec::new() }
    }

    fn periodic(start: Instant) -> Instance {
        let hertz = Hertz::new(100.0).unwrap();
        let source = Source::Periodic {
            sample: Box::new(|_| Ok(ProbeState::NORMAL)),
            hertz: Some(hertz),
            schedule: Schedule::new(hertz, start),
            changes: None,
            not_taken: 0,
        };
        let batching = Batching { samples: 100, bytes: 10_000, linger: Duration::ZERO };
        let filling = BatchBuilder::new(0, "beat".into(), Encoder::new(&beat()).unwrap(), batching, start);
        Instance::new(0, "beat".into(), source, None, filling)
    }

    /// First sequence number, samples, and what is missing before each batch.
    fn batches(instance: &mut Instance, out: &mut Vec<NewBatch>) -> Vec<(u64, u16, Missing)> {
        instance.finish(out);
        out.drain(..).map(|batch| (batch.first_sequence, batch.count, batch.before)).collect()
    }

    fn stopped(not_taken: u64) -> Missing {
        Missing { not_taken, ..Missing::default() }
    }

    #[test]
    fn samples_that_were_due_while_the_node_was_stopped_have_numbers_and_a_cause() {
        let start = Instant::now();
        let (mut instance, mut out) = (periodic(start), Vec::new());
        instance.collect(start, &mut out);
        instance.collect(start + Duration::from_millis(60_010), &mut out);
        assert_eq!(instance.progress().taken, 6_002);
        assert_eq!(batches(&mut instance, &mut out), [(1, 1, stopped(0)), (6_002, 1, stopped(6_000))]);
    }

    #[test]
    fn nothing_is_due_while_a_probe_is_disabled() {
        let start = Instant::now();
        let (mut instance, mut out) = (periodic(start), Vec::new());
        instance.collect(start, &mut out);
        instance.command(&Command::Disable, start, &mut out).unwrap();
        let later = start + Duration::from_secs(60);
        instance.collect(later, &mut out);
        instance.command(&Command::Enable, later, &mut out).unwrap();
        instance.collect(later, &mut out);
        assert_eq!(batches(&mut instance, &mut out), [(1, 2, stopped(0))]);
    }

    #[test]
    fn a_probe_without_a_rate_is_always_due_and_ends_after_its_flushes() {
        let start = Instant::now();
        let (mut instance, mut out) = (periodic(start), Vec::new());
        assert!(instance.unlimit(start) && instance.stop_after(3));
        assert_eq!(instance.progress().state.hertz, None);
        (0..9).for_each(|_| assert!(!instance.collect(start, &mut out), "nothing is pushed"));
        assert!(!instance.progress().state.enabled);
        assert_eq!(batches(&mut instance, &mut out), [(1, 3, stopped(0))]);
        instance.command(&Command::Enable, start, &mut out).unwrap();
        instance.command(&Command::Hertz { hertz: Hertz::ONE }, start, &mut out).unwrap();
        assert_eq!(instance.progress().state.hertz, Some(Hertz::ONE));
    }

    #[test]
    fn a_flight_recorder_numbers_what_was_not_taken_where_it_was_due() {
        let start = Instant::now();
        let (mut instance, mut out) = (periodic(start), Vec::new());
        let config = FlightRecorder { before: Duration::from_secs(3_600), ..FlightRecorder::default() };
        instance.record(Recorder::new(&beat(), &config).unwrap());
        instance.collect(start, &mut out);
        instance.collect(start + Duration::from_millis(60_010), &mut out);
        instance.command(&Command::Trigger, start, &mut out).unwrap();
        assert_eq!(batches(&mut instance, &mut out), [(1, 1, stopped(0)), (6_002, 1, stopped(6_000))]);
    }
}
