//! Messages for destinations.

use crate::support::*;
use oasis_alarms::{ActionVerb, Alarms, Limits, Message, MessageKind, Outcome, RuleEvent};
use oasis_rules::{EventKind, program::Severity};
use oasis_wire::quantity::Nanos;

#[test]
fn a_message_waits_until_it_is_settled_also_after_a_restart() {
    let (folder, alarms) = alarms();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    let due = alarms.due(Nanos(NANOS_PER_SECOND), 10).unwrap();
    let message = due.first().unwrap();
    assert_eq!(
        (message.kind, message.destination.as_str(), message.attempts),
        (MessageKind::Raised, "mail", 0)
    );
    assert_eq!(
        message.alarm.message.as_deref(),
        Some("Hot: plant/pump has 97.5 °C, above 95 °C {nothing} {")
    );
    let why = "connection refused".to_owned();
    alarms.settle(message.id, Outcome::Retry { at: Nanos(60 * NANOS_PER_SECOND), why: why.clone() }).unwrap();
    drop(alarms);

    let alarms = open(&folder, Limits::default());
    commit(&alarms, "Hot", "fan", EventKind::Raised, 2);
    // The first one holds up the second one: its destination accepts nothing.
    assert_eq!(alarms.due(Nanos(59 * NANOS_PER_SECOND), 10).unwrap(), []);
    let due = alarms.due(Nanos(60 * NANOS_PER_SECOND), 10).unwrap();
    assert_eq!(
        due.iter().map(|message| message.alarm.key.instance.as_str()).collect::<Vec<_>>(),
        ["pump", "fan"]
    );
    assert_eq!((due[0].key, due[0].attempts, due[0].last_error.as_ref()), (message.key, 1, Some(&why)));
    assert_ne!(due[0].key, due[1].key);
    // A clock that steps back does not hold messages up for longer than an hour.
    assert_eq!(alarms.due(Nanos(0), 10).unwrap(), []);

    for message in due {
        alarms.settle(message.id, Outcome::Delivered).unwrap();
        alarms.settle(message.id, Outcome::Delivered).unwrap();
    }
    let figures = alarms.outbox_figures().destinations.remove("mail").unwrap();
    assert_eq!((figures.waiting, figures.bytes, figures.delivered, figures.failed), (0, 0, 2, 1));
    drop(alarms);
    assert_eq!(open(&folder, Limits::default()).outbox_figures().destinations["mail"], figures);
}

#[test]
fn a_message_that_is_given_up_is_journaled() {
    let (_folder, alarms) = alarms();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    let due = alarms.due(Nanos(NANOS_PER_SECOND), 10).unwrap();
    alarms.settle(due[0].id, Outcome::GivenUp { why: "no such mailbox".into() }).unwrap();
    let entry = journal(&alarms).pop().unwrap();
    let cause = entry.cause.as_deref();
    assert_eq!((entry.kind.name(), cause), ("notification_failed", Some("mail: no such mailbox")));
    assert_eq!(messages(&alarms), [""; 0]);
}

#[test]
fn the_least_severe_of_the_oldest_messages_make_room_and_the_journal_says_so() {
    let (_folder, alarms) = alarms_with(Limits { waiting_messages: 2, ..Limits::default() });
    for (sequence, severity) in [(1, Severity::Critical), (2, Severity::Low), (3, Severity::Low)] {
        commit_severe(&alarms, &format!("pump {sequence}"), severity, sequence);
    }
    let due = alarms.due(Nanos(NANOS_PER_SECOND), 10).unwrap();
    assert_eq!(due.iter().map(|message| message.alarm.sequence).collect::<Vec<_>>(), [Some(1), Some(3)]);
    let figures = alarms.outbox_figures().destinations.remove("mail").unwrap();
    assert_eq!((figures.waiting, figures.dropped), (2, 1));
    let entry = journal(&alarms).pop().unwrap();
    assert_eq!(
        (entry.kind.name(), entry.cause.as_deref()),
        ("notifications_dropped", Some("mail: 1 messages, too many waited"))
    );
}

fn commit_severe(alarms: &Alarms, instance: &str, severity: Severity, sequence: u64) {
    let event = event("Hot", instance, EventKind::Raised, sequence);
    let event = RuleEvent { severity: Some(severity), ..event };
    alarms.commit(round(sequence, vec![event])).unwrap();
}

/// Kind, instance, and how many earlier states it replaces.
fn said(due: &[Message]) -> Vec<(&str, &str, u64)> {
    let of = |message: &Message| (message.kind.name(), message.coalesced);
    due.iter().map(|message| (of(message).0, message.alarm.key.instance.as_str(), of(message).1)).collect()
}

