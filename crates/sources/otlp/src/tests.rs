use crate::{
    Otlp, OtlpConfig, OtlpSource,
    json::to_protobuf,
    layout::{LOGS_REQUEST, METRICS_REQUEST, TRACES_REQUEST},
};
use oasis_dac::{Config, Dac, Instance};
use oasis_handler::{ConfiguredHandler, InletAnswer, InletRequest};
use oasis_wire::{batch::Batch, value};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

const PROTOBUF: &str = "application/x-protobuf";
const JSON: &str = "application/json; charset=utf-8";
const TIME: u64 = 1_700_000_000_000_000_000;

struct World {
    dac: Arc<Dac>,
    source: OtlpSource,
}

impl World {
    fn new(config: OtlpConfig) -> Self {
        let dac = Dac::new(Config::default());
        let source = OtlpSource::new(config);
        source.open(dac.clone(), None);
        Self { dac, source }
    }

    fn send(&self, path: &str, content_type: &str, body: &[u8]) -> InletAnswer {
        self.send_as(path, content_type, body, &|_, _| true)
    }

    fn send_as(
        &self,
        path: &str,
        content_type: &str,
        body: &[u8],
        may_write: &dyn Fn(&str, &str) -> bool,
    ) -> InletAnswer {
        let header = |name: &str| (name == "content-type").then_some(content_type);
        let request = InletRequest { method: "POST", path, query: "", header: &header, body, may_write };
        self.source.receive(&request).unwrap()
    }

    fn send_json(&self, path: &str, body: &Value) -> (u16, Value) {
        let answer = self.send(path, JSON, body.to_string().as_bytes());
        (answer.status, serde_json::from_slice(&answer.body).unwrap())
    }

    fn instance(&self, name: &str) -> Arc<Instance> {
        let all = self.dac.registry.instances();
        let name_of = |instance: &Instance| format!("{}/{}", instance.node, instance.name);
        let found = all.iter().find(|instance| name_of(instance) == name);
        found.unwrap_or_else(|| panic!("{:?}", all.iter().map(|of| name_of(of)).collect::<Vec<_>>())).clone()
    }

    /// The samples of the newest batch of an instance, with their times.
    fn samples(&self, name: &str) -> Vec<(u64, Value)> {
        let instance = self.instance(name);
        let newest = instance.log.latest().unwrap();
        let batch = Batch::parse(newest.batch(), &instance.probe_type).unwrap();
        let sample = |sample: oasis_wire::batch::Sample| {
            (sample.time, value::to_json(&instance.probe_type, &sample.values).into())
        };
        batch.samples().map(sample).collect()
    }
}

