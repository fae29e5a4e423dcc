//! Rules over samples that come to a DAC.

use crate::common::{MS, Plant, Pumps, pump, wait};
use oasis_alarms::{Checkpoint, CheckpointKey, Limits, Position as AlarmPosition, Round};
use oasis_dac::{Delivery, Instance, now};
use oasis_handler::{Handler, InstanceLog};
use oasis_history::{HistoryPart, Reader, Start};
use oasis_rules::{FileState, Standing};
use oasis_rules_handler::{RoundBounds, RulesConfig};
use oasis_wire::{
    batch::Batch,
    quantity::{Epoch, Offset, Position},
    value::Value,
};
use std::sync::Arc;

const HOT: &str = "input p = \"*/pump\" : Pump;\nalarm Hot { raise p.temperature > 95; clear p.temperature < 90; severity high; }\n";

#[test]
fn an_alarm_is_raised_and_cleared_by_samples() {
    let plant = Plant::new(HOT);
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump", "other"]);
    pumps.send("pump", &[20.0, 96.5]);
    let alarm = plant.wait_for_standing("Hot", Standing::Active);
    assert_eq!((alarm.key.node.as_str(), alarm.key.instance.as_str()), ("north", "pump"));
    assert_eq!((alarm.value, alarm.limit, alarm.sequence), (Some(96.5), Some(95.0), Some(2)));
    pumps.send("other", &[200.0]);
    pumps.send("pump", &[92.0, 89.0]);
    plant.wait_for_standing("Hot", Standing::Normal);
    let journal = plant.journal();
    let expected = [("Hot".into(), "raised".into(), Some(2)), ("Hot".into(), "cleared".into(), Some(4))];
    assert_eq!(journal, expected);
    assert_eq!(plant.rules.problem(), None);
}

#[test]
fn a_rule_waits_for_its_type_and_new_instances_join() {
    let plant = Plant::new(HOT);
    wait("the look at the files", || plant.rules.rules_state().loaded().files.first().cloned());
    let loaded = plant.rules.rules_state().loaded();
    assert_eq!((loaded.files[0].state, loaded.rules.len()), (FileState::Loaded, 0), "{loaded:?}");
    let mut north = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    north.send("pump", &[99.0]);
    plant.wait_for("Hot", |alarm| alarm.key.node == "north");
    let mut south = Pumps::new(&plant.dac, "south", 2, &["pump"]);
    south.send("pump", &[99.0]);
    plant.wait_for("Hot", |alarm| alarm.key.node == "south");
    let rules = plant.rules.rules_state().loaded().rules;
    assert_eq!(rules.iter().find(|rule| rule.name == "Hot").unwrap().instances, 2);
}

#[test]
fn silence_is_noticed_without_samples_and_says_why() {
    let text = format!("{HOT} alarm Gone {{ raise silent(p) for 300ms; }}");
    let plant = Plant::new(&text);
    let mut stopped = Pumps::new(&plant.dac, "stopped", 1, &["pump"]);
    let mut offline = Pumps::new(&plant.dac, "offline", 2, &["pump"]);
    stopped.send("pump", &[1.0]);
    offline.send("pump", &[1.0]);
    offline.leave();
    let cause = |node: &str| {
        plant.wait_for("Gone", |alarm| alarm.key.node == node && alarm.state == Standing::Active).cause
    };
    assert_eq!(cause("stopped").as_deref(), Some("stopped"));
    assert_eq!(cause("offline").as_deref(), Some("offline"));
    stopped.send("pump", &[1.0]);
    plant.wait_for("Gone", |alarm| alarm.key.node == "stopped" && alarm.state == Standing::Normal);
}

#[test]
fn a_gap_is_unknown_and_says_why() {
    let plant = Plant::new(HOT);
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    pumps.send("pump", &[99.0]);
    plant.wait_for_standing("Hot", Standing::Active);
    pumps.lose("pump", 3);
    pumps.send("pump", &[f64::NAN]);
    let alarm = plant.wait_for("Hot", |alarm| !alarm.is_known);
    assert_eq!(alarm.state, Standing::Active, "unknown does not change the state");
    assert_eq!(alarm.cause.as_deref(), Some("unexplained"));
}

