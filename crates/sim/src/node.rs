//! A node's host: the real batches, spool, file spool and messages of a node; this module takes the place of its threads.

use crate::{
    network::{ConnectionId, Delivery, Side},
    oracle::End,
    plan::NodePlan,
    sample,
    shared::{AWAY, Event, NodeEvent, Shared},
    system::{self, SECOND},
};
use anyhow::Context as _;
use oasis_channel::{
    Backoff, DacMessage, DatagramOffer, InstanceState, NodeIdentity, NodeMessage, PROTOCOL, ProbeKind,
    RegisteredInstance, ResumeSecret, SafeWhen, TopicAssignment,
    frame::{DEFAULT_MAX_BODY, Frame, Reader, batch_header, write_control},
};
use oasis_probe::{
    ProbeState,
    simulation::{
        Announcement, BatchBuilder, Batching, Directory, Journal, MetDac, NewBatch, NewSample, Outbox,
        Progress, Spool, Spooler,
    },
};
use oasis_wire::{
    batch::{Encoder, Header},
    quantity::{Epoch, TopicId},
    schema::ProbeType,
};
use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use uuid::Uuid;

const MILLISECOND: u64 = 1_000_000;
/// How long a sample of a busy stream waits for others.
const LINGER: Duration = Duration::from_millis(10);
/// As in the shipper and its channels.
const PING: u64 = SECOND;
const FAREWELL: u64 = 2 * SECOND;
const SILENCE: u64 = 5 * SECOND;
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

/// A process of a node.
pub struct Process {
    run: Uuid,
    builders: Vec<BatchBuilder>,
    /// Last sequence number of each instance.
    taken: Vec<u64>,
    live: Carrier,
    directory: Option<Arc<Directory>>,
    earlier: VecDeque<PathBuf>,
    replay: Option<Carrier>,
    link: Option<Link>,
    backoff: Backoff,
    refusals: u32,
    is_closing: bool,
    /// Whether a DAC has registered its own run.
    is_known: bool,
    next_settle: u64,
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process").field("run", &self.run).field("taken", &self.taken).finish_non_exhaustive()
    }
}

/// What carries the batches of one run.
#[derive(Debug)]
struct Carrier {
    announcement: Arc<Announcement>,
    outbox: Arc<Outbox>,
    spooler: Option<Spooler<Arc<Outbox>>>,
    /// The DAC at the last connection.
    epoch: Option<Epoch>,
}

