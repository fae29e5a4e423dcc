//! The DAC's host: the real sessions, registry, ledgers, topic logs, archive writer and store; this module takes the place
//! of the tasks and threads that call them.

use crate::{
    network::{ConnectionId, Side},
    oracle::End,
    planted::Planted,
    shared::{DacEvent, Event, Shared},
    system::{self, NANOS_PER_SECOND},
};
use anyhow::{Context as _, bail};
use oasis_archive::simulation::Recorder;
use oasis_channel::{
    DacMessage, DatagramOffer, Failure, SafeReason,
    frame::{DEFAULT_MAX_BODY, Frame, Reader, write_control},
};
use oasis_dac::{Audit, Config, Dac, Gap, Moment, Verdict, config::LogConfig, now, session::NodeSession};
use oasis_store::{ArchiveConfig, Clock, WritableStore, open_with};
use oasis_wire::{
    batch::{self, Header},
    quantity::{Nanos, TopicId},
};
use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};
use tokio::sync::mpsc;
use uuid::Uuid;

const NANOS_PER_MILLISECOND: u64 = 1_000_000;
/// As in the ingest and the archive of the DAC.
const NODE_TIMEOUT: u64 = 5 * NANOS_PER_SECOND;
const MAX_OUTBOUND_MESSAGES: usize = 64;
const RETRY: u64 = NANOS_PER_SECOND;
const MAINTENANCE: u64 = NANOS_PER_SECOND;
/// Interval between two checks of deadlines.
const DEADLINE_CHECK_INTERVAL: u64 = 50 * NANOS_PER_MILLISECOND;
/// Time between the two halves of a planted bug.
const PLANTED_BUG_DELAY: u64 = 200 * NANOS_PER_MILLISECOND;

/// The DAC's host.
#[derive(Debug)]
pub struct DacHost {
    /// The number of its disk.
    pub disk: usize,
    /// The folder of its archive.
    pub folder: PathBuf,
    /// The process that runs, if one does.
    pub process: Option<DacProcess>,
    generation: u64,
}

/// A process of the DAC.
#[derive(Debug)]
pub struct DacProcess {
    dac: Arc<Dac>,
    recorder: Recorder,
    sessions: BTreeMap<ConnectionId, Session>,
    /// Gaps whose causes the archive could not list, as it has counted until now.
    forgotten: u64,
}

#[derive(Debug)]
struct Session {
    session: NodeSession,
    reader: Reader,
    commands: mpsc::Receiver<DacMessage>,
    heard: u64,
    /// Planted: frames that were acknowledged and not handled.
    late: VecDeque<LateFrame>,
}

#[derive(Debug)]
enum LateFrame {
    Batch(Vec<u8>),
    Control(Vec<u8>),
    Ahead(Vec<u8>),
}

impl LateFrame {
    fn as_frame(&self) -> Frame<'_> {
        match self {
            Self::Batch(bytes) => Frame::Batch(bytes),
            Self::Control(bytes) => Frame::Control(bytes),
            Self::Ahead(bytes) => Frame::Ahead(bytes),
        }
    }
}

/// The clocks of the simulated host.
#[derive(Debug)]
struct HostClock;

impl Clock for HostClock {
    fn wall(&self) -> Nanos {
        oasis_store::clock::now()
    }

    fn since_boot(&self) -> Duration {
        system::since_boot()
    }

    fn boot(&self) -> String {
        "simulated".into()
    }
}

impl DacHost {
    /// Creates a host without a process.
    pub fn new(disk: usize, folder: PathBuf) -> Self {
        Self { disk, folder: folder.join("archive"), process: None, generation: 0 }
    }

    fn event(&self, event: DacEvent) -> Event {
        Event::Dac(self.generation, event)
    }