#[test]
fn a_reload_keeps_the_states_of_rules_that_did_not_change() {
    let often = "input p = \"*/pump\" : Pump; alarm Often { raise count(p.temperature > 95, last 3) >= 3; }";
    let plant = Plant::new(often);
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    pumps.send("pump", &[99.0, 99.0]);
    plant.wait_for_samples(2);
    plant.write_rules(&format!("{often} alarm New {{ raise p.temperature > 10; }}"));
    wait("the new rule", || {
        plant.rules.rules_state().loaded().rules.iter().any(|rule| rule.name == "New").then_some(())
    });
    pumps.send("pump", &[99.0]);
    plant.wait_for_standing("Often", Standing::Active);
    assert_eq!(plant.wait_for_standing("New", Standing::Active).sequence, Some(3));

    // One with errors changes nothing.
    plant.write_rules("input p = \"*/pump\" : Pump; alarm Often { raise p.temprature > 1; }");
    wait("the refusal", || {
        plant.rules.warnings().first().cloned().filter(|warning| warning.contains("a.rules:1"))
    });
    pumps.send("pump", &[1.0, 1.0]);
    plant.wait_for_standing("Often", Standing::Normal);

    // The alarms of a rule that is gone end.
    plant.write_rules(&format!("{often} alarm New {{ raise p.temperature > 0; }}"));
    pumps.send("pump", &[5.0]);
    plant.wait_for_standing("New", Standing::Active);
    plant.write_rules(often);
    wait("the end of the alarm", || {
        plant
            .journal()
            .iter()
            .any(|(rule, kind, _)| (rule.as_str(), kind.as_str()) == ("New", "rule_removed"))
            .then_some(())
    });
}

#[test]
fn a_rule_that_is_added_does_not_begin_where_another_one_has_ended() {
    let warm = "input p = \"*/pump\" : Pump; alarm Warm { raise p.temperature > 50; }";
    let plant = Plant::without_limits(HOT);
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump", "other"]);
    pumps.send("pump", &[99.0]);
    plant.wait_for_standing("Hot", Standing::Active);
    // The pump has no reader any longer.
    plant.write_rules("input p = \"*/other\" : Pump; alarm Hot { raise p.temperature > 95; }");
    let rules = || plant.rules.rules_state().loaded().rules;
    wait("the other input", || rules().iter().any(|rule| rule.inputs == ["*/other"]).then_some(()));
    pumps.send("pump", &[99.0, 20.0]);
    plant.write_rules(warm);
    wait("the new rule", || {
        rules().iter().find(|rule| rule.name == "Warm" && rule.instances == 1).map(|_| ())
    });
    pumps.send("pump", &[99.0]);
    assert_eq!(plant.wait_for_standing("Warm", Standing::Active).sequence, Some(4));
    assert_eq!(plant.journal().iter().filter(|(rule, ..)| rule == "Warm").count(), 1);
}

#[test]
fn an_alarm_of_a_changed_rule_is_cleared_by_the_new_one() {
    let plant = Plant::new(HOT);
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    pumps.send("pump", &[99.0]);
    plant.wait_for_standing("Hot", Standing::Active);
    plant.write_rules(&HOT.replace("< 90", "< 50").replace("severity high", "severity low"));
    wait("the new text", || {
        let rules = plant.rules.rules_state().loaded().rules;
        let severity = rules.into_iter().find(|rule| rule.name == "Hot").unwrap().severity;
        (severity == Some(oasis_rules::program::Severity::Low)).then_some(())
    });
    pumps.send("pump", &[60.0, 40.0]);
    assert_eq!(plant.wait_for_standing("Hot", Standing::Normal).sequence, Some(3));
}

#[test]
fn states_outlive_the_handler() {
    let plant = Plant::new(
        "input p = \"*/pump\" : Pump; alarm Often { raise count(p.temperature > 95, last 3) >= 3; }",
    );
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    pumps.send("pump", &[99.0]);
    plant.wait_for_samples(1);
    plant.stop();
    pumps.send("pump", &[99.0]);
    plant.start();
    pumps.send("pump", &[99.0]);
    let alarm = plant.wait_for_standing("Often", Standing::Active);
    assert_eq!(alarm.sequence, Some(3));
}

