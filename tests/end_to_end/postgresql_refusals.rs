//! Samples that PostgreSQL refuses are counted and named, and all others are written.

use crate::{
    harness::{Oasis, eventually_shown, get},
    postgresql::{Postgres, state},
};
use oasis_channel::tcp::TcpConnector;
use oasis_probe::{Node, NodeBuilder, NodeConfig, PushedKind, RowProbe};
use oasis_wire::{
    schema::ProbeType,
    value::{self, Value},
};
use serde_json::{Value as Json, json};
use std::fs;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

fn probe_type(name: &str, number: u8, metrics: Vec<Json>) -> ProbeType {
    let uuid = format!("0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d{number:02}");
    serde_json::from_value(json!({"name": name, "uuid": uuid, "version": "1.0", "metrics": metrics})).unwrap()
}

fn metrics(count: usize, kind: &str) -> Vec<Json> {
    (0..count).map(|number| json!({"name": format!("m{number}"), "type": kind})).collect()
}

fn tank() -> ProbeType {
    probe_type("Plant::Tank", 1, vec![json!({"name": "level", "type": "real64"})])
}

/// One instance on a node of its own.
struct Instance {
    node: Node,
    probe: RowProbe,
    probe_type: ProbeType,
    sent: u64,
}

impl Instance {
    fn new(dac: &Oasis, node: &str, probe_type: ProbeType) -> Self {
        let mut builder = NodeBuilder::new(node, NodeConfig::default());
        let probe = builder.pushed_rows("it", probe_type.clone(), PushedKind::Pushed, 8 << 20).unwrap();
        let node = builder.start(TcpConnector::new(dac.channel())).unwrap();
        Self { node, probe, probe_type, sent: 0 }
    }

    /// Sends samples with these values in all of their metrics.
    fn send(&mut self, values: impl IntoIterator<Item = Value>) {
        for value in values {
            self.send_at(1_763_683_200 * NANOS_PER_SECOND + self.sent, value);
        }
    }

    /// Sends a sample of this time.
    fn send_at(&mut self, time: u64, value: Value) {
        let mut row = Vec::new();
        let values = vec![value; self.probe_type.metrics.len()];
        value::write_row(&self.probe_type, &values, &mut row);
        assert!(self.probe.flush_at(time, |to| to.packed(&row)));
        self.sent += 1;
    }
}

fn levels(count: u64) -> impl Iterator<Item = Value> {
    (1..=count).map(|number| Value::Real64(number as f64))
}

fn rows(dac: &Oasis, rows: u64, refused: u64) {
    eventually_shown("rows, and what was refused", || {
        let state = state(dac);
        let is_so = state["rows"].as_u64() == Some(rows) && state["refused"].as_u64() == Some(refused);
        if is_so { Ok(()) } else { Err(state) }
    });
}

#[test]
fn a_refused_sample_is_named_and_all_others_are_stored_once() {
    let Some(postgres) = Postgres::start() else { return };
    let dac = Oasis::dac(&["--config", &postgres.config("")]);
    let mut tank_one = Instance::new(&dac, "one", tank());
    let mut tank_two = Instance::new(&dac, "two", tank());
    let mut other = Instance::new(&dac, "three", probe_type("Other", 2, metrics(1, "uint8")));
    tank_one.send(levels(1));
    tank_two.send(levels(1));
    rows(&dac, 2, 0);
    let check = "CHECK (level NOT IN (-1, 700, 701, 4999))";
    postgres.query(&format!("ALTER TABLE oasis.plant_tank ADD CONSTRAINT sensible {check}"));
    tank_one.send(levels(5_000));
    tank_two.send(levels(300));
    other.send((0..100).map(Value::Uint));
    rows(&dac, 2 + 5_000 - 3 + 300 + 100, 3);
    let levels_there = postgres.query(
        "SELECT count(*) || ' ' || count(DISTINCT sequence) || ' ' || sum(level) FROM oasis.plant_tank WHERE node = 'one'",
    );
    let sum = 5_000 * 5_001 / 2 + 1 - 700 - 701 - 4_999;
    assert_eq!(levels_there, format!("4998 4998 {sum}"));

    let refusals = state(&dac)["refusals"].clone();
    let [refusal] = &refusals.as_array().unwrap()[..] else { panic!("{refusals}") };
    assert_eq!(
        (&refusal["table"], &refusal["code"], &refusal["samples"], &refusal["node"], &refusal["instance"]),
        (&json!("plant_tank"), &json!("23514"), &json!(3), &json!("one"), &json!("it"))
    );
    // The last one: the node's first sample came before.
    assert_eq!(refusal["sequence"], 5_000);
    assert!(refusal["detail"].as_str().unwrap().contains("sensible"), "{refusal}");

    // A table that refuses everything delays no other, and does not cost two transactions a row.
    postgres.query("ALTER TABLE oasis.plant_tank ADD CONSTRAINT closed CHECK (false) NOT VALID");
    tank_one.send(levels(5_000));
    other.send((0..100).map(Value::Uint));
    rows(&dac, 2 + 5_000 - 3 + 300 + 200, 5_003);
    assert_eq!((&state(&dac)["condition"], &state(&dac)["failures"]), (&json!("storing"), &json!(0)));

    // The table accepts them again.
    postgres.query("ALTER TABLE oasis.plant_tank DROP CONSTRAINT closed");
    tank_two.send(levels(10));
    rows(&dac, 2 + 5_000 - 3 + 300 + 200 + 10, 5_003);
    // After it was dropped, it is created again.
    postgres.query("DROP TABLE oasis.plant_tank");
    tank_two.send(levels(10));
    rows(&dac, 2 + 5_000 - 3 + 300 + 200 + 20, 5_003);
    assert_eq!(postgres.count("SELECT count(*) FROM oasis.plant_tank"), 10);
    for instance in [tank_one, tank_two, other] {
        instance.node.shutdown();
    }
}

