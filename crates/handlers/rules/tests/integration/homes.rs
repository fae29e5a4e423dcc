//! Rules of nodes that other DACs have.

use crate::common::{MS, Plant, Pumps, pump, wait};
use oasis_alarms::{AlarmHop, Filter, RelayedAlarms};
use oasis_channel::{InstanceState, NodeIdentity, RegisteredInstance};
use oasis_dac::{Dac, Hop, RelayedNode, Upstream, UpstreamEvents, now};
use oasis_handler::Handler;
use oasis_rules::Standing;
use oasis_rules_handler::RulesConfig;
use oasis_wire::{
    batch::{Encoder, Fields},
    probe_kind::ProbeKind,
    quantity::Epoch,
    value::RowWriter,
};
use serde_json::json;
use std::sync::Arc;
use uuid::Uuid;

const RULES: &str = "input p = \"*/pump\" : Pump;
    alarm Hot { raise p.temperature > 95; latch; }
    alarm Gone { raise silent(p) for 200ms; }";

/// Another DAC, which has the node `north` with its pump.
struct Other {
    upstream: Upstream,
    events: UpstreamEvents,
}

impl Other {
    fn takes(dac: &Arc<Dac>, run: u128) -> Self {
        let (upstream, events) = Upstream::new(dac);
        let identity = NodeIdentity {
            name: "north".into(),
            uuid: Uuid::nil(),
            run: Uuid::from_u128(run),
            host: "h".into(),
            software: "test".into(),
            pid: 1,
        };
        let hop = Hop { dac: "hall-2".into(), epoch: Epoch(7), clock_offset_ns: None, round_trip_ns: None };
        let (is_online, attach, since, path) = (true, None, now(), vec![hop]);
        upstream
            .node(RelayedNode {
                identity,
                is_online,
                attach,
                since,
                is_replay: false,
                path,
                labels: Default::default(),
            })
            .unwrap();
        let announced = RegisteredInstance {
            name: "pump".into(),
            probe_type: pump().uuid,
            kind: ProbeKind::Pushed,
            demand: None,
            declared: None,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        upstream.instance("north", announced, &Arc::new(pump()), Some(Uuid::from_u128(run))).unwrap();
        Self { upstream, events }
    }

    fn send(&self, temperature: f64) {
        let instance = self.upstream.dac().registry.find("north", "pump").unwrap();
        let mut encoder = Encoder::new(&pump()).unwrap();
        let mut row = Vec::new();
        RowWriter::new(&mut row).f64(temperature);
        encoder.push(now().0, &row).unwrap();
        let fields = Fields { topic: instance.topic.0, first_sequence: 1, ..Fields::default() };
        let mut batch = Vec::new();
        encoder.finish(fields, &mut batch);
        instance.begin_relayed_run(Uuid::from_u128(1));
        assert!(instance.append_relayed(batch, Vec::new(), now().0.cast_signed()).unwrap());
    }
}

#[test]
fn an_alarm_ends_when_its_node_goes_to_another_dac_and_silence_is_not_noticed() {
    let plant = Plant::new(RULES);
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    let mut south = Pumps::new(&plant.dac, "south", 2, &["pump"]);
    pumps.send("pump", &[99.0]);
    plant.wait_for_standing("Hot", Standing::Active);
    pumps.leave();
    let other = Other::takes(&plant.dac, 1);
    wait("the end of the alarm", || {
        plant.journal().iter().any(|(rule, kind, _)| rule == "Hot" && kind == "moved").then_some(())
    });
    let entry = plant.entries().into_iter().find(|entry| entry.kind.name() == "moved").unwrap();
    assert_eq!(entry.cause.as_deref(), Some("moved to DAC hall-2"));
    // Silence of others is noticed meanwhile, and later.
    south.send("pump", &[1.0]);
    plant.wait_for("Gone", |alarm| alarm.key.node == "south" && alarm.state == Standing::Active);
    south.send("pump", &[1.0]);
    plant.wait_for("Gone", |alarm| alarm.key.node == "south" && alarm.state == Standing::Normal);
    assert!(plant.entries().iter().all(|entry| entry.node == "south" || entry.rule == "Hot"));
    // The node comes back: its rules begin anew.
    drop(other);
    let mut pumps = Pumps::new(&plant.dac, "north", 3, &["pump"]);
    pumps.send("pump", &[99.0]);
    plant.wait_for("Hot", |alarm| alarm.state == Standing::Active);
}

#[test]
fn relayed_instances_are_evaluated_if_the_configuration_says_so() {
    let plant = Plant::configured(RULES, RulesConfig { relayed: true, ..RulesConfig::default() });
    let mut other = Other::takes(&plant.dac, 1);
    wait("a reader of the instance", || other.events.wanted.try_recv().ok());
    other.send(99.0);
    let alarm = plant.wait_for_standing("Hot", Standing::Active);
    assert_eq!(alarm.key.node, "north");
    // Its samples may be under way for a second.
    plant.wait_for("Gone", |alarm| alarm.state == Standing::Active);
    assert_eq!(plant.rules.problem(), None);
}

/// Each joins a pump of `south` with the one of `north`.
const ABOVE: &str = "input p = \"south/pump *\" : Pump; input q = \"north/pump\" : Pump;
    alarm Above { raise p.temperature > q.temperature; }";

/// Number of instances at which the hash gives some to each of two DACs.
const PUMPS: usize = 24;

fn names() -> Vec<String> {
    (0..PUMPS).map(|number| format!("pump {number}")).collect()
}

fn south(dac: &Arc<Dac>, names: &[String]) -> Pumps {
    Pumps::new(dac, "south", 2, &names.iter().map(String::as_str).collect::<Vec<_>>())
}

fn wait_for_joins(plant: &Plant, is_so: impl Fn(u64, u64) -> bool) -> usize {
    wait("the joins", || {
        let state = plant.rules.state();
        let [joins, waiting] = ["joins", "joins_waiting"].map(|name| state[name].as_u64().unwrap());
        is_so(joins, waiting).then(|| usize::try_from(joins).unwrap())
    })
}

#[test]
fn joints_of_two_dacs_are_evaluated_at_the_one_that_the_hash_chooses() {
    let (plant, names) = (Plant::new(ABOVE), names());
    let mut south = south(&plant.dac, &names);
    wait_for_joins(&plant, |joins, waiting| (joins, waiting) == (0, PUMPS as u64));
    let missing =
        "24 joins wait for inputs: nothing comes here of node \"north\"; connect it, or relay its DAC";
    assert_eq!(plant.rules.warnings(), [missing]);
    let mut other = Other::takes(&plant.dac, 1);
    let joins = wait_for_joins(&plant, |_, waiting| waiting == 0);
    assert!((1..PUMPS).contains(&joins), "{joins}");
    wait("a reader of the instance", || other.events.wanted.try_recv().ok());
    south.measure_clock(0, 1_000);
    other.upstream.note_node("north", (Some(0), Some(1_000)), None);
    for clock in ["clock north", "clock south"] {
        wait("a clock", || {
            let instance = plant.dac.registry.find("rules", clock)?;
            (instance.log.next().0 > 0).then_some(())
        });
    }
    other.send(5.0);
    for name in &names {
        south.set_clock(now().0 - 100 * MS);
        south.send(name, &[9.0]);
    }
    let standing = || plant.alarms.list(&Filter { is_standing: true, ..Filter::default() }).alarms;
    wait("the alarms", || (standing().len() == joins).then_some(()));
    let alarm = &standing()[0];
    assert_eq!((&*alarm.key.node, alarm.value, alarm.limit), ("south", Some(9.0), Some(5.0)));
    assert_eq!(plant.rules.problem(), None);
}

#[test]
fn the_alarm_of_a_joint_goes_on_where_it_is_evaluated_next() {
    let (plant, names) = (Plant::new(ABOVE), names());
    plant.stop();
    let relayed = Arc::new(RelayedAlarms::new(now()));
    plant.rules.take_over_from(relayed.clone());
    plant.start();
    let (mut upstream, _questions) = relayed.upstream("hall-2");
    let alarm = |name: &String| {
        json!({"rule": "Above", "node": "south", "instance": name, "state": "active", "acknowledged": true,
            "severity": "high", "quality": "good", "comment": "seen"})
    };
    let hop = AlarmHop { dac: "hall-2".into(), epoch: Epoch(7) };
    let page = json!({"alarms": names.iter().map(alarm).collect::<Vec<_>>(), "next": null});
    let _south = south(&plant.dac, &names);
    let other = Other::takes(&plant.dac, 1);
    let joins = wait_for_joins(&plant, |joins, waiting| joins > 0 && waiting == 0);
    // The other DAC is asked for its alarms when its nodes are known already.
    upstream.take("alarms", &page.to_string(), (&hop, plant.dac.epoch()), now()).unwrap();
    let standing = || plant.alarms.list(&Filter { is_standing: true, ..Filter::default() }).alarms;
    wait("the alarms of what this DAC evaluates", || (standing().len() == joins).then_some(()));
    // The node comes here, and with it all of them.
    drop(other);
    let north = Pumps::new(&plant.dac, "north", 3, &["pump"]);
    wait_for_joins(&plant, |joins, _| joins == PUMPS as u64);
    assert_eq!(standing().len(), PUMPS);
    assert!(standing().iter().all(|alarm| alarm.acknowledged && alarm.comment.as_deref() == Some("seen")));
    // And back: it ends here what the other one shows.
    north.leave();
    let _other = Other::takes(&plant.dac, 3);
    wait("the end of the alarms", || (standing().len() == joins).then_some(()));
    let entries = plant.entries();
    let count = |kind: &str| entries.iter().filter(|entry| entry.kind.name() == kind).count();
    assert_eq!((count("raised"), count("taken_over"), count("moved")), (0, PUMPS, PUMPS - joins));
}

#[test]
fn an_alarm_that_ended_while_its_rules_were_not_evaluated_is_raised_again() {
    let plant = Plant::new("input p = \"*/pump\" : Pump; alarm Hot { raise p.temperature > 95; }");
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    pumps.send("pump", &[99.0]);
    plant.wait_for_standing("Hot", Standing::Active);
    plant.stop();
    pumps.leave();
    let other = Other::takes(&plant.dac, 1);
    plant.start();
    wait("the end of the alarm", || plant.journal().iter().any(|(_, kind, _)| kind == "moved").then_some(()));
    drop(other);
    let mut pumps = Pumps::new(&plant.dac, "north", 3, &["pump"]);
    pumps.send("pump", &[99.0]);
    plant.wait_for_standing("Hot", Standing::Active);
}
