use super::*;
use crate::{
    fleet::{
        Fleet, FleetRequest,
        measure::{AlarmsByInstance, Measure},
    },
    test_plant::Plant,
    websocket::registry_of,
};
use oasis_dac::{Config, Dac};
use serde_json::{Value, json};

/// A fleet as its reader knows it.
#[derive(Debug, Default)]
struct Copy {
    reader: FleetReader,
    rows: BTreeMap<u64, Value>,
    names: BTreeMap<u64, String>,
    messages: Vec<Value>,
}

impl Copy {
    /// Takes all messages up to the present round.
    fn read(&mut self, summary: &mut Summary) {
        while self.reader.lags(summary.round()) {
            let piece = summary.next(self.reader).unwrap();
            self.take(&piece);
        }
    }

    fn take(&mut self, piece: &SummaryMessage) {
        self.reader = piece.next;
        let Some(frame) = &piece.frame else { return };
        let text = frame.iter().position(|&byte| byte == b'{').unwrap();
        let message: Value = serde_json::from_slice(&frame[text..]).unwrap();
        if message["reset"] == true {
            (self.rows, self.names) = Default::default();
        }
        let list = |key: &str| message[key].as_array().cloned().unwrap_or_default();
        for gone in list("removed") {
            self.rows.remove(&gone.as_u64().unwrap());
            self.names.remove(&gone.as_u64().unwrap());
        }
        for member in list("members") {
            let name = format!("{}/{}", member[1].as_str().unwrap(), member[2].as_str().unwrap());
            self.names.insert(member[0].as_u64().unwrap(), name);
        }
        for row in list("rows") {
            self.rows.insert(row[0].as_u64().unwrap(), row);
        }
        self.messages.push(message);
    }
}

/// A fleet of a DAC, with its rounds.
struct Rounds {
    fleet: Fleet,
    measure: Measure,
    alarms: AlarmsByInstance,
}

impl Rounds {
    fn of(wanted: Value) -> Self {
        let selection = serde_json::from_value::<FleetRequest>(wanted).unwrap().check().unwrap();
        Self { fleet: Fleet::new(5, selection), measure: Measure::default(), alarms: Default::default() }
    }

    fn run(&mut self, dac: &Dac) {
        self.fleet.run_round(dac, &mut self.measure, &self.alarms);
    }

    fn read(&self, copy: &mut Copy) {
        copy.read(&mut self.fleet.summary());
    }
}

#[test]
fn a_reader_gets_a_picture_in_bounded_messages_and_then_what_changed() {
    let dac = registry_of(300, 10);
    let (mut rounds, mut copy) = (Rounds::of(json!({})), Copy::default());
    assert!(rounds.fleet.summary().next(copy.reader).is_none(), "nothing is known yet");
    rounds.run(&dac);
    rounds.read(&mut copy);
    assert_eq!((copy.rows.len(), copy.names.len()), (3_000, 3_000));
    assert!(copy.messages.iter().all(|message| message["rows"].as_array().unwrap().len() <= MAX_ROWS));
    let [first, .., last] = &copy.messages[..] else { panic!("{} messages", copy.messages.len()) };
    assert_eq!((&first["op"], &first["fleet"], &first["from"]), (&json!("fleet_rows"), &json!(5), &json!(0)));
    assert_eq!((&first["reset"], &first["more"], &last["more"]), (&json!(true), &json!(true), &json!(false)));
    assert_eq!(last["reset"], Value::Null);
    // A round in which nothing changed has no message, but a new reader gets everything.
    rounds.run(&dac);
    let before = copy.messages.len();
    rounds.read(&mut copy);
    assert_eq!(copy.messages.len(), before);
    let mut another = Copy::default();
    rounds.read(&mut another);
    assert_eq!(another.rows.len(), 3_000);
}

#[test]
fn readers_at_one_place_share_the_bytes() {
    let dac = registry_of(3, 2);
    let mut rounds = Rounds::of(json!({}));
    rounds.run(&dac);
    let message = || rounds.fleet.summary().next(FleetReader::default()).unwrap().frame.unwrap();
    assert_eq!(message().as_ptr(), message().as_ptr());
}

