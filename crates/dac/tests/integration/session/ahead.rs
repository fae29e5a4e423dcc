//! Batches that a node with a backlog sends ahead.

use super::*;
use oasis_channel::Release;

fn release(topic: TopicId, from_sequence: u64, to_sequence: u64, dropped_before: u32) -> NodeMessage {
    NodeMessage::Release(Release { topic, from_sequence, to_sequence, dropped_before })
}

impl Peer {
    fn ahead(&mut self, batch: &[u8]) -> Result<Vec<DacMessage>, Failure> {
        let mut out = Vec::new();
        self.session.handle(Frame::Ahead(batch), Nanos(5), &mut out)?;
        self.session.acknowledge(Nanos(5), &mut out);
        Ok(out)
    }

    fn release(&mut self, message: &NodeMessage) -> Result<Vec<DacMessage>, Failure> {
        let mut out = self.send_message(message, 5)?;
        self.session.acknowledge(Nanos(5), &mut out);
        Ok(out)
    }
}

/// First sequence numbers of the batches in the log, and the drops before each.
fn logged(dac: &Arc<Dac>) -> Vec<(u64, u32)> {
    let instance = dac.registry.find("n", "beat").unwrap();
    let segments = instance.log.read(instance.log.start(), 100).segments;
    let header = |batch: &[u8]| oasis_wire::batch::Header::parse(batch).unwrap();
    let headers = segments.iter().map(|segment| header(segment.batch()));
    headers.map(|header| (header.first_sequence, header.dropped_before)).collect()
}

#[test]
fn a_dac_says_that_it_takes_batches_ahead() {
    let answers = Peer::new(&dac()).send_message(&hello("n", 1), 0).unwrap();
    assert!(matches!(&answers[..], [DacMessage::Welcome { ahead: true, .. }]), "{answers:?}");
}

#[test]
fn a_batch_sent_ahead_is_received_only_in_its_turn() {
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "n", 1);
    for (first, count) in [(11, 2), (13, 1)] {
        let kept = DacMessage::KeptAhead { topics: vec![(topic, first)] };
        assert_eq!(peer.ahead(&batch(topic, first, count, 0)).unwrap(), [kept]);
    }
    let instance = dac.registry.find("n", "beat").unwrap();
    assert_eq!((instance.ledger().last_sequence, instance.log.next().0), (0, 0), "nothing is received");
    assert_eq!(
        peer.send(&batch(topic, 1, 8, 0)).unwrap(),
        [DacMessage::Ack { topics: vec![(topic, 8)] }],
        "only this"
    );
    let ack = peer.release(&release(topic, 11, 13, 2)).unwrap();
    assert_eq!(ack, [DacMessage::Ack { topics: vec![(topic, 13)] }]);
    assert_eq!(logged(&dac), [(1, 0), (11, 2), (13, 0)]);
    let ledger = instance.ledger();
    assert_eq!((ledger.received, ledger.missing, ledger.duplicates), (11, 2, 0));
}

#[test]
fn a_batch_that_comes_in_its_turn_after_all_is_stored_once() {
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "n", 1);
    peer.ahead(&batch(topic, 2, 1, 0)).unwrap();
    peer.ahead(&batch(topic, 4, 1, 0)).unwrap();
    peer.send(&batch(topic, 1, 1, 0)).unwrap();
    peer.send(&batch(topic, 2, 1, 0)).unwrap();
    assert_eq!(peer.ahead(&batch(topic, 2, 1, 0)).unwrap(), [], "it is here already");
    peer.send(&batch(topic, 3, 1, 0)).unwrap();
    peer.release(&release(topic, 4, 4, 0)).unwrap();
    assert_eq!(logged(&dac), [(1, 0), (2, 0), (3, 0), (4, 0)]);
    assert_eq!(code(peer.release(&release(topic, 2, 2, 0))), "release_unknown");
    assert_eq!(dac.registry.find("n", "beat").unwrap().ledger().duplicates, 0);
}

#[test]
fn the_end_of_a_connection_discards_what_was_sent_ahead() {
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "n", 1);
    peer.ahead(&batch(topic, 2, 1, 0)).unwrap();
    peer.session.close(Nanos(6));
    drop(peer);
    let (mut peer, topic) = Peer::connected(&dac, "n", 1);
    peer.send(&batch(topic, 1, 1, 0)).unwrap();
    assert_eq!(code(peer.release(&release(topic, 2, 2, 0))), "release_unknown");
    assert_eq!(logged(&dac), [(1, 0)]);
}

#[test]
fn a_batch_ahead_obeys_the_rules_of_batches() {
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "n", 1);
    assert_eq!(code(Peer::new(&dac).ahead(&batch(topic, 2, 1, 0))), "hello_expected");
    assert_eq!(code(peer.ahead(&[0; 48])), "batch_invalid");
    assert_eq!(code(peer.ahead(&batch(TopicId(999), 2, 1, 0))), "topic_foreign");
    assert_eq!(code(peer.ahead(&batch(topic, u64::MAX, 1, 0))), "sequence_jump");
    assert_eq!(code(peer.release(&release(TopicId(999), 2, 2, 0))), "topic_foreign");
}

#[test]
fn above_its_room_a_dac_keeps_no_batch_and_counts_it() {
    // One batch that is kept, and shown to readers.
    let dac = Dac::new(Config { memory_bytes: 16 * 350, ..Config::default() });
    let (mut peer, topic) = Peer::connected(&dac, "n", 1);
    assert_eq!(peer.ahead(&batch(topic, 2, 1, 0)).unwrap().len(), 1);
    assert_eq!(peer.ahead(&batch(topic, 3, 1, 0)).unwrap(), []);
    assert_eq!(dac.admission.counters().refused.get("ahead_not_kept"), Some(&1));
}

#[test]
fn readers_see_a_batch_ahead_until_its_turn_or_the_end_of_the_connection() {
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "n", 1);
    let instance = dac.registry.find("n", "beat").unwrap();
    peer.ahead(&batch(topic, 5, 2, 0)).unwrap();
    let (version, shown) = instance.ahead.newer_than(0).unwrap();
    let header = oasis_wire::batch::Header::parse(&shown).unwrap();
    assert_eq!((header.first_sequence, header.offset, header.dac_time), (5, oasis_dac::NO_OFFSET, 5));
    assert!(instance.ahead.newer_than(version).is_none());
    peer.send(&batch(topic, 1, 4, 0)).unwrap();
    assert!(instance.ahead.newer_than(0).is_some());
    peer.release(&release(topic, 5, 6, 0)).unwrap();
    assert!(instance.ahead.newer_than(0).is_none(), "its turn has come");
    peer.ahead(&batch(topic, 9, 1, 0)).unwrap();
    assert!(instance.ahead.newer_than(version).is_some());
    peer.session.close(Nanos(6));
    assert!(instance.ahead.newer_than(version).is_none(), "it is not kept");
}