#[test]
fn a_time_beyond_the_column_is_refused_and_the_rest_of_its_batch_is_stored() {
    const GREATEST: u64 = i64::MAX as u64;
    let Some(postgres) = Postgres::start() else { return };
    let dac = Oasis::dac(&["--config", &postgres.config("")]);
    let mut tank = Instance::new(&dac, "one", tank());
    let times =
        [NANOS_PER_SECOND, GREATEST, GREATEST + 1, 2 * NANOS_PER_SECOND, u64::MAX, 3 * NANOS_PER_SECOND];
    for (time, level) in times.into_iter().zip(1_u8..) {
        tank.send_at(time, Value::Real64(level.into()));
    }
    let mut only_beyond = Instance::new(&dac, "two", probe_type("Other", 2, metrics(1, "uint8")));
    only_beyond.send_at(u64::MAX, Value::Uint(7));
    rows(&dac, 4, 3);
    let stored = "SELECT string_agg(time_ns || ' ' || level, ', ' ORDER BY sequence) FROM oasis.plant_tank";
    assert_eq!(
        postgres.query(stored),
        format!("{NANOS_PER_SECOND} 1, {GREATEST} 2, {} 4, {} 6", 2 * NANOS_PER_SECOND, 3 * NANOS_PER_SECOND)
    );
    let state = state(&dac);
    let of = |table: &str| {
        let mut refusals = state["refusals"].as_array().unwrap().iter();
        refusals.find(|refusal| refusal["table"] == table).unwrap()
    };
    let refusal = of("plant_tank");
    assert_eq!(
        (&refusal["samples"], &refusal["node"], &refusal["instance"], &refusal["sequence"], &refusal["code"]),
        (&json!(2), &json!("one"), &json!("it"), &json!(5), &Json::Null)
    );
    assert!(refusal["detail"].as_str().unwrap().contains(&u64::MAX.to_string()), "{refusal}");
    assert_eq!((&of("other")["node"], &of("other")["sequence"]), (&json!("two"), &json!(1)));
    let health = get(&dac, "/api/v1/health");
    let warning =
        health["warnings"].as_array().unwrap().iter().find(|warning| warning["part"] == "postgresql");
    let reason = warning.unwrap()["reason"].as_str().unwrap();
    assert!(reason.starts_with("PostgreSQL does not have 3 refused samples"), "{reason}");
    assert_eq!((&health["status"], &state["failures"]), (&json!("ok"), &json!(0)), "{health}");
    for instance in [tank, only_beyond] {
        instance.node.shutdown();
    }
}