#[test]
fn a_fleet_has_the_instances_that_match_and_a_reader_those_that_it_may_see() {
    let dac = registry_of(20, 3);
    let mut rounds = Rounds::of(json!({"nodes": "node-1*", "instances": "*-2"}));
    rounds.run(&dac);
    let mut copy = Copy::default();
    rounds.read(&mut copy);
    assert_eq!(copy.names.len(), 11, "{:?}", copy.names);
    assert!(copy.names.values().all(|name| name.starts_with("node-1") && name.ends_with("-2")));
    let mut partial = Copy::default();
    while let Some(piece) = rounds.fleet.summary().next_visible(partial.reader, |node, _| node == "node-12") {
        partial.take(&piece);
    }
    assert_eq!(partial.names.into_values().collect::<Vec<_>>(), ["node-12/instance-2"]);
}

#[test]
fn members_that_are_gone_are_removed_and_a_reader_that_missed_it_begins_anew() {
    let (many, few) = (registry_of(250, 2), registry_of(3, 2));
    let (mut rounds, mut copy) = (Rounds::of(json!({})), Copy::default());
    rounds.run(&many);
    rounds.read(&mut copy);
    assert_eq!(copy.rows.len(), 500);
    rounds.run(&few);
    rounds.read(&mut copy);
    assert_eq!((copy.rows.len(), copy.names.len()), (6, 6));
    // As if more had been removed than are remembered.
    rounds.run(&many);
    rounds.fleet.summary().forgotten = 3;
    rounds.read(&mut copy);
    assert_eq!(copy.messages.last().unwrap()["from"], 0);
    assert_eq!(copy.rows.len(), 500);
}

#[tokio::test]
async fn a_row_has_the_newest_value_and_says_what_is_missing() {
    let dac = Dac::new(Config::default());
    let mut plant = Plant::connect(&dac);
    let topic = dac.registry.find("plant", "counter").unwrap().topic;
    let mut rounds = Rounds::of(json!({"metrics": ["count", "speed"]}));
    let mut copy = Copy::default();
    rounds.run(&dac);
    rounds.read(&mut copy);
    let id = u64::from(topic.0);
    assert_eq!(copy.rows[&id], json!([id, "online", null, null, 0, 0, 0, 0, null, null]));
    plant.send(topic.0, 10);
    plant.taken += 5;
    plant.send(topic.0, 3);
    rounds.alarms = [("plant".into(), [("counter".into(), [0, 1, 0, 2])].into())].into();
    rounds.run(&dac);
    rounds.read(&mut copy);
    let row = copy.rows[&id].as_array().unwrap();
    assert!(row[3].as_u64().unwrap() < 60_000, "an age in milliseconds: {row:?}");
    assert_eq!(row[4..], [json!(13), json!(0), json!(5), json!([0, 1, 0, 2]), json!(17), Value::Null]);
    assert_eq!(copy.messages.last().unwrap()["members"], Value::Null, "its names are known");
    // Nothing new: no message.
    rounds.run(&dac);
    let before = copy.messages.len();
    rounds.read(&mut copy);
    assert_eq!(copy.messages.len(), before);
}

#[tokio::test]
async fn a_slow_reader_gets_rounds_combined() {
    let dac = Dac::new(Config::default());
    let mut plant = Plant::connect(&dac);
    let topic = dac.registry.find("plant", "counter").unwrap().topic.0;
    let mut rounds = Rounds::of(json!({"metrics": ["count"]}));
    let mut copy = Copy::default();
    rounds.run(&dac);
    rounds.read(&mut copy);
    for _ in 0..3 {
        plant.send(topic, 1);
        rounds.run(&dac);
    }
    let before = copy.messages.len();
    rounds.read(&mut copy);
    assert_eq!(copy.messages.len(), before + 1);
    let last = copy.messages.last().unwrap();
    assert_eq!((&last["from"], &last["round"], &last["rows"][0][8]), (&json!(1), &json!(4), &json!(2)));
}
