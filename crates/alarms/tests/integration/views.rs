//! The state that readers see.

use crate::support::*;
use oasis_alarms::{ActionVerb, Filter, JournalFilter, JournalKind, Limits};
use oasis_rules::{EventKind, Standing, program::Severity};
use oasis_wire::quantity::Nanos;

#[test]
fn unknown_keeps_the_state_and_shows_beside_it() {
    let (_folder, alarms) = alarms();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    commit(&alarms, "Hot", "pump", EventKind::Unknown, 2);
    let alarm = alarms.list(&Filter::default()).alarms.remove(0);
    assert_eq!((alarm.state, alarm.is_known), (Standing::Active, false));
    commit(&alarms, "Hot", "pump", EventKind::Known, 3);
    let alarm = alarms.list(&Filter::default()).alarms.remove(0);
    assert_eq!((alarm.state, alarm.is_known, alarm.raised), (Standing::Active, true, Some(NANOS_PER_SECOND)));
}

#[test]
fn a_list_comes_in_pages_of_what_the_caller_may_see() {
    let (_folder, alarms) = alarms();
    for (sequence, instance) in ["a", "b", "c", "d", "e"].iter().enumerate() {
        commit(&alarms, "Hot", instance, EventKind::Raised, sequence as u64 + 1);
    }
    commit(&alarms, "Hot", "e", EventKind::Cleared, 9);
    let mut filter = Filter { is_standing: true, most: 2, ..Filter::default() };
    let mut seen = Vec::new();
    loop {
        let page = alarms.list_visible(&filter, |key| key.instance != "b");
        assert!(page.alarms.len() <= 2);
        seen.extend(page.alarms.into_iter().map(|alarm| alarm.key.instance));
        filter.after = page.next;
        if filter.after.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["a", "c", "d"]);
    let of = |filter| alarms.list(&filter).alarms.len();
    assert_eq!(of(Filter { severity: Some(Severity::Low), ..Filter::default() }), 0);
    assert_eq!(of(Filter { instance: Some("a".into()), node: Some("plant".into()), ..Filter::default() }), 1);
}

#[test]
fn changes_after_a_revision_come_in_their_order() {
    let (_folder, alarms) = alarms_with(Limits { changes: 2, ..Limits::default() });
    let start = *alarms.watch().borrow();
    for (sequence, instance) in ["a", "b", "c"].iter().enumerate() {
        commit(&alarms, "Hot", instance, EventKind::Raised, sequence as u64 + 1);
    }
    commit(&alarms, "Hot", "a", EventKind::Cleared, 4);
    let first = alarms.changes(start);
    let names = |changes: &oasis_alarms::Changes| {
        changes.alarms.iter().map(|alarm| alarm.key.instance.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&first), ["b", "c"]);
    let second = alarms.changes(first.revision);
    assert_eq!(names(&second), ["a"]);
    assert_eq!((second.revision, second.is_incomplete), (*alarms.watch().borrow(), false));
    assert!(alarms.changes(second.revision).alarms.is_empty());
    // A revision of another database.
    assert!(alarms.changes(second.revision + 1).is_incomplete);
}

#[test]
fn a_watcher_wakes_at_changes_and_not_at_duplicates() {
    let (_folder, alarms) = alarms();
    let mut watch = alarms.watch();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    assert!(watch.has_changed().unwrap());
    watch.mark_unchanged();
    alarms.commit(round(2, vec![event("Hot", "pump", EventKind::Raised, 1)])).unwrap();
    alarms.tick(Nanos(9 * NANOS_PER_SECOND)).unwrap();
    assert!(!watch.has_changed().unwrap());
}

