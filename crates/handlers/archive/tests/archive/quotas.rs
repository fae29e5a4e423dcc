//! The size limit of a rule is shared fairly: a node that stores much loses its own oldest samples.

use crate::plant::{Node, Plant, config, counter};
use oasis_channel::{InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance, frame::Frame};
use oasis_dac::{now, session::NodeSession};
use oasis_store::{ArchiveConfig, Description, RetentionRule};
use oasis_wire::{probe_kind::ProbeKind, quantity::Nanos};
use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};
use uuid::Uuid;

const ROOM: usize = 8 * 1024 * 1024;
const LIMIT: u64 = 600_000;

fn eventually(what: &str, is_there: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        thread::park_timeout(Duration::from_millis(5));
    }
}

fn limited(folder: &Path) -> ArchiveConfig {
    let retention = vec![RetentionRule { instances: "*".into(), days: 0, bytes: LIMIT }];
    ArchiveConfig { retention, ..config(folder) }
}

/// Another node beside the plant.
struct Peer {
    session: NodeSession,
    node: Node,
    topic: u32,
}

impl Peer {
    fn connect(plant: &Plant, name: &str) -> Self {
        let mut session = NodeSession::new(plant.dac.clone(), tokio::sync::mpsc::channel(1).0);
        let (uuid, run) = (Uuid::from_u128(77), Uuid::from_u128(78));
        let identity =
            NodeIdentity { name: name.into(), uuid, run, host: "h".into(), software: "test".into(), pid: 1 };
        let instance = RegisteredInstance {
            demand: None,
            declared: None,
            name: "counter".into(),
            probe_type: counter().uuid,
            kind: ProbeKind::Pushed,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        let messages = [
            NodeMessage::Hello {
                protocol: PROTOCOL,
                node: identity,
                secret: None,
                attach: None,
                drains: false,
            },
            NodeMessage::Register { types: vec![counter()], instances: vec![instance] },
        ];
        for message in messages {
            let json = serde_json::to_vec(&message).unwrap();
            session.handle(Frame::Control(&json), now(), &mut Vec::new()).unwrap();
        }
        let topic = plant.dac.registry.find(name, "counter").unwrap().topic.0;
        Self { session, node: Node::new(78), topic }
    }

    fn send(&mut self, count: u64) {
        let batch = self.node.batch(self.topic, self.node.taken(), count);
        self.node.take(count);
        self.session.handle(Frame::Batch(&batch), now(), &mut Vec::new()).unwrap();
    }
}

/// The peer stores a thousand times as much as the plant, more than the limit.
fn flood(plant: &mut Plant, node: &mut Node, peer: &mut Peer, rounds: u64) {
    for _ in 0..rounds {
        node.take(2);
        plant.send(node, true);
        peer.send(2_000);
        plant.flush().unwrap();
    }
}

fn is_within_limit(plant: &Plant) -> bool {
    let counters = plant.archive.counters();
    counters.removed_files > 0 && counters.segment_bytes <= LIMIT
}

#[test]
fn a_node_that_stores_much_loses_its_own_oldest_samples() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(limited(folder.path()), &node, ROOM);
    let mut peer = Peer::connect(&plant, "junk");
    flood(&mut plant, &mut node, &mut peer, 80);
    eventually("the limit is kept", || is_within_limit(&plant));
    assert_eq!(plant.past(0, None).numbers, [(0, node.taken())]);
    let junk = plant.past_of("junk");
    assert!(junk.gaps.iter().all(|gap| gap.2 == "archive_retention") && !junk.gaps.is_empty(), "{junk:?}");
    assert_eq!(junk.numbers.last().unwrap().1, peer.node.taken());
    plant.stop();

    // After a restart the archive knows the bytes of each instance.
    let mut plant = Plant::start(limited(folder.path()), &node, ROOM);
    let mut peer = Peer::connect(&plant, "mill");
    flood(&mut plant, &mut node, &mut peer, 80);
    eventually("the limit is kept again", || is_within_limit(&plant));
    assert_eq!(plant.past(0, None).numbers, [(0, node.taken())]);
}

