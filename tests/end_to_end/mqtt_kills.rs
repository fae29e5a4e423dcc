//! Kills of the DAC beneath publishers: each message is stored once.

use crate::{
    harness::{Oasis, has_program, kills, oasis},
    mqtt::{Broker, MOSQUITTO, config, until, until_subscribed, until_values},
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    io::Write,
    path::Path,
    process::{Child, Stdio},
};

/// Messages of a topic between two kills.
const MESSAGES_PER_ROUND: u64 = 400;

/// A topic, and the publisher of its messages.
struct Publisher {
    topic: String,
    /// The payload of the message of this number.
    payload: fn(u64) -> String,
    child: Child,
}

impl Publisher {
    fn start(broker: &Broker, kind: &str, quality: &str, payload: fn(u64) -> String) -> Self {
        let topic = format!("{kind}/{quality}");
        let mut command = broker.client("mosquitto_pub", &["-q", quality, "-t", &topic, "-l"]);
        let child = command.stdin(Stdio::piped()).spawn().unwrap();
        Self { topic, payload, child }
    }

    fn publish(&mut self, numbers: std::ops::Range<u64>) {
        let lines: String = numbers.map(|number| format!("{}\n", (self.payload)(number))).collect();
        self.child.stdin.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    }

    /// Waits until the broker has all messages.
    fn finish(mut self) -> String {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
        self.topic
    }
}

/// The stored values, by instance, in order.
fn stored(archive: &Path) -> BTreeMap<String, Vec<f64>> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for table in ["plain", "timed"] {
        let query = format!("SELECT instance, value FROM {table}");
        let output = oasis()
            .args(["sql", "--archive"])
            .arg(archive)
            .args(["--format", "jsonl", &query])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let of_instance = values.entry(row["instance"].as_str().unwrap().to_owned()).or_default();
            of_instance.push(row["value"].as_f64().unwrap());
        }
    }
    values.values_mut().for_each(|values| values.sort_by(f64::total_cmp));
    values
}

#[test]
fn each_message_is_stored_once_although_the_dac_is_killed() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    for version in ["3.1.1", "5"] {
        kill_beneath_publishers(version, kills(3).into());
    }
}

fn kill_beneath_publishers(version: &str, rounds: u64) {
    // The broker is not killed: it need not store each change.
    let broker = Broker::start(
        "allow_anonymous true\nmax_queued_messages 0\nmax_inflight_messages 200\nautosave_on_changes false",
    );
    let folder = tempfile::tempdir().unwrap();
    let settings = format!(
        "url = 'mqtt://{}'\nversion = '{version}'\nsubscribe = [\n\
         {{ topic = 'plain/+', format = 'number', type = 'plain' }},\n\
         {{ topic = 'same/+', format = 'number', type = 'plain' }},\n\
         {{ topic = 'timed/+', type = 'timed', time = 't' }},\n\
         {{ topic = 'end', format = 'number', type = 'end' }},\n]\n",
        broker.address
    );
    let arguments = config(folder.path(), &settings);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut dac = Oasis::dac(&arguments);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    until_subscribed(&dac);
    let mut publishers = Vec::new();
    for quality in ["1", "2"] {
        let timed = |number| format!("{{\"t\": {}, \"value\": {number}}}", 1_764_424_800_000 + number);
        publishers.push(Publisher::start(&broker, "plain", quality, |number| number.to_string()));
        publishers.push(Publisher::start(&broker, "same", quality, |_| "7".into()));
        publishers.push(Publisher::start(&broker, "timed", quality, timed));
    }
    let mut repeated = 0;
    for round in 0..rounds {
        let numbers = round * MESSAGES_PER_ROUND..(round + 1) * MESSAGES_PER_ROUND;
        publishers.iter_mut().for_each(|publisher| publisher.publish(numbers.clone()));
        let some = 1 + round * 211 % 1_500;
        let state = until(&dac, "some messages", |state| state["messages"].as_u64() >= Some(some));
        dac.kill();
        repeated += state["repeated_messages"].as_u64().unwrap();
        dac = Oasis::dac_at(&listen, &channel, &arguments);
    }
    let topics: Vec<_> = publishers.into_iter().map(Publisher::finish).collect();
    broker.publish("end", "1\n", &[]);
    until_values(&dac, "mqtt", "end", &[1.0]);
    let state = until(&dac, "the state", |state| state["refused_messages"] == 0);
    repeated += state["repeated_messages"].as_u64().unwrap();
    assert!(dac.stop().success(), "it stores what it has received");

    let stored = stored(&folder.path().join("archive"));
    for topic in topics {
        let count = rounds * MESSAGES_PER_ROUND;
        let expected: Vec<f64> = match topic.starts_with("same") {
            true => (0..count).map(|_| 7.0).collect(),
            false => (0..count).map(|number| number as f64).collect(),
        };
        let found = &stored[&topic];
        assert!(*found == expected, "{topic}: {} messages, {} samples", expected.len(), found.len());
    }
    println!(
        "{version}: {rounds} kills, {} messages, {repeated} sent again and stored once",
        rounds * 6 * MESSAGES_PER_ROUND
    );
}