#[test]
fn limits_of_pdl_are_alarms_and_another_version_binds_anew() {
    let plant = Plant::new(HOT);
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    pumps.send("pump", &[201.0]);
    let alarm = plant.wait_for("Pump.temperature high", |alarm| alarm.state == Standing::Active);
    assert_eq!(alarm.limit, Some(200.0));
    plant.wait_for_standing("Hot", Standing::Active);
    // A later version has the metric at another place.
    let mut json = serde_json::to_value(pump()).unwrap();
    let first = serde_json::json!({"name": "speed", "type": "real64"});
    json["metrics"].as_array_mut().unwrap().insert(0, first);
    json["version"] = "2.0".into();
    let second = serde_json::from_value(json).unwrap();
    pumps.leave();
    let mut pumps = Pumps::of_type(&plant.dac, "north", 2, &["pump"], second);
    pumps.send_rows("pump", &[&[300.0, 20.0]]);
    plant.wait_for_standing("Hot", Standing::Normal);
    plant.wait_for_standing("Pump.temperature high", Standing::Normal);
}

#[test]
fn a_rule_commands_probes() {
    let plant = Plant::new(
        "input p = \"*/pump\" : Pump;
        alarm Hot { raise p.temperature > 95; on raised sample-now \"*/recorder\"; on cleared disable p; }",
    );
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump", "recorder"]);
    pumps.send("pump", &[99.0]);
    plant.wait_for_standing("Hot", Standing::Active);
    let commanded = |instance: &str| {
        let who =
            |entry: &oasis_dac::commands::JournalEntry| entry.instance == instance && entry.who == "rule Hot";
        plant.dac.commands.journal().into_iter().find(who)
    };
    wait("the command", || commanded("recorder"));
    pumps.send("pump", &[9.0]);
    wait("the second command", || commanded("pump"));
    wait("the count", || (plant.rules.state()["commands"]["sent"] == 2).then_some(()));
}

#[test]
fn results_and_derived_instances_have_readers() {
    let plant = Plant::new(&format!(
        "{HOT} derive Mean every 1s {{ mean = mean(p.temperature, last 5); hot = p.temperature > 95; }}"
    ));
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    let found = |name: &str| wait(name, || plant.dac.registry.find("rules", name));
    let (results, mean) = (found("Hot"), found("Mean north/pump"));
    assert_eq!(mean.probe_type.metrics[0].unit.as_deref(), Some("Cel"));
    // Without readers and archive nothing is sent.
    pumps.send("pump", &[99.0; 20]);
    plant.wait_for_samples(20);
    pumps.send("pump", &[1.0]);
    plant.wait_for_standing("Hot", Standing::Normal);
    assert_eq!(mean.log.next().0, 0);
    let every = Delivery::Every;
    let _readers = [results.register_demand(every), mean.register_demand(every)];
    pumps.send("pump", &[99.0; 20]);
    let values = |instance: &Arc<Instance>| {
        let segment = wait("a sample", || instance.log.latest());
        let batch = Batch::parse(segment.batch(), &instance.probe_type).unwrap();
        batch.samples().next().unwrap()
    };
    let sample = values(&results);
    assert_eq!(
        sample.values[..4],
        ["north/pump", "raised", "active"]
            .map(|text| Value::String(text.into()))
            .into_iter()
            .chain([Value::Boolean(true)])
            .collect::<Vec<_>>()[..]
    );
    let derived = values(&mean);
    assert_eq!(derived.time % 1_000_000_000, 0, "the end of a period");
    assert!(
        matches!(derived.values[..], [Value::Real64(mean), Value::Real64(_)] if mean > 1.0),
        "{derived:?}"
    );
    // They are no input of rules.
    assert!(plant.rules.rules_state().loaded().rules.iter().all(|rule| rule.instances <= 1));
}

#[test]
fn a_failed_commit_is_tried_again_and_loses_nothing() {
    let plant = Plant::new(HOT);
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    pumps.send("pump", &[20.0]);
    plant.wait_for_samples(1);
    let database = rusqlite::Connection::open(plant.folder.path().join("state/alarms.sqlite3")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    pumps.send("pump", &[96.0]);
    let problem = wait("the problem", || plant.rules.problem());
    assert!(problem.starts_with("cannot commit events: "), "{problem}");
    pumps.send("pump", &[80.0, 99.0]);
    database.execute_batch("COMMIT").unwrap();
    wait("both alarms", || (plant.journal().len() == 3).then_some(()));
    wait("no problem", || plant.rules.problem().is_none().then_some(()));
    let sequences: Vec<_> = plant.journal().into_iter().map(|(.., sequence)| sequence).collect();
    assert_eq!(sequences, [Some(2), Some(3), Some(4)]);
}

const JOIN: &str = "input p = \"*/pump\" : Pump;\ninput f = \"*/feed\" : Pump;\nalarm Above { raise p.temperature > f.temperature; }\n";

#[test]
fn checkpoints_of_instances_that_are_gone_make_room() {
    let limits = Limits { checkpoints_bytes: 1_000, ..Limits::default() };
    let rules = [HOT.to_owned()];
    let plant = Plant::limited(&rules, RulesConfig::default(), RoundBounds::default(), limits);
    let key = |instance: &str| CheckpointKey {
        rule: String::new(),
        node: "north".into(),
        instance: instance.into(),
    };
    let position = AlarmPosition { run: None, sequence: 1, epoch: Epoch(1), offset: Offset(1), dac_time: 1 };
    let kept = Checkpoint { rule_hash: "instance 1".into(), position, state: vec![0; 999] };
    let round = Round { now: now(), events: Vec::new(), checkpoints: vec![(key("gone"), kept)] };
    plant.alarms.commit(round).unwrap();
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    pumps.send("pump", &[99.0]);
    wait("the removal", || plant.alarms.checkpoint(&key("gone")).unwrap().is_none().then_some(()));
    plant.wait_for_samples(1);
    pumps.send("pump", &[98.0]);
    plant.wait_for_samples(2);
    plant.stop();
    assert!(plant.alarms.checkpoint(&key("pump")).unwrap().is_some());
}

#[test]
fn a_rule_joins_instances_of_one_node() {
    let plant =
        Plant::new(&format!("{JOIN} derive Diff every 100ms {{ by = p.temperature - f.temperature; }}"));
    let mut north = Pumps::new(&plant.dac, "north", 1, &["pump", "feed"]);
    let mut south = Pumps::new(&plant.dac, "south", 2, &["pump", "feed"]);
    north.send("feed", &[5.0]);
    north.send("pump", &[9.0]);
    south.send("pump", &[9.0]);
    south.send("feed", &[5.0, 5.0]);
    // Only now is it known what the feed was.
    north.send("feed", &[20.0]);
    let alarm = plant.wait_for("Above", |alarm| alarm.key.node == "north" && alarm.state == Standing::Active);
    assert_eq!(alarm.key.instance, "pump");
    assert_eq!((alarm.value, alarm.limit, alarm.sequence), (Some(9.0), Some(5.0), Some(1)));
    north.send("pump", &[9.0]);
    north.send("feed", &[20.0]);
    plant.wait_for("Above", |alarm| alarm.key.node == "north" && alarm.state == Standing::Normal);
    assert!(plant.journal().iter().all(|(rule, _, _)| rule == "Above"));
    assert_eq!(plant.entries().iter().filter(|entry| entry.node == "south").count(), 0, "no feed of before");
    wait("the derived instance", || plant.dac.registry.find("rules", "Diff north/pump"));
    let rules = plant.rules.rules_state().loaded().rules;
    let above = rules.iter().find(|rule| rule.name == "Above").unwrap();
    assert_eq!((&above.inputs[..], above.instances), (&["*/pump".to_owned(), "*/feed".to_owned()][..], 2));
    assert_eq!(plant.rules.state()["joins"], 4, "two rules of two nodes");
}

/// The published measurements of the clock of a node: its offset in nanoseconds.
fn offsets(plant: &Plant, node: &str) -> Vec<i64> {
    let Some(instance) = plant.dac.registry.find("rules", &format!("clock {node}")) else {
        return Vec::new();
    };
    let log = Arc::new(InstanceLog(instance.clone()));
    let start = Position { epoch: instance.log.epoch(), offset: instance.log.start() };
    let mut reader = Reader::new(&instance.node, &instance.name, Start::Position(start)).with_log(log);
    let mut offsets = Vec::new();
    for (piece, _) in reader.read(1 << 20).unwrap().pieces {
        let HistoryPart::Samples(batch) = piece else { continue };
        let batch = Batch::parse(&batch.bytes, &instance.probe_type).unwrap();
        offsets.extend(batch.samples().map(|sample| match sample.values[..] {
            [Value::Int(offset), Value::Uint(_)] => offset,
            ref other => panic!("{other:?}"),
        }));
    }
    offsets
}

const NODES: &str = "input p = \"north/pump\" : Pump;\ninput f = \"south/feed\" : Pump;\nalarm Above { raise p.temperature > f.temperature; }\n";

#[test]
fn a_rule_joins_instances_of_nodes_whose_clocks_differ() {
    let plant = Plant::new(NODES);
    let mut north = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    let mut south = Pumps::new(&plant.dac, "south", 2, &["feed"]);
    let hour = 3_600_000 * MS;
    north.measure_clock(hour as i64, 100_000);
    south.measure_clock(-(hour as i64), 100_000);
    wait("both clocks", || (!offsets(&plant, "north").is_empty()).then_some(()));
    wait("both clocks", || (!offsets(&plant, "south").is_empty()).then_some(()));
    assert_eq!(offsets(&plant, "south"), [-(hour as i64)]);
    let now = now().0;
    north.set_clock(now - hour - 450 * MS);
    south.set_clock(now + hour - 500 * MS);
    south.send("feed", &[5.0, 9.0, 5.0]);
    north.send("pump", &[7.0, 7.0]);
    let entries = wait("both events", || Some(plant.entries()).filter(|entries| entries.len() == 2));
    let [cleared, raised] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((&*raised.node, raised.value, raised.limit), ("north", Some(7.0), Some(5.0)));
    assert_eq!((cleared.value, cleared.limit), (Some(7.0), Some(9.0)));
    // On the clock of its node.
    assert_eq!((raised.time, cleared.time), (now - hour - 350 * MS, now - hour - 250 * MS));
    assert_eq!(plant.rules.state()["unaligned"], 0);
}

#[test]
fn clocks_are_published_when_they_change() {
    let config = RulesConfig { all_clocks: true, ..RulesConfig::default() };
    let plant = Plant::configured(HOT, config);
    let mut north = Pumps::new(&plant.dac, "north", 1, &["other"]);
    north.measure_clock(5_000_000, 100_000);
    wait("the clock", || (offsets(&plant, "north") == [5_000_000]).then_some(()));
    north.measure_clock(5_050_000, 100_000);
    // Less than half a round trip.
    north.measure_clock(7_000_000, 9_000_000);
    north.measure_clock(9_000_000, 100_000);
    wait("the clock", || (offsets(&plant, "north").last() == Some(&9_000_000)).then_some(()));
    assert!(offsets(&plant, "north").len() <= 3);
    assert_eq!(plant.rules.state()["clocks_left_out"], 0);
}

#[test]
fn a_join_does_not_wait_for_ever() {
    let plant = Plant::new(JOIN);
    let mut north = Pumps::new(&plant.dac, "north", 1, &["pump", "feed"]);
    north.send("feed", &[5.0]);
    north.send("pump", &[9.0]);
    let alarm = plant.wait_for_standing("Above", Standing::Active);
    let entry = plant.entries().into_iter().find(|entry| entry.rule == alarm.key.rule).unwrap();
    assert_eq!(entry.sequence, Some(1));
}

#[test]
fn what_waits_for_a_join_survives_a_reload_and_a_restart() {
    let mut plant = Plant::new(JOIN);
    let mut north = Pumps::new(&plant.dac, "north", 1, &["pump", "feed"]);
    north.send("feed", &[5.0]);
    north.send("pump", &[9.0]);
    plant.wait_for_samples(2);
    plant.write_rules(&format!("{JOIN} alarm New {{ raise p.temperature > 10; }}"));
    wait("the new rule", || {
        plant.rules.rules_state().loaded().rules.iter().any(|rule| rule.name == "New").then_some(())
    });
    plant.restart();
    plant.kill(false);
    north.send("feed", &[20.0]);
    plant.wait_for_standing("Above", Standing::Active);
    north.send("pump", &[9.0]);
    north.send("feed", &[20.0]);
    plant.wait_for_standing("Above", Standing::Normal);
    let kinds: Vec<_> = plant.journal().into_iter().map(|(_, kind, sequence)| (kind, sequence)).collect();
    assert_eq!(kinds, [("raised".to_owned(), Some(1)), ("cleared".to_owned(), Some(2))]);
}