    /// Starts a process, if none runs.
    ///
    /// # Errors
    /// If the archive cannot be opened for another reason than its disk.
    pub fn start(&mut self, shared: &mut Shared) -> anyhow::Result<()> {
        if self.process.is_some() {
            return Ok(());
        }
        system::set_clock(shared.now, 0);
        let config = ArchiveConfig {
            directory: self.folder.display().to_string(),
            segment_bytes: shared.plan.segment_bytes,
            segment_seconds: shared.plan.segment_seconds,
            min_free_bytes: 0,
            ..ArchiveConfig::default()
        };
        let writable = match open_with(config, Arc::new(HostClock)) {
            Ok(writable) => writable,
            Err(error) => {
                shared.note("the DAC cannot start");
                if !shared.plan.has(|fault| fault.is_of_disk())
                    && !system::disk(|disk| disk.is_frozen(self.disk))
                {
                    bail!("the archive does not open: {error}");
                }
                shared.after(NANOS_PER_SECOND, Event::StartDac);
                return Ok(());
            }
        };
        let log = LogConfig { topic_bytes: shared.plan.topic_bytes, ..LogConfig::default() };
        let dac = Dac::new(Config { log, ..Config::default() });
        if shared.planted == Some(Planted::ResumeOffByOne) {
            restore_wrongly(&writable, &dac)?;
        } else if oasis_archive::restore(&writable, &dac.registry).is_err() {
            shared.after(NANOS_PER_SECOND, Event::StartDac);
            return Ok(());
        }
        self.generation += 1;
        shared.note("the DAC starts");
        let recorder = Recorder::new(dac.clone(), writable);
        self.process = Some(DacProcess { dac, recorder, sessions: BTreeMap::new(), forgotten: 0 });
        shared.is_dac_up = true;
        shared.after(shared.plan.commit, self.event(DacEvent::Store));
        shared.after(MAINTENANCE, self.event(DacEvent::Maintain));
        shared.after(DEADLINE_CHECK_INTERVAL, self.event(DacEvent::CheckDeadlines));
        Ok(())
    }

    /// Accepts a connection.
    pub fn accept(&mut self, id: ConnectionId, shared: &mut Shared) {
        let Some(process) = &mut self.process else { return };
        let (outbound, commands) = mpsc::channel(MAX_OUTBOUND_MESSAGES);
        let offer = DatagramOffer { port: 7_071, token: Uuid::from_u128(shared.random.u128(..)) };
        let session = NodeSession::new(process.dac.clone(), outbound).offering(Some(offer));
        let reader = Reader::new(DEFAULT_MAX_BODY);
        let session = Session { session, reader, commands, heard: shared.now, late: VecDeque::new() };
        process.sessions.insert(id, session);
    }

    /// Handles an event of a process.
    ///
    /// # Errors
    /// If the simulation itself fails.
    pub fn on_event(&mut self, generation: u64, event: DacEvent, shared: &mut Shared) -> anyhow::Result<()> {
        if generation != self.generation {
            return Ok(());
        }
        system::set_clock(shared.now, 0);
        let Some(process) = &mut self.process else { return Ok(()) };
        match event {
            DacEvent::Store => {
                let pause = process.store(shared);
                shared.after(pause, self.event(DacEvent::Store));
            }
            DacEvent::Maintain => {
                process.recorder.maintain();
                shared.after(MAINTENANCE, self.event(DacEvent::Maintain));
            }
            DacEvent::CheckDeadlines => {
                process.check_deadlines(shared);
                shared.after(DEADLINE_CHECK_INTERVAL, self.event(DacEvent::CheckDeadlines));
            }
            DacEvent::TakeLate(id) => process.take_late(id, shared),
            DacEvent::AppendLate(id, topic, batch) => process.append_late(id, topic, batch, shared),
        }
        self.close_replaced(shared);
        Ok(())
    }

    /// Handles bytes from a node.
    ///
    /// # Errors
    /// If the simulation itself fails.
    pub fn on_bytes(&mut self, id: ConnectionId, bytes: &[u8], shared: &mut Shared) -> anyhow::Result<()> {
        system::set_clock(shared.now, 0);
        let generation = self.generation;
        if let Some(process) = &mut self.process {
            process.on_bytes(id, bytes, generation, shared);
        }
        self.close_replaced(shared);
        Ok(())
    }

