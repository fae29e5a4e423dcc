//! A node's session without a socket: its answers and its errors.

mod ahead;
mod eviction;
mod identity;
mod remembered;
mod safe;
mod several_dacs;
mod takeover;

use oasis_channel::{
    Counters, DacMessage, Drops, Failure, InstanceState, NodeIdentity, NodeMessage, PROTOCOL,
    RegisteredInstance, ResumeSecret, frame::Frame,
};
use oasis_dac::{Config, Dac, Moment, StartAt, session::NodeSession};
use oasis_wire::{
    batch::{Encoder, Fields},
    command::Command,
    loss::Cause,
    probe_kind::ProbeKind,
    quantity::{Nanos, TopicId},
    schema::{Metric, MetricType, ProbeType, StructType},
    value::RowWriter,
};
use std::sync::Arc;
use tokio::sync::mpsc;
use uuid::Uuid;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

struct Peer {
    session: NodeSession,
    commands: mpsc::Receiver<DacMessage>,
}

impl Peer {
    fn new(dac: &Arc<Dac>) -> Self {
        let (outbound, commands) = mpsc::channel(8);
        Self { session: NodeSession::new(dac.clone(), outbound), commands }
    }

    fn connected(dac: &Arc<Dac>, name: &str, run: u128) -> (Self, TopicId) {
        let mut peer = Self::new(dac);
        peer.send_message(&hello(name, run), 0).unwrap();
        let answers = peer.send_message(&register(vec![beat()], &["beat"]), 0).unwrap();
        let [DacMessage::Registered { topics }] = &answers[..] else { panic!("{answers:?}") };
        (peer, topics[0].topic)
    }

    fn send_message(&mut self, message: &NodeMessage, now: u64) -> Result<Vec<DacMessage>, Failure> {
        self.raw(&serde_json::to_vec(message).unwrap(), now)
    }

    fn raw(&mut self, json: &[u8], now: u64) -> Result<Vec<DacMessage>, Failure> {
        let mut out = Vec::new();
        self.session.handle(Frame::Control(json), Nanos(now), &mut out).map(|()| out)
    }

    fn send(&mut self, batch: &[u8]) -> Result<Vec<DacMessage>, Failure> {
        let mut out = Vec::new();
        self.session.handle(Frame::Batch(batch), Nanos(5), &mut out)?;
        self.session.acknowledge(Nanos(5), &mut out);
        Ok(out)
    }
}

fn dac() -> Arc<Dac> {
    Dac::new(Config::default())
}

fn probe_type(metrics: Vec<Metric>) -> ProbeType {
    ProbeType {
        name: "Beat".into(),
        uuid: Uuid::from_u128(7),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics,
    }
}

fn beat() -> ProbeType {
    probe_type(Vec::new())
}

fn metric(kind: MetricType) -> Metric {
    serde_json::from_value(serde_json::json!({"name": "m", "type": kind})).unwrap()
}

fn hello(name: &str, run: u128) -> NodeMessage {
    let node = NodeIdentity {
        name: name.into(),
        uuid: Uuid::nil(),
        run: Uuid::from_u128(run),
        host: "host".into(),
        software: "test".into(),
        pid: 1,
    };
    NodeMessage::Hello { protocol: PROTOCOL, node, secret: None, attach: None, drains: false }
}

fn register(types: Vec<ProbeType>, names: &[&str]) -> NodeMessage {
    let instance = |name: &&str| RegisteredInstance {
        demand: None,
        declared: None,
        name: (*name).into(),
        probe_type: Uuid::from_u128(7),
        kind: ProbeKind::Pushed,
        state: InstanceState { hertz: None, enabled: true, recorder: None },
    };
    NodeMessage::Register { types, instances: names.iter().map(instance).collect() }
}

fn batch(topic: TopicId, first_sequence: u64, count: u64, dropped_before: u32) -> Vec<u8> {
    let mut encoder = Encoder::new(&beat()).unwrap();
    (0..count).for_each(|time| encoder.push(time, &[]).unwrap());
    let mut bytes = Vec::new();
    encoder
        .finish(Fields { topic: topic.0, first_sequence, dropped_before, ..Fields::default() }, &mut bytes);
    bytes
}

fn code<T: std::fmt::Debug>(outcome: Result<T, Failure>) -> String {
    outcome.unwrap_err().code
}

fn missing(topic: TopicId, from_sequence: u64, to_sequence: u64, cause: &str) -> NodeMessage {
    NodeMessage::Missing { topic, from_sequence, to_sequence, cause: cause.into() }
}

