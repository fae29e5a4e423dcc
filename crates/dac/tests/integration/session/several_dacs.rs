//! A node with several DACs: it comes, leaves, and comes back.

use super::*;
use oasis_dac::{
    CommandError, Cursor, Delivery, Follower, Hop, Moved, NamedRequest, Options, RelayedNode, Signal,
    StartAt, Upstream,
};
use oasis_wire::quantity::{Epoch, Offset, PortablePosition, Position};

fn attaching(attach: u64) -> NodeMessage {
    let NodeMessage::Hello { protocol, node, secret, .. } = hello("a", 1) else {
        unreachable!("it is a hello")
    };
    NodeMessage::Hello { protocol, node, secret, attach: Some(attach), drains: true }
}

fn joined(dac: &Arc<Dac>, attach: u64) -> Result<(Peer, TopicId), Failure> {
    let mut peer = Peer::new(dac);
    peer.send_message(&attaching(attach), 0)?;
    let answers = peer.send_message(&register(vec![beat()], &["beat"]), 0)?;
    let [DacMessage::Registered { topics }] = &answers[..] else { panic!("{answers:?}") };
    Ok((peer, topics[0].topic))
}

fn counters(peer: &mut Peer, topic: TopicId, sent: u64, dropped: Drops) {
    let instances = vec![Counters { topic, taken: sent, sent, dropped, after_sent: Drops::default() }];
    peer.send_message(&NodeMessage::Counters { instances }, 0).unwrap();
}

fn gaps(dac: &Dac, topic: TopicId) -> Vec<(u64, u64, Cause)> {
    let ledger = dac.registry.instance(topic).unwrap().ledger().clone();
    ledger.gaps.iter().map(|gap| (gap.from_sequence, gap.to_sequence, gap.cause)).collect()
}

#[test]
fn the_highest_attach_of_a_run_is_home() {
    let dac = dac();
    let (mut first, topic) = joined(&dac, 1).unwrap();
    let (mut third, _) = joined(&dac, 3).unwrap();
    assert!(first.commands.is_closed());
    // Its hello was under way for longer than the one after it.
    assert_eq!(joined(&dac, 2).err().unwrap().code, "node_moved");
    assert_eq!(joined(&dac, 3).err().unwrap().code, "node_moved");
    third.send(&batch(topic, 1, 3, 0)).unwrap();
    first.session.close(Nanos(1));
    let node = dac.registry.node("a").unwrap();
    assert!(node.is_online() && !third.commands.is_closed());
    assert_eq!(node.attach, Some(3));
    third.session.close(Nanos(2));
    assert_eq!(joined(&dac, 2).err().unwrap().code, "node_moved", "also while it is offline");
    // Programs that do not count are accepted as before.
    Peer::new(&dac).send_message(&hello("a", 1), 0).unwrap();
}

#[test]
fn what_a_reader_has_from_elsewhere_is_left_out_until_it_is_past_that() {
    let dac = dac();
    let (mut peer, topic) = joined(&dac, 1).unwrap();
    for first in [1, 4, 7] {
        peer.send(&batch(topic, first, 3, 0)).unwrap();
    }
    let instance = dac.registry.instance(topic).unwrap();
    let run = instance.ledger().run().unwrap();
    let turn = |sequence, max| {
        let after = Some(PortablePosition { run, sequence });
        let turn = instance.turn(Offset(0), Options { after, ..Options::default() }, max);
        (turn.wanted, turn.segments.len(), turn.is_past_after)
    };
    assert_eq!(turn(6, 1), (Offset(3), 0, false));
    assert_eq!(turn(6, 2), (Offset(5), 1, true));
    assert_eq!(turn(10, 3), (Offset(9), 0, false));
    assert_eq!(turn(1, 3), (Offset(0), 3, true));
}

#[test]
fn samples_that_went_to_another_dac_have_that_cause_when_the_node_is_back() {
    let dac = dac();
    let (mut peer, topic) = joined(&dac, 1).unwrap();
    counters(&mut peer, topic, 0, Drops::default());
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    peer.session.close(Nanos(1));
    // At the other DAC it has dropped two samples, which that one has counted.
    let (mut peer, _) = joined(&dac, 3).unwrap();
    let dropped = |ring_full| Drops { spool_full: 2, ring_full, ..Drops::default() };
    counters(&mut peer, topic, 10, dropped(0));
    peer.send(&batch(topic, 11, 2, 0)).unwrap();
    assert_eq!(gaps(&dac, topic), [(4, 10, Cause::OtherDac)]);
    counters(&mut peer, topic, 15, dropped(2));
    peer.send(&batch(topic, 15, 1, 2)).unwrap();
    assert_eq!(gaps(&dac, topic)[1..], [(13, 14, Cause::RingFull)]);
    // Counters that follow batches say nothing of other DACs: these samples are on their way.
    counters(&mut peer, topic, 20, dropped(2));
    peer.send(&batch(topic, 16, 5, 0)).unwrap();
    assert_eq!(gaps(&dac, topic).len(), 2);
}