#[test]
fn of_nodes_alike_the_oldest_samples_go_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(limited(folder.path()), &node, ROOM);
    let mut peer = Peer::connect(&plant, "mill");
    for _ in 0..60 {
        node.take(1_000);
        plant.send(&mut node, true);
        peer.send(1_000);
        plant.flush().unwrap();
    }
    eventually("the limit is kept", || is_within_limit(&plant));
    for (name, taken) in [("plant", node.taken()), ("mill", peer.node.taken())] {
        let read = plant.past_of(name);
        let [(first, end)] = read.numbers[..] else { panic!("holes: {read:?}") };
        assert!(first > 0 && end == taken, "{read:?}");
    }
}

#[test]
fn a_pinned_run_that_is_never_stopped_does_not_block_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(limited(folder.path()), &node, ROOM);
    let runs = plant.archive.test_runs();
    let pinned = Description { name: "soak".into(), pinned: true, ..Description::default() };
    runs.start(pinned, "", Nanos(0)).unwrap();
    let mut peer = Peer::connect(&plant, "mill");
    flood(&mut plant, &mut node, &mut peer, 80);
    eventually("the limit is kept", || is_within_limit(&plant));
    // Its beginning stays, and what comes is stored.
    let read = plant.past_of("mill");
    assert_eq!((read.numbers[0].0, read.numbers.last().unwrap().1), (0, peer.node.taken()), "{read:?}");
    assert!(read.gaps.iter().all(|gap| gap.2 == "archive_retention") && !read.gaps.is_empty(), "{read:?}");
    let rule = plant.archive.counters().rules.remove(0);
    assert!(rule.pinned_bytes > LIMIT / 4 && rule.pinned_bytes <= LIMIT / 2, "{rule:?}");
    let warned = || plant.archive.counters().warnings.iter().any(|warning| warning.code == "pins_at_limit");
    eventually("the pins are at their limit", warned);
}

#[test]
fn a_heavy_node_is_reported_before_anything_is_evicted() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(limited(folder.path()), &node, ROOM);
    let mut peer = Peer::connect(&plant, "junk");
    flood(&mut plant, &mut node, &mut peer, 15);
    let warned = || plant.archive.counters().warnings.iter().any(|warning| warning.code == "heavy_node");
    eventually("it is reported", warned);
    assert_eq!(plant.archive.counters().removed_files, 0);
    let warnings = oasis_handler::Handler::warnings(&*plant.archive);
    assert!(warnings.iter().any(|warning| warning.contains("\"junk\"")), "{warnings:?}");
    assert_eq!(oasis_handler::Handler::problem(&*plant.archive), None);
}

/// A thousand samples with times far ahead of all others, pinned times before them, and what retention leaves.
#[test]
fn implausible_times_are_stored_and_match_no_pin() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::new(1);
    // The times of the samples are of 1970.
    let config = ArchiveConfig { plausible_past_days: 3_650, ..limited(folder.path()) };
    let mut plant = Plant::start(config, &node, ROOM);
    let runs = plant.archive.test_runs();
    let pinned = Description { name: "soak".into(), pinned: true, ..Description::default() };
    let run = runs.start(pinned, "", Nanos(0)).unwrap();
    runs.stop(run.id, Nanos(u64::MAX / 4)).unwrap();
    let mut node = node;
    let mut peer = Peer::connect(&plant, "mill");
    flood(&mut plant, &mut node, &mut peer, 60);
    eventually("the limit is kept", || is_within_limit(&plant));
    let counters = plant.archive.counters();
    assert_eq!((counters.implausible, counters.rules[0].pinned_bytes), (node.taken() + peer.node.taken(), 0));
    assert_eq!(plant.account().implausible, node.taken());
    assert_eq!(plant.past(0, None).numbers, [(0, node.taken())]);
}
