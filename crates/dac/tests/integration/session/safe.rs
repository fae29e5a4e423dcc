//! The second acknowledgement: when a node may forget its samples.

use super::*;
use oasis_channel::{SafeReason, SafeWhen};
use oasis_dac::DurableStore;
use oasis_wire::quantity::Offset;

/// A node that keeps its samples until they are safe.
fn keeping(dac: &Arc<Dac>, now: u64) -> (Peer, TopicId, Vec<DacMessage>) {
    let mut peer = Peer::new(dac);
    peer.send_message(&hello("a", 1), now).unwrap();
    peer.send_message(&NodeMessage::KeepUntilSafe, now).unwrap();
    let mut answers = peer.send_message(&register(vec![beat()], &["beat"]), now).unwrap();
    let DacMessage::Registered { topics } = answers.remove(0) else { panic!("{answers:?}") };
    (peer, topics[0].topic, answers)
}

impl Peer {
    fn send_at(&mut self, batch: &[u8], now: u64) {
        self.session.handle(Frame::Batch(batch), Nanos(now), &mut Vec::new()).unwrap();
        self.session.acknowledge(Nanos(now), &mut Vec::new());
    }

    fn safe_messages(&mut self, now: u64) -> Vec<DacMessage> {
        let mut out = Vec::new();
        self.session.report_safe(Nanos(now), &mut out);
        out
    }
}

fn safe(reason: SafeReason, topic: TopicId, sequence: u64) -> Vec<DacMessage> {
    vec![DacMessage::Safe { reason, topics: vec![(topic, sequence)] }]
}

/// The archive has committed what the log has, up to this number of run 1.
fn commit(dac: &Dac, topic: TopicId, sequence: u64, has_loss: bool) {
    let instance = dac.registry.instance(topic).unwrap();
    let last = Some((Uuid::from_u128(1), sequence));
    instance.ledger().note_stored(Offset(sequence), last, has_loss);
}

#[test]
fn without_an_archive_samples_are_safe_ten_seconds_after_they_were_received() {
    let dac = dac();
    let (mut peer, topic, _) = keeping(&dac, 0);
    peer.send_at(&batch(topic, 1, 3, 0), NANOS_PER_SECOND);
    peer.send_at(&batch(topic, 4, 2, 0), 5 * NANOS_PER_SECOND);
    assert_eq!(peer.session.due(), Some(Nanos(2 * NANOS_PER_SECOND)), "it looks each second");
    assert_eq!(peer.safe_messages(10 * NANOS_PER_SECOND), []);
    assert_eq!(peer.safe_messages(12 * NANOS_PER_SECOND), safe(SafeReason::Held, topic, 3));
    assert_eq!(peer.safe_messages(16 * NANOS_PER_SECOND), safe(SafeReason::Held, topic, 5));
    assert!(!peer.session.has_unsafe_samples());
    assert_eq!((peer.session.due(), peer.safe_messages(60 * NANOS_PER_SECOND)), (None, vec![]));
}

#[test]
fn with_an_archive_samples_are_safe_once_stored_and_not_by_time() {
    let dac = dac();
    dac.keeping.set_archive(Some(Arc::new(|_, _| true)));
    let (mut peer, topic, _) = keeping(&dac, 0);
    peer.send_at(&batch(topic, 1, 3, 0), NANOS_PER_SECOND);
    peer.send_at(&batch(topic, 4, 2, 0), NANOS_PER_SECOND);
    assert_eq!(peer.safe_messages(60 * NANOS_PER_SECOND), [], "the disk may be full");
    commit(&dac, topic, 3, false);
    assert_eq!(peer.safe_messages(61 * NANOS_PER_SECOND), safe(SafeReason::Stored, topic, 3));
    commit(&dac, topic, 5, true);
    assert_eq!(
        peer.safe_messages(62 * NANOS_PER_SECOND),
        safe(SafeReason::NotStored, topic, 5),
        "some of them are declared lost"
    );
    assert!(!peer.session.has_unsafe_samples());
    peer.send_at(&batch(topic, 6, 1, 0), 63 * NANOS_PER_SECOND);
    commit(&dac, topic, 6, false);
    assert_eq!(
        peer.safe_messages(64 * NANOS_PER_SECOND),
        safe(SafeReason::Stored, topic, 6),
        "none of these is lost"
    );
}