#[test]
fn a_broken_index_refuses_its_own_table_and_delays_no_other() {
    let Some(mut postgres) = Postgres::start() else { return };
    let dac = Oasis::dac(&["--config", &postgres.config("")]);
    let mut tank = Instance::new(&dac, "one", tank());
    let mut other = Instance::new(&dac, "two", probe_type("Other", 2, metrics(1, "uint8")));
    tank.send(levels(10));
    other.send((0..10).map(Value::Uint));
    rows(&dac, 20, 0);
    let index = "SELECT pg_relation_filepath(indexrelid) FROM pg_index WHERE indrelid = (
        SELECT tableoid FROM oasis.plant_tank LIMIT 1)";
    let file = postgres.data().join(postgres.query(index));
    postgres.query("CHECKPOINT");
    postgres.kill();
    let zeros = vec![0; fs::metadata(&file).unwrap().len() as usize];
    fs::write(&file, zeros).unwrap();
    postgres.run();

    tank.send(levels(100));
    other.send((0..100).map(Value::Uint));
    rows(&dac, 120, 100);
    let broken = state(&dac);
    let refusal = &broken["refusals"][0];
    assert_eq!(
        (&refusal["table"], &broken["condition"]),
        (&json!("plant_tank"), &json!("storing")),
        "{broken}"
    );
    assert!(refusal["code"].as_str().unwrap().starts_with("XX"), "{broken}");

    postgres.query("REINDEX TABLE oasis.plant_tank");
    tank.send(levels(10));
    rows(&dac, 130, 100);
    for instance in [tank, other] {
        instance.node.shutdown();
    }
}

#[test]
fn a_type_too_wide_for_a_row_is_named_and_others_are_stored() {
    let Some(postgres) = Postgres::start() else { return };
    let dac = Oasis::dac(&["--config", &postgres.config("")]);
    let mut too_wide = Instance::new(&dac, "doubles", probe_type("Doubles", 1, metrics(1_100, "real64")));
    let mut widest = Instance::new(&dac, "flags", probe_type("Flags", 2, metrics(1_592, "boolean")));
    let mut texts = Instance::new(&dac, "texts", probe_type("Texts", 3, metrics(1_000, "string")));
    let system = vec![json!({"name": "xmin", "type": "uint8"}), json!({"name": "ctid", "type": "uint8"})];
    let mut odd_names = Instance::new(&dac, "odd", probe_type("Odd", 4, system));
    too_wide.send(levels(3));
    widest.send([Value::Boolean(true), Value::Boolean(false)]);
    let long = Value::String("x".repeat(12));
    texts.send([Value::String(String::new()), long, Value::String("abc".into())]);
    odd_names.send([Value::Uint(7)]);
    rows(&dac, 2 + 2 + 1, 3 + 1);

    let state = state(&dac);
    let refusals = state["refusals"].as_array().unwrap();
    let of = |table: &str| refusals.iter().find(|refusal| refusal["table"] == table).unwrap();
    assert_eq!((&of("doubles")["samples"], &of("doubles")["code"]), (&json!(3), &Json::Null));
    assert!(of("doubles")["detail"].as_str().unwrap().contains("8872 bytes"), "{state}");
    assert_eq!((&of("texts")["sequence"], &of("texts")["code"]), (&json!(2), &json!("54000")));
    assert!(of("texts")["detail"].as_str().unwrap().starts_with("row is too big"), "{state}");
    assert_eq!(postgres.query("SELECT xmin_2 + ctid_2 FROM oasis.odd"), "14");
    assert_eq!(postgres.count("SELECT count(*) FROM oasis.flags WHERE m1591"), 1);
    assert_eq!((&state["condition"], &state["failures"]), (&json!("storing"), &json!(0)));
    for instance in [too_wide, widest, texts, odd_names] {
        instance.node.shutdown();
    }
}

#[test]
fn a_name_that_the_database_cannot_encode_delays_nothing() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.query("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    let config = postgres.config("");
    let of_latin = fs::read_to_string(&config).unwrap().replace("dbname=postgres", "dbname=latin");
    fs::write(&config, of_latin).unwrap();
    let dac = Oasis::dac(&["--config", &config]);
    let mut spelled = Instance::new(&dac, "Müller", tank());
    let mut not_spelled = Instance::new(&dac, "工場", tank());
    spelled.send(levels(10));
    not_spelled.send(levels(5));
    rows(&dac, 10, 5);
    spelled.send(levels(10));
    rows(&dac, 20, 5);
    let state = state(&dac);
    assert_eq!((&state["refusals"][0]["node"], &state["failures"]), (&json!("工場"), &json!(0)), "{state}");
    for instance in [spelled, not_spelled] {
        instance.node.shutdown();
    }
}