#[test]
fn a_run_that_began_at_another_dac_is_explained_although_the_node_was_here_before() {
    let dac = dac();
    let (mut peer, topic) = Peer::connected(&dac, "a", 9);
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    peer.session.close(Nanos(1));
    let (mut peer, _) = joined(&dac, 2).unwrap();
    counters(&mut peer, topic, 7, Drops::default());
    peer.send(&batch(topic, 8, 1, 0)).unwrap();
    assert_eq!(gaps(&dac, topic), [(1, 7, Cause::OtherDac)]);
}

/// The node is at another DAC now, which this one relays, perhaps without its instances yet.
fn relayed(dac: &Arc<Dac>, with_instances: bool) -> Upstream {
    let NodeMessage::Hello { node: identity, .. } = hello("a", 1) else { unreachable!("it is a hello") };
    let NodeMessage::Register { instances, .. } = register(vec![beat()], &["beat"]) else {
        unreachable!("it is one")
    };
    let (upstream, _events) = Upstream::new(dac);
    let home = Hop { dac: "other".into(), epoch: Epoch(9), clock_offset_ns: None, round_trip_ns: None };
    let (since, path) = (Nanos(2), vec![home]);
    let run = Some(identity.run);
    let node = RelayedNode {
        identity,
        is_online: true,
        attach: Some(2),
        since,
        is_replay: false,
        path,
        labels: Default::default(),
    };
    upstream.node(node).unwrap();
    if with_instances {
        upstream.instance("a", instances[0].clone(), &Arc::new(beat()), run).unwrap();
    }
    upstream
}

#[test]
fn a_session_whose_topic_a_relayed_one_has_replaced_appends_nothing() {
    let dac = dac();
    let (mut peer, topic) = joined(&dac, 1).unwrap();
    let before = dac.registry.instance(topic).unwrap();
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    let upstream = relayed(&dac, true);
    // A batch that was under way when the node left.
    assert_eq!(peer.send(&batch(topic, 4, 2, 0)).unwrap_err().code, "node_moved");
    assert_eq!(before.log.next().0, 3);
    peer.session.close(Nanos(3));
    drop(upstream);
    let (mut peer, topic) = joined(&dac, 3).unwrap();
    counters(&mut peer, topic, 0, Drops::default());
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    peer.send(&batch(topic, 4, 2, 0)).unwrap();
    let ledger = dac.registry.instance(topic).unwrap().ledger().clone();
    assert_eq!((ledger.duplicates, ledger.received, ledger.last_sequence), (3, 2, 5));
}

#[test]
fn a_connection_that_registers_after_its_node_has_left_gets_no_topics() {
    let dac = dac();
    let mut late = Peer::new(&dac);
    late.send_message(&attaching(1), 0).unwrap();
    let _upstream = relayed(&dac, true);
    assert_eq!(late.send_message(&register(vec![beat()], &["beat"]), 0).unwrap_err().code, "node_moved");
    assert!(dac.registry.find("a", "beat").unwrap().is_relayed());
}

#[test]
fn a_relayed_node_that_goes_before_its_instances_came_leaves_what_this_dac_has() {
    let dac = dac();
    let (mut peer, topic) = joined(&dac, 1).unwrap();
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    peer.session.close(Nanos(1));
    relayed(&dac, false).remove("a", None);
    let (mut peer, topic) = joined(&dac, 3).unwrap();
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    let ledger = dac.registry.instance(topic).unwrap().ledger().clone();
    assert_eq!((ledger.duplicates, ledger.received), (3, 0));
}

/// Numbers that are safe, of the messages of a session.
fn safe(answers: &[DacMessage]) -> Vec<u64> {
    let numbers = answers.iter().filter_map(|answer| match answer {
        DacMessage::Safe { topics, .. } => Some(topics.iter().map(|(_, sequence)| *sequence)),
        _ => None,
    });
    numbers.flatten().collect()
}

