//! A node's host: the real batches, spool, file spool and messages of a node; this module takes the place of its threads.

mod connection;
mod process;

use crate::{
    network::{ConnectionId, Side},
    oracle::End,
    plan::NodePlan,
    sample,
    shared::{AWAY, Event, NodeEvent, Shared},
    system::{self, NANOS_PER_SECOND},
};
use anyhow::Context as _;
use oasis_channel::{Backoff, InstanceState, NodeIdentity, RegisteredInstance, ResumeSecret};
use oasis_probe::{
    ProbeState,
    simulation::{
        Announcement, BatchBuilder, Batching, Directory, Journal, Missing, NewSample, Outbox, Progress,
        Spool, Spooler,
    },
};
use oasis_wire::{batch::Encoder, probe_kind::ProbeKind, schema::ProbeType};
use process::{Carrier, Process};
use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use uuid::Uuid;

const NANOS_PER_MILLISECOND: u64 = 1_000_000;
/// Longest time that a sample of a busy stream waits for others.
const LINGER: Duration = Duration::from_millis(10);
/// As in the shipper and its channels.
const PING: u64 = NANOS_PER_SECOND;
const FAREWELL: u64 = 2 * NANOS_PER_SECOND;
const DAC_TIMEOUT: u64 = 5 * NANOS_PER_SECOND;
const BATCHES: usize = 256;
const MAX_REFUSALS: u32 = 10;
const DATAGRAM: usize = 1_380;

/// A node's host.
#[derive(Debug)]
pub struct NodeHost {
    /// Its number.
    pub index: usize,
    /// The number of its disk.
    pub disk: usize,
    /// The process that runs, if one does.
    pub process: Option<Process>,
    folder: PathBuf,
    plan: NodePlan,
    uuid: Uuid,
    generation: u64,
    probe_type: ProbeType,
}

impl NodeHost {
    /// Creates a host without a process.
    pub fn new(
        index: usize,
        disk: usize,
        folder: PathBuf,
        plan: NodePlan,
        random: &mut fastrand::Rng,
    ) -> Self {
        let uuid = Uuid::from_u128(random.u128(..));
        Self {
            index,
            disk,
            folder,
            plan,
            uuid,
            process: None,
            generation: 0,
            probe_type: sample::probe_type(),
        }
    }

    /// Returns whether its file spool has runs that no process sends.
    pub fn has_files(&self, shared: &Shared) -> bool {
        self.enter(shared);
        let limit = self.plan.directory_bytes.filter(|_| self.process.is_none());
        let directory = limit.and_then(|limit| Directory::open(&self.folder.join("spool"), limit).ok());
        directory.and_then(|directory| directory.earlier_runs().ok()).is_some_and(|runs| !runs.is_empty())
    }

    fn name(&self) -> String {
        format!("node {}", self.index)
    }

    /// Returns the name, and the run of the process if it is public.
    pub fn name_and_run(&self) -> Option<(String, Uuid)> {
        let process = self.process.as_ref().filter(|process| process.is_known)?;
        Some((self.name(), process.run))
    }

    /// Returns whether a connection is its present one.
    pub fn has(&self, id: ConnectionId) -> bool {
        self.process.as_ref().and_then(|process| process.link.as_ref()).is_some_and(|link| link.id == id)
    }

    /// Returns whether the DAC has all that it has taken and not lost.
    pub fn is_drained(&self) -> bool {
        self.process.as_ref().is_some_and(|process| {
            let is_flushed = process.builders.iter().all(|builder| builder.due().is_none());
            is_flushed && process.earlier.is_empty() && process.replay.is_none() && process.live.is_done()
        })
    }

    /// Describes what it waits for.
    pub fn state(&self) -> String {
        let Some(process) = &self.process else { return format!("{}: no process", self.name()) };
        let spool = process.carrier().outbox.with(|held| {
            let (spool, counters) = (&held.spool, held.counters());
            format!(
                "received {}, unsent {}, lagging {}, released {:?}, counters {counters:?}",
                spool.is_received(),
                spool.has_unsent(),
                spool.is_lagging(),
                spool.released()
            )
        });
        format!(
            "{}: {} earlier runs, replays {}, linked {}, live done {}, {} refusals, {spool}",
            self.name(),
            process.earlier.len(),
            process.replay.is_some(),
            process.link.is_some(),
            process.live.is_done(),
            process.refusals
        )
    }

    fn enter(&self, shared: &Shared) {
        system::set_clock(shared.now, self.plan.ahead);
    }

    fn event(&self, event: NodeEvent) -> Event {
        Event::Node(self.index, self.generation, event)
    }