fn replay(dac: &Arc<Dac>, name: &str, run: u128) -> (Peer, TopicId) {
    let (mut peer, topic) = Peer::connected(dac, name, run);
    peer.send_message(&NodeMessage::Replay, 0).unwrap();
    (peer, topic)
}

fn gaps(dac: &Dac, topic: TopicId) -> Vec<(u64, u64, Cause)> {
    let ledger = dac.registry.instance(topic).unwrap().ledger().clone();
    ledger.gaps.iter().map(|gap| (gap.from_sequence, gap.to_sequence, gap.cause)).collect()
}

#[test]
fn a_replay_announces_itself_and_the_gaps_of_its_recording() {
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "a", 1);
    assert_eq!(code(peer.send_message(&missing(topic, 1, 9, "ring_full"), 0)), "replay_expected");
    assert!(!dac.registry.node("a").unwrap().is_replay);

    let (mut peer, topic) = replay(&dac, "b", 1);
    assert!(dac.registry.node("b").unwrap().is_replay);
    peer.send_message(&missing(topic, 1, 9, "not_recorded"), 0).unwrap();
    peer.send(&batch(topic, 10, 3, 0)).unwrap();
    peer.send_message(&missing(topic, 13, 14, "ring_full"), 0).unwrap();
    peer.send(&batch(topic, 15, 1, 0)).unwrap();
    assert_eq!(gaps(&dac, topic), [(1, 9, Cause::NotRecorded), (13, 14, Cause::RingFull)]);
    let ledger = dac.registry.instance(topic).unwrap().ledger().clone();
    assert_eq!((ledger.received, ledger.unexplained), (4, 0));
    assert_eq!(code(peer.send_message(&missing(topic, 16, 16, "weather"), 0)), "cause_unknown");
    assert_eq!(code(peer.send_message(&missing(TopicId(99), 1, 1, "network"), 0)), "topic_foreign");
    for (from, to) in [(0, 5), (17, 16)] {
        assert_eq!(code(peer.send_message(&missing(topic, from, to, "network"), 0)), "range_invalid");
    }
}

#[test]
fn a_gap_of_a_replay_is_acknowledged_and_counts_once_however_often_it_is_reported() {
    let dac = dac();
    let (mut peer, topic) = replay(&dac, "a", 1);
    peer.send(&batch(topic, 1, 2, 0)).unwrap();
    peer.send_message(&missing(topic, 3, 5, "network"), 0).unwrap();
    let mut acknowledged = Vec::new();
    peer.session.acknowledge(Nanos(5), &mut acknowledged);
    assert_eq!(acknowledged, [DacMessage::Ack { topics: vec![(topic, 5)] }]);
    // The connection was cut before the acknowledgement arrived.
    let (mut again, same) = replay(&dac, "a", 1);
    assert_eq!(same, topic);
    again.send_message(&missing(topic, 3, 5, "network"), 0).unwrap();
    assert_eq!(again.send(&batch(topic, 6, 1, 0)).unwrap(), [DacMessage::Ack { topics: vec![(topic, 6)] }]);
    assert_eq!(gaps(&dac, topic), [(3, 5, Cause::Network)]);

    // Another DAC, without any state.
    let dac = self::dac();
    let (mut peer, topic) = replay(&dac, "a", 1);
    peer.send_message(&missing(topic, 3, 5, "network"), 0).unwrap();
    peer.send(&batch(topic, 6, 1, 0)).unwrap();
    assert_eq!(gaps(&dac, topic), [(1, 2, Cause::BeforeEpoch), (3, 5, Cause::Network)]);
}