fn metrics(metrics: Value) -> Value {
    let service = json!({ "key": "service.name", "value": { "stringValue": "shop" } });
    json!({ "resourceMetrics": [{
        "scopeMetrics": [{ "metrics": metrics, "scope": { "name": "meter" } }],
        "resource": { "attributes": [service] },
    }] })
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// A gauge of some scopes, a point each.
fn of_scopes(scopes: &[(&str, f64)], time: u64) -> Value {
    let of_scope = |(name, value): &(&str, f64)| {
        let point = json!({ "timeUnixNano": time.to_string(), "asDouble": value });
        let metric = json!({ "name": "queue", "gauge": { "dataPoints": [point] } });
        json!({ "scope": { "name": name }, "metrics": [metric] })
    };
    let all: Vec<Value> = scopes.iter().map(of_scope).collect();
    json!({ "resourceMetrics": [{ "scopeMetrics": all, "resource": { "attributes": [attribute("service.name", "shop")] } }] })
}

#[test]
fn metrics_of_two_scopes_with_one_name_stay_apart_also_after_a_restart_in_another_order() {
    let mut world = World::new(OtlpConfig::default());
    let newest = |world: &World, name: &str| world.samples(name).last().unwrap().1["value"].as_f64().unwrap();
    let names =
        ["otlp-shop/queue", "otlp-shop/queue,otel.scope.name=mail", "otlp-shop/queue,otel.scope.name="];
    for (round, order) in [[0, 1, 2], [2, 1, 0], [1, 0, 2]].into_iter().enumerate() {
        let scopes =
            [("web", 1.0), ("mail", 2.0), ("", 3.0)].map(|(name, value)| (name, value + 10.0 * round as f64));
        let ordered = order.map(|at| scopes[at]);
        let body = of_scopes(&ordered, TIME + round as u64);
        assert_eq!(world.send_json("/v1/metrics", &body), (200, json!({})));
        let found = names.map(|name| newest(&world, name));
        assert_eq!(found, scopes.map(|(_, value)| value), "round {round}");
    }
    // A new source knows no series, but the DAC has the instances.
    world.source.close();
    world.source = OtlpSource::new(OtlpConfig::default());
    world.source.open(world.dac.clone(), None);
    let body = of_scopes(&[("mail", 7.0), ("web", 8.0)], TIME + 9);
    assert_eq!(world.send_json("/v1/metrics", &body), (200, json!({})));
    assert_eq!([newest(&world, names[0]), newest(&world, names[1])], [8.0, 7.0]);
}

#[test]
fn gauges_and_sums_become_samples_of_numbers() {
    let world = World::new(OtlpConfig::default());
    let point = |start: u64, time: u64, value: i64| json!({ "startTimeUnixNano": start.to_string(), "timeUnixNano": time, "asInt": value.to_string(), "attributes": [attribute("state", "idle")] });
    let body = metrics(json!([
        { "name": "temperature", "unit": "Cel", "description": "of the pump",
          "gauge": { "dataPoints": [{ "timeUnixNano": TIME.to_string(), "asDouble": 21.5 }] } },
        { "name": "requests", "unit": "{request}", "sum": { "aggregationTemporality": 2, "isMonotonic": true,
          "dataPoints": [point(TIME, TIME + 1, 3), point(TIME, TIME + 2, 5), point(TIME + 3, TIME + 4, 9)] } },
    ]));
    assert_eq!(world.send_json("/v1/metrics", &body), (200, json!({})));
    assert_eq!(world.samples("otlp-shop/temperature"), [(TIME, json!({ "value": 21.5 }))]);
    let of_type = world.instance("otlp-shop/temperature").probe_type.clone();
    let metric = serde_json::to_value(&of_type.metrics).unwrap();
    let expected =
        json!([{ "name": "value", "type": "real64", "doc": "of the pump", "unit": "Cel", "kind": "gauge" }]);
    assert_eq!(metric, expected);
    let sum = |value: u64, start: u64, reset: bool| json!({ "value": value, "temporality": 2, "start_time": start, "reset": reset });
    assert_eq!(
        world.samples("otlp-shop/requests,state=idle"),
        [
            (TIME + 1, sum(3, TIME, false)),
            (TIME + 2, sum(5, TIME, false)),
            (TIME + 4, sum(9, TIME + 3, true))
        ]
    );
    let of_type = world.instance("otlp-shop/requests,state=idle").probe_type.clone();
    assert_eq!(serde_json::to_value(&of_type.metrics[0]).unwrap()["kind"], "counter");
    assert_eq!(world.source.state()["data_points"], 4);
}

#[test]
fn a_whole_number_becomes_a_real_once_its_series_has_reals() {
    let world = World::new(OtlpConfig::default());
    let send = |point: Value| {
        let body = metrics(json!([{ "name": "level", "gauge": { "dataPoints": [point] } }]));
        assert_eq!(world.send_json("/v1/metrics", &body).0, 200);
        world.samples("otlp-shop/level").pop().unwrap().1["value"].clone()
    };
    assert_eq!(send(json!({ "timeUnixNano": 1, "asInt": 7 })), json!(7));
    assert_eq!(send(json!({ "timeUnixNano": 2, "asDouble": 0.5 })), json!(0.5));
    assert_eq!(
        send(json!({ "timeUnixNano": 3, "asInt": "9007199254740993" })),
        json!(9_007_199_254_740_992.0)
    );
    assert_eq!(world.instance("otlp-shop/level").ledger().last_sequence, 3);
    assert_eq!(world.source.state()["rounded_values"], 1);
}

#[test]
fn histograms_and_summaries_become_structs() {
    let world = World::new(OtlpConfig::default());
    let body = metrics(json!([
        { "name": "latency", "unit": "ms", "histogram": { "aggregationTemporality": 1, "dataPoints": [{
            "startTimeUnixNano": TIME, "timeUnixNano": TIME + 1, "count": "6", "sum": 21.5, "min": 0.5,
            "bucketCounts": ["1", 2, "3"], "explicitBounds": [1, 2.5] }] } },
        { "name": "size", "unit": "By", "exponentialHistogram": { "aggregationTemporality": 2, "dataPoints": [{
            "timeUnixNano": TIME, "count": 7, "sum": 9, "scale": -1, "zeroCount": 1, "max": 4,
            "positive": { "offset": -2, "bucketCounts": [1, "2", 300] }, "negative": { "offset": 3 } }] } },
        { "name": "gc", "summary": { "dataPoints": [{ "timeUnixNano": TIME, "count": 2, "sum": 3,
            "quantileValues": [{ "quantile": 0.5, "value": 1 }, { "quantile": 1, "value": "NaN" }] }] } },
    ]));
    assert_eq!(world.send_json("/v1/metrics", &body), (200, json!({})));
    let histogram = json!({ "count": 6, "sum": 21.5, "min": 0.5, "max": "NaN", "bounds": [1.0, 2.5], "counts": [1, 2, 3] });
    let expected = json!({ "histogram": histogram, "temporality": 1, "start_time": TIME, "reset": false });
    assert_eq!(world.samples("otlp-shop/latency"), [(TIME + 1, expected)]);
    let histogram = json!({
        "count": 7, "sum": 9.0, "min": "NaN", "max": 4.0, "scale": -1, "zero_count": 1, "zero_threshold": 0.0,
        "positive_offset": -2, "positive_counts": [1, 2, 300], "negative_offset": 3, "negative_counts": [],
    });
    let expected = json!({ "histogram": histogram, "temporality": 2, "start_time": 0, "reset": false });
    assert_eq!(world.samples("otlp-shop/size"), [(TIME, expected)]);
    let quantiles = json!([{ "quantile": 0.5, "value": 1.0 }, { "quantile": 1.0, "value": "NaN" }]);
    let summary = json!({ "count": 2, "sum": 3.0, "quantiles": quantiles });
    let expected = json!({ "summary": summary, "start_time": 0, "reset": false });
    assert_eq!(world.samples("otlp-shop/gc"), [(TIME, expected)]);
}

#[test]
fn log_records_become_samples_of_the_log_type() {
    let world = World::new(OtlpConfig::default());
    let record = json!({
        "timeUnixNano": TIME.to_string(), "severityNumber": 17, "body": { "stringValue": "pressure is high" },
        "traceId": "5B8EFFF798038103D269B633813FC60C", "spanId": "eee19b7ec3c1b174",
        "attributes": [attribute("code.lineno", "12"), attribute("thread.name", "control")],
    });
    let other =
        json!({ "observedTimeUnixNano": TIME + 1, "severityText": "Warning", "body": { "intValue": 5 } });
    let scope = json!({ "scope": { "name": "plant.pump" }, "logRecords": [record, other] });
    let body = json!({ "resourceLogs": [{ "scopeLogs": [scope] }] });
    assert_eq!(world.send_json("/v1/logs", &body), (200, json!({})));
    let samples = world.samples("otlp/log");
    let field = |name: &str, value: &str| json!({ "name": name, "value": value });
    let expected = json!({
        "level": 17, "target": "plant.pump", "message": "pressure is high", "file": "", "line": 12,
        "thread": "control", "span": "", "cut": 0,
        "fields": [
            field("trace_id", "5b8efff798038103d269b633813fc60c"), field("span_id", "eee19b7ec3c1b174"),
            field("code.lineno", "12"), field("thread.name", "control"),
        ],
    });
    assert_eq!(samples[0], (TIME, expected));
    assert_eq!(
        (samples[1].0, &samples[1].1["level"], &samples[1].1["message"]),
        (TIME + 1, &json!(13), &json!("5"))
    );
    assert_eq!(world.instance("otlp/log").probe_type.name, "OASIS::Program::LogProbe");
}

#[test]
fn spans_become_samples_at_their_end() {
    let world = World::new(OtlpConfig::default());
    let span = json!({
        "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "8000000000000102",
        "parentSpanId": "0000000000000003", "name": "GET /", "kind": 2, "startTimeUnixNano": TIME,
        "endTimeUnixNano": TIME + 1_500, "status": { "code": 2, "message": "no disk" },
        "attributes": [attribute("http.route", "/")],
        "events": [{ "name": "exception", "attributes": [attribute("exception.type", "OSError")] }],
    });
    let body = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [span] }] }] });
    assert_eq!(world.send_json("/v1/traces", &body), (200, json!({})));
    let field = |name: &str, value: &str| json!({ "name": name, "value": value });
    let expected = json!({
        "name": "GET /", "target": "", "duration": 1_500, "busy": 1_500, "outcome": 1, "thread": "", "id": 258,
        "parent": 3, "cut": 0,
        "fields": [
            field("trace_id", "5b8efff798038103d269b633813fc60c"), field("span_id", "8000000000000102"),
            field("kind", "server"),
            field("status", "no disk"), field("http.route", "/"), field("event exception", "exception.type=OSError"),
        ],
    });
    assert_eq!(world.samples("otlp/spans"), [(TIME + 1_500, expected)]);
}

