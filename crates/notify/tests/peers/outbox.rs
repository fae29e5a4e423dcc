//! From a change of an alarm to its receivers: order, retries, limits, giving up.

use crate::harness::{
    alertmanager::Alertmanager,
    eventually,
    mail_server::MailServer,
    plant::Plant,
    receiver::{Answer, Receiver},
};
use oasis_alarms::JournalKind;
use oasis_notify::{Condition, TestError};
use std::{net::TcpListener, time::Duration};

fn webhook(name: &str, receiver: &Receiver, more: &str) -> String {
    format!("[{name}]\nkind = \"webhook\"\nurl = {:?}\nprivate = true\n{more}\n", receiver.url)
}

fn happened(receiver: &Receiver) -> (String, String) {
    let json = receiver.next().json();
    let text = |key: &str| json[key].as_str().unwrap().to_owned();
    (text("event"), text("instance"))
}

fn pair(event: &str, instance: &str) -> (String, String) {
    (event.into(), instance.into())
}

#[test]
fn a_raise_and_its_clear_arrive_in_order_with_keys_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::http();
    let plant = Plant::start(folder.path(), &webhook("pager", &receiver, ""));
    plant.raise("pump");
    plant.clear("pump");
    let (up, down) = (receiver.next(), receiver.next());
    assert_eq!(up.json()["message"], "pump is hot");
    assert_eq!((&up.json()["event"], &down.json()["event"]), (&"raised".into(), &"cleared".into()));
    assert_ne!(up.header("idempotency-key"), down.header("idempotency-key"));
    assert!(down.json()["id"].as_i64() > up.json()["id"].as_i64());
    plant.drain("pager");
    let [state] = &plant.handler.list()[..] else { panic!("one destination") };
    assert_eq!((state.delivered, state.waiting, state.state), (2, 0, Condition::Ok));
}

#[test]
fn a_place_that_is_busy_or_away_gets_the_notification_later_with_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::http();
    receiver.answer(Answer::Status(503, Some(("retry-after", "1".into()))));
    let away = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = webhook("busy", &receiver, "")
        + &format!("[away]\nkind = \"webhook\"\nurl = \"http://{away}/\"\nprivate = true\n");
    let plant = Plant::start(folder.path(), &config);
    plant.raise("pump");
    let (first, second) = (receiver.next(), receiver.next());
    assert_eq!(first.header("idempotency-key"), second.header("idempotency-key"));
    assert!(second.at - first.at >= Duration::from_secs(1), "as the server asked");
    let error = eventually("a failed attempt", || plant.figures("away").last_error);
    assert!(plant.supervisor.problems()[0].1.contains("away"), "{:?}", plant.supervisor.problems());
    assert!(!error.is_empty());
    plant.clear("pump");
    assert_eq!(happened(&receiver), pair("cleared", "pump"));
    let arrived = Receiver::http_at(away);
    let newest = arrived.next().json();
    assert_eq!((&newest["event"], &newest["coalesced"]), (&"cleared".into(), &1.into()), "the newest state");
    assert!(newest["age_seconds"].as_f64().unwrap() >= 0.0);
    plant.drain("away");
    assert_eq!((plant.figures("away").delivered, plant.figures("away").coalesced), (1, 1));
    eventually("no problem", || plant.supervisor.problems().is_empty().then_some(()));
}

#[test]
fn a_destination_that_hangs_delays_no_other_one() {
    let folder = tempfile::tempdir().unwrap();
    let (hangs, works) = (Receiver::http(), Receiver::http());
    (0..100).for_each(|_| hangs.answer(Answer::Never));
    let plant = Plant::start(folder.path(), &(webhook("hangs", &hangs, "") + &webhook("works", &works, "")));
    for number in 0..20 {
        plant.raise(&format!("pump-{number}"));
        assert_eq!(happened(&works), pair("raised", &format!("pump-{number}")));
    }
    hangs.next();
    assert_eq!(plant.figures("hangs").delivered, 0);
    assert_eq!(plant.figures("hangs").waiting, 20);
}

#[test]
fn a_notification_that_a_place_refuses_for_now_holds_up_only_those_about_the_same_alarm() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::http();
    receiver.answer(Answer::Status(500, None));
    let plant = Plant::start(folder.path(), &webhook("pager", &receiver, ""));
    plant.raise("bad");
    plant.clear("bad");
    plant.raise("good");
    assert_eq!(happened(&receiver), pair("raised", "bad"));
    assert_eq!(happened(&receiver), pair("raised", "good"));
    assert_eq!(happened(&receiver), pair("cleared", "bad"), "its newest state");
    plant.drain("pager");
    assert_eq!(plant.figures("pager").given_up, 0);
}

#[test]
fn what_is_refused_for_ever_or_for_too_long_is_given_up_and_in_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::http();
    receiver.answer(Answer::Status(422, None));
    let away = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = webhook("pager", &receiver, "")
        + &format!(
            "[away]\nkind = \"webhook\"\nurl = \"http://{away}/\"\nprivate = true\ngive_up_after_seconds = 1\n"
        );
    let plant = Plant::start(folder.path(), &config);
    plant.raise("pump");
    plant.drain("pager");
    plant.drain("away");
    assert_eq!((plant.figures("pager").given_up, plant.figures("away").given_up), (1, 1));
    assert_eq!(plant.journal(JournalKind::NotificationFailed), ["pump", "pump"]);
    let [_, pager] = &plant.handler.list()[..] else { panic!("two destinations") };
    assert!(pager.last_error.as_ref().unwrap().contains("422"), "{pager:?}");
}

