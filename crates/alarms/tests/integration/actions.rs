//! Actions of operators.

use crate::support::*;
use oasis_alarms::{ActionError, ActionVerb, Conflict, Filter, Limits};
use oasis_rules::{EventKind, Standing};
use oasis_wire::quantity::Nanos;

const HOUR: ActionVerb = ActionVerb::Shelve { seconds: Some(3_600), once: false };
const ONCE: ActionVerb = ActionVerb::Shelve { seconds: None, once: true };

#[test]
fn an_acknowledgement_is_journaled_with_its_comment_and_gone_when_the_alarm_is_raised_again() {
    let (_folder, alarms) = alarms();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    let shown = alarms.act(action("Hot", "pump", ActionVerb::Acknowledge, 2)).unwrap();
    assert!(shown.acknowledged);
    assert_eq!((shown.principal.as_deref(), shown.comment.as_deref()), (Some("ada"), Some("seen")));

    let entry = journal(&alarms).pop().unwrap();
    assert_eq!((entry.kind.name(), entry.state), ("acknowledged", Some(Standing::Active)));
    assert_eq!((entry.principal.as_deref(), entry.comment.as_deref()), (Some("ada"), Some("seen")));

    let again = alarms.act(action("Hot", "pump", ActionVerb::Acknowledge, 3)).unwrap_err();
    assert!(matches!(again, ActionError::Conflict(Conflict::NothingToAcknowledge)), "{again}");
    commit(&alarms, "Hot", "pump", EventKind::Cleared, 4);
    commit(&alarms, "Hot", "pump", EventKind::Raised, 5);
    let alarm = alarms.list(&Filter::default()).alarms.remove(0);
    assert!(!alarm.acknowledged);
    assert_eq!((alarm.comment, alarm.raised_last_hour), (None, 2));
}

#[test]
fn a_latched_alarm_waits_for_its_acknowledgement() {
    let (_folder, alarms) = alarms();
    commit(&alarms, "Latched", "pump", EventKind::Raised, 1);
    commit(&alarms, "Latched", "pump", EventKind::Cleared, 2);
    assert_eq!(alarms.list(&Filter::default()).alarms[0].state, Standing::Latched);
    assert_eq!(messages(&alarms), ["raised"]);
    let shown = alarms.act(action("Latched", "pump", ActionVerb::Acknowledge, 3)).unwrap();
    assert_eq!(shown.state, Standing::Normal);
    assert_eq!(messages(&alarms), ["raised", "cleared"]);

    // Acknowledged while it is active: nothing to wait for.
    commit(&alarms, "Latched", "pump", EventKind::Raised, 4);
    alarms.act(action("Latched", "pump", ActionVerb::Acknowledge, 5)).unwrap();
    commit(&alarms, "Latched", "pump", EventKind::Cleared, 6);
    assert_eq!(alarms.list(&Filter::default()).alarms[0].state, Standing::Normal);
}

#[test]
fn a_timed_shelve_ends_by_the_clock_also_after_a_restart() {
    let (folder, alarms) = alarms();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    let shown = alarms.act(action("Hot", "pump", HOUR, 10)).unwrap();
    assert_eq!(shown.shelved_until, Some(3_610 * NANOS_PER_SECOND));
    assert_eq!(deliver(&alarms), ["raised", "cleared"]);
    alarms.tick(Nanos(3_609 * NANOS_PER_SECOND)).unwrap();
    drop(alarms);

    let alarms = open(&folder, Limits::default());
    assert!(alarms.list(&Filter::default()).alarms[0].is_silenced());
    alarms.tick(Nanos(3_610 * NANOS_PER_SECOND)).unwrap();
    assert!(!alarms.list(&Filter::default()).alarms[0].is_silenced());
    let entry = journal(&alarms).pop().unwrap();
    assert_eq!((entry.kind.name(), entry.cause.as_deref()), ("unshelved", Some("its time is up")));
    // Calling again, as it is still active.
    assert_eq!(messages(&alarms), ["raised"]);
}

