#[path = "../../test_node.rs"]
mod test_node;

use super::*;
use crate::exposition::Kind;
use oasis_dac::{Config, now, session::NodeSession};
use oasis_wire::value::RowWriter;
use test_node::TestNode;

const TANK: &str = r#"{"name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": [
    {"name": "level", "type": "real64", "unit": "m", "doc": "Height of the \"water\""},
    {"name": "strokes_total", "type": "uint32", "kind": "counter"},
    {"name": "is_open", "type": "boolean"},
    {"name": "note", "type": "string"}]}"#;

/// A DAC with the node `plant "7"` and its tank, of which one sample came.
fn dac() -> (Arc<Dac>, NodeSession) {
    let dac = Dac::new(Config::default());
    let session = connect(&dac, TANK, |writer| {
        writer.f64(f64::INFINITY);
        writer.u32(12);
        writer.boolean(true);
        writer.string("x");
    });
    (dac, session)
}

/// Connects the node `plant "7"` with an instance `tank` of a type, and sends one sample of it.
fn connect(dac: &Arc<Dac>, schema: &str, write: impl Fn(&mut RowWriter<'_>)) -> NodeSession {
    let mut node = TestNode::connect(dac, "plant \"7\"", 0, schema);
    node.send(&[1_763_683_200_250_000_000], |_, writer| write(writer));
    node.session
}

/// A handler that copies samples, which does not run.
struct Copy;

impl Handler for Copy {
    fn name(&self) -> &'static str {
        "copy"
    }

    fn run(&self, _: Context) -> Result<(), Failure> {
        Ok(())
    }

    fn state(&self) -> Value {
        json!({"samples": 7, "not_sent": {"evicted": 2, "refused": 3}, "behind": 4})
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics { counters: &["samples", "not_sent{cause}"], gauges: &["behind"] }
    }
}

fn handlers(dac: &Arc<Dac>) -> Supervisor {
    Supervisor::new(dac.clone(), None, vec![Arc::new(Copy)])
}

#[test]
fn numbers_of_handlers_are_served() {
    let (dac, _session) = dac();
    let (document, _) = scrape(&dac, "application/openmetrics-text", OpenMetricsConfig::default());
    for line in [
        "# TYPE oasis_handler_samples counter",
        r#"oasis_handler_samples_total{handler="copy"} 7"#,
        r#"oasis_handler_not_sent_total{handler="copy",cause="refused"} 3"#,
        "# TYPE oasis_handler_behind gauge",
        r#"oasis_handler_behind{handler="copy"} 4"#,
        r#"oasis_handler_up{handler="copy"} 0"#,
        r#"oasis_handler_restarts_total{handler="copy"} 0"#,
    ] {
        assert!(text(&document).lines().any(|have| have == line), "{line}");
    }
}

fn scrape(dac: &Arc<Dac>, accept: &str, config: OpenMetricsConfig) -> (Document, OpenMetrics) {
    let handler = OpenMetrics::configured(config).unwrap().unwrap();
    handler.set_source(Some(Source { dac: dac.clone(), archive: None }));
    (handler.document("/metrics", accept, &handlers(dac)).unwrap(), handler)
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
    assert!(!text(&older).contains("note"), "a text is not a number");
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
    let series = text(&all).lines().filter(|line| !line.starts_with('#')).count() - 2;
    let config = OpenMetricsConfig { max_series: series - 2, ..OpenMetricsConfig::default() };
    let (document, handler) = scrape(&dac, "", config);
    assert!(text(&document).contains("oasis_dac_omitted_series 2\n"), "{}", text(&document));
    assert_eq!(handler.state(), json!({"scrapes": 1, "omitted": 2, "duplicates": 0}));
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

#[test]
fn of_metrics_that_differ_only_in_punctuation_the_first_is_served_and_the_others_are_counted() {
    let dac = Dac::new(Config::default());
    let schema = r#"{"name": "Plant::Arm", "uuid": "3f1c6a52-0d7e-4a0b-8b1a-51b6d0f7c2e4", "version": "1.0",
        "metrics": [
            {"name": "at", "type": {"struct": {"name": "At", "members": [{"name": "x", "type": "real64"}]}}},
            {"name": "at_x", "type": "real64"},
            {"name": "y", "type": "real64"}]}"#;
    let _session = connect(&dac, schema, |row| [1.5, 2.5, 3.5].into_iter().for_each(|value| row.f64(value)));
    let (document, handler) = scrape(&dac, "", OpenMetricsConfig::default());
    let values: Vec<_> = text(&document).lines().filter(|line| line.starts_with("plant_arm_")).collect();
    let labels = r#"{node="plant \"7\"",instance="tank"}"#;
    let expected = [("at_x", "1.5"), ("y", "3.5")]
        .map(|(name, value)| format!("plant_arm_{name}{labels} {value} 1763683200250"));
    assert_eq!(values, expected);
    assert!(text(&document).contains("oasis_dac_duplicate_series 1\n"), "{}", text(&document));
    assert_eq!(handler.state()["duplicates"], 1);
}

#[test]
fn an_instance_that_came_back_with_another_type_is_served_once() {
    let (dac, mut session) = dac();
    let earlier = dac.registry.instances().remove(0);
    session.close(now());
    let other = r#"{"name": "Plant::Tank", "uuid": "5d2a7c1e-91f4-4f38-b6a1-0e8c4b7d9f22", "version": "2.0",
        "metrics": [{"name": "level", "type": "real32", "unit": "m"}]}"#;
    let _session = connect(&dac, other, |row| row.f32(0.5));
    assert!(earlier.is_retired());
    let (document, _) = scrape(&dac, "", OpenMetricsConfig::default());
    let lines = text(&document).lines().filter(|line| !line.starts_with('#'));
    let mut series = std::collections::BTreeSet::new();
    for line in lines {
        let (name, _) = line.split_once("} ").or_else(|| line.split_once(' ')).unwrap();
        assert!(series.insert(name), "{name} appears twice\n{}", text(&document));
    }
    assert!(text(&document).contains(r#"plant_tank_level{node="plant \"7\"",instance="tank"} 0.5 "#));
}
