mod receiver;
#[path = "../../test_node.rs"]
mod test_node;

use crate::{RemoteWrite, RemoteWriteConfig, RemoteWriteVersion, encoding::STALE};
use oasis_dac::{Config, Dac, now};
use oasis_handler::{ConfiguredHandler, Handler, Supervisor};
use receiver::{Answering, ReceivedSeries, TestReceiver};
use serde_json::{Value, json};
use std::{path::Path, sync::Arc, time::Duration};
use test_node::TestNode;

const TANK: &str = r#"{"name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": [
    {"name": "level", "type": "real64", "unit": "m", "doc": "Height"},
    {"name": "strokes_total", "type": "uint64", "kind": "counter"},
    {"name": "Level", "type": "real32"},
    {"name": "note", "type": "string"}]}"#;
/// The time of the first sample, nanoseconds.
const TIME: u64 = 1_763_683_200_250_000_000;
const MILLISECOND: u64 = 1_000_000;

/// A node whose levels are the numbers of its samples.
struct Tank(TestNode);

impl Tank {
    fn connect(dac: &Arc<Dac>, node: &str, run: u128) -> Self {
        Self(TestNode::connect(dac, node, run, TANK))
    }

    fn send(&mut self, times: &[u64]) {
        self.0.send(times, |number, writer| {
            writer.f64(number as f64);
            writer.u64(number * 10);
            writer.f32(0.5);
            writer.string("x");
        });
    }
}

fn times(numbers: std::ops::Range<u64>) -> Vec<u64> {
    numbers.map(|number| TIME + number * MILLISECOND).collect()
}

fn config(receiver: &TestReceiver) -> RemoteWriteConfig {
    RemoteWriteConfig { url: receiver.url(), sequence: false, ..RemoteWriteConfig::default() }
}

/// A running handler.
struct Running {
    supervisor: Supervisor,
    handler: Arc<dyn Handler>,
}

impl Running {
    fn start(dac: &Arc<Dac>, config: RemoteWriteConfig) -> Self {
        let handler: Arc<dyn Handler> = Arc::new(RemoteWrite::configured(config).unwrap().unwrap());
        let supervisor = Supervisor::new(dac.clone(), None, vec![handler.clone()]);
        supervisor.start_all();
        Self { supervisor, handler }
    }