    /// Handles a datagram.
    pub fn on_datagram(&mut self, id: ConnectionId, bytes: &[u8], shared: &mut Shared) {
        system::set_clock(shared.now, 0);
        let Some(process) = &mut self.process else { return };
        let Some(session) = process.sessions.get_mut(&id) else { return };
        let mut answers = Vec::new();
        if let Err(failure) = session.session.datagram(bytes, Moment::now()) {
            shared.note(format!("datagram refused: {}", failure.code));
        }
        session.session.acknowledge(Moment::now(), &mut answers);
        answer(id, &answers, shared);
    }

    /// Handles the end of a connection.
    pub fn on_end(&mut self, id: ConnectionId, shared: &mut Shared) {
        system::set_clock(shared.now, 0);
        if let Some(process) = &mut self.process {
            process.close(id, None, shared);
        }
    }

    /// Closes sessions that another connection of the same node has replaced.
    fn close_replaced(&mut self, shared: &mut Shared) {
        let Some(process) = &mut self.process else { return };
        let is_replaced = |session: &mut Session| {
            matches!(session.commands.try_recv(), Err(mpsc::error::TryRecvError::Disconnected))
        };
        let replaced: Vec<_> = process
            .sessions
            .iter_mut()
            .filter_map(|(id, session)| is_replaced(session).then_some(*id))
            .collect();
        replaced.into_iter().for_each(|id| process.close(id, None, shared));
    }

    /// Stops the process as an operator does.
    ///
    /// # Errors
    /// If its account is wrong, or it could not store everything although its disk works.
    pub fn stop(&mut self, shared: &mut Shared) -> anyhow::Result<()> {
        system::set_clock(shared.now, 0);
        let Some(process) = &mut self.process else { return Ok(()) };
        shared.note("the DAC stops");
        let ids: Vec<_> = process.sessions.keys().copied().collect();
        ids.into_iter().for_each(|id| process.close(id, None, shared));
        process.note_stored_after(true, shared);
        if !shared.plan.has(|fault| matches!(fault, crate::plan::Fault::Liar { .. })) {
            for instance in process.dac.registry.instances() {
                let audit = Audit::of(&instance);
                if audit.undeclared > 0 {
                    bail!("undeclared in the audit of {}/{}: {audit:?}", instance.node, instance.name);
                }
            }
        }
        self.process = None;
        shared.is_dac_up = false;
        Ok(())
    }

    /// The process is killed, or the power is cut.
    pub fn crash(&mut self, end: End, shared: &mut Shared) {
        let Some(process) = self.process.take() else { return };
        shared.is_dac_up = false;
        if end == End::Killed {
            process.sessions.keys().for_each(|id| shared.close(*id, Side::Dac));
        }
    }
}

impl DacProcess {
    /// Returns the pause before the next round.
    fn store(&mut self, shared: &mut Shared) -> u64 {
        let stored = self.note_stored_after(false, shared);
        for (id, session) in &mut self.sessions {
            let mut answers = Vec::new();
            if session.session.has_unsafe_samples() {
                session.session.report_safe(Moment::now(), &mut answers);
            }
            answer(*id, &answers, shared);
        }
        match stored {
            Some(true) => shared.plan.commit,
            Some(false) => NANOS_PER_MILLISECOND,
            None => RETRY,
        }
    }

