//! Tests of messages to a broker, without sockets: the packets of the session are read back.

use crate::{
    MqttPublishConfig, feed::Archive, outlet::Outlet, positions::Positions,
    publisher_state::SharedPublisherState, topics::Following, wake_socket::WakeSocket,
};
use oasis_dac::{Config, Dac, Wake, config::LogConfig};
use oasis_format::columns::Cell;
use oasis_mqtt_client::{
    Inbox, Incoming, Login, Packet, ProtocolVersion, Session, SessionOptions,
    sparkplug::{Metrics, RawValue},
};
use oasis_source_node::{SourceLimits, SourceNodes, SourceSample};
use serde_json::Value;
use std::{path::Path, sync::Arc, time::Instant};
use tokio::runtime::{Builder, Runtime};

const TIME: u64 = 1_764_424_800_000_000_000;

/// A DAC, and a broker that reads what is published.
struct Plant {
    dac: Arc<Dac>,
    nodes: SourceNodes,
    next_time: u64,
}

struct Publishing {
    config: MqttPublishConfig,
    outlet: Outlet,
    state: SharedPublisherState,
    wake: Arc<dyn Wake>,
    runtime: Runtime,
}

/// A message: topic, bytes, and identifier.
type Message = (String, Vec<u8>, Option<u16>);

impl Plant {
    fn new(log: LogConfig) -> Self {
        let dac = Dac::new(Config { log, ..Config::default() });
        let nodes = SourceNodes::new(dac.clone(), "a test", SourceLimits::default());
        Self { dac, nodes, next_time: TIME }
    }

    fn push(&mut self, instance: &str, level: f64) {
        self.next_time += 1_000_000;
        let fields = [("level".into(), Cell::Real(level))];
        let (node, type_name, time) = ("plant", "Tank", self.next_time);
        self.nodes.push(&SourceSample { node, instance, type_name, time, fields: &fields }).unwrap();
        assert_eq!(self.nodes.flush().count, 0);
    }
}

impl Publishing {
    fn new(settings: &str, directory: &Path) -> Self {
        let config: MqttPublishConfig = serde_json::from_str(settings).unwrap();
        let directory = directory.display().to_string();
        let config = MqttPublishConfig { url: "mqtt://localhost".into(), directory, ..config };
        let options =
            SessionOptions { version: ProtocolVersion::V5, is_clean: true, ..SessionOptions::default() };
        let session = Session::new(options, Instant::now());
        let positions = Positions::open(&config.directory, config.max_instances).unwrap();
        let state = SharedPublisherState::default();
        let outlet = Outlet::new(&config, session, positions, state.clone());
        let wake = Arc::new(WakeSocket::new().unwrap());
        Self { config, outlet, state, wake, runtime: Builder::new_current_thread().build().unwrap() }
    }

    /// Begins a connection with a broker that takes this many messages before it acknowledges them.
    fn connect(&mut self, dac: &Dac, receive_maximum: u8) -> Vec<Message> {
        self.follow(dac);
        let will = self.outlet.begin();
        let login = Login { client_id: "a", user: None, password: None, keep_alive: 30, will: will.as_ref() };
        self.outlet.session.begin(&login, Instant::now());
        self.outlet.session.take_output();
        self.outlet.session.push(&[0x20, 6, 0, 0, 3, 0x21, 0, receive_maximum]);
        while self.outlet.session.take_next().unwrap().is_some() {}
        self.outlet.publish_birth();
        self.publish(dac)
    }

    fn follow(&mut self, dac: &Dac) {
        let checked = self.config.checked().unwrap();
        let config = &self.config;
        let Outlet { topics, positions, .. } = &mut self.outlet;
        let (wake, name) = (&self.wake, &|instance: &_| Outlet::name(config, &checked, instance));
        topics.follow(&Following { dac, config, positions, archive: None, wake, name });
    }

    /// Publishes until nothing more can be published.
    fn publish(&mut self, dac: &Dac) -> Vec<Message> {
        self.follow(dac);
        self.outlet.publish_devices(dac);
        while self.outlet.publish_items(&Archive { stored: None, runtime: &self.runtime }) {}
        let mut inbox = Inbox::new(ProtocolVersion::V5);
        inbox.push(&self.outlet.session.take_output());
        let mut messages = Vec::new();
        while let Some(incoming) = inbox.take_next().unwrap() {
            let Incoming::Packet(Packet::Publish(publish)) = incoming else { panic!("{incoming:?}") };
            messages.push((publish.topic.to_owned(), publish.payload.to_vec(), publish.id));
        }
        messages
    }

