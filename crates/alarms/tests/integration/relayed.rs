//! Alarms of other DACs.

use oasis_alarms::{AlarmHop, AlarmKey, Filter, RelayedAlarms, UpstreamAlarms, UpstreamRequest};
use oasis_rules::Standing;
use oasis_wire::quantity::{Epoch, Nanos};
use serde_json::{Value, json};
use std::sync::Arc;

const OWN: Epoch = Epoch(9);
const NOW: Nanos = Nanos(1_000_000_000);

fn hop(name: &str, epoch: u64) -> AlarmHop {
    AlarmHop { dac: name.into(), epoch: Epoch(epoch) }
}

fn json_of(rule: &str, state: &str, path: &[AlarmHop]) -> Value {
    json!({"rule": rule, "node": "plant", "instance": "pump", "state": state, "acknowledged": false, "severity": "high",
        "quality": "good", "revision": 3, "raised": 5, "path": path})
}

fn key(rule: &str) -> AlarmKey {
    AlarmKey { rule: rule.into(), node: "plant".into(), instance: "pump".into() }
}

fn list(of: &mut UpstreamAlarms, from: &AlarmHop, alarms: &[Value], next: Option<&str>) -> bool {
    let page = json!({"alarms": alarms, "next": next}).to_string();
    of.take("alarms", &page, (from, OWN), NOW).unwrap()
}

fn change(of: &mut UpstreamAlarms, from: &AlarmHop, alarm: &Value) {
    of.take("alarm", &alarm.to_string(), (from, OWN), NOW).unwrap();
}

fn rules(alarms: &RelayedAlarms) -> Vec<(String, Standing)> {
    let (list, _) = alarms.list(&Filter::default(), |_| true);
    list.into_iter().map(|alarm| (alarm.view.key.rule, alarm.view.state)).collect()
}

fn new() -> (Arc<RelayedAlarms>, u64) {
    let alarms = Arc::new(RelayedAlarms::new(NOW));
    let first = alarms.changes(NOW.0 / 1_000).revision;
    (alarms, first)
}

#[test]
fn a_list_in_pages_replaces_what_was_there_and_changes_follow() {
    let (alarms, first) = new();
    let (mut hall, _asked) = alarms.upstream("hall");
    let from = hop("hall", 1);
    hall.set_connected(true);
    assert!(!list(&mut hall, &from, &[json_of("A", "active", &[])], Some("more")));
    assert_eq!(rules(&alarms), [], "a part of a list is not shown");
    assert!(list(&mut hall, &from, &[json_of("B", "latched", &[])], None));
    let both = [("A".to_owned(), Standing::Active), ("B".to_owned(), Standing::Latched)];
    assert_eq!(rules(&alarms), both);
    let at = alarms.changes(first).revision;
    change(&mut hall, &from, &json_of("A", "normal", &[]));
    let changes = alarms.changes(at);
    assert_eq!(changes.alarms.len(), 1);
    assert_eq!(*changes.alarms[0].path, *std::slice::from_ref(&from));
    list(&mut hall, &from, &[json_of("B", "latched", &[])], None);
    let ended = alarms.changes(changes.revision);
    assert_eq!((ended.alarms.len(), ended.removed[0].1.clone()), (0, key("A")), "B has not changed");
    assert!(alarms.changes(first - 1).is_incomplete && alarms.changes(u64::MAX).is_incomplete);
    drop(hall);
    assert_eq!(rules(&alarms), []);
}

#[test]
fn what_has_been_here_or_comes_too_far_is_left_out() {
    let (alarms, _) = new();
    let (mut hall, _asked) = alarms.upstream("hall");
    let from = hop("hall", 1);
    let far: Vec<_> = (10..18).map(|epoch| hop("far", epoch)).collect();
    let long = "x".repeat(10_000);
    list(
        &mut hall,
        &from,
        &[
            json_of("Mine", "active", &[hop("me", OWN.0)]),
            json_of("Far", "active", &far),
            json_of(&long, "active", &[]),
            json_of("Near", "active", &far[..7]),
        ],
        None,
    );
    assert_eq!(rules(&alarms), [("Near".to_owned(), Standing::Active)]);
    // One that was fine, and has been here now.
    change(&mut hall, &from, &json_of("Near", "active", &[hop("me", OWN.0)]));
    assert_eq!(rules(&alarms), []);
    assert!(hall.take("alarm", "[]", (&from, OWN), NOW).is_err());
    assert!(!hall.take("end", "{}", (&from, OWN), NOW).unwrap());
}

#[test]
fn of_several_upstreams_one_is_shown_and_asked() {
    let (alarms, _) = new();
    let (mut near, mut asked_near) = alarms.upstream("near");
    let (mut far, mut asked_far) = alarms.upstream("far");
    near.set_connected(true);
    far.set_connected(true);
    list(&mut near, &hop("near", 1), &[json_of("A", "active", &[])], None);
    list(&mut far, &hop("far", 2), &[json_of("A", "active", &[hop("near", 1)])], None);
    let shown = |alarms: &RelayedAlarms| alarms.get(&key("A")).unwrap();
    assert_eq!(shown(&alarms).path.len(), 1);
    let _answer = alarms.forward(&key("A"), UpstreamRequest::Act(json!({}))).unwrap();
    assert!(asked_near.try_recv().is_ok() && asked_far.try_recv().is_err());
    // Its node has gone to another DAC.
    change(&mut near, &hop("near", 1), &json_of("A", "normal", &[]));
    assert_eq!(shown(&alarms).path.len(), 2);
    far.set_connected(false);
    assert_eq!(shown(&alarms).view.state, Standing::Normal);
    near.set_connected(false);
    let lost = shown(&alarms).view;
    assert_eq!((lost.is_known, lost.cause.as_deref()), (false, Some("far is not relayed")));
    assert!(alarms.forward(&key("A"), UpstreamRequest::Act(json!({}))).is_none());
}

#[test]
fn an_upstream_has_so_many_alarms() {
    let (alarms, _) = new();
    let (mut hall, _asked) = alarms.upstream("hall");
    let from = hop("hall", 1);
    for page in 0..101 {
        let of_page: Vec<_> =
            (0..200).map(|number| json_of(&format!("R{page}-{number}"), "active", &[])).collect();
        list(&mut hall, &from, &of_page, (page < 100).then_some("more"));
    }
    assert_eq!(rules(&alarms).len(), 20_000);
    assert_eq!(alarms.incomplete(), ["hall"]);
    change(&mut hall, &from, &json_of("More", "active", &[]));
    assert_eq!(rules(&alarms).len(), 20_000);
}
