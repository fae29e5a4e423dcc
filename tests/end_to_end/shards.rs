//! Shards come and go while samples flow (`docs/reference/http-api.md`, `oasis threads`).

use crate::harness::{Native, Oasis, eventually, eventually_shown, get, instance, oasis, put_from, request};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
};

const CLIENTS: usize = 400;
/// Clients of one thread of the test.
const SHARE: usize = 50;
/// Samples that each client receives.
const SAMPLES: usize = 400;
/// Samples that a client reads before the next one has its turn.
const TURN: usize = 10;

fn plant(arguments: &[&str]) -> Oasis {
    Oasis::up(&[&["--name", "plant", "--probe", "heartbeat@100"], arguments].concat())
}

fn put(dac: &Oasis, shards: &Value) -> (u16, Value) {
    request(dac, "PUT", "/api/v1/shards", Some(&json!({"shards": shards})))
}

/// Clients that read side by side, and report each turn.
fn subscribers(url: String, read: Arc<AtomicUsize>) -> JoinHandle<Vec<Native>> {
    thread::spawn(move || {
        let mut clients: Vec<_> = (0..SHARE).map(|_| Native::connect(&url)).collect();
        let mut next: Vec<u64> = clients
            .iter_mut()
            .map(|client| client.subscribe("heartbeat", json!({}))["offset"].as_u64().unwrap())
            .collect();
        for _ in 0..SAMPLES / TURN {
            for (client, next) in clients.iter_mut().zip(&mut next) {
                let (samples, controls) = client.samples(TURN);
                assert!(controls.is_empty(), "{controls:?}");
                for sample in samples {
                    assert_eq!(sample.offset, *next, "each once, and in order");
                    *next += 1;
                }
                read.fetch_add(1, Ordering::Relaxed);
            }
        }
        clients
    })
}

#[test]
fn every_subscriber_gets_each_sample_once_while_shards_come_and_go() {
    let up = plant(&[]);
    eventually("a first sample", || instance(&up, "plant", "heartbeat"));
    let read = Arc::new(AtomicUsize::new(0));
    let readers: Vec<_> = (0..CLIENTS / SHARE).map(|_| subscribers(up.url(), read.clone())).collect();
    let cores = get(&up, "/api/v1/shards")["cores"].as_u64().unwrap();
    let turns = CLIENTS * SAMPLES / TURN;
    let plan = [4 * cores, 1, 3, 2 * cores, 1, 4 * cores];
    for (index, shards) in plan.into_iter().enumerate() {
        let due = turns * (index + 1) / (plan.len() + 2);
        eventually("samples in between", || (read.load(Ordering::Relaxed) >= due).then_some(()));
        let (status, answer) = put(&up, &json!(shards));
        assert_eq!((status, &answer["shards"]), (200, &json!(shards)), "{answer:#}");
    }
    let clients: Vec<Native> = readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect();
    // Surplus shards are gone, new ones have got connections, and no connection was closed.
    eventually_shown("an even spread", || {
        let shards = get(&up, "/api/v1/shards");
        let threads = shards["threads"].as_array().unwrap();
        let connections: Vec<_> = threads.iter().map(|one| one["connections"].as_u64().unwrap()).collect();
        let is_even = threads.len() as u64 == 4 * cores && connections.iter().all(|&count| count > 0);
        assert_eq!(connections.iter().sum::<u64>(), CLIENTS as u64, "{shards:#}");
        if is_even { Ok(()) } else { Err(shards) }
    });
    drop(clients);
}

#[test]
fn a_bad_number_of_shards_is_refused_and_named() {
    let up = plant(&[]);
    let before = get(&up, "/api/v1/shards")["shards"].clone();
    for bad in [json!(257), json!("many"), json!(-1), json!(2.5), json!(null)] {
        let (status, problem) = put(&up, &bad);
        assert_eq!(status, 422, "{problem:#}");
        assert!(problem["detail"].as_str().unwrap().contains("256"), "{problem:#}");
    }
    assert_eq!(request(&up, "PUT", "/api/v1/shards", Some(&json!({"shard": 1}))).0, 422);
    let foreign = put_from(&up, "/api/v1/shards", &json!({"shards": 9}), "http://evil.example");
    assert_eq!((foreign.0, &foreign.1["type"]), (403, &json!("/problems/origin")), "{:#}", foreign.1);
    assert_eq!(get(&up, "/api/v1/shards")["shards"], before);
}

#[test]
fn the_command_line_shows_and_changes_shards() {
    let up = plant(&[]);
    let run = |arguments: &[&str]| {
        let output = oasis().args(["shards", "--url", up.http()]).args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let (is_ok, shown, _) = run(&["5"]);
    assert!(is_ok && shown.starts_with("5 shards (by hand)") && shown.lines().count() == 7, "{shown}");
    let (is_ok, shown, _) = run(&["auto", "--format", "json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert!(is_ok && shown["choice"] == "auto", "{shown:#}");
    for wrong in ["many", "257", "2.5"] {
        let (is_ok, _, error) = run(&[wrong]);
        assert!(!is_ok && error.contains(wrong) && error.contains("from 1 to 256"), "{error}");
    }
}

#[test]
fn the_dacs_own_node_reports_each_shard() {
    let up = plant(&["--own-node", "dac"]);
    put(&up, &json!(3));
    let latest = eventually("a sample with three shards", || {
        let shards = instance(&up, "dac", "shards")?;
        let latest = shards["latest"]["metrics"].clone();
        (latest["shards"] == 3).then_some(latest)
    });
    let numbers: Vec<_> = latest["each"].as_array().unwrap().iter().map(|one| &one["number"]).collect();
    assert_eq!(numbers, [0, 1, 2], "{latest:#}");
    assert!(latest["wakeups"].as_u64() > Some(0), "{latest:#}");
}