#[test]
fn received_samples_of_a_topic_that_was_replaced_are_safe_when_the_archive_has_them() {
    let dac = dac();
    dac.keeping.set_archive(Some(Arc::new(|_, _| true)));
    dac.registry.restore(&[], Vec::new());
    let (mut peer, topic) = joined(&dac, 1).unwrap();
    let before = dac.registry.instance(topic).unwrap();
    before.follow(Follower::Archive);
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    peer.session.close(Nanos(1));
    drop(relayed(&dac, true));
    let mut peer = Peer::new(&dac);
    peer.send_message(&attaching(3), 0).unwrap();
    peer.send_message(&NodeMessage::KeepUntilSafe, 0).unwrap();
    assert_eq!(safe(&peer.send_message(&register(vec![beat()], &["beat"]), 0).unwrap()), [0; 0]);
    let run = Uuid::from_u128(1);
    for stored in [2, 3] {
        before.ledger().note_stored(Offset(stored), Some((run, stored)), false);
        let mut out = Vec::new();
        peer.session.report_safe(Nanos(2), &mut out);
        assert_eq!(safe(&out), [stored]);
    }
}

#[test]
fn a_topic_that_was_replaced_before_the_archive_has_seen_it_is_still_read() {
    let dac = dac();
    dac.keeping.set_archive(Some(Arc::new(|_, _| true)));
    dac.registry.restore(&[], Vec::new());
    // The node comes and goes between two polls of the archive.
    let (mut peer, topic) = joined(&dac, 1).unwrap();
    let replaced = dac.registry.instance(topic).unwrap();
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    peer.session.close(Nanos(1));
    drop(relayed(&dac, true));
    // The node does not send again what this DAC has acknowledged.
    let (mut peer, topic_after) = joined(&dac, 3).unwrap();
    peer.send(&batch(topic_after, 4, 2, 0)).unwrap();
    let topics = || {
        let followed = dac.registry.instances_to_follow(Follower::Archive);
        followed.iter().map(|one| one.topic).collect()
    };
    let followed: Vec<_> = topics();
    assert_eq!(followed, [topic, topic_after], "in the order of their samples");
    replaced.end_following(Follower::Archive);
    assert_eq!(topics(), [topic_after]);
    let ledger = dac.registry.instance(topic_after).unwrap().ledger().clone();
    assert_eq!((ledger.received, ledger.last_sequence, ledger.missing), (2, 5, 0));
}

#[test]
fn an_earlier_connection_does_not_replace_a_later_one_to_another_dac() {
    let dac = dac();
    let _upstream = relayed(&dac, true);
    let mut late = Peer::new(&dac);
    assert_eq!(late.send_message(&attaching(1), 0).unwrap_err().code, "node_moved");
    late = Peer::new(&dac);
    late.send_message(&attaching(3), 0).unwrap();
}

#[test]
fn a_dac_that_relayed_its_node_meanwhile_knows_what_it_has() {
    let dac = dac();
    let (mut peer, topic) = joined(&dac, 1).unwrap();
    peer.send(&batch(topic, 1, 3, 0)).unwrap();
    peer.session.close(Nanos(1));
    // The node is at another DAC, which ends before anything that it has received there is safe.
    let upstream = relayed(&dac, true);
    drop(upstream);

    let (mut peer, topic) = joined(&dac, 3).unwrap();
    counters(&mut peer, topic, 0, Drops::default());
    assert_eq!(peer.send(&batch(topic, 1, 3, 0)).unwrap(), [DacMessage::Ack { topics: vec![(topic, 3)] }]);
    peer.send(&batch(topic, 4, 1, 0)).unwrap();
    let ledger = dac.registry.instance(topic).unwrap().ledger().clone();
    assert_eq!((ledger.duplicates, ledger.received, ledger.missing), (3, 1, 0));
}

