use crate::{
    PrometheusConfig,
    message::{BadSeries, Message, Point, Version},
    native_histogram::{Buckets, NativeHistogram},
    presence::STALE,
    scrape::ScrapedHistogram,
    source::RemoteWriteSource,
};
use oasis_dac::{Config, Dac};
use oasis_handler::{InletAnswer, InletRequest};
use proptest::prelude::*;
use std::sync::Arc;

const LABELS: [(&str, &str); 3] = [("__name__", "load"), ("instance", "pump:9100"), ("job", "a,b")];

/// A field of Protocol Buffers with bytes.
fn bytes(field: u8, content: &[u8]) -> Vec<u8> {
    let mut field = vec![field << 3 | 2];
    varint(content.len() as u64, &mut field);
    [field, content.to_vec()].concat()
}

fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value > 0x7f {
        to.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

fn point(value: f64, time: i64) -> Vec<u8> {
    let mut sample = vec![1 << 3 | 1];
    sample.extend(value.to_le_bytes());
    sample.push(2 << 3);
    varint(time.cast_unsigned(), &mut sample);
    bytes(2, &sample)
}

/// A message of version 1.0 with one series.
fn first_version(labels: &[(&str, &str)], points: &[(f64, i64)]) -> Vec<u8> {
    let label = |(name, value): &(&str, &str)| {
        bytes(1, &[bytes(1, name.as_bytes()), bytes(2, value.as_bytes())].concat())
    };
    let labels: Vec<u8> = labels.iter().flat_map(label).collect();
    let points: Vec<u8> = points.iter().flat_map(|(value, time)| point(*value, *time)).collect();
    bytes(1, &[labels, points].concat())
}

/// The same of version 2.0.
fn second_version(labels: &[(&str, &str)], points: &[(f64, i64)]) -> Vec<u8> {
    let mut symbols = bytes(4, b"");
    let mut references = Vec::new();
    for (number, (name, value)) in labels.iter().enumerate() {
        symbols.extend([bytes(4, name.as_bytes()), bytes(4, value.as_bytes())].concat());
        varint(2 * number as u64 + 1, &mut references);
        varint(2 * number as u64 + 2, &mut references);
    }
    let points: Vec<u8> = points.iter().flat_map(|(value, time)| point(*value, *time)).collect();
    [symbols, bytes(5, &[bytes(1, &references), points].concat())].concat()
}

struct Receiver {
    dac: Arc<Dac>,
    source: RemoteWriteSource,
}

impl Receiver {
    fn new() -> Self {
        let dac = Dac::new(Config::default());
        let source =
            RemoteWriteSource::new(PrometheusConfig { enabled: true, ..PrometheusConfig::default() });
        source.open(dac.clone(), None);
        Self { dac, source }
    }

    fn post(&self, content_type: &'static str, body: &[u8]) -> InletAnswer {
        let header = |name: &str| match name {
            "content-type" => Some(content_type),
            "content-encoding" => Some("snappy"),
            _ => None,
        };
        let request = InletRequest {
            method: "POST",
            path: "/api/v1/write",
            query: "",
            header: &header,
            body,
            may_write: &|node, _| node != "prometheus-secret",
        };
        self.source.receive(&request).unwrap()
    }

    fn write(&self, message: &[u8]) -> InletAnswer {
        self.post("application/x-protobuf", &snappy(message))
    }

    /// The number of samples of an instance, and whether its node is connected.
    fn received(&self, instance: &str) -> (u64, bool) {
        let found = self.dac.registry.instances().into_iter().find(|one| &*one.name == instance).unwrap();
        let node = self.dac.registry.node(&found.node).unwrap();
        (found.ledger().last_sequence, node.is_online())
    }
}

fn snappy(message: &[u8]) -> Vec<u8> {
    snap::raw::Encoder::new().compress_vec(message).unwrap()
}

#[test]
fn both_versions_have_the_same_series() {
    let points = [(1.5, 1_700_000_000_000), (f64::from_bits(STALE), 1_700_000_001_000)];
    for (version, message) in
        [(Version::V1, first_version(&LABELS, &points)), (Version::V2, second_version(&LABELS, &points))]
    {
        let mut message = Message::new(version, &message).unwrap();
        let series = message.next_series().unwrap().unwrap();
        assert_eq!(series.labels, LABELS);
        assert_eq!(series.points[0], Point { value: 1.5, time: 1_700_000_000_000 });
        assert_eq!(series.points[1].value.to_bits(), STALE, "bits of NaN are kept");
        assert!(message.next_series().is_none());
    }
}

#[test]
fn series_become_instances_whose_names_never_coincide() {
    let receiver = Receiver::new();
    assert_eq!(receiver.write(&first_version(&LABELS, &[(1.0, 1), (2.0, 2)])).status, 204);
    assert_eq!(receiver.received("load,job=a\\,b"), (2, true));
    let found = receiver.dac.registry.instances().pop().unwrap();
    assert_eq!(&*found.node, "prometheus-pump:9100");
}

#[test]
fn series_of_scrapes_are_not_of_the_node_of_the_target() {
    let receiver = Receiver::new();
    let up = [("__name__", "up"), ("instance", "pump:9100")];
    receiver.write(&first_version(&up, &[(0.0, 1)]));
    let found = receiver.dac.registry.instances().pop().unwrap();
    assert_eq!((&*found.node, &*found.name), ("prometheus", "up,instance=pump:9100"));
}

#[test]
fn a_request_that_is_sent_again_is_taken_once() {
    let receiver = Receiver::new();
    let message = first_version(&LABELS, &[(1.0, 1)]);
    assert_eq!(receiver.write(&message).status, 204);
    assert_eq!(receiver.write(&message).status, 204);
    assert_eq!(receiver.received("load,job=a\\,b").0, 1);
}

#[test]
fn a_node_is_offline_once_its_series_have_ended_and_comes_back() {
    let receiver = Receiver::new();
    receiver.write(&first_version(&LABELS, &[(1.0, 1)]));
    receiver.write(&first_version(&LABELS, &[(f64::from_bits(STALE), 2)]));
    assert_eq!(receiver.received("load,job=a\\,b"), (2, false), "the marker is a sample as well");
    receiver.write(&first_version(&LABELS, &[(1.0, 3)]));
    assert!(receiver.received("load,job=a\\,b").1);
}

#[test]
fn what_cannot_be_taken_is_refused_and_counted() {
    let receiver = Receiver::new();
    let secret = [("__name__", "load"), ("instance", "secret")];
    assert_eq!(receiver.write(&first_version(&secret, &[(1.0, 1)])).status, 403);
    assert_eq!(receiver.write(&first_version(&[("job", "a")], &[(1.0, 1)])).status, 400);
    assert_eq!(receiver.write(&first_version(&LABELS, &[(1.0, -1)])).status, 400);
    let many: Vec<_> = (0..200).map(|number| format!("label_{number}")).collect();
    let mut many: Vec<_> = many.iter().map(|name| (&**name, "x")).collect();
    many.insert(0, ("__name__", "wide"));
    let text = |answer: InletAnswer| String::from_utf8_lossy(&answer.body).into_owned();
    let refused = text(receiver.write(&first_version(&many, &[(1.0, 1)])));
    assert!(refused.contains("wide: a series has more than 128 labels"), "{refused}");
    let refused = text(receiver.write(&first_version(&LABELS, &[(1.0, i64::MAX)])));
    assert!(refused.contains("prometheus-pump:9100/load,job=a"), "{refused}");
    assert_eq!(receiver.write(b"no message").status, 400);
    assert_eq!(receiver.post("application/x-protobuf", b"no snappy").status, 400);
    assert_eq!(receiver.post("application/json", b"{}").status, 415);
    // A bomb: 4 GiB are announced.
    assert_eq!(receiver.post("application/x-protobuf", &[0xff, 0xff, 0xff, 0xff, 0x0f, 0]).status, 413);
    let state = receiver.source.state();
    assert_eq!((&state["samples"], &state["refused_samples"]), (&0.into(), &6.into()), "{state}");
}

#[test]
fn a_second_version_says_how_much_was_written() {
    let receiver = Receiver::new();
    let proto = "application/x-protobuf;proto=io.prometheus.write.v2.Request";
    let answer = receiver.post(proto, &snappy(&second_version(&LABELS, &[(1.0, 1)])));
    assert_eq!(answer.status, 204);
    assert!(answer.headers.contains(&("x-prometheus-remote-write-samples-written", "1".into())));
    // A label that names no text of the message.
    let bad = bytes(5, &bytes(1, &[7, 8]));
    assert_eq!(receiver.post(proto, &snappy(&bad)).status, 400);
    let mut message = Message::new(Version::V2, &bad).unwrap();
    assert_eq!(message.next_series().unwrap().unwrap_err(), BadSeries::Symbol);
}

proptest! {
    /// Whatever a peer sends is answered.
    #[test]
    fn any_message_is_answered(message in prop::collection::vec(any::<u8>(), 0..300), is_second: bool) {
        let receiver = Receiver::new();
        let proto = "application/x-protobuf;proto=io.prometheus.write.v2.Request";
        let content_type = if is_second { proto } else { "application/x-protobuf" };
        prop_assert!([204, 400, 403].contains(&receiver.post(content_type, &snappy(&message)).status));
    }
}

#[test]
fn a_message_of_another_version_than_it_says_is_refused() {
    let receiver = Receiver::new();
    let points = [(1.0, 1)];
    for (content_type, body) in [
        ("application/x-protobuf;proto=io.prometheus.write.v2.Request", first_version(&LABELS, &points)),
        ("application/x-protobuf", second_version(&LABELS, &points)),
    ] {
        let answer = receiver.post(content_type, &snappy(&body));
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!((answer.status, text.contains("another version")), (400, true), "{text}");
    }
}

#[test]
fn a_native_histogram_is_an_instance_beside_the_series_of_its_name() {
    let receiver = Receiver::new();
    let labels = LABELS.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let positive = Buckets { offset: -1, counts: vec![2.0, 0.0, 3.0] };
    let histogram = NativeHistogram {
        count: 6.0,
        sum: 12.5,
        scale: 3,
        zero_count: 1.0,
        positive,
        ..NativeHistogram::default()
    };
    let scraped = [ScrapedHistogram { labels, time: 1, histogram }];
    for _ in 0..2 {
        receiver.source.push_scrape(std::iter::empty(), &scraped, (0, None), None);
    }
    assert_eq!(receiver.received("load,job=a\\,b"), (2, true));
    let instance = receiver.dac.registry.instances().pop().unwrap();
    let newest = instance.log.latest().unwrap();
    let batch = oasis_wire::batch::Batch::parse(newest.batch(), &instance.probe_type).unwrap();
    let sample = batch.samples().next_back().unwrap();
    let value =
        serde_json::to_value(oasis_wire::value::to_json(&instance.probe_type, &sample.values)).unwrap();
    let expected = serde_json::json!({ "histogram": {
        "count": 6.0, "sum": 12.5, "scale": 3, "zero_count": 1.0, "zero_threshold": 0.0,
        "positive_offset": -1, "positive_counts": [2.0, 0.0, 3.0], "negative_offset": 0, "negative_counts": [],
    } });
    assert_eq!(value, expected);
    assert_eq!(receiver.source.state()["samples"], 2);
}

#[test]
fn series_that_the_dac_has_sent_itself_are_left_out_and_counted() {
    let receiver = Receiver::new();
    assert_eq!(receiver.write(&first_version(&LABELS, &[(1.0, 1)])).status, 204);
    // Remote write makes the first series of that instance, and a scrape of /metrics the second one.
    let name = "load,job=a\\,b";
    let sent = [("__name__", "load_value"), ("instance", name), ("node", "prometheus-pump:9100")];
    let scraped = [
        ("__name__", "oasis_dac_samples_received_total"),
        ("exported_instance", name),
        ("instance", "dac:7070"),
        ("node", "prometheus-pump:9100"),
    ];
    for (at, labels) in [&sent[..], &scraped].into_iter().enumerate() {
        let answer = receiver.write(&first_version(labels, &[(1.0, 1), (2.0, 2)]));
        assert_eq!(answer.status, 204, "Prometheus has nothing to correct");
        assert_eq!(receiver.source.state()["looped_samples"], 2 * at as u64 + 2);
    }
    let state = receiver.source.state();
    assert_eq!(
        (&state["samples"], &state["refused_samples"], &state["nodes"]),
        (&1.into(), &0.into(), &1.into())
    );
    let warnings = receiver.source.warnings().join("\n");
    assert!(warnings.contains("4 samples") && warnings.contains("write_relabel_configs"), "{warnings}");
    // Another DAC does not know the instance.
    let second = Receiver::new();
    assert_eq!(second.write(&first_version(&sent, &[(1.0, 1)])).status, 204);
    assert_eq!(second.source.state()["samples"], 1);
}

/// Answers what a DAC sends to Prometheus of its instances: a series for each value, and one for the numbers.
fn sent_by(dac: &Dac) -> Vec<u8> {
    let series = dac.registry.instances().into_iter().flat_map(|instance| {
        let value = format!("{}_value", instance.probe_type.name);
        [value, "oasis_sample_sequence".to_owned()].map(|metric| {
            first_version(
                &[("__name__", &metric), ("instance", &instance.name), ("node", &instance.node)],
                &[(1.0, 1)],
            )
        })
    });
    series.collect::<Vec<_>>().concat()
}

#[test]
fn a_loop_through_prometheus_does_not_grow() {
    let alone = Receiver::new();
    alone.write(&first_version(&LABELS, &[(1.0, 1)]));
    for round in 0..5 {
        alone.write(&sent_by(&alone.dac));
        assert_eq!(alone.dac.registry.instances().len(), 1, "round {round}");
    }
    // Two DACs that both send to one Prometheus, which sends all to both.
    let (first, second) = (Receiver::new(), Receiver::new());
    first.write(&first_version(&LABELS, &[(1.0, 1)]));
    let mut counts = Vec::new();
    for _ in 0..8 {
        let all = [sent_by(&first.dac), sent_by(&second.dac)].concat();
        first.write(&all);
        second.write(&all);
        counts.push([&first, &second].map(|one| one.dac.registry.instances().len()));
    }
    assert_eq!(counts[7], counts[4], "{counts:?}");
    assert!(counts[7].iter().all(|count| *count <= 10), "{counts:?}");
}
