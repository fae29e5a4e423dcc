//! Nothing grows without a bound.

use crate::support::*;
use oasis_alarms::{ActionVerb, Checkpoint, CheckpointKey, Filter, Limits, Position, Round, Statistics};
use oasis_rules::{EventKind, Standing};
use oasis_wire::quantity::{Epoch, Nanos, Offset};

fn figures(alarms: &oasis_alarms::Alarms) -> Statistics {
    alarms.statistics(Nanos(1_000 * NANOS_PER_SECOND)).unwrap()
}

#[test]
fn the_oldest_entries_of_the_journal_make_room() {
    let limits = Limits { journal_entries: 3, ..Limits::default() };
    let (folder, alarms) = alarms_with(limits);
    for sequence in 1..=5 {
        commit(&alarms, "Hot", "pump", EventKind::Raised, sequence);
    }
    let numbers = |alarms: &_| journal(alarms).iter().map(|entry| entry.sequence).collect::<Vec<_>>();
    assert_eq!(numbers(&alarms), [Some(3), Some(4), Some(5)]);
    assert_eq!((figures(&alarms).journal_entries, figures(&alarms).journal_removed), (3, 2));
    drop(alarms);
    let alarms = open(&folder, limits);
    assert_eq!((figures(&alarms).journal_entries, figures(&alarms).journal_removed), (3, 2));
    drop(alarms);
    // A lower bound takes effect with the next change.
    let alarms = open(&folder, Limits { journal_bytes: 600, ..limits });
    commit(&alarms, "Hot", "pump", EventKind::Raised, 6);
    assert!(figures(&alarms).journal_bytes <= 600);
    assert_eq!(numbers(&alarms).last(), Some(&Some(6)));
}

#[test]
fn an_idle_alarm_makes_room_and_one_that_stands_does_not() {
    let (_folder, alarms) = alarms_with(Limits { alarms: 2, ..Limits::default() });
    commit(&alarms, "Hot", "a", EventKind::Raised, 1);
    commit(&alarms, "Hot", "b", EventKind::Raised, 2);
    let committed = alarms.commit(round(3, vec![event("Hot", "c", EventKind::Raised, 3)])).unwrap();
    assert_eq!((committed.events, committed.refused), (1, 1));
    // The journal has it, and the figures say so.
    assert_eq!((journal(&alarms).len(), figures(&alarms).refused), (3, 1));

    commit(&alarms, "Hot", "a", EventKind::Cleared, 4);
    let revision = alarms.list(&Filter::default()).revision;
    let events = vec![event("Hot", "c", EventKind::Raised, 5), event("Hot", "d", EventKind::Raised, 6)];
    assert_eq!(alarms.commit(round(6, events)).unwrap().refused, 1);
    let names: Vec<_> =
        alarms.list(&Filter::default()).alarms.into_iter().map(|alarm| alarm.key.instance).collect();
    assert_eq!(names, ["b", "c"]);
    let changes = alarms.changes(revision);
    assert_eq!(changes.removed.iter().map(|(_, key)| key.instance.as_str()).collect::<Vec<_>>(), ["a"]);
    assert!(alarms.act(action("Hot", "e", ActionVerb::Suppress, 7)).is_err());
}

#[test]
fn a_checkpoint_that_is_too_large_leaves_the_earlier_one() {
    let limits = Limits { checkpoint_bytes: 100, checkpoints_bytes: 150, ..Limits::default() };
    let (folder, alarms) = alarms_with(limits);
    let key = |instance: &str| CheckpointKey {
        rule: "Hot".into(),
        node: "plant".into(),
        instance: instance.into(),
    };
    let checkpoint = |bytes| {
        let position =
            Position { run: None, sequence: bytes, epoch: Epoch(u64::MAX), offset: Offset(7), dac_time: 9 };
        Checkpoint { rule_hash: "abc".into(), position, state: vec![1; bytes as usize] }
    };
    let put = |instance, bytes| {
        let checkpoints = vec![(key(instance), checkpoint(bytes))];
        alarms.commit(Round { now: Nanos(1), events: vec![], checkpoints }).unwrap().refused_checkpoints
    };
    assert_eq!([put("a", 90), put("a", 101), put("a", 100), put("b", 51), put("b", 50)], [0, 1, 0, 1, 0]);
    assert_eq!(alarms.checkpoint(&key("a")).unwrap(), Some(checkpoint(100)));
    assert_eq!(alarms.checkpoint(&key("c")).unwrap(), None);
    alarms.retain_checkpoints(|key| key.instance == "b").unwrap();
    assert_eq!(figures(&alarms).checkpoints_bytes, 50);
    drop(alarms);
    let alarms = open(&folder, limits);
    assert_eq!(alarms.checkpoint(&key("a")).unwrap(), None);
    assert_eq!(alarms.checkpoint(&key("b")).unwrap(), Some(checkpoint(50)));
}

#[test]
fn long_causes_are_cut_at_a_whole_character() {
    let (_folder, alarms) = alarms_with(Limits { comment_bytes: 10, ..Limits::default() });
    let mut event = event("Hot", "pump", EventKind::Unknown, 1);
    event.cause = Some("lost °°°°°°".into());
    event.standing = Some(Standing::Normal);
    alarms.commit(round(1, vec![event])).unwrap();
    assert_eq!(journal(&alarms)[0].cause.as_deref(), Some("lost °°"));
}