/// A connection.
#[derive(Debug)]
struct Link {
    id: ConnectionId,
    reader: Reader,
    since: u64,
    heard: u64,
    dac: Option<(Epoch, Option<SafeWhen>)>,
    is_live: bool,
    next_ping: u64,
    farewell: Option<u64>,
    has_left: bool,
    offer: Option<DatagramOffer>,
    has_announced: bool,
    is_answered: bool,
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
                shared.after(SECOND, Event::StartNode(self.index));
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
        let progress = vec![Progress { taken: 0, state }; count];
        let spool = match &directory {
            Some(_) => Spool::before_a_file(self.plan.spool_bytes, count),
            None => Spool::new(self.plan.spool_bytes, count),
        };
        let outbox = Outbox::new(spool, progress);
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
            next_settle: shared.now + SECOND,
        });
        for instance in 0..count {
            shared.after(self.plan.periods[instance], self.event(NodeEvent::Sample(instance)));
        }
        shared.after(1, self.event(NodeEvent::Spool));
        shared.after(MILLISECOND, self.event(NodeEvent::Connect));
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
        if is_dropped {
            process.live.outbox.with(|held| held.progress[instance].taken = sequence);
        } else {
            let row = sample::row(run, instance, sequence);
            let sample = NewSample {
                sequence: Some(sequence),
                time: oasis_probe::now_ns(),
                state: ProbeState::NORMAL,
                kept_back: 0,
                not_taken: 0,
                row: &row,
            };
            process.builders[instance].take(sample, &mut batches);
        }
        process.deliver(batches, shared);
        let period = self.plan.periods[instance];
        let pause = shared.random.u64(period / 2..=period * 3 / 2);
        shared.after(pause, self.event(NodeEvent::Sample(instance)));
        let wait = LINGER.as_nanos() as u64 + shared.random.u64(0..MILLISECOND);
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
            process.next_settle = shared.now + SECOND;
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
        let pause = shared.random.u64(MILLISECOND..20 * MILLISECOND);
        shared.after(pause, self.event(NodeEvent::Spool));
    }

    fn connect(&mut self, shared: &mut Shared) -> anyhow::Result<()> {
        let Some(process) = &mut self.process else { return Ok(()) };
        process.begin_replay(self.plan.spool_bytes)?;
        if !shared.is_dac_up || !shared.network.passes(self.index, shared.now) {
            self.disconnected(false, shared);
            return Ok(());
        }
        let id = shared.network.open(self.index);
        shared.opened.push(id);
        let link = Link {
            id,
            reader: Reader::new(DEFAULT_MAX_BODY),
            since: shared.now,
            heard: shared.now,
            dac: None,
            is_live: false,
            next_ping: 0,
            farewell: None,
            has_left: false,
            offer: None,
            has_announced: false,
            is_answered: false,
        };
        let Announcement { identity, secret, .. } = &*process.carrier().announcement;
        let hello = NodeMessage::Hello { protocol: PROTOCOL, node: identity.clone(), secret: *secret };
        process.link = Some(link);
        process.send(&[hello], &[], shared);
        shared.after(MILLISECOND, self.event(NodeEvent::Ship(id)));
        Ok(())
    }

    /// The connection has ended, or there was none.
    fn disconnected(&mut self, is_refused: bool, shared: &mut Shared) {
        let Some(process) = &mut self.process else { return };
        let link = process.link.take();
        if let Some(link) = &link {
            shared.close(link.id, Side::Node);
        }
        process.refusals = if is_refused { process.refusals + 1 } else { 0 };
        let lasted = link.map_or(0, |link| shared.now - link.since);
        if process.replay.as_ref().is_some_and(Carrier::is_sent) || process.refusals >= MAX_REFUSALS {
            process.end_replay(shared);
        }
        let lasted = if is_refused { 0 } else { lasted };
        let pause = process.backoff.after(Duration::from_nanos(lasted));
        shared.after(pause.as_nanos() as u64, self.event(NodeEvent::Connect));
    }

    /// Handles bytes from the DAC.
    ///
    /// # Errors
    /// If the simulation itself fails.
    pub fn on_bytes(&mut self, bytes: &[u8], shared: &mut Shared) -> anyhow::Result<()> {
        self.enter(shared);
        let Some(link) = self.process.as_mut().and_then(|process| process.link.as_mut()) else {
            return Ok(());
        };
        link.heard = shared.now;
        link.reader.extend(bytes);
        let mut messages = Vec::new();
        while let Some(frame) = link.reader.next().context("the DAC sent no frame")? {
            let Frame::Control(json) = frame else { anyhow::bail!("the DAC sent a batch") };
            messages.push(serde_json::from_slice::<DacMessage>(json).context("the DAC sent no message")?);
        }
        for message in messages {
            if let DacMessage::Refused(failure) = &message {
                shared.note(format!("{} is refused: {}", self.name(), failure.code));
                self.disconnected(true, shared);
                break;
            }
            self.on_message(message, shared);
        }
        self.end_if_done(shared);
        Ok(())
    }

    fn on_message(&mut self, message: DacMessage, shared: &mut Shared) {
        let name = self.name();
        let Some(process) = &mut self.process else { return };
        let outbox = process.carrier().outbox.clone();
        match message {
            DacMessage::Welcome { datagrams, epoch, safe, .. } => {
                if let Some(link) = &mut process.link {
                    link.offer = datagrams.filter(|_| self.plan.udp);
                    link.dac = Some((epoch, safe));
                }
                let Announcement { types, instances, .. } = &*process.carrier().announcement;
                let register = NodeMessage::Register { types: types.clone(), instances: instances.clone() };
                let keep = safe.map(|_| NodeMessage::KeepUntilSafe);
                process.send(&keep.into_iter().chain([register]).collect::<Vec<_>>(), &[], shared);
            }
            DacMessage::Registered { topics } => {
                shared.note(format!("{name} is registered"));
                process.registered(&topics, shared);
            }
            DacMessage::Ack { topics } => outbox.with(|held| {
                topics.iter().for_each(|&(topic, sequence)| held.spool.acknowledge(topic, sequence));
            }),
            DacMessage::Safe { topics, .. } => outbox.with(|held| {
                topics.iter().for_each(|&(topic, sequence)| held.spool.safe(topic, sequence));
            }),
            DacMessage::Pong { .. } => {
                if let Some(link) = &mut process.link {
                    link.is_answered = true;
                }
            }
            DacMessage::Command { .. } | DacMessage::Refused(_) => {}
        }
    }

    /// Handles the end of the connection.
    ///
    /// # Errors
    /// If the simulation itself fails.
    pub fn on_end(&mut self, shared: &mut Shared) -> anyhow::Result<()> {
        self.enter(shared);
        self.disconnected(false, shared);
        self.end_if_done(shared);
        Ok(())
    }

    /// One step of the shipper's loop.
    fn ship(&mut self, shared: &mut Shared) -> anyhow::Result<()> {
        let now = shared.now;
        let Some(process) = &mut self.process else { return Ok(()) };
        let Some(link) = &process.link else { return Ok(()) };
        let (id, is_silent) = (link.id, now - link.heard > SILENCE);
        let is_late = link.is_live && !link.has_left && process.ship(shared);
        if is_silent || is_late {
            self.disconnected(false, shared);
            return Ok(());
        }
        let pause = shared.random.u64(MILLISECOND..15 * MILLISECOND);
        shared.after(pause, self.event(NodeEvent::Ship(id)));
        Ok(())
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
        shared.after(4 * SECOND, self.event(NodeEvent::Flush));
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

impl Process {
    fn carrier(&self) -> &Carrier {
        self.replay.as_ref().unwrap_or(&self.live)
    }

    /// Returns whether nothing is left to do for a process that ends.
    fn has_ended(&self) -> bool {
        self.is_closing && self.link.as_ref().is_none_or(|link| link.has_left)
    }

    fn deliver(&mut self, batches: Vec<NewBatch>, shared: &mut Shared) {
        for batch in batches {
            let (instance, last) = (batch.instance, batch.first_sequence + u64::from(batch.count) - 1);
            if let Some(run) = shared.oracle.run(self.run) {
                run.instances[instance].spooled = last;
            }
            let taken = self.taken[instance];
            self.live.outbox.with(|held| {
                held.progress[instance].taken = taken;
                held.spool.push(batch);
            });
        }
    }

    /// Everything that the spool has is in the file too.
    fn note_filed(&self, shared: &mut Shared) {
        if let Some(run) = shared.oracle.run(self.run) {
            run.instances.iter_mut().for_each(|taken| taken.in_file = taken.spooled);
        }
    }

    /// Opens the next earlier run, if none is being sent.
    fn begin_replay(&mut self, spool_bytes: usize) -> anyhow::Result<()> {
        while self.replay.is_none()
            && !self.is_closing
            && let Some(path) = self.earlier.pop_front()
        {
            let Some(directory) = &self.directory else { continue };
            let Ok(journal) = Journal::earlier_run(directory.clone(), path.clone()) else { continue };
            let Some(journal) = journal else {
                // No head is readable.
                let _ = std::fs::remove_dir_all(path);
                continue;
            };
            let head = journal.head();
            let announcement = head.announcement.clone();
            let states = announcement.instances.iter().map(|instance| instance.state);
            let progress =
                head.taken.iter().zip(states).map(|(&taken, state)| Progress { taken, state }).collect();
            let outbox = Outbox::finite(Spool::for_earlier_run(spool_bytes, &head.released), progress);
            let mut spooler = Spooler::new(outbox.clone(), journal);
            spooler.turn(Instant::now());
            self.backoff = Backoff::default();
            self.refusals = 0;
            self.replay = Some(Carrier { announcement, outbox, spooler: Some(spooler), epoch: None });
        }
        Ok(())
    }

    fn end_replay(&mut self, shared: &mut Shared) {
        let Some(mut carrier) = self.replay.take() else { return };
        shared.note(format!("an earlier run is over, delivered: {}", carrier.is_sent()));
        carrier.outbox.with(|held| held.ended = true);
        if let Some(mut spooler) = carrier.spooler.take() {
            spooler.turn(Instant::now());
            spooler.settle();
            spooler.end();
        }
        self.refusals = 0;
    }

    fn registered(&mut self, topics: &[TopicAssignment], shared: &mut Shared) {
        let now = shared.now;
        let Some((epoch, safe_when)) = self.link.as_ref().and_then(|link| link.dac) else { return };
        self.is_known |= self.replay.is_none();
        let carrier = self.replay.as_mut().unwrap_or(&mut self.live);
        let is_new = carrier.epoch.replace(epoch).is_some_and(|before| before != epoch);
        let instances = &carrier.announcement.instances;
        let index_of = |name: &str| instances.iter().position(|instance| instance.name == name);
        let topics: Vec<(usize, TopicId)> = topics
            .iter()
            .filter_map(|assigned| Some((index_of(&assigned.instance)?, assigned.topic)))
            .collect();
        let counters = carrier.outbox.with(|held| {
            held.spool.connected(topics.into_iter(), MetDac { is_new, safe_when });
            held.has_waited = false;
            held.messages.clear();
            held.counters()
        });
        self.send(&[NodeMessage::Counters { instances: counters }], &[], shared);
        if let Some(link) = &mut self.link {
            (link.is_live, link.next_ping) = (true, now);
        }
    }

    /// Sends what there is, as the shipper does in one turn. Returns whether it has waited too long for the last samples.
    fn ship(&mut self, shared: &mut Shared) -> bool {
        let now = shared.now;
        let Some(link) = &mut self.link else { return false };
        let carrier = self.replay.as_ref().unwrap_or(&self.live);
        let ping_due = now >= link.next_ping;
        let mut batches = Vec::new();
        let (control, is_done, is_late) = carrier.outbox.with(|held| {
            let mut control: Vec<NodeMessage> = held.messages.drain(..).collect();
            let tells_of_drops = held.spool.take(BATCHES, &mut batches);
            let begins_to_close = held.closing && link.farewell.is_none();
            if held.is_ending() && (held.closing || held.spool.is_received()) {
                held.has_waited = now >= *link.farewell.get_or_insert(now + FAREWELL);
            }
            let is_done = held.is_ending() && held.is_sent();
            if tells_of_drops || ping_due || is_done || begins_to_close {
                control.push(NodeMessage::Counters { instances: held.counters() });
            }
            (control, is_done, held.closing && held.has_waited)
        });
        self.finish_turn(control, batches, is_done, ping_due, shared);
        is_late && !is_done
    }

    fn finish_turn(
        &mut self,
        mut control: Vec<NodeMessage>,
        batches: Vec<Arc<Vec<u8>>>,
        is_done: bool,
        ping_due: bool,
        shared: &mut Shared,
    ) {
        if is_done {
            control.push(NodeMessage::Goodbye { reason: "shutdown".into() });
        } else if ping_due {
            control.push(NodeMessage::Ping {
                node_time: oasis_probe::now_ns(),
                clock_offset_ns: None,
                round_trip_ns: None,
                overhead: None,
            });
        }
        self.send(&control, &batches, shared);
        if let Some(link) = &mut self.link {
            link.has_left = is_done;
            if ping_due {
                link.next_ping = shared.now + PING;
            }
        }
    }

    /// Sends as the node's channels do: by stream, or small batches as datagrams.
    fn send(&mut self, control: &[NodeMessage], batches: &[Arc<Vec<u8>>], shared: &mut Shared) {
        let Some(link) = &mut self.link else { return };
        let mut bytes = Vec::new();
        if link.offer.is_some() && !std::mem::replace(&mut link.has_announced, true) {
            write_control(&NodeMessage::Datagrams, &mut bytes);
        }
        for message in control {
            shared.trace.detail(shared.now, || format!("from {}: {message:?}", link.id));
            write_control(message, &mut bytes);
        }
        let fits = |batch: &Vec<u8>| {
            link.offer.is_some()
                && link.is_answered
                && batch.len() <= DATAGRAM
                && Header::parse(batch).is_ok_and(|header| header.dropped_before == 0)
        };
        let (small, rest): (Vec<_>, Vec<_>) = batches.iter().partition(|batch| fits(batch));
        for batch in batches {
            shared.trace.detail(shared.now, || format!("from {}: {:?}", link.id, Header::parse(batch)));
        }
        for batch in rest {
            bytes.extend_from_slice(&batch_header(batch.len()));
            bytes.extend_from_slice(batch);
        }
        let id = link.id;
        shared.send(id, Side::Dac, &bytes);
        let now = shared.now;
        let datagrams: Vec<(u64, Delivery)> =
            small.into_iter().flat_map(|batch| shared.network.datagram(id, batch, now)).collect();
        shared.deliver(datagrams);
    }
}

impl Carrier {
    /// Returns whether nothing of it can be lost any more.
    fn is_done(&self) -> bool {
        self.outbox.with(|held| held.spool.is_finished())
    }

    /// Returns whether there is nothing more to send, and nothing to wait for.
    fn is_sent(&self) -> bool {
        self.outbox.with(|held| held.is_sent())
    }
}

fn instance_name(number: usize) -> String {
    format!("instance {number}")
}

/// Without paths, which differ from run to run.
fn first_words(error: &impl ToString) -> String {
    error.to_string().split_whitespace().take(4).collect::<Vec<_>>().join(" ")
}
