//! Nodes and instances that are restored from the archive of earlier runs of the DAC.

use super::*;
use oasis_dac::{RestoreCounts, config::ChannelConfig};
use oasis_wire::{
    quantity::Offset,
    stored::{StoredInstance, StoredNode, StoredRun},
};

pub(super) fn stored(node: &str, instance: &str, last_time: u64) -> StoredInstance {
    StoredInstance {
        node: node.into(),
        instance: instance.into(),
        probe_type: Arc::new(beat()),
        kind: ProbeKind::Pushed,
        run: Uuid::from_u128(1),
        runs: vec![StoredRun { run: Uuid::from_u128(1), last_sequence: 10, taken: 0 }],
        last_time,
    }
}

fn limited(max_nodes: usize, max_topics: usize) -> Arc<Dac> {
    let channel = ChannelConfig { max_nodes, max_topics, ..ChannelConfig::default() };
    Dac::new(Config { channel, ..Config::default() })
}

fn names(dac: &Dac) -> Vec<String> {
    let instances = dac.registry.instances();
    let mut names: Vec<_> =
        instances.iter().map(|instance| format!("{}/{}", instance.node, instance.name)).collect();
    names.sort();
    names
}

#[test]
fn they_are_offline_and_have_their_archived_identity() {
    let dac = dac();
    let node = StoredNode {
        name: "a".into(),
        uuid: Uuid::from_u128(5),
        host: "far".into(),
        software: "old".into(),
        last_seen: Nanos(70),
        run: None,
        owner: None,
        former: Vec::new(),
    };
    let mut watch = dac.registry.watch();
    let remembered =
        dac.registry.restore(&[node], vec![stored("a", "beat", 60), stored("imported", "beat", 50)]);
    assert_eq!(remembered, RestoreCounts { instances: 2, left_out: 0 });
    assert!(watch.has_changed().unwrap());
    watch.mark_unchanged();

    let (a, imported) = (dac.registry.node("a").unwrap(), dac.registry.node("imported").unwrap());
    assert!(!a.is_online() && a.is_remembered && imported.is_remembered);
    assert_eq!((a.identity.host.as_str(), a.identity.uuid, a.since.0), ("far", Uuid::from_u128(5), 70));
    assert_eq!((imported.identity.host.as_str(), imported.since.0), ("", 50));
    let instance = dac.registry.find("a", "beat").unwrap();
    assert_eq!((instance.log.next(), instance.ledger().received), (Offset(0), 0));
    assert!(instance.ledger().run().is_none());
}

#[test]
fn a_replayed_recording_is_restored_as_a_replay() {
    let dac = dac();
    dac.registry.restore(&[], vec![stored("replay:a", "beat", 1), stored("a", "beat", 1)]);
    let is_replay = |node: &str| dac.registry.node(node).unwrap().is_replay;
    assert!(is_replay("replay:a") && !is_replay("a"));
}

#[test]
fn a_node_that_reconnects_keeps_its_topic_and_repeats_no_sample() {
    let dac = dac();
    dac.registry.restore(&[], vec![stored("a", "beat", 1)]);
    let before = dac.registry.find("a", "beat").unwrap();
    let (mut peer, topic) = Peer::connected(&dac, "a", 1);
    assert_eq!(topic, before.topic);
    assert!(!dac.registry.node("a").unwrap().is_remembered);
    // Its spool still contains the last two archived samples.
    peer.send(&batch(topic, 9, 2, 0)).unwrap();
    peer.send(&batch(topic, 11, 2, 0)).unwrap();
    let ledger = before.ledger().clone();
    assert_eq!((ledger.duplicates, ledger.received, ledger.missing), (2, 2, 0));
}

#[test]
fn a_node_that_reconnects_with_another_type_gets_another_topic() {
    let dac = dac();
    let other = ProbeType { version: "0.9".into(), ..beat() };
    let stored = StoredInstance { probe_type: Arc::new(other), ..stored("a", "beat", 1) };
    dac.registry.restore(&[], vec![stored]);
    let before = dac.registry.find("a", "beat").unwrap();
    let (_, topic) = Peer::connected(&dac, "a", 2);
    assert!(before.is_retired() && topic != before.topic);
    assert_eq!(names(&dac), ["a/beat"]);
}

#[test]
fn above_a_limit_the_longest_absent_are_left_out() {
    let all = || (1..=4).map(|time| stored(&format!("n{time}"), "beat", time)).collect();
    let dac = limited(9, 3);
    assert_eq!(dac.registry.restore(&[], all()), RestoreCounts { instances: 3, left_out: 1 });
    assert_eq!(names(&dac), ["n2/beat", "n3/beat", "n4/beat"]);

    let dac = limited(2, 9);
    assert_eq!(dac.registry.restore(&[], all()), RestoreCounts { instances: 2, left_out: 2 });
    assert_eq!(names(&dac), ["n3/beat", "n4/beat"]);
}

#[test]
fn they_are_evicted_for_connected_nodes_oldest_first() {
    let all = || (1..=3).map(|time| stored(&format!("n{time}"), "beat", time)).collect();
    let dac = limited(9, 3);
    dac.registry.restore(&[], all());
    let going = dac.registry.find("n1", "beat").unwrap();
    let _new = Peer::connected(&dac, "new", 7);
    assert!(going.is_retired() && dac.registry.node("n1").is_none());
    // Its archived samples are still recognized.
    let (mut back, topic) = Peer::connected(&dac, "n1", 1);
    assert_eq!(names(&dac), ["n1/beat", "n3/beat", "new/beat"]);
    back.send(&batch(topic, 10, 1, 0)).unwrap();
    assert_eq!(dac.registry.instance(topic).unwrap().ledger().duplicates, 1);
    let _last = Peer::connected(&dac, "last", 8);
    let mut peer = Peer::new(&dac);
    peer.send_message(&hello("one more", 9), 0).unwrap();
    assert_eq!(code(peer.send_message(&register(vec![beat()], &["beat"]), 0)), "too_many_topics");

    let dac = limited(3, 9);
    dac.registry.restore(&[], all());
    let mut peer = Peer::new(&dac);
    peer.send_message(&hello("new", 7), 0).unwrap();
    assert_eq!(names(&dac), ["n2/beat", "n3/beat"]);
    assert_eq!(dac.registry.nodes().len(), 3);
}