    /// Waits until the state has this value.
    fn until(&self, name: &str, value: &Value) {
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        while self.handler.state()[name] != *value {
            assert!(std::time::Instant::now() < deadline, "{name} is no {value}: {:#}", self.handler.state());
            std::thread::yield_now();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.supervisor.stop_all();
    }
}

/// The points of a series over all requests.
fn points(requests: &[Vec<ReceivedSeries>], name: &str) -> Vec<(i64, f64)> {
    let series = requests.iter().flatten().filter(|series| series.labels["__name__"] == name);
    series.flat_map(|series| series.points.clone()).collect()
}

const FIRST_MILLISECOND: i64 = (TIME / MILLISECOND) as i64;

#[test]
fn each_sample_arrives_with_its_time_in_both_versions() {
    for version in [RemoteWriteVersion::V1, RemoteWriteVersion::V2] {
        let dac = Dac::new(Config::default());
        let receiver = TestReceiver::start();
        let mut tank = Tank::connect(&dac, "plant \"7\"", 1);
        tank.send(&times(0..3));
        let running =
            Running::start(&dac, RemoteWriteConfig { version, sequence: true, ..config(&receiver) });
        tank.send(&times(3..5));
        running.until("samples", &json!(5));
        drop(running);

        let requests = receiver.requests();
        let level: Vec<_> = (0..5).map(|at| (FIRST_MILLISECOND + at, (at + 1) as f64)).collect();
        assert_eq!(points(&requests, "plant_tank_level"), level, "{version:?}");
        let strokes: Vec<_> = level.iter().map(|(time, level)| (*time, level * 10.0)).collect();
        assert_eq!(points(&requests, "plant_tank_strokes_total"), strokes);
        assert_eq!(points(&requests, "oasis_sample_sequence"), level, "the number is the level here");
        let first =
            requests[0].iter().find(|series| series.labels["__name__"] == "plant_tank_level").unwrap();
        assert_eq!(
            (first.labels["node"].as_str(), first.labels["instance"].as_str()),
            ("plant \"7\"", "tank")
        );
        assert_eq!(first.description, Some(("Height [m]".to_owned(), "m".to_owned())));
        let names: Vec<&str> = requests[0].iter().map(|series| series.labels["__name__"].as_str()).collect();
        assert!(!names.contains(&"plant_tank_note"), "a text is no number: {names:?}");
        for header in ["content-encoding: snappy", "x-prometheus-remote-write-version: "] {
            assert!(receiver.head().contains(header), "{}", receiver.head());
        }
    }
}

#[test]
fn a_server_that_is_away_gets_each_sample_once_and_in_order() {
    let dac = Dac::new(Config::default());
    let receiver = TestReceiver::start();
    receiver.answer([Answering::status(503), Answering::closed(), Answering::retry_after(429, 1)]);
    let mut tank = Tank::connect(&dac, "plant", 1);
    let running = Running::start(&dac, config(&receiver));
    for at in 0..20 {
        tank.send(&times(at..at + 1));
    }
    running.until("samples", &json!(20));
    assert_eq!(running.handler.state()["failed_requests"], 3);
    let level: Vec<_> = (0..20).map(|at| (FIRST_MILLISECOND + at, (at + 1) as f64)).collect();
    assert_eq!(points(&receiver.requests(), "plant_tank_level"), level);
    assert_eq!(running.handler.problem(), None);
}

#[test]
fn a_request_that_is_refused_is_not_sent_again_and_counted() {
    let dac = Dac::new(Config::default());
    let receiver = TestReceiver::start();
    receiver.answer([Answering::status(403)]);
    let mut tank = Tank::connect(&dac, "plant", 1);
    tank.send(&times(0..3));
    let running = Running::start(&dac, config(&receiver));
    running.until("refused_samples", &json!(3));
    assert!(running.handler.problem().is_some_and(|why| why.contains("403")));
    tank.send(&times(3..4));
    running.until("samples", &json!(1));
    assert_eq!(points(&receiver.requests(), "plant_tank_level"), [(FIRST_MILLISECOND + 3, 4.0)]);
    assert!(running.handler.warnings().iter().any(|warning| warning.contains("3 samples were refused")));
}

#[test]
fn one_bad_sample_does_not_refuse_those_beside_it() {
    let dac = Dac::new(Config::default());
    let receiver = TestReceiver::start();
    // As Prometheus does, of which one bad sample refuses a request.
    receiver.refuse(|series| series.points.iter().any(|(time, _)| *time == FIRST_MILLISECOND + 5));
    let mut tank = Tank::connect(&dac, "plant", 1);
    let mut other = Tank::connect(&dac, "other", 2);
    tank.send(&times(0..9));
    other.send(&times(100..104));
    let running = Running::start(&dac, config(&receiver));
    running.until("samples", &json!(12));
    running.until("refused_samples", &json!(1));
    let requests = receiver.requests();
    let arrived: Vec<i64> =
        points(&requests, "plant_tank_level").iter().map(|(time, _)| time - FIRST_MILLISECOND).collect();
    let of_tank: Vec<i64> = arrived.iter().copied().filter(|at| *at < 100).collect();
    assert_eq!(of_tank, [0, 1, 2, 3, 4, 6, 7, 8], "in order");
    assert_eq!(arrived.len(), 12);
}

#[test]
fn samples_that_a_series_cannot_have_are_counted() {
    let dac = Dac::new(Config::default());
    let receiver = TestReceiver::start();
    let mut tank = Tank::connect(&dac, "plant", 1);
    let far = now().0 + 3_600_000 * MILLISECOND;
    // Two in one millisecond, one that goes back, one of a wrong clock.
    tank.send(&[TIME, TIME + 10, TIME + MILLISECOND, TIME - MILLISECOND, far, TIME + 2 * MILLISECOND]);
    let running = Running::start(&dac, config(&receiver));
    running.until("samples", &json!(3));
    let counted = json!({"same_millisecond": 1, "time_ahead": 1, "time_backwards": 1});
    assert_eq!(running.handler.state()["not_sent"], counted);
    let level = points(&receiver.requests(), "plant_tank_level");
    assert_eq!(
        level,
        [(FIRST_MILLISECOND, 2.0), (FIRST_MILLISECOND + 1, 3.0), (FIRST_MILLISECOND + 2, 6.0)],
        "the newer one of a millisecond"
    );
    assert!(
        running.handler.warnings()[0].contains("3 samples are not sent"),
        "{:?}",
        running.handler.warnings()
    );
}

#[test]
fn the_series_of_a_node_that_leaves_end_and_a_node_that_returns_continues_them() {
    let dac = Dac::new(Config::default());
    let receiver = TestReceiver::start();
    let mut tank = Tank::connect(&dac, "plant", 1);
    tank.send(&times(0..2));
    let running = Running::start(&dac, config(&receiver));
    running.until("samples", &json!(2));
    tank.0.session.close(now());
    running.until("ended_instances", &json!(1));
    let bits = |requests: &[Vec<ReceivedSeries>], name| -> Vec<(i64, u64)> {
        points(requests, name)
            .iter()
            .map(|(time, value)| (time - FIRST_MILLISECOND, value.to_bits()))
            .collect()
    };
    let requests = receiver.requests();
    assert_eq!(bits(&requests, "plant_tank_level").last(), Some(&(2, STALE)), "just after the last sample");
    assert_eq!(bits(&requests, "plant_tank_note"), [], "a series without values does not end");
    let mut tank = Tank::connect(&dac, "plant", 2);
    tank.send(&times(5..6));
    running.until("samples", &json!(3));
    assert_eq!(bits(&receiver.requests(), "plant_tank_level").last(), Some(&(5, 1_f64.to_bits())));
}

#[test]
fn a_restart_repeats_only_the_request_whose_answer_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let state_file = folder.path().join("positions");
    let dac = Dac::new(Config::default());
    let receiver = TestReceiver::start();
    let config = |path: &Path| RemoteWriteConfig { state_file: path.to_owned(), ..config(&receiver) };
    let mut tank = Tank::connect(&dac, "plant", 1);
    tank.send(&times(0..3));
    let running = Running::start(&dac, config(&state_file));
    running.until("samples", &json!(3));
    receiver.answer((0..200).map(|_| Answering::status(500)));
    tank.send(&times(3..5));
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while running.handler.state()["failed_requests"] == 0 {
        assert!(std::time::Instant::now() < deadline);
        std::thread::yield_now();
    }
    drop(running);
    assert_eq!(receiver.requests().len(), 1, "the first three samples");
    receiver.clear();
    tank.send(&times(5..7));
    receiver.answer([Answering::status(400)]);
    receiver.refuse(|series| series.points.iter().any(|(time, _)| *time < FIRST_MILLISECOND + 5));
    let running = Running::start(&dac, config(&state_file));
    running.until("samples", &json!(2));
    assert_eq!(running.handler.state()["unconfirmed_samples"], 2);
    assert_eq!(running.handler.state()["refused_samples"], 0);
    let level = points(&receiver.requests(), "plant_tank_level");
    assert_eq!(level, [(FIRST_MILLISECOND + 5, 6.0), (FIRST_MILLISECOND + 6, 7.0)]);
}

