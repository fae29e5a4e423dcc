use super::*;
use crate::{
    frame::Deframer,
    message::{AnnouncedInstance, CommandResult, parse},
};
use oasis_channel::Outcome;
use oasis_probe::forward::{ForwardedCommand, Missing, NewBatch};
use oasis_wire::{
    batch::{Encoder, Fields},
    command::Command,
};
use std::{collections::VecDeque, sync::Mutex};

const TYPE: &str = r#"{"name":"P","uuid":"0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa","version":"1.0","metrics":[{"name":"x","type":"int16"}]}"#;

/// Effects of a device on its node.
#[derive(Default)]
struct NodeLog {
    sessions: Vec<Session>,
    batches: Vec<NewBatch>,
    taken: u64,
    missing: Missing,
    is_present: bool,
    offset: Option<i64>,
    commands: VecDeque<Command>,
    answers: Vec<Outcome>,
}

#[derive(Clone, Default)]
struct Fake(Arc<Mutex<NodeLog>>);

impl Fake {
    fn seen(&self) -> std::sync::MutexGuard<'_, NodeLog> {
        self.0.lock().unwrap()
    }
}

impl Fake {
    /// The last sequence number that was reported, and how many sessions there were.
    fn ended(&self) -> (u64, usize) {
        let seen = self.seen();
        (seen.taken, seen.sessions.len())
    }
}

impl Uplink for Fake {
    fn begin(&mut self, session: Session) -> Result<(), NodeError> {
        self.seen().sessions.push(session);
        Ok(())
    }

    fn push(&mut self, batch: NewBatch) {
        self.seen().batches.push(batch);
    }

    fn taken(&mut self, _: usize, taken: u64, missing: Missing) {
        let mut seen = self.seen();
        seen.missing = missing;
        seen.taken = seen.taken.max(taken);
    }

    fn set_present(&mut self, is_present: bool) {
        self.seen().is_present = is_present;
    }

    fn clock_offset(&self) -> Option<i64> {
        self.seen().offset
    }

    fn next_command(&mut self) -> Option<ForwardedCommand> {
        let command = self.seen().commands.pop_front()?;
        Some(ForwardedCommand { id: 1, uuid: None, instance: 0, command })
    }

    fn answer(&mut self, _: ForwardedCommand, outcome: Outcome) {
        self.seen().answers.push(outcome);
    }

    fn state(&mut self, _: usize, _: InstanceState) {}

    fn is_idle(&self) -> bool {
        true
    }

    fn shutdown(&mut self) {}
}

/// A gateway with one device, and the other end of its line.
struct Bench {
    device: Device,
    node: Fake,
    known: Arc<SharedDevices>,
    sessions: SharedSessions,
    stats: LineStats,
    now: Moment,
}

/// Message of the gateway: kind, session of the frame, body.
type Said = Vec<(u8, u32, Vec<u8>)>;

impl Bench {
    fn new() -> Self {
        let (known, sessions) = (Arc::<SharedDevices>::default(), Arc::new(Mutex::new(Sessions::open(None))));
        let node = Fake::default();
        let device = Device::new("pump", Box::new(node.clone()), known.clone(), sessions.clone(), false);
        let now = Moment { steady: Instant::now(), wall: 1_000_000 };
        Self { device, node, known, sessions, stats: LineStats::default(), now }
    }

    /// The gateway's process ends, and another one begins.
    fn restarted(mut self) -> Self {
        self.device.shutdown();
        let node = Fake::default();
        let device =
            Device::new("pump", Box::new(node.clone()), self.known.clone(), self.sessions.clone(), false);
        Self { device, node, ..self }
    }

    fn pass(&mut self, milliseconds: u64) -> Said {
        self.now.steady += Duration::from_millis(milliseconds);
        let mut out = Vec::new();
        self.device.tick(self.now, &mut out);
        said(&out)
    }

    fn announce(&mut self, announce: Announce) -> Said {
        let mut out = Vec::new();
        self.device.announce(announce, self.now, &self.stats, &mut out);
        said(&out)
    }

