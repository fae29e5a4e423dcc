use crate::{Influxdb, InfluxdbConfig, source::LineProtocolSource};
use oasis_dac::{Config, Dac};
use oasis_handler::{ConfiguredHandler, InletAnswer, InletRequest};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

struct World {
    dac: Arc<Dac>,
    source: LineProtocolSource,
}

impl World {
    fn new(config: InfluxdbConfig) -> Self {
        let dac = Dac::new(Config::default());
        let source = LineProtocolSource::new(config);
        source.open(dac.clone(), None);
        Self { dac, source }
    }

    fn request(
        &self,
        target: &str,
        body: &[u8],
        may_write: &dyn Fn(&str, &str) -> bool,
    ) -> Option<InletAnswer> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let header = |_: &str| None;
        self.source.receive(&InletRequest { method: "POST", path, query, header: &header, body, may_write })
    }

    fn write(&self, target: &str, body: &str) -> (u16, Value) {
        let answer = self.request(target, body.as_bytes(), &|_, _| true).unwrap();
        (answer.status, serde_json::from_slice(&answer.body).unwrap_or_default())
    }

    /// Names of nodes and instances with their newest numbers.
    fn instances(&self) -> Vec<(String, u64)> {
        let all = self.dac.registry.instances();
        let mut newest = BTreeMap::new();
        for instance in all {
            // An instance of an earlier type stays listed.
            let last = newest.entry(format!("{}/{}", instance.node, instance.name)).or_insert(0);
            *last = instance.ledger().last_sequence.max(*last);
        }
        newest.into_iter().collect()
    }
}

#[test]
fn points_become_samples_of_nodes_by_tag() {
    let world = World::new(InfluxdbConfig::default());
    let body = "cpu,host=a,core=0 usage=1.5,n=4i 1700000000000000000\ncpu,core=0,host=a usage=2 1700000001000000000\nmem free=1u\n";
    // The second point lacks an integer: another type, whose numbers continue.
    assert_eq!(world.write("/write?db=x", body), (204, Value::Null));
    assert_eq!(
        world.write("/api/v2/write?bucket=b&precision=s", "cpu,host=b/c v=t 1700000000"),
        (204, Value::Null)
    );
    assert_eq!(world.write("/api/v3/write_lp?db=x", "cpu,host=b/c v=f 1700000001"), (204, Value::Null));
    let names = world.instances();
    let expected = [("influxdb-a/cpu,core=0", 2), ("influxdb-b%2Fc/cpu", 2), ("influxdb/mem", 1)]
        .map(|(name, last)| (name.to_owned(), last));
    assert_eq!(names, expected);
    let cpu = world.dac.registry.find("influxdb-a", "cpu,core=0").unwrap();
    assert_eq!(cpu.ledger().received, 2);
    let state = world.source.state();
    assert_eq!((&state["points"], &state["nodes"], &state["series"]), (&json!(5), &json!(3), &json!(3)));
}

#[test]
fn what_is_refused_is_named_and_the_rest_is_taken() {
    let world = World::new(InfluxdbConfig::default());
    let body = "cpu v=1 1\ncpu v=\ncpu v=2 2\ncpu v=\"text\" 3\ncpu v=4 -5\n";
    let (status, error) = world.write("/write", body);
    assert_eq!(status, 400);
    let text = error["error"].as_str().unwrap();
    assert!(text.starts_with("partial write: 2 points written, 3 refused: line 2: the value"), "{text}");
    let (_, error) = world.write("/api/v2/write", "cpu v=t");
    assert_eq!(error["code"], "invalid");
    assert!(error["message"].as_str().unwrap().contains("\"v\" has another type"), "{error}");
    let (_, error) = world.write("/api/v3/write_lp", "a\nb\n");
    assert_eq!(error["data"][1]["line_number"], 2);
    assert_eq!(error["data"][1]["original_line"], "b");
    assert_eq!(world.instances(), [("influxdb/cpu".to_owned(), 2)]);
    assert_eq!(world.source.state()["refused_points"], 6);
    assert_eq!(world.source.warnings().len(), 1);
}

#[test]
fn a_request_that_is_sent_again_is_stored_once_if_its_points_have_times() {
    let world = World::new(InfluxdbConfig::default());
    for _ in 0..2 {
        assert_eq!(world.write("/write", "cpu v=1 1\ncpu v=2 2").0, 204);
        assert_eq!(world.write("/write", "mem v=1").0, 204);
    }
    let numbers: Vec<_> = world.instances().into_iter().map(|(_, last)| last).collect();
    assert_eq!(numbers, [2, 2], "points without times are new ones");
    assert_eq!(world.source.state()["repeated_requests"], 1);
}

#[test]
fn a_sender_writes_only_what_it_may() {
    let world = World::new(InfluxdbConfig::default());
    let only_a = |node: &str, _: &str| node == "influxdb-a";
    let status = |body: &str| world.request("/write", body.as_bytes(), &only_a).unwrap().status;
    assert_eq!(status("cpu,host=a v=1"), 204);
    assert_eq!(status("cpu,host=a v=2\ncpu,host=b v=1"), 400);
    assert_eq!(status("cpu,host=b v=1"), 403);
    assert_eq!(world.instances(), [("influxdb-a/cpu".to_owned(), 2)]);
}

#[test]
fn clients_find_what_they_ask_before_they_write() {
    let world = World::new(InfluxdbConfig::default());
    let answer = world.request("/query", b"q=CREATE+DATABASE+%22x%22", &|_, _| true).unwrap();
    assert_eq!((answer.status, &answer.body[..]), (200, &br#"{"results":[{"statement_id":0}]}"#[..]));
    assert_eq!(world.write("/query?q=SHOW+DATABASES", "").0, 400);
    assert!(world.request("/v1/metrics", b"", &|_, _| true).is_none(), "another handler's path");
    assert_eq!(world.write("/write?precision=fortnight", "cpu v=1").0, 400);
    world.source.close();
    assert_eq!(world.write("/write", "cpu v=1").0, 503);
}

#[test]
fn limits_hold_for_names_of_a_hostile_sender() {
    let world = World::new(InfluxdbConfig { max_nodes: 3, max_series: 5, ..InfluxdbConfig::default() });
    let mut body = String::new();
    for number in 0..100 {
        body += &format!("m{number},host=h{number} v=1 {number}\n");
        body += &format!("m{number},host=h0 v=1 {number}\n");
    }
    let long = "x".repeat(2_000);
    body += &format!("{long} v=1\nm,host={long} v=1\na\\ b v=1,v=2 1\n");
    let (status, _) = world.write("/write", &body);
    assert_eq!((status, world.instances().len()), (400, 5));
    assert_eq!(world.source.state()["nodes"], 3);
}

#[test]
fn a_section_that_cannot_work_is_refused() {
    let enabled = InfluxdbConfig { enabled: true, ..InfluxdbConfig::default() };
    assert!(Influxdb::configured(enabled.clone()).unwrap().is_some());
    let bad = InfluxdbConfig { node_prefix: "a/b".into(), ..enabled.clone() };
    let error = Influxdb::configured(bad).unwrap_err().to_string();
    assert!(error.starts_with("influxdb.node_prefix: \"a/b\""), "{error}");
    let error = Influxdb::configured(InfluxdbConfig { max_series: 0, ..enabled }).unwrap_err().to_string();
    assert_eq!(error, "influxdb.max_series is 0: nothing could be taken");
}