#[test]
fn of_an_alarm_that_toggles_a_destination_that_lags_receives_the_newest_state() {
    let (folder, alarms) = alarms();
    for sequence in 1..=1_000 {
        let kind = if sequence % 2 == 1 { EventKind::Raised } else { EventKind::Cleared };
        commit(&alarms, "Hot", "pump", kind, sequence);
        assert!(alarms.outbox_figures().destinations["mail"].waiting <= 2);
    }
    // A raise and its clear are two messages only as long as the raise is fresh.
    let fresh = alarms.due(Nanos(1_000 * NANOS_PER_SECOND), 10).unwrap();
    assert_eq!(said(&fresh), [("raised", "pump", 998), ("cleared", "pump", 0)]);
    let stale = alarms.due(Nanos(1_002 * NANOS_PER_SECOND), 10).unwrap();
    assert_eq!(said(&stale), [("cleared", "pump", 999)]);
    let figures = alarms.outbox_figures().destinations.remove("mail").unwrap();
    assert_eq!((figures.waiting, figures.coalesced, figures.oldest), (2, 998, Some(NANOS_PER_SECOND)));
    assert!(figures.bytes < 4_096, "{}", figures.bytes);

    alarms.settle(stale[0].id, Outcome::Delivered).unwrap();
    let figures = alarms.outbox_figures().destinations.remove("mail").unwrap();
    assert_eq!((figures.waiting, figures.delivered, figures.coalesced, figures.oldest), (0, 1, 999, None));
    drop(alarms);
    assert_eq!(open(&folder, Limits::default()).outbox_figures().destinations["mail"], figures);
}

#[test]
fn messages_come_by_severity_and_then_by_age() {
    let (_folder, alarms) = alarms();
    for (sequence, (instance, severity)) in
        [("a", Severity::Low), ("b", Severity::High), ("c", Severity::Critical), ("d", Severity::High)]
            .into_iter()
            .enumerate()
    {
        commit_severe(&alarms, instance, severity, sequence as u64 + 1);
    }
    // An alarm that changes again keeps its place: it has waited longer.
    commit_severe(&alarms, "b", Severity::High, 5);
    let due = alarms.due(Nanos(6 * NANOS_PER_SECOND), 10).unwrap();
    assert_eq!(said(&due).iter().map(|(_, instance, _)| *instance).collect::<Vec<_>>(), ["c", "b", "d", "a"]);
}

#[test]
fn a_message_that_is_being_sent_is_not_replaced() {
    let (_folder, alarms) = alarms();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    let first = alarms.due(Nanos(NANOS_PER_SECOND), 1).unwrap().remove(0);
    assert!(alarms.begin_sending("mail", &[first.id]).unwrap());
    commit(&alarms, "Hot", "pump", EventKind::Raised, 2);
    alarms.settle(first.id, Outcome::Delivered).unwrap();
    let figures = alarms.outbox_figures().destinations.remove("mail").unwrap();
    assert_eq!((figures.waiting, figures.delivered, figures.coalesced), (1, 1, 0));

    let second = alarms.due(Nanos(2 * NANOS_PER_SECOND), 1).unwrap().remove(0);
    commit(&alarms, "Hot", "pump", EventKind::Raised, 3);
    assert!(!alarms.begin_sending("mail", &[second.id]).unwrap(), "a newer state has replaced it");
}

#[test]
fn a_rule_whose_alarms_chatter_is_known_also_after_a_restart() {
    let (folder, alarms) = alarms();
    for (sequence, kind) in (1..=6).zip([EventKind::Raised, EventKind::Cleared].into_iter().cycle()) {
        commit(&alarms, "Hot", "pump", kind, sequence);
    }
    commit(&alarms, "Latched", "fan", EventKind::Raised, 7);
    let check = |alarms: &Alarms| {
        let found = alarms.chatter(600 * NANOS_PER_SECOND);
        assert_eq!(found.iter().map(|of| (of.rule.as_str(), of.alarms)).collect::<Vec<_>>(), [("Hot", 1)]);
        assert_eq!((found[0].example.clone(), found[0].raised_last_hour), (key("Hot", "pump"), 3));
        assert!(alarms.chatter(700 * NANOS_PER_SECOND).is_empty(), "it has been calm for ten minutes");
    };
    check(&alarms);
    drop(alarms);
    check(&open(&folder, Limits::default()));
}

#[test]
fn a_rule_chooses_among_the_destinations() {
    let (_folder, alarms) = alarms();
    alarms.set_destinations(&["mail".into(), "pager".into()]).unwrap();
    let choose = |notify: Option<&[&str]>| {
        let notify = notify.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        alarms.set_rules(&[oasis_alarms::RuleFacts { notify, ..facts("Hot") }]).unwrap();
    };
    let mut sequence = 0;
    let mut sent = || {
        sequence += 1;
        commit(&alarms, "Hot", "pump", EventKind::Raised, sequence);
        let due = alarms.due(Nanos(NANOS_PER_SECOND), 10).unwrap();
        due.iter().for_each(|message| alarms.settle(message.id, Outcome::Delivered).unwrap());
        // One change has one key everywhere.
        assert!(due.windows(2).all(|pair| pair[0].key == pair[1].key));
        due.into_iter().map(|message| message.destination).collect::<Vec<_>>()
    };
    choose(None);
    assert_eq!(sent(), ["mail", "pager"]);
    choose(Some(&["pager", "nowhere"]));
    assert_eq!(sent(), ["pager"]);
    choose(Some(&[]));
    assert_eq!(sent(), [""; 0]);
}