    fn receive(&mut self, kind: u8, session: u32, body: &[u8]) -> Result<Said, FrameRefusal> {
        let mut out = Vec::new();
        let frame = Frame { kind, number: 0, session, body };
        self.device.receive(&frame, parse(&frame).unwrap(), self.now, &self.stats, &mut out)?;
        Ok(said(&out))
    }

    /// Announces a device, and begins the session that is offered. Returns it.
    fn accept(&mut self, announce: Announce) -> u32 {
        let session = self.offer(announce);
        self.receive(0x13, session, &[0; 8]).unwrap();
        session
    }

    /// Announces a device, and answers the questions for its schema in pieces. Returns the session that is offered.
    fn offer(&mut self, announce: Announce) -> u32 {
        let (session, starts) = (announce.session, announce.starts);
        let mut said = self.announce(announce);
        loop {
            let (kind, in_session, body) = said.pop().unwrap();
            assert_eq!(in_session, session);
            if kind == 0x20 {
                let (session, rest) = body.split_first_chunk::<4>().unwrap();
                assert_eq!(rest, starts.to_le_bytes());
                return u32::from_le_bytes(*session);
            }
            assert_eq!((kind, body[0]), (0x21, 0));
            let offset = u16::from_le_bytes([body[1], body[2]]);
            let text = &TYPE.as_bytes()[offset.into()..];
            let piece = &text[..text.len().min(50)];
            let total = (TYPE.len() as u16).to_le_bytes();
            let answer = [&[0][..], &offset.to_le_bytes(), &total, piece].concat();
            said = self.receive(0x11, session, &answer).unwrap();
        }
    }

    fn batch(&mut self, session: u32, first: u64, count: u64, dropped: u32) -> Result<Said, FrameRefusal> {
        self.receive(0x01, session, &batch(first, count, dropped))
    }

    fn counters(&mut self, session: u32, taken: u64, sent: u64) -> Result<Said, FrameRefusal> {
        self.receive(0x12, session, &[&taken.to_le_bytes()[..], &sent.to_le_bytes(), &[0; 4]].concat())
    }

    fn missing(&self) -> Vec<(u64, u64)> {
        self.node.seen().batches.iter().map(|batch| (batch.before.ring_full, batch.before.network)).collect()
    }
}

fn said(bytes: &[u8]) -> Said {
    let mut said = Vec::new();
    Deframer::default().push(bytes, |frame| {
        let frame = frame.unwrap();
        said.push((frame.kind, frame.session, frame.body.to_vec()));
    });
    said
}

fn announcement(session: u32, has_started: bool, starts: u32, ended: u64) -> Announce {
    Announce {
        session,
        has_started,
        starts,
        name: "pump".into(),
        software: "demo".into(),
        instances: vec![AnnouncedInstance {
            probe_type: "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa".parse().unwrap(),
            schema_crc: crc32fast::hash(TYPE.as_bytes()),
            schema_bytes: TYPE.len() as u16,
            kind: ProbeKind::Periodic,
            enabled: true,
            millihertz: 10_000,
            ended,
            name: "x".into(),
        }],
    }
}

fn batch(first_sequence: u64, count: u64, dropped_before: u32) -> Vec<u8> {
    let mut encoder = Encoder::new(&serde_json::from_str(TYPE).unwrap()).unwrap();
    (0..count).for_each(|number| encoder.push(number, &[7, 0]).unwrap());
    let mut bytes = Vec::new();
    encoder.finish(Fields { topic: 1, state: 0, first_sequence, node_time: 5, dropped_before }, &mut bytes);
    bytes
}

#[test]
fn a_device_is_accepted_once_its_schema_is_known_and_its_batches_go_on_as_they_are() {
    let mut bench = Bench::new();
    let session = bench.accept(announcement(0, true, 1, 0));
    bench.batch(session, 1, 3, 0).unwrap();
    let seen = bench.node.seen();
    assert_eq!((seen.sessions.len(), seen.batches.len()), (1, 1));
    assert!(seen.is_present);
    assert_eq!(*seen.batches[0].bytes, batch(1, 3, 0));
    assert_eq!(seen.sessions[0].instances[0].state.hertz.map(Hertz::get), Some(10.0));
    drop(seen);
    // Known now: no question.
    let mut other = bench.restarted();
    assert_eq!(other.announce(announcement(0, true, 1, 0))[0].0, 0x20);
}