#[test]
fn beyond_the_limit_a_webhook_waits() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::http();
    let plant = Plant::start(folder.path(), &webhook("pager", &receiver, "per_minute = 30"));
    (0..32).for_each(|number| plant.raise(&format!("pump-{number}")));
    let requests: Vec<_> = (0..32).map(|_| receiver.next()).collect();
    assert!(
        requests[31].at - requests[0].at >= Duration::from_secs(2),
        "30 at once, then one every two seconds"
    );
    plant.drain("pager");
}

#[test]
fn a_destination_that_lags_is_a_warning_and_gets_what_is_critical_first() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::http();
    let plant = Plant::start(folder.path(), &webhook("pager", &receiver, "per_minute = 2"));
    (0..5).for_each(|number| plant.raise(&format!("pump-{number}")));
    assert_eq!(happened(&receiver), pair("raised", "pump-0"));
    assert_eq!(happened(&receiver), pair("raised", "pump-1"));
    plant.raise_critical("reactor");
    let warning = eventually("a warning", || plant.supervisor.warnings().pop()).1;
    for part in ["pager lags: 4 notifications wait, the oldest for ", "notify.pager.per_minute"] {
        assert!(warning.contains(part), "{warning}");
    }
    assert!(plant.handler.list()[0].oldest_seconds >= Some(10));
    assert_eq!(happened(&receiver), pair("raised", "reactor"));
}

#[cfg(feature = "mail")]
#[test]
fn beyond_the_limit_one_mail_has_all_that_waited() {
    let Some(server) = MailServer::start("none") else { return };
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "[m]\nkind = \"mail\"\nserver = \"localhost\"\ntls = \"none\"\nport = {}\nfrom = \"a@example.org\"\nto = [\"b@example.org\"]\nper_minute = 5",
        server.port
    );
    let plant = Plant::start(folder.path(), &config);
    (0..20).for_each(|number| plant.raise(&format!("pump-{number}")));
    let mut seen = 0;
    let mut mails = 0;
    while seen < 20 {
        let mail = server.next();
        mails += 1;
        let subject = mail.header("subject").unwrap();
        seen += match subject.split_once(" alarms raised") {
            Some((count, _)) => count.parse::<u32>().unwrap(),
            None => 1,
        };
    }
    assert_eq!(seen, 20);
    assert!((6..12).contains(&mails), "{mails}");
    plant.drain("m");
}

#[test]
fn an_alertmanager_that_has_forgotten_an_alarm_learns_of_it_again() {
    let Some(mut server) = Alertmanager::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let config = format!("[am]\nkind = \"alertmanager\"\nurl = {:?}", server.url());
    let plant = Plant::start(folder.path(), &config);
    plant.raise("pump");
    plant.raise("fan");
    plant.clear("fan");
    plant.drain("am");
    eventually("one alert", || (server.alerts().len() == 1).then_some(()));
    plant.supervisor.stop_all();
    server.start_again();
    plant.supervisor.start_all();
    let alerts = eventually("the alert again", || Some(server.alerts()).filter(|alerts| !alerts.is_empty()));
    assert_eq!(alerts[0]["labels"]["instance"], "pump");
    plant.clear("pump");
    eventually("no alert", || server.alerts().is_empty().then_some(()));
}

#[test]
fn a_test_says_what_the_destination_has_answered() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::http();
    let plant = Plant::start(folder.path(), &webhook("pager", &receiver, ""));
    plant.handler.test("pager").unwrap();
    assert_eq!(happened(&receiver), pair("test", "notify"));
    receiver.answer(Answer::Status(403, None));
    let error = plant.handler.test("pager").unwrap_err();
    assert!(error.to_string().contains("403"), "{error}");
    let error = plant.handler.test("fax").unwrap_err();
    assert!(error.to_string().contains("pager"), "{error}");
    let limited = (0..10).any(|_| matches!(plant.handler.test("pager"), Err(TestError::Limited(_))));
    assert!(limited);
    assert_eq!(plant.figures("pager").delivered, 0);
}

#[test]
fn a_rule_that_notifies_nobody_who_exists_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::http();
    let plant = Plant::start(folder.path(), &webhook("pager", &receiver, ""));
    assert!(plant.supervisor.warnings().is_empty());
    plant.notify(&["pager", "night shift"]);
    let warnings = plant.supervisor.warnings();
    assert!(warnings[0].1.contains("[notify.\"night shift\"]") && warnings.len() == 1, "{warnings:?}");
    plant.notify(&[]);
    plant.raise("quiet");
    plant.notify(&["pager"]);
    plant.raise("pump");
    assert_eq!(happened(&receiver), pair("raised", "pump"));
}

/// Prints a figure; a loaded machine takes longer.
#[test]
fn from_a_change_to_the_webhook_it_takes_milliseconds() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::https(&["127.0.0.1"]);
    let config = webhook("pager", &receiver, "per_minute = 60000") + &format!("ca_file = {:?}", receiver.ca);
    let plant = Plant::start(folder.path(), &config);
    let mut times: Vec<_> = (0..200)
        .map(|number| {
            let begun = std::time::Instant::now();
            plant.raise(&format!("pump-{number}"));
            receiver.next().at - begun
        })
        .collect();
    times.sort();
    eprintln!(
        "from a change to the webhook: median {:?}, p99 {:?}, most {:?}",
        times[100], times[197], times[199]
    );
}
