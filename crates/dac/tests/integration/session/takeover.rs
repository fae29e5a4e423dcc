//! A peer that claims another node's run, or sequence numbers that no node can have reached.

use super::*;
use oasis_wire::stored::StoredNode;

const HOUR: u64 = 3_600;

fn with_secret(name: &str, uuid: u128, run: u128, secret: ResumeSecret) -> NodeMessage {
    let NodeMessage::Hello { protocol, mut node, .. } = hello(name, run) else {
        unreachable!("it is a hello")
    };
    node.uuid = Uuid::from_u128(uuid);
    NodeMessage::Hello { protocol, node, secret: Some(secret), attach: None, drains: false }
}

fn joined(dac: &Arc<Dac>, hello: &NodeMessage, now: u64) -> Result<(Peer, TopicId), Failure> {
    let mut peer = Peer::new(dac);
    peer.send_message(hello, now)?;
    let answers = peer.send_message(&register(vec![beat()], &["beat"]), now)?;
    let [DacMessage::Registered { topics }] = &answers[..] else { panic!("{answers:?}") };
    Ok((peer, topics[0].topic))
}

fn refusal(outcome: Result<(Peer, TopicId), Failure>) -> String {
    outcome.err().map_or_else(|| "accepted".into(), |failure| failure.code)
}

#[test]
fn a_run_is_resumed_only_with_its_secret() {
    let dac = dac();
    let own = ResumeSecret::random();
    let (mut first, topic) = joined(&dac, &with_secret("a", 1, 1, own), 0).unwrap();
    first.send(&batch(topic, 1, 3, 0)).unwrap();
    // The run is public. A liar knows it, at any time, whether the owner is connected or not.
    for now in [0, NANOS_PER_SECOND, 4 * NANOS_PER_SECOND] {
        let liar = with_secret("a", 1, 1, ResumeSecret::random());
        assert_eq!(refusal(joined(&dac, &liar, now)), "run_secret_wrong");
        assert_eq!(refusal(joined(&dac, &hello("a", 1), now)), "run_secret_wrong");
    }
    assert!(!first.commands.is_closed());
    first.session.close(Nanos(5 * NANOS_PER_SECOND));
    assert_eq!(refusal(joined(&dac, &hello("a", 1), 6 * NANOS_PER_SECOND)), "run_secret_wrong");
    let (mut again, _) = joined(&dac, &with_secret("a", 1, 1, own), 7 * NANOS_PER_SECOND).unwrap();
    assert_eq!(again.send(&batch(topic, 4, 2, 0)).unwrap(), [DacMessage::Ack { topics: vec![(topic, 5)] }]);
}

#[test]
fn a_dac_that_starts_again_knows_the_owner_of_an_archived_run() {
    let own = ResumeSecret::random();
    let stored_instance = remembered::stored("a", "beat", 60);
    let stored_node = |run, owner| StoredNode {
        name: "a".into(),
        uuid: Uuid::from_u128(1),
        host: "far".into(),
        software: "test".into(),
        last_seen: Nanos(0),
        run: Some(run),
        owner,
        former: Vec::new(),
    };
    let restarted = |node| {
        let dac = dac();
        dac.registry.restore(&[node], vec![stored_instance.clone()]);
        dac
    };
    let dac = restarted(stored_node(stored_instance.run, Some(own.owner())));
    let liar = with_secret("a", 1, 1, ResumeSecret::random());
    assert_eq!(refusal(joined(&dac, &liar, 0)), "run_secret_wrong");
    assert_eq!(refusal(joined(&dac, &hello("a", 1), 0)), "run_secret_wrong");
    assert_eq!(refusal(joined(&dac, &with_secret("a", 1, 1, own), 0)), "accepted");
    // An archive of an earlier version, or one that knows the owner of another run: the first to come is believed.
    for node in [stored_node(stored_instance.run, None), stored_node(Uuid::nil(), Some(own.owner()))] {
        assert_eq!(refusal(joined(&restarted(node), &liar, 0)), "accepted");
    }
}