#[test]
fn a_slow_destination_takes_no_turn_of_another_one() {
    let (_folder, alarms) = alarms();
    alarms.set_destinations(&["mail".into(), "pager".into()]).unwrap();
    for sequence in 1..=10 {
        commit(&alarms, "Hot", &format!("pump {sequence}"), EventKind::Raised, sequence);
    }
    let due = alarms.due(Nanos(NANOS_PER_SECOND), 4).unwrap();
    let names: Vec<_> = due.iter().map(|message| message.destination.as_str()).collect();
    assert_eq!(names, ["mail", "mail", "pager", "pager"]);
}

#[test]
fn a_destination_that_is_gone_takes_its_messages_along() {
    let (_folder, alarms) = alarms();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    alarms.set_destinations(&["pager".into()]).unwrap();
    assert_eq!(messages(&alarms), [""; 0]);
    assert_eq!(alarms.outbox_figures().destinations.keys().collect::<Vec<_>>(), ["pager"]);
    assert_eq!(kinds(&alarms), ["raised", "notifications_dropped"]);
}

#[test]
fn the_end_of_a_rule_ends_its_alarms() {
    let (_folder, alarms) = alarms();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    commit(&alarms, "Latched", "pump", EventKind::Raised, 2);
    alarms.act(action("Latched", "pump", ActionVerb::Suppress, 3)).unwrap();
    let revision = *alarms.watch().borrow();
    alarms.set_rules(&[]).unwrap();
    assert!(alarms.list(&Default::default()).alarms.is_empty());
    assert_eq!(kinds(&alarms)[3..], ["rule_removed"; 2]);
    let due = alarms.due(Nanos(NANOS_PER_SECOND), 10).unwrap();
    let ended: Vec<_> = due.iter().filter(|message| message.alarm.cause.is_some()).collect();
    assert_eq!(ended.len(), 1, "one that is suppressed ended before");
    assert_eq!((ended[0].kind.name(), ended[0].alarm.cause.as_deref()), ("cleared", Some("rule removed")));
    assert_eq!(ended[0].alarm.key.rule, "Hot");
    let changes = alarms.changes(revision);
    assert_eq!((changes.removed.len(), changes.is_incomplete), (2, false));
}

#[test]
fn what_stands_can_be_repeated_for_a_destination() {
    let (_folder, alarms) = alarms();
    for (sequence, instance) in ["calm", "hot", "hidden"].iter().enumerate() {
        commit(&alarms, "Hot", instance, EventKind::Raised, sequence as u64 + 1);
    }
    commit(&alarms, "Hot", "calm", EventKind::Cleared, 4);
    alarms.act(action("Hot", "hidden", ActionVerb::Suppress, 5)).unwrap();
    commit(&alarms, "Latched", "late", EventKind::Raised, 6);
    commit(&alarms, "Latched", "late", EventKind::Cleared, 7);
    let names = |destination| {
        let standing = alarms.standing_for(destination);
        standing.into_iter().map(|alarm| alarm.key.instance).collect::<Vec<_>>()
    };
    assert_eq!(names("mail"), ["hot", "late"]);
    let notify = Some(vec!["pager".into()]);
    alarms.set_rules(&[oasis_alarms::RuleFacts { notify, ..facts("Hot") }, facts("Latched")]).unwrap();
    assert_eq!((names("mail"), names("pager")), (vec!["late".to_owned()], vec!["hot".into(), "late".into()]));
}

#[test]
fn of_late_events_destinations_learn_what_is_left() {
    let (folder, alarms) = alarms();
    let kinds = |alarms: &oasis_alarms::Alarms, now| {
        let due = alarms.due(Nanos(now), 10).unwrap();
        due.iter().map(|message| message.kind.name()).collect::<Vec<_>>()
    };
    commit_late(&alarms, "Hot", "pump", EventKind::Raised, 1);
    commit_late(&alarms, "Hot", "pump", EventKind::Cleared, 2);
    alarms.tick(Nanos(100 * NANOS_PER_SECOND)).unwrap();
    assert_eq!(
        kinds(&alarms, 100 * NANOS_PER_SECOND),
        Vec::<&str>::new(),
        "nobody is called for what is over"
    );

    commit_late(&alarms, "Hot", "pump", EventKind::Raised, 101);
    alarms.tick(Nanos(102 * NANOS_PER_SECOND)).unwrap();
    assert_eq!(kinds(&alarms, 102 * NANOS_PER_SECOND), Vec::<&str>::new(), "more may come");
    drop(alarms);
    let alarms = open(&folder, Limits::default());
    alarms.tick(Nanos(103 * NANOS_PER_SECOND)).unwrap();
    assert_eq!(kinds(&alarms, 103 * NANOS_PER_SECOND), ["raised"]);
    alarms.tick(Nanos(110 * NANOS_PER_SECOND)).unwrap();
    commit_late(&alarms, "Hot", "pump", EventKind::Cleared, 111);
    // An event in time shows that no late ones are left.
    commit(&alarms, "Hot", "other", EventKind::Raised, 120);
    assert_eq!(kinds(&alarms, 120 * NANOS_PER_SECOND), ["cleared", "raised"], "the first raise is stale");
}