#[test]
fn a_partial_success_counts_what_is_refused_in_both_forms() {
    let world = World::new(OtlpConfig { max_series: 1, ..OtlpConfig::default() });
    let point = json!({ "timeUnixNano": 1, "asInt": 1 });
    let gauge = |name: &str| json!({ "name": name, "gauge": { "dataPoints": [point, point] } });
    let body = metrics(json!([gauge("a"), gauge("b")]));
    let (status, answer) = world.send_json("/v1/metrics", &body);
    assert_eq!((status, &answer["partialSuccess"]["rejectedDataPoints"]), (200, &json!("2")));
    let text =
        "2 data points taken, 2 refused, the first: \"otlp-shop/b\": the limit of 1 instances is reached";
    let message = answer["partialSuccess"]["errorMessage"].as_str().unwrap();
    assert!(message.starts_with(text), "{message}");
    let body = to_protobuf(body.to_string().as_bytes(), &METRICS_REQUEST, 1 << 20).unwrap();
    let answer = world.send("/v1/metrics", PROTOBUF, &body);
    let with_length = |field: &[u8], bytes: &[u8]| {
        let mut length = field.to_vec();
        oasis_wire::varint::put(bytes.len() as u64, &mut length);
        [length, bytes.to_vec()].concat()
    };
    let expected = with_length(&[10], &with_length(&[8, 2, 18], message.as_bytes()));
    assert_eq!((answer.status, answer.body), (200, expected));
    assert_eq!(world.source.state()["refused_items"], 4);
}