#[test]
fn a_sample_that_the_archive_does_not_want_is_safe_at_once() {
    let dac = dac();
    dac.keeping.set_archive(Some(Arc::new(|_, instance| instance != "beat")));
    let (mut peer, topic, _) = keeping(&dac, 0);
    peer.send_at(&batch(topic, 1, 3, 0), NANOS_PER_SECOND);
    assert_eq!(peer.safe_messages(NANOS_PER_SECOND), safe(SafeReason::NotStored, topic, 3));
}

#[test]
fn samples_wait_for_an_archive_that_restarts_and_not_for_one_that_was_stopped() {
    let dac = dac();
    dac.keeping.set_archive(Some(Arc::new(|_, _| true)));
    let (mut peer, topic, _) = keeping(&dac, 0);
    peer.send_at(&batch(topic, 1, 3, 0), NANOS_PER_SECOND);
    assert_eq!(peer.safe_messages(20 * NANOS_PER_SECOND), []);
    dac.keeping.set_archive(None);
    assert_eq!(peer.safe_messages(20 * NANOS_PER_SECOND), safe(SafeReason::Held, topic, 3));
}

#[test]
fn a_node_that_connects_again_hears_what_is_safe_of_its_earlier_connection() {
    let dac = dac();
    dac.keeping.set_archive(Some(Arc::new(|_, _| true)));
    let (mut peer, topic, told) = keeping(&dac, 0);
    assert_eq!(told, []);
    peer.send_at(&batch(topic, 1, 3, 0), NANOS_PER_SECOND);
    commit(&dac, topic, 3, false);
    let (again, topic, told) = keeping(&dac, 2 * NANOS_PER_SECOND);
    assert_eq!(told, safe(SafeReason::Stored, topic, 3));
    assert!(!again.session.has_unsafe_samples());
}

#[test]
fn samples_lost_on_the_way_after_the_last_batch_are_safe_once_their_cause_is_listed() {
    let dac = dac();
    dac.keeping.set_archive(Some(Arc::new(|_, _| true)));
    let (mut peer, topic, _) = keeping(&dac, 0);
    peer.send_at(&batch(topic, 1, 3, 0), NANOS_PER_SECOND);
    let instance = dac.registry.instance(topic).unwrap();
    instance.ledger().lost_on_the_way(5, Nanos(NANOS_PER_SECOND));
    // A repeated batch: its acknowledgement covers what is lost.
    peer.send_at(&batch(topic, 1, 3, 0), NANOS_PER_SECOND);
    commit(&dac, topic, 3, false);
    assert_eq!(peer.safe_messages(NANOS_PER_SECOND), safe(SafeReason::Stored, topic, 3));
    // The file has the batch, and nothing yet says why the others are missing.
    instance.ledger().note_listed(Some(Uuid::from_u128(1)), 5);
    assert_eq!(peer.safe_messages(NANOS_PER_SECOND), safe(SafeReason::Stored, topic, 5));
}

#[test]
fn the_welcome_says_what_makes_samples_safe_and_only_nodes_that_ask_hear_of_it() {
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "b", 1);
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    assert_eq!((peer.safe_messages(60 * NANOS_PER_SECOND), peer.session.due()), (vec![], None));
    for (archive, when) in [(false, SafeWhen::Held), (true, SafeWhen::Stored)] {
        dac.keeping.set_archive(archive.then_some(Arc::new(|_: &str, _: &str| true)));
        let name = if archive { "archived" } else { "held" };
        let answers = Peer::new(&dac).send_message(&hello(name, 1), 60 * NANOS_PER_SECOND).unwrap();
        assert!(matches!(&answers[..], [DacMessage::Welcome { safe: Some(safe), .. }] if *safe == when));
    }
}

