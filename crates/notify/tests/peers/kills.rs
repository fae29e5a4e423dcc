//! `kill -9` at any moment: no notification is lost, and one that comes twice has the same key.

use crate::harness::{plant::Plant, receiver::Receiver};
use oasis_alarms::JournalKind;
use std::{
    collections::HashMap,
    env,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// The folder of the process that is killed.
const FOLDER: &str = "OASIS_NOTIFY_TEST_FOLDER";
/// Address of its notifications.
const URL: &str = "OASIS_NOTIFY_TEST_URL";
/// Number of kills.
const KILLS: &str = "OASIS_NOTIFY_KILLS";

fn config(url: &str) -> String {
    format!("[pager]\nkind = \"webhook\"\nurl = {url:?}\nprivate = true\nper_minute = 60000\n")
}

/// Not a test by itself: raises alarms until it is killed.
#[test]
fn a_process_that_is_killed() {
    let (Ok(folder), Ok(url)) = (env::var(FOLDER), env::var(URL)) else { return };
    let plant = Plant::start(Path::new(&folder), &config(&url));
    let life = std::process::id();
    for number in 0_u64.. {
        // Some more than are delivered, so that each life begins with some that wait.
        while plant.figures("pager").waiting > 20 {
            std::thread::yield_now();
        }
        plant.raise(&format!("pump-{life}-{number}"));
    }
}

#[test]
fn no_notification_is_lost_when_the_process_is_killed() {
    let kills = env::var(KILLS).map_or(5, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::http();
    let mut received: HashMap<String, Vec<String>> = HashMap::new();
    let mut note = |request: crate::harness::receiver::Request| {
        let instance = request.json()["instance"].as_str().unwrap().to_owned();
        received.entry(instance).or_default().push(request.header("idempotency-key").to_owned());
    };
    for _ in 0..kills {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "kills::a_process_that_is_killed", "--nocapture"])
            .env(FOLDER, folder.path())
            .env(URL, &receiver.url)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        (0..fastrand::u32(1..20)).for_each(|_| note(receiver.next()));
        let moment = Instant::now() + Duration::from_micros(fastrand::u64(0..3_000));
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let plant = Plant::start(folder.path(), &config(&receiver.url));
    plant.drain("pager");
    while let Some(request) = receiver.try_next() {
        note(request);
    }
    let raised = plant.journal(JournalKind::Raised);
    let lost: Vec<_> = raised.iter().filter(|instance| !received.contains_key(*instance)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    let mut repeated = 0;
    for (instance, keys) in &received {
        repeated += keys.len() - 1;
        assert!(keys.iter().all(|key| key == &keys[0]), "{instance}: {keys:?}");
        assert!(raised.contains(instance), "{instance} was never raised");
    }
    eprintln!("{kills} kills, {} notifications, 0 lost, {repeated} came twice", raised.len());
}
