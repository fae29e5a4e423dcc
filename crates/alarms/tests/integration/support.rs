//! Helpers of the tests: rules, events and actions in few words.

use oasis_alarms::{
    Action, ActionVerb, AlarmKey, Alarms, At, EventIdentity, EventKey, JournalEntry, JournalFilter, Limits,
    Outcome, Round, RuleEvent, RuleFacts,
};
use oasis_rules::{EventKind, Standing, program::Severity};
use oasis_wire::quantity::Nanos;
use tempfile::TempDir;

pub const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Facts of a rule; one whose name begins with "Latched" latches.
pub fn facts(name: &str) -> RuleFacts {
    RuleFacts {
        name: name.into(),
        severity: Severity::High,
        latch: name.starts_with("Latched"),
        message: Some("{rule}: {node}/{instance} has {value}, above {limit} {nothing} {".into()),
        notify: None,
    }
}

/// Alarms in a folder, with the rules "Hot" and "Latched", and the destination "mail".
pub fn alarms_with(limits: Limits) -> (TempDir, Alarms) {
    let folder = tempfile::tempdir().unwrap();
    let alarms = open(&folder, limits);
    (folder, alarms)
}

pub fn alarms() -> (TempDir, Alarms) {
    alarms_with(Limits::default())
}

pub fn open(folder: &TempDir, limits: Limits) -> Alarms {
    let alarms = Alarms::open(folder.path(), limits).unwrap();
    prepare(&alarms);
    alarms
}

pub fn prepare(alarms: &Alarms) {
    alarms.set_destinations(&["mail".into()]).unwrap();
    alarms.set_rules(&[facts("Hot"), facts("Latched")]).unwrap();
}

pub fn key(rule: &str, instance: &str) -> AlarmKey {
    AlarmKey { rule: rule.into(), node: "plant".into(), instance: instance.into() }
}

/// An event at a sample that came at this second.
pub fn event(rule: &str, instance: &str, kind: EventKind, sequence: u64) -> RuleEvent {
    let at = At::Sequence(sequence);
    let node = "plant";
    let identity = EventIdentity { rule, node, instance, run: None, at, kind, index: 0 };
    let event = RuleEvent::new(EventKey::new(identity), rule, (node, instance), kind);
    let standing = match kind {
        EventKind::Raised => Some(Standing::Active),
        EventKind::Cleared if rule.starts_with("Latched") => Some(Standing::Latched),
        EventKind::Cleared | EventKind::Unknown | EventKind::Known => Some(Standing::Normal),
        EventKind::Matched | EventKind::Violated | EventKind::Satisfied => None,
    };
    RuleEvent {
        standing,
        value: Some(97.5),
        limit: Some(95.0),
        unit: Some("Cel".into()),
        sequence: Some(sequence),
        time: sequence * NANOS_PER_SECOND,
        dac_time: sequence * NANOS_PER_SECOND,
        ..event
    }
}

/// A round at this second.
pub fn round(second: u64, events: Vec<RuleEvent>) -> Round {
    Round { now: Nanos(second * NANOS_PER_SECOND), events, checkpoints: vec![] }
}

/// Commits one event of the rule "Hot" or another, at the second of its number.
pub fn commit(alarms: &Alarms, rule: &str, instance: &str, kind: EventKind, sequence: u64) {
    let committed = alarms.commit(round(sequence, vec![event(rule, instance, kind, sequence)])).unwrap();
    assert_eq!((committed.events, committed.duplicates), (1, 0));
}

/// An event that was found long after its samples came.
pub fn commit_late(alarms: &Alarms, rule: &str, instance: &str, kind: EventKind, sequence: u64) {
    let event = RuleEvent { late: true, ..event(rule, instance, kind, sequence) };
    alarms.commit(round(sequence, vec![event])).unwrap();
}

/// An action of Ada at this second.
pub fn action(rule: &str, instance: &str, verb: ActionVerb, second: u64) -> Action {
    Action {
        key: key(rule, instance),
        verb,
        comment: Some("seen".into()),
        principal: "ada".into(),
        now: Nanos(second * NANOS_PER_SECOND),
    }
}

/// All entries, oldest first.
pub fn journal(alarms: &Alarms) -> Vec<JournalEntry> {
    let mut filter = JournalFilter::default();
    let mut all = Vec::new();
    loop {
        let page = alarms.journal(&filter).unwrap();
        all.extend(page.entries);
        filter.after = page.next;
        if filter.after.is_none() {
            all.reverse();
            return all;
        }
    }
}

/// The kinds of all entries, oldest first.
pub fn kinds(alarms: &Alarms) -> Vec<&'static str> {
    journal(alarms).iter().map(|entry| entry.kind.name()).collect()
}

/// The kinds of all messages that are due, before any of them is stale.
pub fn messages(alarms: &Alarms) -> Vec<&'static str> {
    let due = alarms.due(Nanos(0), 10_000).unwrap();
    due.iter().map(|message| message.kind.name()).collect()
}

/// Delivers all messages. Returns their kinds.
pub fn deliver(alarms: &Alarms) -> Vec<&'static str> {
    let said = messages(alarms);
    for message in alarms.due(Nanos(0), 10_000).unwrap() {
        alarms.settle(message.id, Outcome::Delivered).unwrap();
    }
    said
}
