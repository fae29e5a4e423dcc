use crate::{Delivery, MqttConfig, PayloadFormat, Receiver, SubscriptionConfig};
use oasis_dac::{Config, Dac, Instance};
use std::sync::Arc;
use uuid::Uuid;

fn subscription(topic: &str, format: PayloadFormat) -> SubscriptionConfig {
    SubscriptionConfig {
        topic: topic.into(),
        format,
        node: "plant-{1}".into(),
        instance: "{topic}".into(),
        type_name: String::new(),
        time: String::new(),
        retained: false,
    }
}

fn receiver(dac: &Arc<Dac>, subscribe: Vec<SubscriptionConfig>) -> Receiver {
    let url = "mqtt://localhost".into();
    let config = MqttConfig { url, subscribe, max_series: 2, ..MqttConfig::default() };
    Receiver::new(&config, dac.clone()).unwrap()
}

fn instance(dac: &Dac, name: &str) -> Arc<Instance> {
    let mut all = dac.registry.instances().into_iter().filter(|instance| &*instance.name == name);
    all.next().unwrap()
}

#[test]
fn messages_become_samples_of_the_node_that_a_wildcard_names() {
    let dac = Dac::new(Config::default());
    let subscribe = vec![
        subscription("plant/+/temperature", PayloadFormat::Number),
        subscription("plant/+/state", PayloadFormat::Json),
    ];
    let mut receiver = receiver(&dac, subscribe);
    receiver.receive("plant/a*/temperature", b"21", false, None);
    receiver.receive("plant/a*/temperature", b"21.5", false, None);
    receiver.receive("plant/a*/state", br#"{"on": true}"#, false, None);
    receiver.flush();
    let temperature = instance(&dac, "plant/a*/temperature");
    assert_eq!(temperature.probe_type.name, "temperature");
    assert_eq!(temperature.ledger().last_sequence, 2);
    assert_eq!(instance(&dac, "plant/a*/state").probe_type.metrics[0].name, "on");
    let counters = receiver.counters();
    assert_eq!((counters.samples, counters.nodes, counters.series), (3, 1, 2));
    assert!(dac.registry.nodes().iter().any(|node| &*node.identity.name == "plant-a%2A"));
}

#[test]
fn refused_messages_are_counted_with_a_reason() {
    let dac = Dac::new(Config::default());
    let mut receiver = receiver(&dac, vec![subscription("plant/+", PayloadFormat::Json)]);
    receiver.receive("other", b"1", false, None);
    receiver.receive("plant/a", b"{", false, None);
    receiver.receive("plant/a", b"1", true, None);
    for topic in ["plant/a", "plant/b", "plant/c"] {
        receiver.receive(topic, b"1", false, None);
    }
    receiver.flush();
    let counters = receiver.counters();
    assert_eq!((counters.samples, counters.refused_messages, counters.retained_messages), (2, 3, 1));
    let newest = counters.newest_refusal.as_deref().unwrap();
    assert!(newest.contains("plant/c") && newest.contains("max_series"), "{newest}");
}

#[test]
fn a_message_whose_values_clash_is_refused_with_their_name() {
    let dac = Dac::new(Config::default());
    let mut receiver = receiver(&dac, vec![subscription("plant/+", PayloadFormat::Json)]);
    for (message, member) in [
        (r#"{"a.b": 3, "a": {"b": 4}}"#, r#"the name "a.b""#),
        (r#"{"x": 1, "x": 2}"#, r#"the member "x" occurs twice"#),
        (r#"{"ok": 1, "x": 1e400}"#, r#"the member "x": number out of range"#),
    ] {
        receiver.receive("plant/a", message.as_bytes(), false, None);
        let newest = receiver.counters().newest_refusal.clone().unwrap();
        assert!(newest.starts_with("\"plant/a\": ") && newest.contains(member), "{newest}");
    }
    receiver.flush();
    assert_eq!((receiver.counters().samples, receiver.counters().refused_messages), (0, 3));
    assert!(dac.registry.instances().is_empty());
}

#[test]
fn a_message_that_comes_again_after_a_restart_is_taken_once() {
    let folder = tempfile::tempdir().unwrap();
    let start = |dac: &Arc<Dac>| {
        let directory = folder.path().to_str().unwrap().into();
        let subscribe = vec![subscription("plant/+", PayloadFormat::Number)];
        let config =
            MqttConfig { url: "mqtt://localhost".into(), subscribe, directory, ..MqttConfig::default() };
        Receiver::new(&config, dac.clone()).unwrap()
    };
    // All messages have the same bytes, and no time.
    let taken = |dac: &Arc<Dac>, ids: &[u16], is_repeated| {
        let mut receiver = start(dac);
        for id in ids {
            let delivery = Delivery { id: *id, digest: Uuid::from_u128(7), is_repeated };
            receiver.receive("plant/a", b"1", false, Some(delivery));
        }
        receiver.flush();
        let counters = receiver.counters();
        (counters.samples, counters.repeated_messages)
    };
    let dac = Dac::new(Config::default());
    assert_eq!(taken(&dac, &[1, 2, 3], false), (3, 0));
    assert_eq!(taken(&dac, &[2, 3, 4], true), (1, 2), "4 never came before");
    assert_eq!(taken(&dac, &[2, 3, 4], true), (0, 3), "nor is it taken twice");
    assert_eq!(taken(&dac, &[2, 3], false), (2, 0), "identifiers of other messages");
    let without_samples = Dac::new(Config::default());
    assert_eq!(taken(&without_samples, &[2, 3, 4], true), (3, 0), "they were lost before they were stored");
}
