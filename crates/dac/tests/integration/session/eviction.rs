//! Offline nodes make room for nodes that connect.

use super::*;
use oasis_dac::config::ChannelConfig;
use oasis_wire::stored::{StoredInstance, StoredRun};
use std::net::IpAddr;

fn limited(max_nodes: usize, max_topics: usize) -> Arc<Dac> {
    let channel = ChannelConfig { max_nodes, max_topics, ..ChannelConfig::default() };
    Dac::new(Config { channel, ..Config::default() })
}

fn nodes(dac: &Dac) -> Vec<String> {
    dac.registry.nodes().iter().map(|node| node.identity.name.clone()).collect()
}

/// A node that connects from an address, sends a number of samples and leaves.
fn visit(dac: &Arc<Dac>, name: &str, address: &str, samples: u64, now: u64) {
    let mut peer = Peer::new(dac);
    peer.session = peer.session.at(address.parse::<IpAddr>().unwrap());
    peer.send_message(&hello(name, 1), now).unwrap();
    if samples > 0 {
        let answers = peer.send_message(&register(vec![beat()], &["beat"]), now).unwrap();
        let [DacMessage::Registered { topics }] = &answers[..] else { panic!("{answers:?}") };
        peer.send(&batch(topics[0].topic, 1, samples, 0)).unwrap();
    }
    peer.session.close(Nanos(now));
}

#[test]
fn nodes_that_never_sent_a_sample_are_evicted_first() {
    let dac = limited(3, 9);
    visit(&dac, "old", "192.0.2.1", 1, 1);
    (2..100).for_each(|now| visit(&dac, &format!("liar {now}"), "192.0.2.1", 0, now));
    assert_eq!(nodes(&dac), ["liar 98", "liar 99", "old"]);
    let _new = Peer::connected(&dac, "new", 1);
    assert_eq!(nodes(&dac), ["liar 99", "new", "old"]);
}

#[test]
fn the_address_with_the_most_offline_nodes_loses_one() {
    let dac = limited(4, 9);
    visit(&dac, "alone", "192.0.2.1", 1, 1);
    visit(&dac, "one of many", "192.0.2.2", 1, 2);
    visit(&dac, "two of many", "192.0.2.2", 1, 3);
    let _first = Peer::connected(&dac, "first", 1);
    let _second = Peer::connected(&dac, "second", 1);
    assert_eq!(nodes(&dac), ["alone", "first", "second", "two of many"]);
    assert!(dac.registry.find("one of many", "beat").is_none());
}

#[test]
fn one_address_does_not_evict_what_the_archive_remembers() {
    let dac = limited(5, 5);
    let stored = |name: &str| StoredInstance {
        node: name.into(),
        instance: "beat".into(),
        probe_type: Arc::new(beat()),
        kind: ProbeKind::Pushed,
        run: Uuid::from_u128(1),
        runs: vec![StoredRun { run: Uuid::from_u128(1), last_sequence: 10, taken: 0 }],
        last_time: 1,
    };
    dac.registry.restore(&[], vec![stored("archived a"), stored("archived b")]);
    (1..50).for_each(|now| visit(&dac, &format!("liar {now}"), "192.0.2.1", 1, now));
    assert_eq!(nodes(&dac), ["archived a", "archived b", "liar 47", "liar 48", "liar 49"]);
}

#[test]
fn connected_nodes_are_never_evicted() {
    let dac = limited(2, 9);
    let _both = (Peer::connected(&dac, "first", 1), Peer::connected(&dac, "second", 1));
    let mut third = Peer::new(&dac);
    assert_eq!(code(third.send_message(&hello("third", 1), 1)), "too_many_nodes");
}

#[test]
fn instances_of_offline_nodes_make_room_too() {
    let dac = limited(9, 1);
    visit(&dac, "old", "192.0.2.1", 3, 1);
    let _new = Peer::connected(&dac, "new", 1);
    assert_eq!(nodes(&dac), ["new"]);
}

#[test]
fn an_evicted_node_that_comes_back_repeats_neither_samples_nor_offsets() {
    let dac = limited(1, 9);
    visit(&dac, "old", "192.0.2.1", 3, 1);
    let evicted = dac.registry.find("old", "beat").unwrap();
    visit(&dac, "new", "192.0.2.1", 1, 2);
    assert!(evicted.is_retired());
    let (mut back, topic) = Peer::connected(&dac, "old", 1);
    back.send(&batch(topic, 1, 3, 0)).unwrap();
    back.send(&batch(topic, 4, 1, 0)).unwrap();
    let instance = dac.registry.instance(topic).unwrap();
    let ledger = instance.ledger().clone();
    assert_eq!((ledger.duplicates, ledger.received, ledger.missing), (3, 1, 0));
    assert!(instance.log.start() >= evicted.log.next());
}

#[test]
fn a_node_that_is_back_is_not_evicted_for_having_left() {
    let dac = limited(2, 9);
    visit(&dac, "back", "192.0.2.1", 0, 1);
    visit(&dac, "gone", "192.0.2.1", 0, 2);
    let _back = Peer::connected(&dac, "back", 1);
    let _new = Peer::connected(&dac, "new", 1);
    assert_eq!(nodes(&dac), ["back", "new"]);
    let mut third = Peer::new(&dac);
    assert_eq!(code(third.send_message(&hello("third", 1), 3)), "too_many_nodes");
}