#[test]
fn a_server_of_the_first_version_is_found_out() {
    let dac = Dac::new(Config::default());
    let receiver = TestReceiver::start();
    receiver.answer([Answering::without_headers(204)]);
    let mut tank = Tank::connect(&dac, "plant", 1);
    tank.send(&times(0..1));
    let version = RemoteWriteVersion::V2;
    let running = Running::start(&dac, RemoteWriteConfig { version, ..config(&receiver) });
    running.until("refused_samples", &json!(1));
    assert!(running.handler.problem().is_some_and(|why| why.contains("version = \"1.0\"")));
}

#[test]
fn samples_that_the_log_has_evicted_are_counted_and_the_others_arrive_in_order() {
    let log = oasis_dac::config::LogConfig { topic_bytes: 16_384, ..oasis_dac::config::LogConfig::default() };
    let dac = Dac::new(Config { log, ..Config::default() });
    let receiver = TestReceiver::start();
    receiver.answer([Answering::retry_after(503, 1)]);
    let mut tank = Tank::connect(&dac, "plant", 1);
    // The log has evicted the first ones before the handler sees it.
    for batch in 0..200 {
        tank.send(&times(batch * 10..batch * 10 + 10));
    }
    let running = Running::start(&dac, config(&receiver));
    running.until("behind", &json!(0));
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    let number = |name: &str| running.handler.state()[name].as_u64().unwrap();
    let evicted = || running.handler.state()["not_sent"]["log_retention"].as_u64().unwrap_or_default();
    while number("samples") + evicted() < 2_000 {
        assert!(std::time::Instant::now() < deadline, "{:#}", running.handler.state());
        std::thread::yield_now();
    }
    assert!(evicted() > 0 && number("samples") > 0, "{:#}", running.handler.state());
    let level = points(&receiver.requests(), "plant_tank_level");
    assert_eq!(level.len() as u64, number("samples"));
    assert!(level.is_sorted_by(|before, after| before.0 < after.0), "in order");
    assert_eq!(level.last(), Some(&(FIRST_MILLISECOND + 1_999, 2_000.0)));
    assert!(running.handler.warnings()[0].contains("log_retention"), "{:?}", running.handler.warnings());
}

