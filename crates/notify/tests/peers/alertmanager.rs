//! Debian's Alertmanager.

use crate::harness::{alertmanager::Alertmanager, cleared, destination, eventually, raised};
use oasis_notify::{Configured, Notification};
use serde_json::{Value, json};

fn to(servers: &[&Alertmanager]) -> Configured {
    let urls: Vec<_> = servers.iter().map(|server| server.url()).collect();
    destination(&format!("[am]\nkind = \"alertmanager\"\nurl = {urls:?}\npage = \"https://dac.example.org\""))
}

fn instances(server: &Alertmanager) -> Vec<Value> {
    let mut all: Vec<_> = server.alerts().iter().map(|alert| alert["labels"]["instance"].clone()).collect();
    all.sort_by_key(Value::to_string);
    all
}

#[test]
fn an_alarm_is_an_alert_until_it_clears() {
    let Some(server) = Alertmanager::start() else { return };
    let am = to(&[&server]);
    am.destination.send(&[raised("pump", "a"), raised("fan", "b")]).unwrap();
    let alerts = eventually("both alerts", || Some(server.alerts()).filter(|alerts| alerts.len() == 2));
    let pump = alerts.iter().find(|alert| alert["labels"]["instance"] == "pump").unwrap();
    let labels = json!({"alertname": "Hot", "severity": "high", "node": "plant", "instance": "pump", "dac": "hall-1", "source": "oasis"});
    assert_eq!(pump["labels"], labels);
    assert_eq!(pump["annotations"]["summary"], "Pump is hot");
    assert_eq!(pump["annotations"]["value"], "91.5 Cel");
    assert_eq!(pump["generatorURL"], "https://dac.example.org/#watch=plant/pump");
    assert_eq!(pump["status"]["state"], "active");
    am.destination.send(&[cleared("pump", "c")]).unwrap();
    eventually("one alert is over", || (instances(&server) == ["fan"]).then_some(()));
}

#[test]
fn each_of_a_cluster_gets_all_and_one_that_was_away_gets_them_with_the_next_repetition() {
    let (Some(first), Some(mut second)) = (Alertmanager::start(), Alertmanager::start()) else { return };
    let am = to(&[&first, &second]);
    am.destination.send(&[raised("pump", "a"), raised("fan", "b")]).unwrap();
    for server in [&first, &second] {
        eventually("both alerts", || (instances(server) == ["fan", "pump"]).then_some(()));
    }
    assert!(am.destination.warnings().is_empty());
    second.stop();
    am.destination.send(&[cleared("fan", "c"), raised("belt", "d")]).unwrap();
    assert!(am.destination.warnings()[0].contains(&second.url()), "{:?}", am.destination.warnings());
    am.destination.test(&Notification::test("t".into(), "hall-1", 0)).unwrap_err();
    second.start_again();
    am.destination.repeat(&[raised("pump", "a"), raised("belt", "d")]).unwrap();
    eventually("what stands", || (instances(&second) == ["belt", "pump"]).then_some(()));
    assert!(am.destination.warnings().is_empty());
}

#[test]
fn hostile_names_are_labels() {
    let Some(server) = Alertmanager::start() else { return };
    let am = to(&[&server]);
    let names = ["a\r\nb", "\"quoted\\", "{x=~\".*\"}", "\u{202e}\u{0}", "🔥", "x"];
    let long = "y".repeat(65_536);
    let all: Vec<_> = names.into_iter().chain([long.as_str()]).map(|name| raised(name, "k")).collect();
    am.destination.send(&all).unwrap();
    eventually("all alerts", || (server.alerts().len() == all.len()).then_some(()));
    let seen = instances(&server);
    assert!(all.iter().all(|one| seen.contains(&json!(one.alarm.key.instance))), "{seen:?}");
}

#[test]
fn a_test_is_an_alert_that_ends_by_itself() {
    let Some(server) = Alertmanager::start() else { return };
    let am = to(&[&server]);
    let now = crate::harness::now();
    am.destination.test(&Notification::test("t".into(), "hall-1", now)).unwrap();
    let alerts = eventually("the alert", || Some(server.alerts()).filter(|alerts| alerts.len() == 1));
    assert_eq!(alerts[0]["labels"]["alertname"], "oasis_test");
}