#[test]
fn waiting_datagrams_are_bounded_and_above_the_bound_stop_waiting() {
    let came = Nanos(1_000_000_000);
    let over = Nanos(came.0 + 1);
    let dac = dac();
    let mut peer = Peer::new(&dac);
    peer.send_message(&hello("a", 1), 0).unwrap();
    let text = probe_type(vec![metric(MetricType::String)]);
    let answers = peer.send_message(&register(vec![text.clone()], &["text"]), 0).unwrap();
    let [DacMessage::Registered { topics }] = &answers[..] else { panic!("{answers:?}") };
    let topic = topics[0].topic;
    let datagram = |first_sequence| {
        let mut row = Vec::new();
        RowWriter::new(&mut row).string(&"x".repeat(900_000));
        let mut encoder = Encoder::new(&text).unwrap();
        encoder.push(1, &row).unwrap();
        let mut bytes = Vec::new();
        encoder.finish(Fields { topic: topic.0, first_sequence, ..Fields::default() }, &mut bytes);
        bytes
    };
    assert_eq!(code(peer.session.datagram(&datagram(10), came)), "datagram_unexpected");
    peer.send_message(&NodeMessage::Datagrams, 0).unwrap();
    let instance = dac.registry.instance(topic).unwrap();
    (1..=4).for_each(|number| peer.session.datagram(&datagram(10 * number), came).unwrap());
    assert_eq!(instance.ledger().received, 0, "each waits for those before it");
    peer.session.datagram(&datagram(50), over).unwrap();
    let ledger = instance.ledger().clone();
    assert_eq!((ledger.received, ledger.missing, ledger.last_sequence), (5, 45, 50));
    assert!(ledger.gaps.iter().all(|gap| (gap.cause, gap.time) == (Cause::Network, over)), "{ledger:?}");
    let header = oasis_wire::batch::Header::parse(instance.log.latest().unwrap().batch()).unwrap();
    assert_eq!(header.dac_time, over.0);
}

#[test]
fn deadlines_and_liveness_do_not_depend_on_the_wall_clock() {
    const DAY: u64 = 24 * 3_600 * 1_000_000_000;
    const NANOS_PER_SECOND: u64 = 1_000_000_000;
    let at = |wall, steady| Moment { wall: Nanos(wall), steady: Nanos(steady) };
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "a", 1);
    peer.send_message(&NodeMessage::Datagrams, 0).unwrap();
    peer.session.datagram(&batch(topic, 5, 1, 0), at(50 * DAY, NANOS_PER_SECOND)).unwrap();
    peer.session.acknowledge(at(50 * DAY, NANOS_PER_SECOND), &mut Vec::new());
    // The clock is set back: the batch waits no longer than it would have.
    let due = peer.session.due().unwrap();
    peer.session.overdue(at(10 * DAY, due.0));
    let ledger = dac.registry.instance(topic).unwrap().ledger().clone();
    assert_eq!((ledger.received, ledger.missing, ledger.gaps[0].time), (1, 4, Nanos(10 * DAY)));
    // The clock is set forward: the node is as alive as before.
    let json = serde_json::to_vec(&hello("a", 2)).unwrap();
    let connect = |at: Moment| Peer::new(&dac).session.handle(Frame::Control(&json), at, &mut Vec::new());
    assert_eq!(code(connect(at(90 * DAY, 2 * NANOS_PER_SECOND))), "name_taken");
    connect(at(10 * DAY, 5 * NANOS_PER_SECOND)).unwrap();
}

#[test]
fn samples_are_appended_stamped_and_acknowledged() {
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "a", 1);
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    let answers = peer.send(&batch(topic, 4, 2, 0)).unwrap();
    assert_eq!(answers, [DacMessage::Ack { topics: vec![(topic, 5)] }]);

    let instance = dac.registry.instance(topic).unwrap();
    let segment = instance.log.latest().unwrap();
    let header = oasis_wire::batch::Header::parse(segment.batch()).unwrap();
    assert_eq!((header.offset, header.dac_time, instance.log.next().0), (3, 5, 5));
}

#[test]
fn dac_time_never_decreases_within_a_topic_and_never_lies_in_a_time_that_is_complete() {
    let dac = dac();
    let (mut node, topic) = Peer::connected(&dac, "plant", 1);
    let instance = dac.registry.instance(topic).unwrap();
    let mut sequence = 0;
    let mut send = |now: u64| {
        sequence += 1;
        let bytes = batch(topic, sequence, 1, 0);
        node.session.handle(Frame::Batch(&bytes), Nanos(now), &mut Vec::new()).unwrap();
        instance.log.latest().unwrap().arrived()
    };
    assert_eq!(send(100), Nanos(100));
    assert_eq!(send(70), Nanos(100), "the clock was set back");
    instance.ledger().complete(Nanos(150));
    assert_eq!(send(120), Nanos(151), "it was read before, and its turn came after");
    assert_eq!(send(200), Nanos(200));
}