#[test]
fn the_owner_of_a_name_gets_it_back_from_a_stranger_that_took_it_in_a_silence() {
    let dac = dac();
    let own = ResumeSecret::random();
    let (mut owner, topic) = joined(&dac, &with_secret("a", 1, 1, own), 0).unwrap();
    owner.send(&batch(topic, 1, 3, 0)).unwrap();
    let stranger = with_secret("a", 2, 2, ResumeSecret::random());
    assert_eq!(refusal(joined(&dac, &stranger, NANOS_PER_SECOND)), "name_taken");
    let (taker, _) = joined(&dac, &stranger, 4 * NANOS_PER_SECOND).unwrap();
    assert!(owner.commands.is_closed());
    // Batches that the owner sends on its old connection are neither appended nor acknowledged.
    assert_eq!(code(owner.send(&batch(topic, 4, 1, 0))), "run_replaced");

    let (mut back, same) = joined(&dac, &with_secret("a", 1, 1, own), 5 * NANOS_PER_SECOND).unwrap();
    assert!(taker.commands.is_closed() && same == topic);
    back.send(&batch(topic, 4, 1, 0)).unwrap();
    back.session.acknowledge(Nanos(5 * NANOS_PER_SECOND), &mut Vec::new());
    // The stranger gets the name only if the owner falls silent once more.
    assert_eq!(refusal(joined(&dac, &stranger, 6 * NANOS_PER_SECOND)), "name_taken");
}

#[test]
fn a_new_process_of_the_same_node_keeps_the_name_from_the_one_before() {
    let dac = dac();
    let before = with_secret("a", 1, 1, ResumeSecret::random());
    let (_hung, _) = joined(&dac, &before, 0).unwrap();
    let (_new, _) =
        joined(&dac, &with_secret("a", 1, 2, ResumeSecret::random()), 4 * NANOS_PER_SECOND).unwrap();
    assert_eq!(refusal(joined(&dac, &before, 5 * NANOS_PER_SECOND)), "name_taken");
}

#[test]
fn a_batch_far_ahead_is_refused_and_costs_no_true_sample() {
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "a", 1);
    assert_eq!(code(peer.send(&batch(topic, 1 << 62, 1, 0))), "sequence_jump");
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    for ahead in [1 << 62, u64::MAX - 1, 4_000_000_000 * HOUR] {
        assert_eq!(code(peer.send(&batch(topic, ahead, 1, 0))), "sequence_jump", "{ahead}");
    }
    peer.send(&batch(topic, 4, 2, 0)).unwrap();
    let ledger = dac.registry.instance(topic).unwrap().ledger().clone();
    assert_eq!((ledger.received, ledger.missing, ledger.duplicates), (5, 0, 0));
    // A node that reports a loss of a million samples is believed.
    peer.send(&batch(topic, 1_000_006, 1, 0)).unwrap();
    assert_eq!(dac.registry.instance(topic).unwrap().ledger().missing, 1_000_000);
}

#[test]
fn no_report_moves_the_account_far_ahead() {
    let dac = dac();
    let (mut peer, topic) = replay(&dac, "a", 1);
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    assert_eq!(code(peer.send_message(&missing(topic, 4, 1 << 62, "network"), 0)), "sequence_jump");
    // Samples that were sent as datagrams, as the node says, and did not arrive.
    peer.send_message(&NodeMessage::Datagrams, 0).unwrap();
    let counters = Counters {
        topic,
        taken: u64::MAX,
        sent: u64::MAX,
        dropped: Drops::default(),
        after_sent: Drops::default(),
    };
    peer.send_message(&NodeMessage::Counters { instances: vec![counters] }, 0).unwrap();
    peer.session.overdue(Nanos(10 * NANOS_PER_SECOND));
    assert_eq!(
        code(peer.session.datagram(&batch(topic, 1 << 62, 1, 0), Nanos(NANOS_PER_SECOND))),
        "sequence_jump"
    );
    peer.session.overdue(Nanos(20 * NANOS_PER_SECOND));
    let ledger = dac.registry.instance(topic).unwrap().ledger().clone();
    assert_eq!((ledger.last_sequence, ledger.missing), (3, 0));
}

#[test]
fn a_run_derived_from_its_secret_is_safe_from_the_first_peer_that_claims_it() {
    let own = ResumeSecret::random();
    let hello = |secret| {
        let NodeMessage::Hello { protocol, mut node, .. } = hello("a", 1) else {
            unreachable!("it is a hello")
        };
        node.run = own.run();
        NodeMessage::Hello { protocol, node, secret, attach: None, drains: false }
    };
    // The DAC was started again, without an archive: it never heard of the run.
    let dac = dac();
    assert_eq!(refusal(joined(&dac, &hello(None), 0)), "run_secret_wrong");
    assert_eq!(refusal(joined(&dac, &hello(Some(ResumeSecret::random())), 0)), "run_secret_wrong");
    assert_eq!(refusal(joined(&dac, &hello(Some(own)), 0)), "accepted");
}