/// The copy has what the log has, up to this number of run 1.
fn copy(dac: &Dac, topic: TopicId, sequence: u64, has_loss: bool) {
    let instance = dac.registry.instance(topic).unwrap();
    let last = Some((Uuid::from_u128(1), sequence));
    instance.ledger().note_kept(DurableStore::Copy, Offset(sequence), last, has_loss);
}

#[test]
fn without_an_archive_samples_are_safe_once_copied_and_not_by_time() {
    let dac = dac();
    dac.keeping.set_copied(true);
    let (mut peer, topic, _) = keeping(&dac, 0);
    peer.send_at(&batch(topic, 1, 3, 0), NANOS_PER_SECOND);
    assert_eq!(peer.safe_messages(60 * NANOS_PER_SECOND), [], "the copy may be stalled");
    copy(&dac, topic, 3, false);
    assert_eq!(peer.safe_messages(61 * NANOS_PER_SECOND), safe(SafeReason::Copied, topic, 3));
    peer.send_at(&batch(topic, 4, 2, 0), 62 * NANOS_PER_SECOND);
    copy(&dac, topic, 5, true);
    assert_eq!(
        peer.safe_messages(63 * NANOS_PER_SECOND),
        safe(SafeReason::NotCopied, topic, 5),
        "they are not called safe"
    );
}

#[test]
fn with_archive_and_copy_the_first_that_has_a_sample_makes_it_safe() {
    let dac = dac();
    dac.keeping.set_archive(Some(Arc::new(|_, _| true)));
    dac.keeping.set_copied(true);
    let (mut peer, topic, _) = keeping(&dac, 0);
    peer.send_at(&batch(topic, 1, 3, 0), NANOS_PER_SECOND);
    copy(&dac, topic, 3, false);
    assert_eq!(
        peer.safe_messages(NANOS_PER_SECOND),
        safe(SafeReason::Copied, topic, 3),
        "a full disk need not stall the node"
    );
    peer.send_at(&batch(topic, 4, 1, 0), NANOS_PER_SECOND);
    commit(&dac, topic, 4, false);
    assert_eq!(peer.safe_messages(NANOS_PER_SECOND), safe(SafeReason::Stored, topic, 4), "nor need NATS");
    peer.send_at(&batch(topic, 5, 1, 0), NANOS_PER_SECOND);
    commit(&dac, topic, 5, true);
    assert_eq!(
        peer.safe_messages(NANOS_PER_SECOND),
        [],
        "the archive has lost it, and the copy may still come"
    );
    copy(&dac, topic, 5, false);
    assert_eq!(peer.safe_messages(NANOS_PER_SECOND), safe(SafeReason::Copied, topic, 5));
    peer.send_at(&batch(topic, 6, 1, 0), NANOS_PER_SECOND);
    commit(&dac, topic, 6, true);
    copy(&dac, topic, 6, true);
    assert_eq!(
        peer.safe_messages(NANOS_PER_SECOND),
        safe(SafeReason::NotStored, topic, 6),
        "nobody will ever have it"
    );
}

#[test]
fn a_sample_that_the_archive_does_not_want_waits_for_the_copy() {
    let dac = dac();
    dac.keeping.set_archive(Some(Arc::new(|_, _| false)));
    dac.keeping.set_copied(true);
    let (mut peer, topic, _) = keeping(&dac, 0);
    peer.send_at(&batch(topic, 1, 3, 0), NANOS_PER_SECOND);
    assert_eq!(peer.safe_messages(60 * NANOS_PER_SECOND), []);
    copy(&dac, topic, 3, false);
    assert_eq!(peer.safe_messages(60 * NANOS_PER_SECOND), safe(SafeReason::Copied, topic, 3));
}