    /// Stores, and tells the oracle what must be in the archive from now on. Returns whether nothing is left; none after an
    /// error.
    fn note_stored_after(&mut self, is_end: bool, shared: &mut Shared) -> Option<bool> {
        let received: Vec<_> = self
            .dac
            .registry
            .instances()
            .iter()
            .map(|instance| {
                let ledger = instance.ledger();
                let of_run = |gap: &&Gap| ledger.run() == Some(gap.run);
                let gaps = ledger.gaps.iter().filter(of_run).map(|gap| gap.from_sequence..=gap.to_sequence);
                // Samples that an earlier run of the DAC has not stored are only in its ledger.
                let numbers = (ledger.stored_before, ledger.last_sequence);
                (instance.name.clone(), ledger.run(), numbers, gaps.collect::<Vec<_>>())
            })
            .collect();
        let stored = if is_end { self.recorder.finish().map(|()| true) } else { self.recorder.store(false) };
        let forgotten = self.recorder.archive().counters.lock().losses_forgotten;
        shared.oracle.causes_forgotten += forgotten - std::mem::replace(&mut self.forgotten, forgotten);
        if stored == Ok(true) {
            for (name, run, (before, sequence), gaps) in received {
                let number = name.rsplit(' ').next().and_then(|number| number.parse::<usize>().ok());
                let taken = run
                    .and_then(|run| shared.oracle.run(run))
                    .zip(number)
                    .and_then(|(run, number)| run.instances.get_mut(number));
                if let Some(taken) = taken {
                    taken.store(before, sequence, |number| gaps.iter().any(|gap| gap.contains(&number)));
                }
            }
        }
        stored.ok()
    }

    fn check_deadlines(&mut self, shared: &mut Shared) {
        let mut ended = Vec::new();
        for (id, session) in &mut self.sessions {
            if shared.now - session.heard > NODE_TIMEOUT {
                ended.push(*id);
                continue;
            }
            let now = Moment::now();
            if session.session.due().is_some_and(|due| due <= now.steady) {
                let mut answers = Vec::new();
                session.session.overdue(now);
                session.session.acknowledge(now, &mut answers);
                session.session.report_safe(now, &mut answers);
                answer(*id, &answers, shared);
            }
        }
        for id in ended {
            self.close(id, Some(Failure::new("idle_timeout", "silence")), shared);
        }
    }

    fn close(&mut self, id: ConnectionId, failure: Option<Failure>, shared: &mut Shared) {
        let Some(mut session) = self.sessions.remove(&id) else { return };
        session.session.close(now());
        if let Some(failure) = failure {
            shared.note(format!("connection {id} is refused: {}", failure.code));
            answer(id, &[DacMessage::Refused(failure)], shared);
        }
        shared.close(id, Side::Dac);
    }

    fn on_bytes(&mut self, id: ConnectionId, bytes: &[u8], generation: u64, shared: &mut Shared) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.reader.extend(bytes);
        if shared.planted == Some(Planted::AckBeforeTake) {
            session.acknowledge_early(id, generation, shared);
            return;
        }
        let planted = shared.planted == Some(Planted::VerdictWithoutAppend);
        let mut answers = Vec::new();
        let mut is_heard = false;
        let handled = loop {
            match session.reader.next() {
                Ok(None) => break Ok(()),
                Err(error) => break Err(Failure::new(error.code(), error.to_string())),
                Ok(Some(frame)) => {
                    is_heard = true;
                    if let (Frame::Batch(batch), true) = (&frame, planted) {
                        let late = count_only(&self.dac, batch, &mut answers);
                        let delay = shared.random.u64(0..PLANTED_BUG_DELAY);
                        let late = late.map(|(topic, batch)| DacEvent::AppendLate(id, topic, batch));
                        late.into_iter().for_each(|event| shared.after(delay, Event::Dac(generation, event)));
                        continue;
                    }
                    if let Err(failure) = session.session.handle(frame, Moment::now(), &mut answers) {
                        break Err(failure);
                    }
                }
            }
        };
        self.finish_read(id, handled, is_heard, answers, shared);
    }

    fn finish_read(
        &mut self,
        id: ConnectionId,
        handled: Result<(), Failure>,
        is_heard: bool,
        mut answers: Vec<DacMessage>,
        shared: &mut Shared,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if let Err(failure) = handled {
            self.close(id, Some(failure), shared);
            return;
        }
        if is_heard {
            session.session.acknowledge(Moment::now(), &mut answers);
            session.heard = shared.now;
        }
        answer(id, &answers, shared);
        if session.session.has_left() {
            self.close(id, None, shared);
        }
    }

    /// Planted: handles the oldest frame that was acknowledged before.
    fn take_late(&mut self, id: ConnectionId, shared: &mut Shared) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(late) = session.late.pop_front() else { return };
        let mut answers = Vec::new();
        let handled = session.session.handle(late.as_frame(), Moment::now(), &mut answers);
        self.finish_read(id, handled, true, answers, shared);
    }

    /// Planted: appends a batch that the ledger has counted, if the connection is still there.
    fn append_late(&mut self, id: ConnectionId, topic: TopicId, batch: Vec<u8>, shared: &mut Shared) {
        let Some(instance) = self.dac.registry.instance(topic) else { return };
        if let (true, Ok(header)) = (self.sessions.contains_key(&id), Header::parse(&batch)) {
            let time = now();
            let [_, safe] = acknowledgements(&header);
            answer(id, &[safe], shared);
            instance.log.append(batch, header.count, |bytes, offset| batch::stamp(bytes, offset.0, time.0));
        }
    }
}