    /// Starts a process, if none runs.
    ///
    /// # Errors
    /// If the simulation itself fails.
    pub fn start(&mut self, shared: &mut Shared) -> anyhow::Result<()> {
        if self.process.is_some() {
            return Ok(());
        }
        self.enter(shared);
        let directory =
            self.plan.directory_bytes.map(|limit| Directory::open(&self.folder.join("spool"), limit));
        let directory = match directory.transpose() {
            Ok(directory) => directory.map(Arc::new),
            Err(error) => {
                shared.note(format!("{} cannot start: {}", self.name(), first_words(&error)));
                shared.after(NANOS_PER_SECOND, Event::StartNode(self.index));
                return Ok(());
            }
        };
        self.generation += 1;
        let secret = ResumeSecret::random();
        let run = secret.run();
        let count = self.plan.periods.len();
        shared.oracle.begin(self.index, run, count);
        shared.note(format!("{} starts", self.name()));
        let state = InstanceState { hertz: None, enabled: true, recorder: None };
        let progress = vec![Progress { taken: 0, missing: Missing::default(), state }; count];
        let spool = match &directory {
            Some(_) => Spool::before_a_file(self.plan.spool_bytes, count),
            None => Spool::new(self.plan.spool_bytes, count),
        };
        // The slowest link: a few batches are a backlog.
        let outbox = Outbox::new(spool.for_link(Some(1)), progress);
        let announcement = Arc::new(self.announcement(secret, state));
        let spooler = directory.as_ref().map(|directory| {
            Spooler::new(outbox.clone(), Journal::begin(directory.clone(), announcement.clone()))
        });
        let earlier = directory.as_ref().map(|directory| directory.earlier_runs()).transpose();
        let earlier = earlier.context("cannot list earlier runs")?.unwrap_or_default();
        self.process = Some(Process {
            run,
            builders: (0..count).map(|at| self.builder(at)).collect::<anyhow::Result<_>>()?,
            taken: vec![0; count],
            live: Carrier { announcement, outbox, spooler, epoch: None },
            directory,
            earlier: earlier.into(),
            replay: None,
            link: None,
            backoff: Backoff::default(),
            refusals: 0,
            is_closing: false,
            is_known: false,
            next_settle: shared.now + NANOS_PER_SECOND,
        });
        for instance in 0..count {
            shared.after(self.plan.periods[instance], self.event(NodeEvent::Sample(instance)));
        }
        shared.after(1, self.event(NodeEvent::Spool));
        shared.after(NANOS_PER_MILLISECOND, self.event(NodeEvent::Connect));
        Ok(())
    }

    fn builder(&self, instance: usize) -> anyhow::Result<BatchBuilder> {
        let encoder = Encoder::new(&self.probe_type)?;
        let batching = Batching { samples: self.plan.batch_samples, bytes: 64 * 1024, linger: LINGER };
        Ok(BatchBuilder::new(instance, instance_name(instance), encoder, batching, Instant::now()))
    }

    fn announcement(&self, secret: ResumeSecret, state: InstanceState) -> Announcement {
        let instance = |number| RegisteredInstance {
            name: instance_name(number),
            probe_type: self.probe_type.uuid,
            kind: ProbeKind::Pushed,
            demand: None,
            declared: None,
            state,
        };
        let (name, uuid) = (self.name(), self.uuid);
        Announcement {
            identity: NodeIdentity {
                name,
                uuid,
                run: secret.run(),
                host: "host".into(),
                software: "simulated".into(),
                pid: 1,
            },
            secret: Some(secret),
            types: vec![self.probe_type.clone()],
            instances: (0..self.plan.periods.len()).map(instance).collect(),
        }
    }

    /// Handles an event of a process.
    ///
    /// # Errors
    /// If the simulation itself fails.
    pub fn on_event(&mut self, generation: u64, event: NodeEvent, shared: &mut Shared) -> anyhow::Result<()> {
        if generation != self.generation || self.process.is_none() {
            return Ok(());
        }
        self.enter(shared);
        match event {
            NodeEvent::Sample(instance) => self.sample(instance, shared),
            NodeEvent::Flush => self.flush(false, shared),
            NodeEvent::Spool => self.spool(shared),
            NodeEvent::Connect => self.connect(shared)?,
            NodeEvent::Ship(id) if self.has(id) => self.ship(shared)?,
            NodeEvent::Ship(_) => {}
        }
        self.end_if_done(shared);
        Ok(())
    }

