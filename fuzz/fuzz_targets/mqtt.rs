//! Any bytes of a broker are packets or refused, and the DAC takes every sample that is made of their messages. As commands they are taken or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_dac::{Config, Dac};
use oasis_mqtt::{MqttConfig, PayloadFormat, Receiver, SubscriptionConfig};
use oasis_mqtt_client::{Inbox, Incoming, Packet, ProtocolVersion};
use oasis_mqtt_publish::{ParsedCommand, wants_births, writes};

fn subscription(topic: &str, format: PayloadFormat, time: &str) -> SubscriptionConfig {
    SubscriptionConfig {
        topic: topic.into(),
        format,
        node: "n-{1}".into(),
        instance: "{topic}".into(),
        type_name: String::new(),
        time: time.into(),
        retained: true,
    }
}

fuzz_target!(|input: &[u8]| {
    // The first byte chooses the version.
    let Some((choice, stream)) = input.split_first() else { return };
    let version = if choice & 1 == 0 { ProtocolVersion::V3 } else { ProtocolVersion::V5 };
    let subscribe = vec![
        subscription("j/#", PayloadFormat::Json, ""),
        subscription("t/#", PayloadFormat::Json, "t"),
        subscription("n/#", PayloadFormat::Number, ""),
        subscription("x/#", PayloadFormat::Text, ""),
    ];
    let sparkplug = SubscriptionConfig {
        format: PayloadFormat::Sparkplug,
        node: "mqtt".into(),
        retained: false,
        ..subscription("spBv1.0/#", PayloadFormat::Json, "")
    };
    let subscribe = [subscribe, vec![sparkplug]].concat();
    let url = "mqtt://localhost".into();
    let config = MqttConfig { url, subscribe, max_nodes: 3, max_series: 20, ..MqttConfig::default() };
    let mut receiver = Receiver::new(&config, Dac::new(Config::default())).expect("settings that work");
    let mut inbox = Inbox::new(version);
    for chunk in stream.chunks(64) {
        inbox.push(chunk);
        while let Ok(Some(incoming)) = inbox.take_next() {
            if let Incoming::Packet(Packet::Publish(publish)) = incoming {
                let _ = (ParsedCommand::parse(publish.payload), wants_births(publish.payload));
                let _ = writes(publish.payload, (1, 2));
                receiver.receive(publish.topic, publish.payload, publish.is_retained, None);
            }
        }
    }
    receiver.flush();
    assert_eq!(receiver.counters().lost_samples, 0, "{:?}", receiver.counters());
});