    /// Acknowledges messages, and publishes what follows.
    fn acknowledge(&mut self, dac: &Dac, messages: &[Message], code: u8) -> Vec<Message> {
        for id in messages.iter().filter_map(|(.., id)| *id) {
            self.outlet.on_published(id, code);
            let [high, low] = id.to_be_bytes();
            self.outlet.session.push(&[0x40, 3, high, low, code]);
        }
        while self.outlet.session.take_next().unwrap().is_some() {}
        self.publish(dac)
    }
}

fn levels(messages: &[Message]) -> Vec<f64> {
    let values = messages.iter().map(|(_, payload, _)| serde_json::from_slice::<Value>(payload).unwrap());
    values.filter_map(|value| value["metrics"]["level"].as_f64()).collect()
}

fn gaps(messages: &[Message]) -> Vec<String> {
    let gaps = messages.iter().filter(|(topic, ..)| topic == "oasis/missing");
    let values = gaps.map(|(_, payload, _)| serde_json::from_slice::<Value>(payload).unwrap());
    let shown = |gap: Value| {
        format!("{}-{} {}", gap["from_sequence"], gap["to_sequence"], gap["cause"].as_str().unwrap())
    };
    values.map(shown).collect()
}

#[test]
fn each_sample_is_a_message_with_its_numbers_and_is_published_once_it_is_acknowledged() {
    let (mut plant, folder) = (Plant::new(LogConfig::default()), tempfile::tempdir().unwrap());
    let mut publishing = Publishing::new(r#"{"units": true}"#, folder.path());
    (0..5).for_each(|level| plant.push("tank/a", level.into()));
    let first = publishing.connect(&plant.dac, 2);
    assert_eq!(levels(&first), [0.0, 1.0], "the broker takes two at once");
    let (topic, payload, _) = &first[0];
    let message: Value = serde_json::from_slice(payload).unwrap();
    assert_eq!(topic, "oasis/plant/tank%2Fa");
    assert_eq!(
        (&message["sequence"], &message["time"]),
        (&1.into(), &(TIME + 1_000_000).into()),
        "{message}"
    );
    assert_eq!((&message["node"], &message["type"]), (&"plant".into(), &"Tank".into()));
    assert!(message["run"].is_string() && message["units"].is_object(), "{message}");
    assert_eq!(publishing.state.lock().published_samples, 0);
    let second = publishing.acknowledge(&plant.dac, &first, 0);
    assert_eq!((levels(&second), publishing.state.lock().published_samples), (vec![2.0, 3.0], 2));

    // A broken connection: what is not acknowledged is published again.
    let third = publishing.connect(&plant.dac, 9);
    assert_eq!((levels(&third), gaps(&third)), (vec![2.0, 3.0, 4.0], vec![]));
    assert_eq!(publishing.state.lock().repeated_samples, 2);
    assert!(publishing.acknowledge(&plant.dac, &third, 0).is_empty());
    assert_eq!(publishing.state.lock().published_samples, 5);
}

#[test]
fn what_the_log_evicts_while_the_broker_is_away_is_declared_with_its_numbers() {
    let log = LogConfig { topic_bytes: 4_096, ..LogConfig::default() };
    let (mut plant, folder) = (Plant::new(log), tempfile::tempdir().unwrap());
    let mut publishing = Publishing::new("{}", folder.path());
    plant.push("tank", 0.0);
    let first = publishing.connect(&plant.dac, 200);
    publishing.acknowledge(&plant.dac, &first, 0);
    (1..200).for_each(|level| plant.push("tank", level.into()));
    let second = publishing.connect(&plant.dac, 255);
    let levels = levels(&second);
    let oldest = levels[0] as u64;
    assert!(oldest > 1 && levels.last() == Some(&199.0) && levels.len() as u64 == 200 - oldest, "{levels:?}");
    assert_eq!(gaps(&second), [format!("2-{oldest} log_retention")]);
    assert_eq!(publishing.state.lock().missing_samples["log_retention"], oldest - 1);
}

#[test]
fn samples_from_before_the_first_connection_are_published_or_declared() {
    let log = LogConfig { topic_bytes: 4_096, ..LogConfig::default() };
    let (mut plant, folder) = (Plant::new(log), tempfile::tempdir().unwrap());
    (0..200).for_each(|level| plant.push("tank", level.into()));
    let messages = Publishing::new("{}", folder.path()).connect(&plant.dac, 255);
    let levels = levels(&messages);
    assert!(levels[0] > 0.0 && levels.last() == Some(&199.0), "{levels:?}");
    let gap = messages.iter().find(|(topic, ..)| topic == "oasis/missing").unwrap();
    let gap: Value = serde_json::from_slice(&gap.1).unwrap();
    assert_eq!(
        (&gap["samples"], &gap["cause"]),
        (&(levels[0] as u64).into(), &"log_retention".into()),
        "{gap}"
    );
}

#[test]
fn the_next_run_of_the_handler_continues_after_what_was_acknowledged() {
    let (mut plant, folder) = (Plant::new(LogConfig::default()), tempfile::tempdir().unwrap());
    (0..3).for_each(|level| plant.push("tank", level.into()));
    let mut first = Publishing::new("{}", folder.path());
    let messages = first.connect(&plant.dac, 9);
    first.acknowledge(&plant.dac, &messages[..2], 0);
    first.outlet.positions.save().unwrap();
    let mut second = Publishing::new("{}", folder.path());
    let messages = second.connect(&plant.dac, 9);
    assert_eq!((levels(&messages), gaps(&messages)), (vec![2.0], vec![]));
}

#[test]
fn the_declaration_of_a_refused_sample_is_published_again_after_a_broken_connection() {
    let (mut plant, folder) = (Plant::new(LogConfig::default()), tempfile::tempdir().unwrap());
    let mut publishing = Publishing::new("{}", folder.path());
    plant.push("tank", 1.0);
    let messages = publishing.connect(&plant.dac, 9);
    let declared = publishing.acknowledge(&plant.dac, &messages, 0x87);
    assert_eq!(gaps(&declared), ["1-1 copy_refused"]);
    let again = publishing.connect(&plant.dac, 9);
    assert_eq!((levels(&again), gaps(&again)), (vec![], vec!["1-1 copy_refused".into()]));
    publishing.acknowledge(&plant.dac, &again, 0);
    assert!(publishing.connect(&plant.dac, 9).is_empty());
}

#[test]
fn a_sample_that_is_refused_or_too_long_is_declared() {
    let (mut plant, folder) = (Plant::new(LogConfig::default()), tempfile::tempdir().unwrap());
    let mut publishing = Publishing::new(r#"{"max_message_bytes": 1024}"#, folder.path());
    (0..3).for_each(|level| plant.push("tank", level.into()));
    plant.push(&"x".repeat(900), 7.0);
    let messages = publishing.connect(&plant.dac, 9);
    let declared = publishing.acknowledge(&plant.dac, &messages, 0x87);
    let mut all = gaps(&[messages, declared].concat());
    all.sort();
    assert_eq!(all, ["1-1 copy_refused", "1-3 copy_refused"]);
    let state = publishing.state.lock();
    assert_eq!((state.published_samples, state.refused_samples), (0, 4));
    assert!(state.newest_refusal.as_deref().unwrap().contains("135"), "{state:?}");
}

fn value<'m>(metrics: &Metrics<'m>, name: &str) -> Option<RawValue<'m>> {
    metrics.metrics.iter().find(|metric| metric.name == Some(name)).map(|metric| metric.value)
}