#[test]
fn a_timed_shelve_ends_after_its_time_if_the_clock_steps_back() {
    let (folder, alarms) = alarms();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 100_000);
    alarms.act(action("Hot", "pump", HOUR, 100_000)).unwrap();
    alarms.tick(Nanos(500 * NANOS_PER_SECOND)).unwrap();
    drop(alarms);
    let alarms = open(&folder, Limits::default());
    assert_eq!(alarms.list(&Filter::default()).alarms[0].shelved_until, Some(4_100 * NANOS_PER_SECOND));
    alarms.tick(Nanos(4_100 * NANOS_PER_SECOND)).unwrap();
    assert!(!alarms.list(&Filter::default()).alarms[0].is_silenced());
}

#[test]
fn a_one_shot_shelve_ends_when_the_alarm_clears() {
    let (_folder, alarms) = alarms();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    alarms.act(action("Hot", "pump", ONCE, 2)).unwrap();
    commit(&alarms, "Hot", "pump", EventKind::Unknown, 3);
    assert!(alarms.list(&Filter::default()).alarms[0].shelved_once);
    commit(&alarms, "Hot", "pump", EventKind::Cleared, 4);
    assert!(!alarms.list(&Filter::default()).alarms[0].is_silenced());
    assert_eq!(kinds(&alarms), ["raised", "shelved", "unknown", "cleared", "unshelved"]);
    assert_eq!(deliver(&alarms), ["raised", "cleared"]);
    commit(&alarms, "Hot", "pump", EventKind::Raised, 5);
    assert_eq!(messages(&alarms), ["raised"]);
}

#[test]
fn what_is_silenced_is_journaled_and_sends_nothing() {
    let (_folder, alarms) = alarms();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    commit(&alarms, "Hot", "pump", EventKind::Cleared, 2);
    let sent = messages(&alarms).len();
    for (on, off) in [
        (HOUR, ActionVerb::Unshelve),
        (ActionVerb::Suppress, ActionVerb::Unsuppress),
        (ActionVerb::OutOfService, ActionVerb::InService),
    ] {
        let second = kinds(&alarms).len() as u64 + 10;
        assert!(alarms.act(action("Hot", "pump", on, second)).unwrap().is_silenced());
        commit(&alarms, "Hot", "pump", EventKind::Raised, second + 1);
        commit(&alarms, "Hot", "pump", EventKind::Cleared, second + 2);
        assert!(!alarms.act(action("Hot", "pump", off, second + 3)).unwrap().is_silenced());
        assert!(matches!(alarms.act(action("Hot", "pump", off, second)), Err(ActionError::Conflict(_))));
    }
    assert_eq!(messages(&alarms).len(), sent);
    assert_eq!(kinds(&alarms).iter().filter(|kind| **kind == "raised").count(), 4);
}

#[test]
fn an_alarm_that_was_never_raised_can_be_silenced_before_maintenance() {
    let (_folder, alarms) = alarms();
    let shown = alarms.act(action("Hot", "pump", ActionVerb::OutOfService, 1)).unwrap();
    assert!(shown.out_of_service && shown.state == Standing::Normal);
    let unknown = alarms.act(action("Hot", "fan", ActionVerb::Acknowledge, 1)).unwrap_err();
    assert!(matches!(unknown, ActionError::Unknown(_)), "{unknown}");
    let unknown = alarms.act(action("Cold", "pump", ActionVerb::OutOfService, 1)).unwrap_err();
    assert!(matches!(unknown, ActionError::Unknown(_)), "{unknown}");
}

#[test]
fn actions_without_bounds_are_refused() {
    let (_folder, alarms) = alarms();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    let shelve = |seconds, once| alarms.act(action("Hot", "pump", ActionVerb::Shelve { seconds, once }, 2));
    assert!(matches!(shelve(None, false), Err(ActionError::Endless)));
    assert!(matches!(shelve(Some(0), false), Err(ActionError::Seconds(_))));
    assert!(matches!(shelve(Some(u64::MAX), true), Err(ActionError::Seconds(_))));
    let mut long = action("Hot", "pump", ActionVerb::Acknowledge, 2);
    long.comment = Some("x".repeat(1_025));
    assert!(matches!(alarms.act(long), Err(ActionError::Comment(1_024))));
    assert_eq!(kinds(&alarms), ["raised"]);
}