#[test]
fn bad_requests_are_answered_with_a_status_in_their_form() {
    let world = World::new(OtlpConfig::default());
    let answer = world.send("/v1/metrics", PROTOBUF, &[10, 200]);
    assert_eq!((answer.status, &answer.body[..3]), (400, &[8, 3, 18][..]));
    for (body, text) in [
        ("{", "EOF while parsing"),
        ("[]", "expected an object of OTLP"),
        (r#"{"resourceMetrics": {"a": 1}}"#, "\"resourceMetrics\" cannot be an object"),
        (r#"{"resourceMetrics": [1]}"#, "\"resourceMetrics\" cannot be 1"),
        (r#"{"resourceMetrics": []} x"#, "trailing characters"),
    ] {
        let answer = world.send("/v1/metrics", JSON, body.as_bytes());
        let status: Value = serde_json::from_slice(&answer.body).unwrap();
        let message = status["message"].as_str().unwrap();
        assert!(answer.status == 400 && status["code"] == 3 && message.contains(text), "{body}: {message}");
    }
    assert_eq!(world.send("/v1/metrics", "text/plain", b"").status, 415);
    world.source.close();
    assert_eq!(world.send("/v1/logs", JSON, b"{}").status, 503);
}

#[test]
fn a_sender_writes_only_permitted_instances() {
    let world = World::new(OtlpConfig::default());
    let only_a = |_: &str, instance: &str| instance == "a";
    let status = |names: &[&str]| {
        let point = json!({ "timeUnixNano": 1, "asInt": 1 });
        let of = names.iter().map(|name| json!({ "name": name, "gauge": { "dataPoints": [point] } }));
        let body = metrics(of.collect()).to_string();
        world.send_as("/v1/metrics", JSON, body.as_bytes(), &only_a).status
    };
    assert_eq!([status(&["a"]), status(&["a", "b"]), status(&["b"])], [200, 200, 403]);
    assert_eq!(world.instance("otlp-shop/a").ledger().last_sequence, 2);
}

#[test]
fn a_request_that_is_sent_again_is_stored_once() {
    let world = World::new(OtlpConfig::default());
    let timed =
        metrics(json!([{ "name": "a", "gauge": { "dataPoints": [{ "timeUnixNano": 1, "asInt": 1 }] } }]));
    let untimed = metrics(json!([{ "name": "b", "gauge": { "dataPoints": [{ "asInt": 1 }] } }]));
    for _ in 0..2 {
        assert_eq!(world.send_json("/v1/metrics", &timed).0, 200);
        assert_eq!(world.send_json("/v1/metrics", &untimed).0, 200);
    }
    assert_eq!(world.instance("otlp-shop/a").ledger().last_sequence, 1);
    assert_eq!(world.instance("otlp-shop/b").ledger().last_sequence, 2, "without a time it is a new one");
}

#[test]
fn limits_hold_for_hostile_senders() {
    let world = World::new(OtlpConfig { max_nodes: 2, ..OtlpConfig::default() });
    let attributes: Vec<_> = (0..1_001).map(|number| attribute(&number.to_string(), "")).collect();
    let counts = vec![json!(1); 10_001];
    let body = metrics(json!([
        { "name": "a", "gauge": { "dataPoints": [{ "asInt": 1, "attributes": attributes }] } },
        { "name": "b", "histogram": { "dataPoints": [{ "bucketCounts": counts }] } },
        { "name": "c", "histogram": { "dataPoints": [{ "bucketCounts": [1, 2], "explicitBounds": [] }] } },
        { "name": "d", "exponentialHistogram": { "dataPoints": [{ "positive": { "bucketCounts": counts } }] } },
        { "name": "e".repeat(2_000), "gauge": { "dataPoints": [{ "asInt": 1 }] } },
        { "name": "f", "gauge": { "dataPoints": [{}] } },
        { "name": "g", "gauge": { "dataPoints": [{ "flags": 1 }] } },
        { "name": "h" },
    ]));
    let (status, answer) = world.send_json("/v1/metrics", &body);
    assert_eq!((status, &answer["partialSuccess"]["rejectedDataPoints"]), (200, &json!("6")));
    assert_eq!(world.source.state()["points_without_value"], 1);
    let of_node = |node: usize| {
        let resource = json!({ "attributes": [attribute("service.name", &node.to_string())] });
        let metric = json!({ "name": "a", "gauge": { "dataPoints": [{ "asInt": 1 }] } });
        json!({ "resource": resource, "scopeMetrics": [{ "metrics": [metric] }] })
    };
    let all: Vec<_> = (0..100).map(of_node).collect();
    assert_eq!(world.send_json("/v1/metrics", &json!({ "resourceMetrics": all })).0, 200);
    assert_eq!(world.source.state()["nodes"], 2);
    // Each pair of brackets would be a message of six bytes.
    let many = format!("{{\"resourceMetrics\":[{}{{}}]}}", "{},".repeat(8 << 20));
    let answer = world.send("/v1/metrics", JSON, many.as_bytes());
    assert_eq!(answer.status, 400, "{}", String::from_utf8_lossy(&answer.body));
}

#[test]
fn a_section_that_cannot_work_is_refused() {
    let enabled = OtlpConfig { enabled: true, ..OtlpConfig::default() };
    assert!(Otlp::configured(enabled.clone()).unwrap().is_some());
    let error = |config: OtlpConfig| Otlp::configured(config).unwrap_err().to_string();
    assert!(
        error(OtlpConfig { node_prefix: "a*".into(), ..enabled.clone() })
            .starts_with("otlp.node_prefix: \"a*\"")
    );
    assert_eq!(
        error(OtlpConfig { max_nodes: 0, ..enabled.clone() }),
        "otlp.max_nodes is 0: nothing could be taken"
    );
    let nameless = OtlpConfig { node_prefix: String::new(), node_attributes: Vec::new(), ..enabled };
    assert!(error(nameless).contains("nodes need names"));
}

fn any_json() -> impl Strategy<Value = Value> {
    const NAMES: &[&str] = &[
        "resourceMetrics",
        "scopeMetrics",
        "metrics",
        "gauge",
        "sum",
        "histogram",
        "dataPoints",
        "attributes",
        "key",
        "value",
        "stringValue",
        "arrayValue",
        "values",
        "asInt",
        "asDouble",
        "bucketCounts",
        "resourceLogs",
        "scopeLogs",
        "logRecords",
        "body",
        "traceId",
        "name",
        "other",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[0-9a-f]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(8, 64, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(NAMES), inner), 0..4)
                .prop_map(|pairs| pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

/// Requests of the SDK of Python: a byte for path and form, then the body. The fuzz target begins with them.
fn recorded_requests() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fuzz/seeds/otlp");
    let files = std::fs::read_dir(folder).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
    files
        .map(|file| {
            let path = ["/v1/metrics", "/v1/logs", "/v1/traces"][usize::from(file[0] % 3)];
            (path, if file[0] & 0x80 == 0 { PROTOBUF } else { JSON }, file[1..].to_vec())
        })
        .collect()
}

#[test]
fn recorded_requests_are_whole() {
    let world = World::new(OtlpConfig::default());
    for (path, content_type, body) in recorded_requests() {
        assert_eq!(world.send(path, content_type, &body).status, 200, "{path}");
    }
    let state = world.source.state();
    assert_eq!(
        (&state["log_records"], &state["spans"], &state["refused_items"]),
        (&json!(2), &json!(4), &json!(0))
    );
}

#[test]
fn a_member_that_occurs_twice_is_refused_with_its_name() {
    let world = World::new(OtlpConfig::default());
    let point = r#"{"timeUnixNano": 1, "asDouble": 1.5, "asDouble": 2.5}"#;
    let metric = format!(r#"{{"name": "queue", "gauge": {{"dataPoints": [{point}]}}}}"#);
    let body = format!(r#"{{"resourceMetrics": [{{"scopeMetrics": [{{"metrics": [{metric}]}}]}}]}}"#);
    let answer = world.send("/v1/metrics", JSON, body.as_bytes());
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    assert_eq!((answer.status, text.contains("asDouble")), (400, true), "{text}");
    assert!(text.contains("occurs twice"), "{text}");
}

proptest! {
    #[test]
    fn damaged_requests_are_answered(
        choice in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        end in any::<prop::sample::Index>(),
    ) {
        let requests = recorded_requests();
        let (path, content_type, mut body) = choice.get(&requests).clone();
        for (position, byte) in changes {
            let at = position.index(body.len());
            body[at] = byte;
        }
        // Half of them are cut.
        if end.index(2) == 0 {
            body.truncate(end.index(body.len()));
        }
        let world = World::new(OtlpConfig { max_series: 20, ..OtlpConfig::default() });
        prop_assert!([200, 400].contains(&world.send(path, content_type, &body).status));
        prop_assert_eq!(&world.source.state()["lost_items"], &json!(0));
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let world = World::new(OtlpConfig::default());
        for path in ["/v1/metrics", "/v1/logs", "/v1/traces"] {
            for content_type in [PROTOBUF, JSON] {
                prop_assert!([200, 400].contains(&world.send(path, content_type, &bytes).status));
            }
        }
    }

    #[test]
    fn any_json_is_a_message_or_refused(document in any_json()) {
        let world = World::new(OtlpConfig::default());
        let text = document.to_string();
        for (path, of) in
            [("/v1/metrics", &METRICS_REQUEST), ("/v1/logs", &LOGS_REQUEST), ("/v1/traces", &TRACES_REQUEST)]
        {
            let status = world.send(path, JSON, text.as_bytes()).status;
            match to_protobuf(text.as_bytes(), of, 1 << 20) {
                Ok(message) => prop_assert_eq!(world.send(path, PROTOBUF, &message).status, status),
                Err(_) => prop_assert_eq!(status, 400),
            }
        }
    }
}

#[test]
fn data_points_that_a_dac_has_sent_itself_are_not_taken() {
    let world = World::new(OtlpConfig { node_prefix: "otlp".into(), ..OtlpConfig::default() });
    let gauge = |name: &str, value: f64, attributes: Value| {
        metrics(json!([{ "name": name, "gauge": { "dataPoints": [
            { "timeUnixNano": TIME.to_string(), "asDouble": value, "attributes": attributes }] } }]))
    };
    let send = |body: &Value| world.send_json("/v1/metrics", body);
    // The node is otlp-shop. A DAC that sends it names it as the service.
    assert_eq!(send(&gauge("level", 1.0, json!([]))).0, 200);
    let sent_by = |service: &str, value: f64| {
        let mut back = gauge("gauge.value", value, json!([attribute("oasis.instance", "level")]));
        back["resourceMetrics"][0]["resource"]["attributes"] = json!([attribute("service.name", service)]);
        back
    };
    for looped in 1..=3_u32 {
        assert_eq!(send(&sent_by("otlp-shop", looped.into())), (200, json!({})));
        assert_eq!(world.source.state()["looped_points"], looped);
    }
    assert_eq!(world.dac.registry.instances().len(), 1);
    let body = sent_by("otlp-shop", 4.0).to_string();
    world.send_as("/v1/metrics", JSON, body.as_bytes(), &|_, _| false);
    let state = world.source.state();
    assert_eq!(
        (&state["looped_points"], &state["refused_items"]),
        (&json!(3), &json!(1)),
        "it may not write"
    );
    let warnings = world.source.warnings();
    assert!(
        warnings[1].contains("3 data points left out") && warnings[1].contains("otlp-shop/level"),
        "{warnings:?}"
    );
    assert_eq!(send(&sent_by("other", 1.0)).0, 200);
    assert_eq!(world.dac.registry.instances().len(), 2, "another DAC has sent it");
}