#[test]
fn every_number_arrives_or_is_declared_with_its_cause() {
    let mut bench = Bench::new();
    let session = bench.accept(announcement(0, true, 1, 0));
    bench.batch(session, 3, 2, 2).unwrap();
    bench.batch(session, 3, 2, 2).unwrap();
    bench.batch(session, 10, 1, 1).unwrap();
    bench.counters(session, 30, 15).unwrap();
    bench.batch(session, 18, 1, 0).unwrap();
    assert_eq!(bench.missing(), [(2, 0), (1, 4), (0, 7)]);
    let taken = bench.node.seen().taken;
    assert_eq!((taken, bench.stats.lost_samples.into_inner()), (30, 14));
}

#[test]
fn what_is_dropped_last_is_declared_before_there_is_another_batch() {
    let mut bench = Bench::new();
    let session = bench.accept(announcement(0, true, 1, 0));
    bench.batch(session, 3, 2, 2).unwrap();
    let counters = |taken: u64, sent: u64, ring_full: u32| {
        [&taken.to_le_bytes()[..], &sent.to_le_bytes(), &ring_full.to_le_bytes()].concat()
    };
    // One sample waits in the ring: it is not known yet what comes with it.
    bench.receive(0x12, session, &counters(9, 4, 2)).unwrap();
    assert_eq!(bench.node.seen().missing, Missing::default());
    // The sample was sent and lost; the five after it had no room.
    bench.receive(0x12, session, &counters(10, 10, 7)).unwrap();
    assert_eq!(bench.node.seen().missing, Missing { ring_full: 5, network: 1, ..Missing::default() });
    bench.batch(session, 11, 1, 0).unwrap();
    assert_eq!(bench.missing(), [(2, 0), (5, 1)]);
    assert_eq!(bench.node.seen().taken, 10);
}

#[test]
fn counters_over_datagrams_are_believed_the_second_time() {
    let mut bench = Bench::new();
    bench.device.is_datagrams = true;
    let session = bench.accept(announcement(0, true, 1, 0));
    bench.counters(session, 10, 10).unwrap();
    bench.batch(session, 1, 10, 0).unwrap();
    bench.counters(session, 20, 20).unwrap();
    bench.counters(session, 20, 20).unwrap();
    bench.batch(session, 21, 1, 0).unwrap();
    assert_eq!(bench.missing(), [(0, 0), (0, 10)]);
}

#[test]
fn a_restart_with_its_memory_ends_the_session_with_its_counts() {
    let mut bench = Bench::new();
    let first = bench.accept(announcement(0, true, 1, 0));
    bench.batch(first, 1, 5, 0).unwrap();
    let second = bench.offer(announcement(first, true, 2, 41));
    assert_ne!(first, second);
    // Nothing has ended: a batch of the old session may still be on its way.
    bench.batch(first, 6, 1, 0).unwrap();
    assert_eq!(bench.node.ended(), (0, 1));
    // The answer was lost, and the device took samples meanwhile.
    assert_eq!(bench.offer(announcement(first, true, 2, 43)), second);
    // The device has started again before the answer came.
    let third = bench.offer(announcement(first, true, 3, 44));
    assert_ne!(second, third);
    bench.counters(third, 0, 0).unwrap();
    assert_eq!(bench.node.ended(), (44, 2));
    let second = third;
    assert_eq!(bench.batch(first, 42, 1, 0), Err(FrameRefusal::OtherSession));
    bench.batch(second, 1, 1, 0).unwrap();
    assert_eq!(bench.missing(), [(0, 0), (0, 0), (0, 0)]);
    let secrets: Vec<_> = bench.node.seen().sessions.iter().map(|session| session.secret.run()).collect();
    assert_ne!(secrets[0], secrets[1]);
    assert_eq!((bench.stats.restarts.into_inner(), bench.stats.unknown_restarts.into_inner()), (1, 0));
}