impl Session {
    /// Planted: acknowledges the batches that have just arrived, and handles them later.
    fn acknowledge_early(&mut self, id: ConnectionId, generation: u64, shared: &mut Shared) {
        let mut answers = Vec::new();
        while let Ok(Some(frame)) = self.reader.next() {
            let late = match frame {
                Frame::Batch(bytes) => LateFrame::Batch(bytes.to_vec()),
                Frame::Control(bytes) => LateFrame::Control(bytes.to_vec()),
                Frame::Ahead(bytes) => LateFrame::Ahead(bytes.to_vec()),
            };
            if let LateFrame::Batch(bytes) = &late
                && let Ok(header) = Header::parse(bytes)
            {
                answers.extend(acknowledgements(&header));
            }
            self.late.push_back(late);
            let delay = if self.late.len() > 1 || !answers.is_empty() {
                shared.random.u64(0..PLANTED_BUG_DELAY)
            } else {
                0
            };
            shared.after(delay, Event::Dac(generation, DacEvent::TakeLate(id)));
        }
        answer(id, &answers, shared);
    }
}

/// Returns both acknowledgements of a batch.
fn acknowledgements(header: &Header) -> [DacMessage; 2] {
    let topics = vec![(TopicId(header.topic), header.first_sequence + u64::from(header.count) - 1)];
    [DacMessage::Ack { topics: topics.clone() }, DacMessage::Safe { reason: SafeReason::Stored, topics }]
}

/// Planted: lets the ledger count a batch. Returns it if the topic log still has to get it.
fn count_only(dac: &Dac, bytes: &[u8], answers: &mut Vec<DacMessage>) -> Option<(TopicId, Vec<u8>)> {
    let header = Header::parse(bytes).ok()?;
    let topic = TopicId(header.topic);
    let instance = dac.registry.instance(topic)?;
    let count = u64::from(header.count);
    let verdict = instance.ledger().batch(header.first_sequence, count, header.dropped_before.into(), now());
    let [received, _] = acknowledgements(&header);
    answers.push(received);
    (verdict == Verdict::New).then(|| (topic, bytes.to_vec()))
}

fn answer(id: ConnectionId, answers: &[DacMessage], shared: &mut Shared) {
    let mut bytes = Vec::new();
    for answer in answers {
        shared.trace.detail(shared.now, || format!("to {id}: {answer:?}"));
        write_control(answer, &mut bytes);
    }
    shared.send(id, Side::Node, &bytes);
}

/// Planted: restores a registry, but takes one sample more for stored than there is.
fn restore_wrongly(writable: &WritableStore, dac: &Dac) -> anyhow::Result<()> {
    let catalogue = writable.store.catalogue();
    let instances = catalogue.stored().context("cannot read the catalogue")?.into_iter().map(|mut stored| {
        stored.runs.iter_mut().for_each(|run| run.last_sequence += 1);
        stored
    });
    dac.registry.restore(&[], instances.collect());
    Ok(())
}
