//! Nodes that go from one DAC to another.

use crate::support::*;
use oasis_alarms::{
    ActionVerb, Alarms, Arrival, Checkpoint, CheckpointKey, Filter, HandoverPage, JournalKind,
    NodeConnection, Position, Round,
};
use oasis_rules::{EventKind::Raised, Standing};
use oasis_wire::quantity::{Epoch, Nanos, Offset};
use uuid::Uuid;

fn home(attach: u64) -> NodeConnection {
    NodeConnection { run: Uuid::from_u128(1), attach: Some(attach), since: attach * NANOS_PER_SECOND }
}

/// Makes a DAC the home of the node, with what another one gives.
fn settle(alarms: &Alarms, attach: u64, page: Option<HandoverPage>) {
    let from = page.map(|page| ("hall-1".to_owned(), page.nodes[0].alarms.clone()));
    let arrival = Arrival { node: "plant".into(), home: home(attach), from, checkpoints: Vec::new() };
    alarms.settle_homes(Nanos(50 * NANOS_PER_SECOND), vec![arrival]).unwrap();
}

fn given(alarms: &Alarms) -> HandoverPage {
    alarms.handovers(0, |_, _| true).unwrap()
}

fn checkpoint(alarms: &Alarms, instance: &str, bytes: usize) {
    let key = CheckpointKey { rule: String::new(), node: "plant".into(), instance: instance.into() };
    let position = Position {
        run: Some(Uuid::from_u128(1)),
        sequence: 7,
        epoch: Epoch(3),
        offset: Offset(9),
        dac_time: 5,
    };
    let kept = Checkpoint { rule_hash: "form".into(), position, state: vec![7; bytes] };
    let checkpoints = vec![(key, kept)];
    alarms.commit(Round { now: Nanos(NANOS_PER_SECOND), events: Vec::new(), checkpoints }).unwrap();
}

/// A DAC whose node has three alarms: one is acknowledged, one shelved, one suppressed.
fn first() -> (tempfile::TempDir, Alarms) {
    let (folder, alarms) = alarms();
    settle(&alarms, 1, None);
    for (number, instance) in (10..).zip(["a", "b", "c"]) {
        commit(&alarms, "Hot", instance, Raised, number);
    }
    alarms.act(action("Hot", "a", ActionVerb::Acknowledge, 20)).unwrap();
    alarms.act(action("Hot", "b", ActionVerb::Shelve { seconds: Some(3_600), once: false }, 21)).unwrap();
    alarms.act(action("Hot", "c", ActionVerb::Suppress, 22)).unwrap();
    (folder, alarms)
}

#[test]
fn alarms_go_on_with_all_that_operators_did_and_nobody_is_told_again() {
    let ((_one, first), (_other, next)) = (first(), alarms());
    settle(&next, 2, Some(given(&first)));
    let [before, after] = [&first, &next].map(|of| {
        of.list(&Filter::default())
            .alarms
            .into_iter()
            .map(|mut alarm| {
                (alarm.revision, alarm.raised_last_hour) = (0, 0);
                alarm
            })
            .collect::<Vec<_>>()
    });
    assert_eq!(after, before);
    assert_eq!(messages(&next), Vec::<&str>::new(), "the first one has told of them");
    let entries = journal(&next);
    assert!(entries.iter().all(|entry| entry.kind == JournalKind::TakenOver));
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[0].cause.as_deref(), Some("taken over from DAC hall-1"));
    assert_eq!((entries[0].comment.as_deref(), entries[0].principal.as_deref()), (Some("seen"), Some("ada")));
    assert_eq!(next.home("plant"), Some(home(2)));
    // The destinations of this DAC learn what happens next.
    next.act(action("Hot", "c", ActionVerb::Unsuppress, 60)).unwrap();
    assert_eq!(messages(&next), ["raised"]);
    next.tick(Nanos(4_000 * NANOS_PER_SECOND)).unwrap();
    assert_eq!(messages(&next), ["raised", "raised"], "the shelve of the first one ends");
}

#[test]
fn what_was_given_ends_without_a_message_and_the_rest_with_one() {
    for is_received in [true, false] {
        let (_folder, first) = first();
        let told = messages(&first).len();
        let mut handover = first.handover("plant").unwrap();
        handover.is_final = true;
        first.leave(handover);
        let page = given(&first);
        assert!(page.nodes[0].is_final);
        assert!(!first.left("plant").unwrap().0, "nobody has said that it arrived");
        if is_received {
            assert_eq!(first.handovers(page.position, |_, _| true).unwrap().nodes, []);
        }
        assert_eq!(first.left("plant").unwrap().0, is_received);
        first.end_moved(Nanos(30 * NANOS_PER_SECOND), |_| Some("hall-2")).unwrap();
        let left = first.list(&Filter::default()).alarms;
        assert!(left.iter().all(|alarm| alarm.state == Standing::Normal && alarm.is_silenced()));
        let (kept, news) = if is_received { (0, 0) } else { (2, 1) };
        assert_eq!((left.len(), messages(&first).len() - told), (kept, news));
        assert_eq!(kinds(&first).iter().filter(|kind| **kind == "moved").count(), 3);
    }
}

#[test]
fn a_dac_that_may_not_see_all_of_a_node_has_not_taken_it() {
    let (_folder, first) = first();
    first.leave(first.handover("plant").unwrap());
    let sees = |_: &str, instance: &str| instance == "a";
    let page = first.handovers(0, sees).unwrap();
    assert_eq!(page.nodes[0].alarms.len(), 1);
    first.handovers(page.position, sees).unwrap();
    assert_eq!(first.left("plant").map(|(is_given, _)| is_given), Some(false));
}

#[test]
fn only_what_has_changed_is_given_again_and_a_restart_gives_all() {
    let (folder, first) = first();
    let before = given(&first);
    assert_eq!(first.handovers(before.position, |_, _| true).unwrap().nodes, []);
    checkpoint(&first, "a", 100);
    let page = first.handovers(before.position, |_, _| true).unwrap();
    assert_eq!((page.nodes.len(), page.nodes[0].checkpoints.len()), (1, 1));
    let (key, kept) = page.nodes[0].checkpoints[0].checkpoint("plant").unwrap();
    assert_eq!((key.instance.as_str(), kept.state.len(), kept.position.sequence), ("a", 100, 7));
    drop(first);
    let again = open(&folder, oasis_alarms::Limits::default());
    assert_eq!((again.home("plant"), given(&again).nodes.len()), (Some(home(1)), 1));
}

#[test]
fn states_of_rules_that_are_too_large_are_left_out_and_counted() {
    let (_folder, first) = first();
    (0..5).for_each(|number| checkpoint(&first, &number.to_string(), 3 << 20));
    let node = &given(&first).nodes[0];
    assert_eq!((node.alarms.len(), node.checkpoints.len()), (3, 1));
    assert_eq!(node.left_out, 2, "of three that were read");
}

#[test]
fn alarms_of_rules_that_do_not_exist_here_are_not_taken() {
    let ((_one, first), (_other, next)) = (first(), alarms());
    next.set_rules(&[facts("Latched")]).unwrap();
    settle(&next, 2, Some(given(&first)));
    assert_eq!((next.list(&Filter::default()).alarms, kinds(&next).len()), (Vec::new(), 0));
}
