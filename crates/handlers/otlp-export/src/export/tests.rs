#[path = "../../../test_node.rs"]
mod test_node;

use super::*;
use crate::request::Batch;
use oasis_dac::Config;
use std::sync::Arc;
use test_node::TestNode;

const TANK: &str = r#"{"name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": [
    {"name": "level", "type": "real64", "unit": "m", "doc": "Height"},
    {"name": "strokes", "type": "uint64", "kind": "counter"},
    {"name": "is_open", "type": "boolean"},
    {"name": "note", "type": "string"}]}"#;
const TIME: u64 = 1_763_683_200_250_000_000;

/// A node, and the time of its newest sample.
struct Tank(TestNode, u64);

impl Tank {
    fn connect(dac: &Arc<Dac>, node: &str) -> Self {
        Self(TestNode::connect(dac, node, 0, TANK), TIME)
    }

    fn send(&mut self, level: f64, strokes: u64) {
        self.1 += 1;
        self.0.send(&[self.1], |_, writer| {
            writer.f64(level);
            writer.u64(strokes);
            writer.boolean(true);
            writer.string("x");
        });
    }
}

/// The metrics of a request by name: unit and data.
fn metrics(request: &[u8], resource: usize) -> Value {
    let request: Value = serde_json::from_slice(request).unwrap();
    let metrics =
        request["resourceMetrics"][resource]["scopeMetrics"][0]["metrics"].as_array().unwrap().clone();
    Value::Object(
        metrics.into_iter().map(|metric| (metric["name"].as_str().unwrap().to_owned(), metric)).collect(),
    )
}

fn all() -> Vec<String> {
    vec!["*".into()]
}

#[test]
fn newest_values_are_points_with_units_and_sequences_of_counters() {
    let dac = Dac::new(Config::default());
    let mut tank = Tank::connect(&dac, "plant");
    tank.send(1.0, 1);
    tank.send(f64::INFINITY, u64::MAX);
    let (batches, omitted) = Newest::new(1).collect(&dac, &all(), 100);
    assert_eq!((batches.len(), omitted), (1, 0));
    let found = metrics(&batches[0].request(5..9), 0);
    let level = &found["plant_tank.level"];
    assert_eq!((&level["unit"], &level["description"]), (&json!("m"), &json!("Height")));
    let point = &level["gauge"]["dataPoints"][0];
    assert_eq!(
        (&point["asDouble"], &point["timeUnixNano"]),
        (&json!("Infinity"), &json!((TIME + 2).to_string()))
    );
    assert_eq!(point["attributes"][0]["value"]["stringValue"], "tank");
    let strokes = &found["plant_tank.strokes"]["sum"];
    assert_eq!(strokes["dataPoints"][0]["asDouble"], json!(u64::MAX as f64));
    assert_eq!((&strokes["isMonotonic"], &strokes["aggregationTemporality"]), (&json!(true), &json!(2)));
    assert_eq!(found["plant_tank.is_open"]["gauge"]["dataPoints"][0]["asInt"], "1");
    let received = &found["oasis.samples.received"]["sum"]["dataPoints"][0];
    let times = (&received["startTimeUnixNano"], &received["timeUnixNano"]);
    assert_eq!((&received["asInt"], times), (&json!("2"), (&json!("5"), &json!("9"))));
    assert!(found.get("plant_tank.note").is_none(), "texts are no values");
}

#[test]
fn a_sample_is_sent_once_and_again_only_if_the_collector_did_not_take_it() {
    let dac = Dac::new(Config::default());
    let mut tank = Tank::connect(&dac, "plant");
    let mut newest = Newest::new(1);
    tank.send(1.0, 1);
    let (batches, _) = newest.collect(&dac, &all(), 100);
    assert_eq!(newest.collect(&dac, &all(), 100).0.len(), 1, "it was not taken");
    newest.mark(&batches[0]);
    assert_eq!(newest.collect(&dac, &all(), 100).0.len(), 0);
    tank.send(2.0, 2);
    assert_eq!(newest.collect(&dac, &all(), 100).0.len(), 1);
    assert_eq!(newest.collect(&dac, &["other/*".into()], 100).0.len(), 0);
}

#[test]
fn many_series_are_several_requests_up_to_the_limit() {
    let dac = Dac::new(Config::default());
    let mut tanks: Vec<_> = (0..900).map(|at| Tank::connect(&dac, &format!("plant {at}"))).collect();
    tanks.iter_mut().for_each(|tank| tank.send(1.0, 1));
    let (batches, omitted) = Newest::new(1).collect(&dac, &all(), 2_400);
    let points: Vec<_> = batches.iter().map(Batch::points).collect();
    assert_eq!((&points[..], omitted), (&[1_998, 402][..], 300));
}

/// A handler whose collector is away.
fn with_closed_port() -> OtlpExport {
    // The port of a socket that was closed refuses connections.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = OtlpExportConfig {
        endpoint: format!("http://127.0.0.1:{port}"),
        instances: all(),
        ..OtlpExportConfig::default()
    };
    OtlpExport::configured(config).unwrap().unwrap()
}

#[test]
fn a_collector_that_is_away_is_a_problem_and_its_values_are_counted() {
    let dac = Dac::new(Config::default());
    let mut tank = Tank::connect(&dac, "plant");
    tank.send(1.0, 1);
    let handler = with_closed_port();
    handler.send(&dac, &mut Newest::new(1), || false);
    let state = handler.state();
    assert_eq!((&state["failed_requests"], &state["failed_points"]), (&json!(1), &json!(3)));
    assert!(handler.problem().unwrap().starts_with("the collector takes no values: "));
    assert!(handler.figures().is_failing, "the next failure is not logged");
}

#[test]
fn values_that_wait_behind_a_failed_request_are_counted() {
    let dac = Dac::new(Config::default());
    let mut tanks: Vec<_> = (0..900).map(|at| Tank::connect(&dac, &format!("plant {at}"))).collect();
    tanks.iter_mut().for_each(|tank| tank.send(1.0, 1));
    let handler = with_closed_port();
    handler.send(&dac, &mut Newest::new(1), || false);
    let state = handler.state();
    assert_eq!((&state["failed_requests"], &state["failed_points"]), (&json!(1), &json!(2_700)));
}