#[tokio::test]
async fn a_node_that_is_silent_here_and_connected_elsewhere_is_not_online() {
    let dac = dac();
    let (mut peer, topic) = joined(&dac, 1).unwrap();
    peer.send(&batch(topic, 1, 1, 0)).unwrap();
    let run = Uuid::from_u128(1);
    let moved = |run, attach, now| {
        dac.registry.note_moved("a", &Moved { run, attach, dac: "hall-2" }, Moment::from(Nanos(now)));
        !dac.registry.node("a").unwrap().is_online()
    };
    assert!(!moved(run, 2, NANOS_PER_SECOND), "it was heard a moment ago: whoever says so is wrong");
    assert!(!moved(run, 1, 3 * NANOS_PER_SECOND), "this is its last connection");
    assert!(!moved(Uuid::from_u128(9), 2, 3 * NANOS_PER_SECOND), "it was another process");
    assert!(moved(run, 2, 3 * NANOS_PER_SECOND));
    assert!(peer.commands.is_closed(), "its connection ends");
    let sent = dac.commands.execute(&dac.registry, ("a", "beat"), Command::Enable, "test", Nanos(0)).await;
    assert_eq!(sent.unwrap_err().code(), "node_moved");
    let (_peer, _) = joined(&dac, 3).unwrap();
    assert!(dac.registry.node("a").unwrap().is_online(), "it is back");
}

#[tokio::test]
async fn a_node_that_is_offline_here_is_where_the_tem_says() {
    let dac = dac();
    let (mut peer, _) = joined(&dac, 3).unwrap();
    peer.session.close(Nanos(0));
    assert!(!dac.registry.node("a").unwrap().is_online());
    let home = |run, attach| {
        dac.registry.note_moved(
            "a",
            &Moved { run, attach, dac: "hall-2" },
            Moment::from(Nanos(NANOS_PER_SECOND)),
        );
        dac.registry.homes_elsewhere().get("a").cloned()
    };
    let version = dac.registry.version();
    assert_eq!(home(Uuid::from_u128(1), 2), None, "its last connection was here");
    assert_eq!(dac.registry.version(), version);
    assert_eq!(home(Uuid::from_u128(1), 4).as_deref(), Some("hall-2"));
    assert!(dac.registry.version() > version, "watchers look again");
    let (_peer, _) = joined(&dac, 5).unwrap();
    assert_eq!(dac.registry.homes_elsewhere().len(), 0, "it is back");
}

#[tokio::test]
async fn a_dac_that_ends_asks_nodes_to_leave_and_takes_no_others() {
    let dac = dac();
    let (mut peer, topic) = joined(&dac, 1).unwrap();
    let (older, _) = Peer::connected(&dac, "b", 2);
    let mut early = Peer::new(&dac);
    let NodeMessage::Hello { protocol, node, .. } = hello("d", 4) else { unreachable!("it is a hello") };
    let waiting = NodeMessage::Hello { protocol, node, secret: None, attach: Some(1), drains: true };
    early.send_message(&waiting, 0).unwrap();
    let ends = tokio::spawn({
        let dac = dac.clone();
        async move { dac.draining.run().await }
    });
    while !dac.draining.is_requested() {
        tokio::task::yield_now().await;
    }
    assert_eq!(joined(&dac, 2).err().unwrap().code, "draining");
    assert_eq!(code(Peer::new(&dac).send_message(&hello("c", 3), 0)), "draining");
    let (mut told, mut nothing) = (Vec::new(), Vec::new());
    peer.session.drain(&mut told).unwrap();
    older.session.drain(&mut nothing).unwrap();
    let refused = early.session.drain(&mut Vec::new()).unwrap_err();
    assert_eq!(refused.code, "draining", "it waits for its topics, and for no other answer");
    early.session.close(Nanos(0));
    assert_eq!((told, nothing), (vec![DacMessage::Drain], vec![]), "an older node would not understand it");
    // Batches that arrive before the node has read it are received as before.
    assert_eq!(peer.send(&batch(topic, 1, 3, 0)).unwrap(), [DacMessage::Ack { topics: vec![(topic, 3)] }]);
    assert!(!ends.is_finished());
    peer.session.close(Nanos(1));
    ends.await.unwrap();
}

#[test]
fn a_connection_that_is_known_in_two_ways_stays_with_the_shorter_one() {
    let dac = dac();
    let NodeMessage::Hello { node: identity, .. } = hello("a", 1) else { unreachable!("it is a hello") };
    let hop = |epoch| Hop {
        dac: format!("hall-{epoch}"),
        epoch: Epoch(epoch),
        clock_offset_ns: None,
        round_trip_ns: None,
    };
    let node = |hops: &[u64], since| RelayedNode {
        identity: identity.clone(),
        is_online: true,
        attach: Some(2),
        since: Nanos(since),
        is_replay: false,
        path: hops.iter().copied().map(hop).collect(),
        labels: Default::default(),
    };
    let (through_another, _events) = Upstream::new(&dac);
    let (home, _events) = Upstream::new(&dac);
    through_another.node(node(&[9, 8], 1)).unwrap();
    home.node(node(&[9], 1)).unwrap();
    // Clocks are measured again and again, so this changes all the time.
    through_another.node(node(&[9, 8], 5)).unwrap_err();
    assert!(home.lists("a"));
    home.lost();
    through_another.node(node(&[9, 8], 6)).unwrap();
    assert!(through_another.lists("a"));
}

