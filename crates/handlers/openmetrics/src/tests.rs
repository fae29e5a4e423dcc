use super::*;
use crate::exposition::Kind;
use oasis_channel::{
    InstanceState, NodeIdentity, NodeMessage, PROTOCOL, ProbeKind, RegisteredInstance, frame::Frame,
};
use oasis_dac::{Config, now, session::NodeSession};
use oasis_wire::{
    batch::{Encoder, Fields},
    schema::ProbeType,
    value::RowWriter,
};
use tokio::sync::mpsc;
use uuid::Uuid;

/// A DAC with the node `plant "7"` and its tank, of which one sample came.
fn dac() -> (Arc<Dac>, NodeSession) {
    let dac = Dac::new(Config::default());
    let tank: ProbeType = serde_json::from_str(
        r#"{"name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": [
            {"name": "level", "type": "real64", "unit": "m", "doc": "Height of the \"water\""},
            {"name": "strokes_total", "type": "uint32", "kind": "counter"},
            {"name": "is_open", "type": "boolean"},
            {"name": "note", "type": "string"}]}"#,
    )
    .unwrap();
    let node = NodeIdentity {
        name: "plant \"7\"".into(),
        uuid: Uuid::nil(),
        run: Uuid::nil(),
        host: "h".into(),
        software: "test".into(),
        pid: 1,
    };
    let instance = RegisteredInstance {
        name: "tank".into(),
        probe_type: tank.uuid,
        kind: ProbeKind::Pushed,
        demand: None,
        state: InstanceState { hertz: None, enabled: true, recorder: None },
    };
    let mut session = NodeSession::new(dac.clone(), mpsc::channel(1).0);
    for message in [
        NodeMessage::Hello { protocol: PROTOCOL, node },
        NodeMessage::Register { types: vec![tank.clone()], instances: vec![instance] },
    ] {
        let json = serde_json::to_vec(&message).unwrap();
        session.handle(Frame::Control(&json), now(), &mut Vec::new()).unwrap();
    }
    let mut row = Vec::new();
    let mut writer = RowWriter::new(&mut row);
    writer.f64(f64::INFINITY);
    writer.u32(12);
    writer.boolean(true);
    writer.string("x");
    let mut encoder = Encoder::new(&tank).unwrap();
    encoder.push(1_763_683_200_250_000_000, &row).unwrap();
    let topic = dac.registry.instances()[0].topic.0;
    let mut batch = Vec::new();
    encoder
        .finish(Fields { topic, state: 0, first_sequence: 1, node_time: 0, dropped_before: 0 }, &mut batch);
    session.handle(Frame::Batch(&batch), now(), &mut Vec::new()).unwrap();
    (dac, session)
}

fn scrape(dac: &Arc<Dac>, accept: &str, config: OpenMetricsConfig) -> (Document, OpenMetrics) {
    let handler = OpenMetrics::configured(config).unwrap().unwrap();
    handler.set_dac(Some(dac.clone()));
    (handler.document("/metrics", accept).unwrap(), handler)
}

fn text(document: &Document) -> &str {
    std::str::from_utf8(&document.body).unwrap()
}

#[test]
fn newest_values_and_the_ledger_are_served_in_both_formats() {
    let (dac, _session) = dac();
    let (older, _) = scrape(&dac, "text/plain", OpenMetricsConfig::default());
    assert_eq!(older.content_type, "text/plain; version=0.0.4; charset=utf-8");
    let labels = r#"{node="plant \"7\"",instance="tank"}"#;
    for line in [
        "# HELP plant_tank_level Height of the \"water\" [m]".to_owned(),
        "# TYPE plant_tank_strokes_total counter".into(),
        format!("plant_tank_level{labels} +Inf 1763683200250"),
        format!("plant_tank_strokes_total{labels} 12 1763683200250"),
        format!("plant_tank_is_open{labels} 1 1763683200250"),
        format!("oasis_dac_samples_received_total{labels} 1"),
        "oasis_dac_nodes_online 1".into(),
        "oasis_dac_omitted_series 0".into(),
    ] {
        assert!(text(&older).lines().any(|found| found == line), "{line}\n{}", text(&older));
    }
    assert!(!text(&older).contains("note"), "a text is no number");
    let (newer, _) = scrape(&dac, "application/openmetrics-text;version=1.0.0", OpenMetricsConfig::default());
    for line in [
        "# TYPE plant_tank_strokes counter".to_owned(),
        format!("plant_tank_strokes_total{labels} 12 1763683200.250000000"),
        "# HELP plant_tank_level Height of the \\\"water\\\" [m]".into(),
    ] {
        assert!(text(&newer).lines().any(|found| found == line), "{line}\n{}", text(&newer));
    }
    assert!(text(&newer).ends_with("# EOF\n"));
}

#[test]
fn values_beyond_the_bound_are_omitted_and_counted() {
    let (dac, _session) = dac();
    let (all, _) = scrape(&dac, "", OpenMetricsConfig::default());
    let series = text(&all).lines().filter(|line| !line.starts_with('#')).count() - 1;
    let config = OpenMetricsConfig { max_series: series - 2, ..OpenMetricsConfig::default() };
    let (document, handler) = scrape(&dac, "", config);
    assert!(text(&document).contains("oasis_dac_omitted_series 2\n"), "{}", text(&document));
    assert_eq!(handler.state(), json!({"scrapes": 1, "omitted": 2}));
}

#[test]
fn only_instances_that_match_have_values() {
    let (dac, _session) = dac();
    let config =
        |pattern: &str| OpenMetricsConfig { instances: vec![pattern.into()], ..OpenMetricsConfig::default() };
    assert!(!text(&scrape(&dac, "", config("*/pump")).0).contains("plant_tank"));
    assert!(text(&scrape(&dac, "", config("plant*/tank")).0).contains("plant_tank"));
    let error = OpenMetrics::configured(config("tank")).unwrap_err().to_string();
    assert!(error.contains("\"tank\" matches no instance") && error.contains("*/tank"), "{error}");
}

#[test]
fn a_family_has_one_kind() {
    let mut exposition = Exposition::accepted("", 10);
    exposition.sample(("a", Kind::Gauge, ""), &[], "1", None);
    exposition.sample(("a", Kind::Counter, ""), &[], "2", None);
    assert_eq!(exposition.omitted(), 1);
}