#[test]
fn a_session_of_which_no_frame_came_ends_with_its_counts_too() {
    let mut bench = Bench::new();
    let first = bench.accept(announcement(0, true, 1, 0));
    let second = bench.offer(announcement(first, true, 2, 41));
    // The device has accepted it. What it sent was lost, and it starts again.
    let third = bench.offer(announcement(second, true, 3, 50));
    assert_eq!(bench.node.ended(), (41, 2));
    bench.counters(third, 0, 0).unwrap();
    assert_eq!(bench.node.ended(), (50, 3));
    assert_eq!((bench.stats.restarts.into_inner(), bench.stats.unknown_restarts.into_inner()), (2, 0));
}

#[test]
fn samples_of_a_start_that_had_no_session_are_lost_with_it() {
    let mut bench = Bench::new();
    bench.offer(announcement(0, true, 1, 0));
    // The answer did not come, and the device has started again.
    let session = bench.offer(announcement(0, true, 2, 252));
    bench.counters(session, 0, 0).unwrap();
    assert_eq!(bench.node.ended(), (252, 2));
    let runs: Vec<_> = bench.node.seen().sessions.iter().map(|session| session.secret.run()).collect();
    assert_ne!(runs[0], runs[1]);
}

#[test]
fn a_device_goes_on_with_an_offered_session_of_which_no_frame_came() {
    let mut bench = Bench::new();
    let offered = bench.offer(announcement(0, true, 1, 0));
    assert_eq!(bench.offer(announcement(offered, false, 1, 0)), offered);
    assert_eq!(bench.node.ended(), (0, 1));
    assert_eq!(bench.stats.unknown_restarts.into_inner(), 0);
}

#[test]
fn a_restart_without_its_memory_is_known_to_have_an_unknown_loss() {
    let mut bench = Bench::new();
    let first = bench.accept(announcement(0, true, 1, 0));
    bench.counters(first, 9, 0).unwrap();
    bench.accept(announcement(0, true, 1, 0));
    assert_eq!(bench.node.ended(), (9, 2));
    assert_eq!((bench.stats.restarts.into_inner(), bench.stats.unknown_restarts.into_inner()), (1, 1));
}

#[test]
fn a_device_that_announces_its_session_again_goes_on() {
    let mut bench = Bench::new();
    let session = bench.accept(announcement(0, true, 1, 0));
    bench.batch(session, 1, 2, 0).unwrap();
    assert_eq!(bench.accept(announcement(session, false, 1, 0)), session);
    bench.batch(session, 4, 1, 0).unwrap();
    assert_eq!(bench.missing(), [(0, 0), (0, 1)]);
    assert_eq!(bench.node.seen().sessions.len(), 1);
}

#[test]
fn a_session_outlives_the_process_of_the_gateway() {
    let mut bench = Bench::new();
    let session = bench.accept(announcement(0, true, 1, 0));
    bench.batch(session, 1, 5, 0).unwrap();
    let run = bench.node.seen().sessions[0].secret.run();
    let mut after = bench.restarted();
    assert_eq!(after.accept(announcement(session, false, 1, 0)), session);
    assert_eq!(after.node.seen().sessions[0].secret.run(), run);
    after.batch(session, 8, 1, 1).unwrap();
    assert_eq!(after.missing(), [(1, 1)]);
    // Both have restarted: the session that ended gets its counts.
    let mut both = after.restarted();
    both.accept(announcement(session, true, 2, 90));
    assert_eq!(both.node.ended(), (90, 2));
    assert_eq!(both.node.seen().sessions[0].secret.run(), run);
}

#[test]
fn a_silent_device_is_away_until_it_is_heard_again() {
    let mut bench = Bench::new();
    let session = bench.accept(announcement(0, true, 1, 0));
    bench.pass(4_900);
    assert!(bench.node.seen().is_present);
    bench.node.seen().commands.push_back(Command::Enable);
    bench.pass(200);
    assert!(!bench.node.seen().is_present);
    assert!(
        matches!(&bench.node.seen().answers[..], [Outcome::Failed(failure)] if failure.code == "device_silent")
    );
    bench.counters(session, 0, 0).unwrap();
    assert!(bench.node.seen().is_present);
}