#[test]
fn missing_samples_are_a_series_with_their_cause() {
    let dac = Dac::new(Config::default());
    let receiver = TestReceiver::start();
    let mut tank = Tank::connect(&dac, "plant", 1);
    tank.send(&times(0..2));
    // The node has lost three.
    tank.0.next += 3;
    tank.send(&times(5..6));
    let running = Running::start(&dac, config(&receiver));
    running.until("samples", &json!(3));
    let requests = receiver.requests();
    let missing = requests
        .iter()
        .flatten()
        .find(|series| series.labels["__name__"] == "oasis_dac_samples_missing_total");
    let missing = missing.expect("the series is sent");
    let cause = dac.registry.find("plant", "tank").unwrap().ledger().causes.keys().next().unwrap().word();
    assert_eq!(missing.labels["cause"], cause);
    assert_eq!(missing.points, [(FIRST_MILLISECOND + 5, 3.0)]);
}

#[test]
fn a_type_that_another_one_replaces_is_sent_to_its_end() {
    let dac = Dac::new(Config::default());
    let receiver = TestReceiver::start();
    let mut tank = Tank::connect(&dac, "plant", 1);
    tank.send(&times(0..1));
    let running = Running::start(&dac, config(&receiver));
    running.until("samples", &json!(1));
    tank.send(&times(1..4));
    tank.0.session.close(now());
    let other = TANK.replace("Plant::Tank", "Plant::Vessel").replace("0b3c9f0e", "0b3c9f0f");
    let mut vessel = Tank(TestNode::connect(&dac, "plant", 2, &other));
    vessel.send(&times(4..6));
    running.until("samples", &json!(6));
    let requests = receiver.requests();
    let times = |name: &str| -> Vec<i64> {
        let values = points(&requests, name).into_iter().filter(|(_, value)| value.to_bits() != STALE);
        values.map(|(time, _)| time - FIRST_MILLISECOND).collect()
    };
    assert_eq!(times("plant_tank_level"), [0, 1, 2, 3]);
    assert_eq!(times("plant_vessel_level"), [4, 5]);
    assert_eq!(running.handler.state()["not_sent"], json!({}));
}

#[test]
fn a_token_goes_into_the_header() {
    let folder = tempfile::tempdir().unwrap();
    let token_file = folder.path().join("token");
    std::fs::write(&token_file, "hush\n").unwrap();
    std::fs::set_permissions(&token_file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let dac = Dac::new(Config::default());
    let receiver = TestReceiver::start();
    let mut tank = Tank::connect(&dac, "plant", 1);
    tank.send(&times(0..1));
    let running = Running::start(&dac, RemoteWriteConfig { token_file, ..config(&receiver) });
    running.until("samples", &json!(1));
    assert!(receiver.head().contains("authorization: bearer hush\r\n"), "{}", receiver.head());
}