    fn sample(&mut self, instance: usize, shared: &mut Shared) {
        let Some(process) = self.process.as_mut().filter(|process| shared.is_sampling && !process.is_closing)
        else {
            return;
        };
        let sequence = process.taken[instance] + 1;
        process.taken[instance] = sequence;
        let run = process.run;
        let is_dropped = shared.random.u32(0..1_000) < self.plan.dropped;
        if let Some(known) = shared.oracle.run(run) {
            known.instances[instance].last = sequence;
            if is_dropped {
                known.instances[instance].dropped.insert(sequence);
            }
        }
        let mut batches = Vec::new();
        if !is_dropped {
            let row = sample::row(run, instance, sequence);
            let sample = NewSample {
                sequence: Some(sequence),
                time: oasis_probe::now_ns(),
                state: ProbeState::NORMAL,
                kept_back: 0,
                not_taken: 0,
                row: &row,
                limit: None,
            };
            process.builders[instance].take(sample, &mut batches);
        }
        process.deliver(batches, shared);
        let period = self.plan.periods[instance];
        let pause = shared.random.u64(period / 2..=period * 3 / 2);
        shared.after(pause, self.event(NodeEvent::Sample(instance)));
        let wait = LINGER.as_nanos() as u64 + shared.random.u64(0..NANOS_PER_MILLISECOND);
        shared.after(wait, self.event(NodeEvent::Flush));
    }

    fn flush(&mut self, all: bool, shared: &mut Shared) {
        let Some(process) = &mut self.process else { return };
        let mut batches = Vec::new();
        for builder in &mut process.builders {
            if all {
                builder.flush(&mut batches);
            } else {
                builder.flush_if_due(Instant::now(), &mut batches);
            }
        }
        process.deliver(batches, shared);
    }

    fn spool(&mut self, shared: &mut Shared) {
        let Some(process) = &mut self.process else { return };
        let settles = shared.now >= process.next_settle;
        if settles {
            process.next_settle = shared.now + NANOS_PER_SECOND;
        }
        for carrier in std::iter::once(&mut process.live).chain(&mut process.replay) {
            let Some(spooler) = &mut carrier.spooler else { continue };
            spooler.turn(Instant::now());
            if settles {
                spooler.settle();
            }
        }
        let is_settled = process.live.outbox.with(|held| !held.spool.is_unsettled());
        if process.live.spooler.is_some() && is_settled && !system::disk(|disk| disk.is_frozen(self.disk)) {
            process.note_filed(shared);
        }
        let pause = shared.random.u64(NANOS_PER_MILLISECOND..20 * NANOS_PER_MILLISECOND);
        shared.after(pause, self.event(NodeEvent::Spool));
    }

    /// Begins to end the process on purpose.
    pub fn leave(&mut self, shared: &mut Shared) {
        if self.process.as_ref().is_none_or(|process| process.is_closing) {
            return;
        }
        self.enter(shared);
        shared.note(format!("{} leaves", self.name()));
        self.flush(true, shared);
        let Some(process) = &mut self.process else { return };
        process.is_closing = true;
        process.live.outbox.close();
        if let Some(replay) = &process.replay {
            replay.outbox.close();
        }
        if process.link.is_none() {
            // At least one attempt.
            shared.after(0, self.event(NodeEvent::Connect));
        }
        shared.after(4 * NANOS_PER_SECOND, self.event(NodeEvent::Flush));
    }

    /// Ends a process that has said goodbye, or cannot.
    fn end_if_done(&mut self, shared: &mut Shared) {
        if system::disk(|disk| disk.is_frozen(self.disk))
            || !self.process.as_ref().is_some_and(Process::has_ended)
        {
            return;
        }
        let Some(mut process) = self.process.take() else { return };
        process.end_replay(shared);
        let is_delivered = process.live.is_done() && process.earlier.is_empty();
        process.live.outbox.with(|held| held.ended = true);
        if let Some(mut spooler) = process.live.spooler.take() {
            spooler.turn(Instant::now());
            spooler.settle();
            spooler.end();
            if !system::disk(|disk| disk.is_frozen(self.disk)) {
                process.note_filed(shared);
            }
        }
        if let Some(link) = &process.link {
            shared.close(link.id, Side::Node);
        }
        shared.note(format!("{} has ended, delivered: {is_delivered}", self.name()));
        if let Some(run) = shared.oracle.run(process.run) {
            run.end = Some(if is_delivered { End::Delivered } else { End::Left });
        }
        if !shared.is_over {
            let away = shared.random.u64(0..AWAY);
            shared.after(away, Event::StartNode(self.index));
        }
    }

    /// The process is killed, or the power is cut.
    pub fn crash(&mut self, end: End, shared: &mut Shared) {
        let Some(process) = self.process.take() else { return };
        if let Some(run) = shared.oracle.run(process.run) {
            run.end = Some(end);
        }
        if let Some(link) = &process.link
            && end == End::Killed
        {
            shared.close(link.id, Side::Node);
        }
    }
}

fn instance_name(number: usize) -> String {
    format!("instance {number}")
}

/// Without paths, which differ from run to run.
fn first_words(error: &impl ToString) -> String {
    error.to_string().split_whitespace().take(4).collect::<Vec<_>>().join(" ")
}