#[test]
fn time_is_that_of_the_dac_once_it_is_known() {
    let mut bench = Bench::new();
    let session = bench.accept(announcement(0, true, 1, 0));
    let request = 77_u64.to_le_bytes();
    assert_eq!(bench.receive(0x13, session, &request).unwrap(), []);
    bench.node.seen().offset = Some(-400_000);
    let time = [77_u64.to_le_bytes(), 600_000_u64.to_le_bytes()].concat();
    assert_eq!(bench.receive(0x13, session, &request).unwrap(), [(0x23, session, time)]);
}

#[test]
fn a_command_is_repeated_until_it_is_answered_and_others_wait() {
    let mut bench = Bench::new();
    let session = bench.accept(announcement(0, true, 1, 0));
    let hertz = Command::Hertz { hertz: Hertz::new(2.5).unwrap() };
    bench.node.seen().commands.extend([Command::Trigger, hertz, Command::Disable]);
    let first = bench.pass(1);
    assert_eq!(first, [(0x24, session, [1, 0, 0, 0, 0, 1, 0xc4, 0x09, 0, 0].to_vec())]);
    assert_eq!(bench.pass(400), []);
    assert_eq!(bench.pass(100), first);
    let answer = [&1_u32.to_le_bytes()[..], &[0, 1], &2_500_u32.to_le_bytes()].concat();
    let second = bench.receive(0x14, session, &answer).unwrap();
    assert_eq!(second[0].2[..6], [2, 0, 0, 0, 0, 3]);
    // An answer that comes again is no answer to the next command.
    assert_eq!(bench.receive(0x14, session, &answer).unwrap(), []);
    for _ in 0..5 {
        assert_eq!(bench.pass(500), second);
    }
    assert_eq!(bench.pass(500), []);
    let codes: Vec<_> = bench
        .node
        .seen()
        .answers
        .iter()
        .map(|answer| match answer {
            Outcome::Done(state) => format!("{:?}", state.hertz.map(Hertz::get)),
            Outcome::Failed(failure) => failure.code.clone(),
        })
        .collect();
    assert_eq!(codes, ["no_recorder", "Some(2.5)", "device_silent"]);
}

#[test]
fn contents_that_no_device_sends_are_refused_and_change_nothing() {
    let mut bench = Bench::new();
    let session = bench.accept(announcement(0, true, 1, 0));
    let far = u64::MAX - 7;
    assert_eq!(bench.batch(session, far, 3, 0), Err(FrameRefusal::Contents));
    assert_eq!(bench.counters(session, far, far), Err(FrameRefusal::Contents));
    assert_eq!(bench.counters(session, 3, 4), Err(FrameRefusal::Contents));
    let mut other_topic = batch(1, 1, 0);
    other_topic[4] = 9;
    assert_eq!(bench.receive(0x01, session, &other_topic), Err(FrameRefusal::Contents));
    let mut cut = batch(1, 9, 0);
    cut.pop();
    assert_eq!(bench.receive(0x01, session, &cut), Err(FrameRefusal::Contents));
    bench.batch(session, 1, 1, 0).unwrap();
    assert_eq!(bench.missing(), [(0, 0)]);
    let result = CommandResult { id: 5, outcome: 0, enabled: true, millihertz: 0 };
    bench.device.commands.answered(result, &mut bench.node.clone());
    assert_eq!(bench.node.seen().answers, []);
}

#[test]
fn a_schema_that_is_not_what_was_announced_is_asked_for_three_times() {
    let mut bench = Bench::new();
    let mut said = bench.announce(announcement(0, true, 1, 0));
    let wrong = TYPE.replace("int16", "int32");
    for _ in 0..3 {
        assert_eq!(said.pop().unwrap().0, 0x21);
        let total = (TYPE.len() as u16).to_le_bytes();
        let answer = [&[0, 0, 0][..], &total, wrong.as_bytes()].concat();
        assert_eq!(bench.receive(0x11, 0, &answer), Err(FrameRefusal::Contents));
        bench.now.steady += Duration::from_millis(500);
        said = bench.announce(announcement(0, true, 1, 0));
    }
    assert_eq!(said, []);
    assert_eq!(bench.node.seen().sessions.len(), 0);
}
