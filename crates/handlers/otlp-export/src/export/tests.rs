use super::*;
use crate::request::Batch;
use oasis_channel::{InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance, frame::Frame};
use oasis_dac::{Config, now, session::NodeSession};
use oasis_wire::{
    batch::{Encoder, Fields},
    probe_kind::ProbeKind,
    schema::ProbeType,
    value::RowWriter,
};
use std::sync::Arc;
use tokio::sync::mpsc;
use uuid::Uuid;

const TANK: &str = r#"{"name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": [
    {"name": "level", "type": "real64", "unit": "m", "doc": "Height"},
    {"name": "strokes", "type": "uint64", "kind": "counter"},
    {"name": "is_open", "type": "boolean"},
    {"name": "note", "type": "string"}]}"#;
const TIME: u64 = 1_763_683_200_250_000_000;

struct Tank {
    session: NodeSession,
    probe_type: ProbeType,
    topic: u32,
    next: u64,
}

impl Tank {
    fn connect(dac: &Arc<Dac>, node: &str) -> Self {
        let probe_type: ProbeType = serde_json::from_str(TANK).unwrap();
        let identity = NodeIdentity {
            name: node.into(),
            uuid: Uuid::nil(),
            run: Uuid::nil(),
            host: "h".into(),
            software: "test".into(),
            pid: 1,
        };
        let instance = RegisteredInstance {
            name: "tank".into(),
            probe_type: probe_type.uuid,
            kind: ProbeKind::Pushed,
            demand: None,
            declared: None,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        let mut session = NodeSession::new(dac.clone(), mpsc::channel(1).0);
        for message in [
            NodeMessage::Hello {
                protocol: PROTOCOL,
                node: identity,
                secret: None,
                attach: None,
                drains: false,
            },
            NodeMessage::Register { types: vec![probe_type.clone()], instances: vec![instance] },
        ] {
            let json = serde_json::to_vec(&message).unwrap();
            session.handle(Frame::Control(&json), now(), &mut Vec::new()).unwrap();
        }
        let topic = dac.registry.find(node, "tank").unwrap().topic.0;
        Self { session, probe_type, topic, next: 1 }
    }

    fn send(&mut self, level: f64, strokes: u64) {
        let mut row = Vec::new();
        let mut writer = RowWriter::new(&mut row);
        writer.f64(level);
        writer.u64(strokes);
        writer.boolean(true);
        writer.string("x");
        let mut encoder = Encoder::new(&self.probe_type).unwrap();
        encoder.push(TIME + self.next, &row).unwrap();
        let mut batch = Vec::new();
        let fields = Fields { topic: self.topic, first_sequence: self.next, ..Fields::default() };
        encoder.finish(fields, &mut batch);
        self.session.handle(Frame::Batch(&batch), now(), &mut Vec::new()).unwrap();
        self.next += 1;
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