/// Lists node `a` with its instance as nodes of another DAC.
fn relay(upstream: &Upstream, attach: u64) {
    let NodeMessage::Hello { node: identity, .. } = hello("a", 1) else { unreachable!("it is a hello") };
    let NodeMessage::Register { instances, .. } = register(vec![beat()], &["beat"]) else {
        unreachable!("it is one")
    };
    let run = Some(identity.run);
    let node = RelayedNode {
        identity,
        is_online: true,
        attach: Some(attach),
        since: Nanos(attach),
        is_replay: false,
        path: Vec::new(),
        labels: Default::default(),
    };
    upstream.node(node).unwrap();
    upstream.instance("a", instances[0].clone(), &Arc::new(beat()), run).unwrap();
}

#[test]
fn an_upstream_that_was_started_again_does_not_make_an_earlier_connection_the_home() {
    let dac = dac();
    let (upstream, _events) = Upstream::new(&dac);
    relay(&upstream, 3);
    // The DAC knows the node from its archive, which does not have the number of the connection.
    let NodeMessage::Hello { node: identity, .. } = hello("a", 1) else { unreachable!("it is a hello") };
    let remembered = RelayedNode {
        identity,
        is_online: false,
        attach: None,
        since: Nanos(9),
        is_replay: false,
        path: Vec::new(),
        labels: Default::default(),
    };
    upstream.node(remembered).unwrap();
    assert_eq!(joined(&dac, 2).err().unwrap().code, "node_moved");
    joined(&dac, 4).unwrap();
}

#[tokio::test]
async fn a_command_follows_its_node_once_with_the_same_uuid() {
    let dac = dac();
    let (stale, mut to_stale) = Upstream::new(&dac);
    relay(&stale, 1);
    let command = NamedRequest { uuid: Uuid::from_u128(7), keep: false, request: Command::Enable };
    let execute = |command| dac.commands.execute(&dac.registry, ("a", "beat"), command, "test", Nanos(0));
    let (home, mut to_home) = Upstream::new(&dac);
    let upstreams = async {
        let first = to_stale.commands.recv().await.unwrap();
        first.answer.send(Err(CommandError::NodeMoved("a".into()))).unwrap();
        relay(&home, 2);
        let second = to_home.commands.recv().await.unwrap();
        second.answer.send(Err(CommandError::NodeMoved("a".into()))).unwrap();
        (first.request, second.request)
    };
    let (outcome, (first, second)) = tokio::join!(execute(command.clone()), upstreams);
    assert_eq!(outcome.unwrap_err().code(), "node_moved", "it is not sent a third time");
    assert_eq!((&first, &second), (&command, &command));
    assert!(to_stale.commands.try_recv().is_err() && to_home.commands.try_recv().is_err());
}

#[tokio::test]
async fn a_command_whose_connection_ends_has_an_unknown_outcome_and_is_not_sent_again() {
    let dac = dac();
    let (mut peer, _) = joined(&dac, 1).unwrap();
    let execute = || dac.commands.execute(&dac.registry, ("a", "beat"), Command::Enable, "test", Nanos(0));
    let ends = async {
        let sent = peer.commands.recv().await.unwrap();
        assert!(matches!(sent, DacMessage::Command { uuid: Some(_), .. }), "{sent:?}");
        peer.session.close(Nanos(1));
    };
    assert_eq!(tokio::join!(execute(), ends).0.unwrap_err().code(), "unknown");
    let (mut peer, _) = joined(&dac, 2).unwrap();
    assert!(peer.commands.try_recv().is_err());
    peer.session.close(Nanos(2));

    let (upstream, mut events) = Upstream::new(&dac);
    relay(&upstream, 3);
    // The connection to the upstream ends with all that waits for an answer.
    let ends = async { drop(events.commands.recv().await.unwrap()) };
    assert_eq!(tokio::join!(execute(), ends).0.unwrap_err().code(), "unknown");
    assert_eq!(dac.commands.journal().last().unwrap().outcome, "unknown");
}