#[test]
fn samples_sent_again_after_a_reconnect_are_recognized() {
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "a", 1);
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    let (mut again, same) = Peer::connected(&dac, "a", 1);
    assert_eq!(same, topic);
    assert_eq!(again.send(&batch(topic, 1, 3, 0)).unwrap(), [DacMessage::Ack { topics: vec![(topic, 3)] }]);
    let ledger = dac.registry.instance(topic).unwrap().ledger().clone();
    assert_eq!((ledger.received, ledger.duplicates, ledger.missing), (3, 3, 0));
    // The commands of the old connection end, and it closes.
    assert!(peer.commands.is_closed() && !again.commands.is_closed());
}

#[test]
fn a_spool_drop_is_reported_before_its_gap_appears() {
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "a", 1);
    peer.send(&batch(topic, 1, 1, 0)).unwrap();
    let dropped = Drops { spool_full: 4, ..Drops::default() };
    let counters = Counters { topic, taken: 10, sent: 5, dropped, after_sent: Drops::default() };
    peer.send_message(&NodeMessage::Counters { instances: vec![counters] }, 0).unwrap();
    peer.send(&batch(topic, 6, 1, 4)).unwrap();
    let ledger = dac.registry.instance(topic).unwrap().ledger().clone();
    assert_eq!(
        ledger.gaps.iter().map(|gap| (gap.cause, gap.count)).collect::<Vec<_>>(),
        [(Cause::SpoolFull, 4)]
    );
}

#[test]
fn the_first_message_is_hello_and_only_the_first() {
    let dac = dac();
    assert_eq!(code(Peer::new(&dac).send_message(&register(vec![], &[]), 0)), "hello_expected");
    let (mut peer, _) = Peer::connected(&dac, "a", 1);
    assert_eq!(code(peer.send_message(&hello("a", 1), 0)), "hello_expected");
}