#[test]
fn the_journal_is_filtered_and_paged() {
    let (_folder, alarms) = alarms();
    for sequence in 1..=6 {
        let kind = if sequence % 2 == 1 { EventKind::Raised } else { EventKind::Cleared };
        commit(&alarms, "Hot", if sequence < 5 { "a" } else { "b" }, kind, sequence);
    }
    let violated = event("Brake", "car", EventKind::Violated, 7);
    alarms.commit(round(7, vec![violated])).unwrap();
    let sequences = |filter: JournalFilter| {
        let page = alarms.journal(&filter).unwrap();
        page.entries.iter().filter_map(|entry| entry.sequence).collect::<Vec<_>>()
    };
    let all = JournalFilter::default;
    assert_eq!(sequences(all()), [7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(sequences(JournalFilter { rule: Some("Brake".into()), ..all() }), [7]);
    assert_eq!(sequences(JournalFilter { kind: Some(JournalKind::Cleared), ..all() }), [6, 4, 2]);
    assert_eq!(sequences(JournalFilter { instance: Some("b".into()), ..all() }), [6, 5]);
    let (from, to) = (Some(Nanos(2 * NANOS_PER_SECOND)), Some(Nanos(4 * NANOS_PER_SECOND)));
    assert_eq!(sequences(JournalFilter { from, to, ..all() }), [3, 2]);
    let page = alarms.journal(&JournalFilter { most: 2, ..all() }).unwrap();
    assert_eq!(sequences(JournalFilter { after: page.next, most: 2, ..all() }), [5, 4]);
    let seen = alarms.journal_visible(&all(), |_, instance| instance == "car").unwrap();
    assert_eq!((seen.entries.len(), seen.next), (1, None));
    assert_eq!(alarms.list(&Filter::default()).alarms.len(), 2);
}

#[test]
fn figures_count_what_stands_and_what_chatters() {
    let (folder, alarms) = alarms();
    commit(&alarms, "Latched", "old", EventKind::Raised, 10);
    for sequence in [3_000, 3_010, 3_020] {
        commit(&alarms, "Hot", "chatty", EventKind::Raised, sequence);
        commit(&alarms, "Hot", "chatty", EventKind::Cleared, sequence + 1);
    }
    commit(&alarms, "Hot", "new", EventKind::Raised, 3_600);
    commit(&alarms, "Hot", "hidden", EventKind::Raised, 3_601);
    alarms.act(action("Hot", "hidden", ActionVerb::Suppress, 3_602)).unwrap();
    let check = |alarms: &oasis_alarms::Alarms| {
        let figures = alarms.statistics(Nanos(3_615 * NANOS_PER_SECOND)).unwrap();
        assert_eq!((figures.alarms, figures.unacknowledged, figures.suppressed), (4, 2, 1));
        let high = figures.standing.iter().find(|(severity, _)| *severity == Severity::High);
        assert_eq!(high, Some(&(Severity::High, 2)));
        assert_eq!([figures.raised_ten_minutes, figures.raised_hour, figures.raised_day], [3, 5, 6]);
        assert_eq!(figures.most_frequent[0], (key("Hot", "chatty"), 3));
        assert_eq!(figures.longest_standing[0], (key("Latched", "old"), 10 * NANOS_PER_SECOND));
        let chatty = Filter { instance: Some("chatty".into()), ..Filter::default() };
        assert_eq!(alarms.list(&chatty).alarms[0].raised_last_hour, 3);
        let seen =
            alarms.statistics_visible(Nanos(3_615 * NANOS_PER_SECOND), |key| key.instance == "new").unwrap();
        assert_eq!((seen.alarms, seen.raised_day, seen.most_frequent.len()), (1, 1, 1));
    };
    check(&alarms);
    drop(alarms);
    check(&open(&folder, Limits::default()));
}

#[test]
fn a_page_of_the_journal_looks_at_a_bounded_number_of_entries() {
    let (_folder, alarms) = alarms();
    let events = (1..=10_500).map(|sequence| event("Brake", "hidden", EventKind::Matched, sequence));
    alarms.commit(round(1, events.collect())).unwrap();
    let mut filter = JournalFilter::default();
    let mut pages = 0;
    loop {
        let page = alarms.journal_visible(&filter, |_, instance| instance != "hidden").unwrap();
        assert!(page.entries.is_empty());
        pages += 1;
        filter.after = page.next;
        if filter.after.is_none() {
            break;
        }
    }
    assert_eq!(pages, 2);
}