/// A node that comes from another DAC, and a reader here that has read its first samples before that.
fn read_before_it_came(samples: u64) -> (Peer, TopicId, Cursor) {
    let dac = dac();
    let upstream = relayed(&dac, true);
    let before = dac.registry.find("a", "beat").unwrap();
    before.begin_relayed_run(Uuid::from_u128(1));
    before.append_relayed(batch(TopicId(1), 1, samples, 0), Vec::new(), 0).unwrap();
    let signal = Arc::<Signal>::default();
    let (mut reader, _) = Cursor::new(before.clone(), StartAt::Earliest, &signal);
    let guard = before.register_demand(Delivery::Every);
    assert_eq!(reader.turn(9).segments.len(), 1);
    drop(upstream);
    let (peer, topic) = joined(&dac, 3).unwrap();
    drop(guard);
    let after = dac.registry.instance(topic).unwrap();
    let at = StartAt::Position(Position { epoch: dac.epoch(), offset: reader.next() });
    let (reader, _) = Cursor::new(after, at, &signal);
    (peer, topic, reader)
}

#[test]
fn a_reader_of_a_node_that_comes_from_another_dac_does_not_receive_its_samples_again() {
    // The node sends again what was not safe at the other DAC. The archive here needs it.
    let (mut peer, topic, mut reader) = read_before_it_came(5);
    let after = reader.instance().clone();
    let signal = Arc::<Signal>::default();
    peer.send(&batch(topic, 2, 3, 0)).unwrap();
    peer.send(&batch(topic, 5, 3, 0)).unwrap();
    let turn = reader.turn(9);
    assert_eq!((turn.segments.len(), turn.wanted), (1, Offset(9)), "6 and 7 are new");
    let (mut archive, _) = Cursor::new(after, StartAt::Earliest, &signal);
    assert_eq!(archive.turn(9).segments.len(), 2);
}

#[test]
fn a_reader_learns_what_its_node_has_left_at_another_dac() {
    let (mut peer, topic, mut reader) = read_before_it_came(4);
    // 5 to 9 are stored by the other DAC, and had not come here.
    peer.send(&batch(topic, 10, 2, 0)).unwrap();
    let turn = reader.turn(9);
    let skipped = turn.skipped.unwrap();
    assert_eq!((skipped.count(), skipped.cause, turn.segments.len()), (5, Cause::OtherDac, 1));
    peer.send(&batch(topic, 12, 2, 0)).unwrap();
    assert_eq!(reader.turn(9).skipped, None);
    let (mut new, _) = Cursor::new(reader.instance().clone(), StartAt::Now, &Arc::default());
    assert_eq!(new.turn(9).skipped, None);
}

#[test]
fn readers_that_change_over_continue_although_their_topic_is_replaced_meanwhile() {
    let dac = dac();
    // The DAC was killed; a reader is back before the DAC knows where the node is now.
    dac.registry.restore(&[], vec![super::remembered::stored("a", "beat", 60)]);
    let guard = dac.registry.find("a", "beat").unwrap().register_demand(Delivery::Every);
    let _upstream = relayed(&dac, true);
    let continues = || dac.registry.find("a", "beat").unwrap().continues().map(|next| next.sequence);
    assert_eq!(continues(), Some(11));
    drop(guard);
    let _node = joined(&dac, 3).unwrap();
    assert_eq!(continues(), Some(11), "nobody has read what is between");
}

#[test]
fn samples_of_replaced_topics_are_counted_once_too_many_wait_for_a_handler() {
    let dac = dac();
    dac.registry.restore(&[], Vec::new());
    let names: Vec<_> = (0..1_026).map(|number| format!("beat {number}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let mut peer = Peer::new(&dac);
    peer.send_message(&attaching(1), 0).unwrap();
    let answers = peer.send_message(&register(vec![beat()], &names), 0).unwrap();
    let [DacMessage::Registered { topics }] = &answers[..] else { panic!("{answers:?}") };
    for assigned in topics {
        peer.send(&batch(assigned.topic, 1, 3, 0)).unwrap();
    }
    let mut changed = beat();
    changed.version = "2.0".into();
    let mut peer = Peer::new(&dac);
    peer.send_message(&attaching(2), 0).unwrap();
    peer.send_message(&register(vec![changed], &names), 0).unwrap();
    assert_eq!(dac.registry.evicted().unread_samples, 2 * 3);
    let replaced = dac.registry.instances_to_follow(Follower::Archive);
    assert_eq!(replaced.iter().filter(|instance| instance.is_retired()).count(), 1_024);
}