#[test]
fn an_invalid_message_is_refused_with_its_code() {
    let dac = dac();
    assert_eq!(code(Peer::new(&dac).raw(b"{", 0)), "not_json");
    assert_eq!(code(Peer::new(&dac).raw(b"\xff\xff", 0)), "not_json");
    assert_eq!(code(Peer::new(&dac).raw(br#"{"op":"dance"}"#, 0)), "unknown_message");
    let NodeMessage::Hello { node, .. } = hello("a", 1) else { panic!() };
    assert_eq!(
        code(Peer::new(&dac).send_message(
            &NodeMessage::Hello { protocol: 99, node, secret: None, attach: None, drains: false },
            0
        )),
        "protocol_version"
    );
    assert_eq!(code(Peer::new(&dac).send_message(&hello("", 1), 0)), "name_invalid");
    assert_eq!(code(Peer::new(&dac).send_message(&hello(&"x".repeat(1_025), 1), 0)), "name_invalid");
    for forged in ["plant\n2026-01-01 INFO all is well", "plant\u{1b}[2J", "a\u{9b}31m"] {
        assert_eq!(code(Peer::new(&dac).send_message(&hello(forged, 1), 0)), "name_invalid", "{forged:?}");
        let (mut peer, _) = Peer::connected(&dac, "a", 1);
        assert_eq!(code(peer.send_message(&register(vec![], &[forged]), 0)), "name_invalid", "{forged:?}");
    }
    for taken in ["rack/3", "plant-*", "*"] {
        assert_eq!(code(Peer::new(&dac).send_message(&hello(taken, 1), 0)), "name_invalid", "{taken:?}");
    }
    for text in ["x".repeat(2 << 20), "host\n".into()] {
        let NodeMessage::Hello { protocol, node, .. } = hello("b", 1) else { panic!() };
        let host = NodeIdentity { host: text.clone(), ..node.clone() };
        let software = NodeIdentity { software: text, ..node };
        for node in [host, software] {
            let hello = NodeMessage::Hello { protocol, node, secret: None, attach: None, drains: false };
            assert_eq!(code(Peer::new(&dac).send_message(&hello, 0)), "name_invalid");
        }
    }
}

#[test]
fn the_name_of_a_living_node_is_refused_to_others() {
    let dac = dac();
    let (mut first, _) = Peer::connected(&dac, "a", 1);
    assert_eq!(code(Peer::new(&dac).send_message(&hello("a", 2), NANOS_PER_SECOND)), "name_taken");
    // Silent for longer than a living node: its successor may connect.
    assert!(Peer::new(&dac).send_message(&hello("a", 2), 4 * NANOS_PER_SECOND).is_ok());
    // The end of the first connection does not set the node offline.
    first.session.close(Nanos(5 * NANOS_PER_SECOND));
    assert!(dac.registry.node("a").unwrap().is_online());
}

#[test]
fn schemas_that_exceed_the_limits_of_codecs_are_refused() {
    let deep = (0..20).fold(MetricType::Uint8, |kind, _| MetricType::Vector(Box::new(kind)));
    let nothing = MetricType::Struct(StructType { name: "Empty".into(), members: Vec::new() });
    for kind in [deep, MetricType::Vector(Box::new(nothing))] {
        let mut peer = Peer::new(&dac());
        peer.send_message(&hello("a", 1), 0).unwrap();
        let outcome = peer.send_message(&register(vec![probe_type(vec![metric(kind)])], &["beat"]), 0);
        assert_eq!(code(outcome), "type_invalid");
    }
    let mut peer = Peer::new(&dac());
    peer.send_message(&hello("a", 1), 0).unwrap();
    assert_eq!(code(peer.send_message(&register(vec![], &["beat"]), 0)), "type_missing");
}

#[test]
fn types_without_instances_count_until_their_node_leaves() {
    let mut config = Config::default();
    config.channel.max_schema_bytes = 1 << 20;
    let dac = Dac::new(config);
    // Short in JSON, large in memory.
    let wide = |uuid: u128| ProbeType {
        uuid: Uuid::from_u128(uuid),
        ..probe_type((0..1_000).map(|_| metric(MetricType::Uint8)).collect())
    };
    let mut peers = Vec::new();
    for number in 0..20 {
        let mut peer = Peer::new(&dac);
        peer.send_message(&hello(&format!("n{number}"), number + 1), 0).unwrap();
        match peer.send_message(&register(vec![wide(number)], &[]), 0) {
            Ok(_) => peers.push(peer),
            Err(failure) => {
                assert_eq!(failure.code, "too_much_schema");
                break;
            }
        }
    }
    assert!((1..10).contains(&peers.len()), "{}", peers.len());
    drop(peers);
    let (mut peer, _) = Peer::connected(&dac, "a", 1);
    peer.send_message(&register(vec![wide(1)], &[]), 0).unwrap();
}

#[test]
fn a_node_cannot_write_to_another_nodes_topic() {
    let dac = dac();
    let (_other, topic) = Peer::connected(&dac, "other", 1);
    let (mut peer, own) = Peer::connected(&dac, "a", 1);
    assert_eq!(code(peer.send(&batch(topic, 1, 1, 0))), "topic_foreign");
    peer.send(&batch(own, 1, 2, 0)).unwrap();
    assert_eq!(code(peer.send(&batch(own, 2, 2, 0))), "sequence_overlap");
    assert_eq!(code(peer.send(&batch(own, 3, 1, 0)[..40])), "batch_invalid");
    assert_eq!(dac.registry.instance(topic).unwrap().ledger().received, 0);
}

#[test]
fn another_type_under_the_same_name_gets_a_new_topic_and_retires_the_old() {
    let dac = dac();
    let (mut peer, old) = Peer::connected(&dac, "a", 1);
    let instance = dac.registry.instance(old).unwrap();
    let answers = peer
        .send_message(&register(vec![probe_type(vec![metric(MetricType::Uint8)])], &["beat"]), 0)
        .unwrap();
    let [DacMessage::Registered { topics }] = &answers[..] else { panic!("{answers:?}") };
    assert_ne!(topics[0].topic, old);
    assert!(instance.is_retired());
    assert!(dac.registry.instance(old).is_none());
}

#[test]
fn a_cursor_resumes_at_its_position_and_detects_another_epoch() {
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "a", 1);
    (1..=4).for_each(|sequence| drop(peer.send(&batch(topic, sequence, 1, 0)).unwrap()));
    let instance = dac.registry.instance(topic).unwrap();
    let start = |from| {
        let (mut cursor, epoch_changed) = oasis_dac::Cursor::new(instance.clone(), from, &Arc::default());
        (cursor.read(10).segments.iter().map(|segment| segment.first().0).collect::<Vec<_>>(), epoch_changed)
    };
    let position = |text: String| StartAt::Position(text.parse().unwrap());
    assert_eq!(start(StartAt::Now), (vec![3], false));
    assert_eq!(start(StartAt::Earliest), (vec![0, 1, 2, 3], false));
    assert_eq!(start(position(format!("{}:2", dac.epoch()))), (vec![2, 3], false));
    assert_eq!(start(position(format!("{}:99", dac.epoch()))), (vec![], false));
    assert_eq!(start(position("00000000000000ff:2".into())), (vec![0, 1, 2, 3], true));
}
