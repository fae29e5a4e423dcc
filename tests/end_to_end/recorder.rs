//! The flight recorder: a real DAC, and a node in this process that sends only samples around a trigger.

use crate::harness::{Oasis, causes, instance, ledger, post};
use oasis_probe::{
    FlightRecorder, Node, NodeBuilder, NodeConfig, PushedKind, RowProbe, TcpConnector, now_ns,
};
use oasis_wire::schema::ProbeType;
use serde_json::json;
use std::time::Duration;

/// A node `plant` with two probes of one metric: `oven` has a recorder with room for three samples, which sends when it is above 90; `hob` has none.
fn node(dac: &Oasis) -> (Node, RowProbe) {
    let oven: ProbeType = serde_json::from_value(json!({
        "name": "Plant::Oven", "uuid": "6f2c7d0a-2b1e-4c55-9a1e-5f0c3b7d9e23", "version": "1.0",
        "metrics": [{ "name": "temperature", "type": "real64" }]
    }))
    .unwrap();
    let mut builder = NodeBuilder::new("plant", NodeConfig::default());
    let probe = builder.pushed_rows("oven", oven.clone(), PushedKind::Pushed, 4096).unwrap();
    builder.pushed_rows("hob", oven, PushedKind::Pushed, 4096).unwrap();
    let recorder = FlightRecorder {
        before: Duration::from_secs(600),
        after: Duration::ZERO,
        bytes: 3 * (8 + 32),
        triggers: vec!["temperature > 90".parse().unwrap()],
    };
    builder.record("oven", &recorder).unwrap();
    (builder.start(TcpConnector::new(dac.channel())).unwrap(), probe)
}

#[test]
fn only_samples_around_a_trigger_are_sent_and_the_rest_is_accounted_for() {
    let dac = Oasis::dac(&[]);
    let (_node, mut oven) = node(&dac);
    let mut push = |temperatures: &[f64]| {
        temperatures
            .iter()
            .for_each(|&temperature| assert!(oven.flush_at(now_ns(), |row| row.f64(temperature))));
    };
    push(&[20.0; 10]);
    push(&[95.0, 95.0]);
    let crossed =
        ledger(&dac, "plant", "oven", "what lies around the crossing", |ledger| ledger["received"] == 4);
    assert_eq!((&crossed["first_sequence"], &crossed["last_sequence"]), (&json!(8), &json!(11)));
    assert_eq!(causes(&crossed), ["kept_back"]);
    assert_eq!((&crossed["missing"], &crossed["unexplained"]), (&json!(7), &json!(0)));

    push(&[20.0; 5]);
    let trigger = |instance: &str| {
        post(
            &dac,
            "/api/v1/commands",
            &json!({ "node": "plant", "instance": instance, "command": "trigger" }),
        )
    };
    assert_eq!(trigger("oven").0, 200);
    let triggered =
        ledger(&dac, "plant", "oven", "what lies before the command", |ledger| ledger["received"] == 7);
    // The last three of 12 to 17, 12 being the second one above the limit.
    assert_eq!((&triggered["last_sequence"], &triggered["missing"]), (&json!(17), &json!(10)));
    assert_eq!(causes(&triggered), ["kept_back", "kept_back"]);

    assert_eq!(
        instance(&dac, "plant", "oven").unwrap()["recorder"],
        json!({ "before_s": 600.0, "after_s": 0.0 })
    );
    let (status, refusal) = trigger("hob");
    assert_eq!(status, 409);
    assert!(refusal["detail"].as_str().unwrap().contains("flight recorder"), "{refusal}");
}