#[test]
fn an_edge_node_is_born_with_its_devices_and_its_messages_are_numbered() {
    let (mut plant, folder) = (Plant::new(LogConfig::default()), tempfile::tempdir().unwrap());
    plant.push("tank", 1.5);
    let mut publishing = Publishing::new(r#"{"format": "sparkplug"}"#, folder.path());
    let messages = publishing.connect(&plant.dac, 9);
    let topics: Vec<&str> = messages.iter().map(|(topic, ..)| &**topic).collect();
    let device = "oasis/plant:tank";
    let expected = [
        "spBv1.0/oasis/NBIRTH/oasis",
        &format!("spBv1.0/oasis/DBIRTH/{device}"),
        &format!("spBv1.0/oasis/DDATA/{device}"),
    ];
    assert_eq!(topics, expected);
    let [node, birth, data] = [0, 1, 2].map(|at| Metrics::parse(&messages[at].1).unwrap());
    assert_eq!([node.sequence, birth.sequence, data.sequence], [Some(0), Some(1), Some(2)]);
    assert_eq!(
        (node.integer("bdSeq"), value(&node, "Node Control/Rebirth")),
        (Some(1), Some(RawValue::Boolean(false)))
    );
    assert_eq!(value(&birth, "level"), Some(RawValue::Real(1.5)));
    assert_eq!(value(&birth, "oasis/sequence"), Some(RawValue::Integer(1)));
    assert_eq!(value(&birth, "Device Control/enabled"), Some(RawValue::Boolean(true)));
    let alias = |name: &str| birth.metrics.iter().find(|metric| metric.name == Some(name)).unwrap().alias;
    let of_data = |name: &str| data.metrics.iter().find(|metric| metric.alias == alias(name)).unwrap().value;
    assert_eq!(of_data("level"), RawValue::Real(1.5));
    assert_eq!(of_data("oasis/time"), RawValue::Integer(TIME + 1_000_000));
    assert!(data.metrics.iter().all(|metric| metric.is_historical), "it came before the connection");

    plant.push("tank", 2.5);
    let live = publishing.acknowledge(&plant.dac, &messages, 0);
    let data = Metrics::parse(&live[0].1).unwrap();
    assert!(data.metrics.iter().all(|metric| !metric.is_historical) && data.sequence == Some(3), "{data:?}");

    // The node leaves once its last sample is published, and comes again.
    plant.nodes.disconnect("plant");
    assert!(publishing.publish(&plant.dac).is_empty(), "a sample is not acknowledged");
    let death = publishing.acknowledge(&plant.dac, &live, 0);
    assert_eq!(death[0].0, format!("spBv1.0/oasis/DDEATH/{device}"));
    plant.push("tank", 3.5);
    let again = publishing.publish(&plant.dac);
    assert!(again[0].0.contains("/DBIRTH/") && again[1].0.contains("/DDATA/"), "{again:?}");
    let next = publishing.connect(&plant.dac, 9);
    let (node, data) = (Metrics::parse(&next[0].1).unwrap(), Metrics::parse(&next[2].1).unwrap());
    assert_eq!((node.integer("bdSeq"), node.sequence, data.sequence), (Some(2), Some(0), Some(2)));
}

#[test]
fn sequence_numbers_of_an_edge_node_wrap_and_gaps_are_metrics() {
    let log = LogConfig { topic_bytes: 4_096, ..LogConfig::default() };
    let (mut plant, folder) = (Plant::new(log), tempfile::tempdir().unwrap());
    let mut publishing = Publishing::new(r#"{"format": "sparkplug", "qos": 0}"#, folder.path());
    plant.push("tank", 0.0);
    publishing.connect(&plant.dac, 9);
    let mut sequence = 3_u8;
    for level in 1..300 {
        plant.push("tank", level.into());
        for (_, payload, _) in publishing.publish(&plant.dac) {
            assert_eq!(Metrics::parse(&payload).unwrap().sequence, Some(sequence));
            sequence = sequence.wrapping_add(1);
        }
    }
    (0..200).for_each(|level| plant.push("tank", level.into()));
    let missing = publishing.publish(&plant.dac);
    let gap = Metrics::parse(&missing[0].1).unwrap();
    let causes = gap.metrics.iter().filter(|metric| metric.value == RawValue::Text("log_retention"));
    assert_eq!(causes.count(), 1, "{gap:?}");
}

#[test]
fn a_type_with_more_metrics_than_a_device_can_have_is_refused() {
    let (mut plant, folder) = (Plant::new(LogConfig::default()), tempfile::tempdir().unwrap());
    let mut publishing = Publishing::new(r#"{"format": "sparkplug"}"#, folder.path());
    let fields: Vec<_> = (0..995).map(|at| (format!("m{at}").into(), Cell::Real(1.0))).collect();
    let sample =
        SourceSample { node: "plant", instance: "wide", type_name: "Wide", time: TIME, fields: &fields };
    plant.nodes.push(&sample).unwrap();
    plant.nodes.flush();
    let messages = publishing.connect(&plant.dac, 9);
    assert_eq!(messages.len(), 1, "the birth of the edge node");
    assert_eq!(publishing.state.lock().refused_samples, 1);
}
