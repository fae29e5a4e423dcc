use super::{
    edges::{EdgeOutcome, Edges, MESSAGES, OWN},
    topic::SparkplugTopic,
};
use oasis_dac::{Config, Dac, Instance};
use oasis_mqtt_client::sparkplug::Metrics;
use oasis_source_node::{SourceLimits, SourceNodes};
use oasis_wire::{batch::Batch, loss::Cause, value::Value};
use proptest::prelude::*;
use std::sync::Arc;

const NOW: u64 = 1_764_424_800_000_000_000;
const MILLISECONDS: u64 = 1_764_424_800_123;

/// A field of Protocol Buffers with bytes.
fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut to = Vec::new();
    while value > 0x7f {
        to.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
    to
}

fn double(value: f64) -> Vec<u8> {
    [varint(13 << 3 | 1), value.to_le_bytes().to_vec()].concat()
}

/// A metric of a birth, with a unit.
fn born(name: &str, alias: u64, datatype: u64, unit: &str, value: &[u8]) -> Vec<u8> {
    let of_unit = [number(1, 12), bytes(8, unit.as_bytes())].concat();
    let properties = [bytes(1, b"engUnit"), bytes(2, &of_unit)].concat();
    let parts = [bytes(1, name.as_bytes()), number(2, alias), number(4, datatype), bytes(9, &properties)];
    bytes(2, &[parts.concat(), value.to_vec()].concat())
}

/// A metric of data.
fn changed(alias: u64, value: &[u8]) -> Vec<u8> {
    bytes(2, &[number(2, alias), value.to_vec()].concat())
}

fn payload(sequence: u64, metrics: &[Vec<u8>]) -> Vec<u8> {
    [number(1, MILLISECONDS), metrics.concat(), number(3, sequence)].concat()
}

struct Host {
    dac: Arc<Dac>,
    nodes: SourceNodes,
    edges: Edges,
}

impl Host {
    fn new() -> Self {
        let dac = Dac::new(Config::default());
        let nodes = SourceNodes::new(dac.clone(), "a test", SourceLimits::default());
        Self { dac, nodes, edges: Edges::new(2) }
    }

    fn receive(&mut self, topic: &str, payload: &[u8]) -> EdgeOutcome {
        let taken = self.edges.receive(topic, payload, NOW, &mut self.nodes).unwrap().unwrap();
        assert_eq!(self.nodes.flush().count, 0);
        taken
    }

    /// An edge node with a tank, which has a level in meters and pumps.
    fn birth(&mut self) {
        let session = bytes(2, &[bytes(1, b"bdSeq"), number(4, 8), number(11, 7)].concat());
        self.receive("spBv1.0/plant/NBIRTH/hall", &payload(0, &[session]));
        let metrics = [born("level", 1, 10, "m", &double(1.5)), born("pumps", 2, 3, "", &number(10, 2))];
        let taken = self.receive("spBv1.0/plant/DBIRTH/hall/tank", &payload(1, &metrics));
        assert_eq!((taken.samples, taken.refused), (1, None));
    }

    fn instance(&self, name: &str) -> Arc<Instance> {
        let all = self.dac.registry.instances();
        all.into_iter().find(|instance| &*instance.name == name).unwrap()
    }

    fn newest(&self, name: &str) -> Vec<Value> {
        let instance = self.instance(name);
        let newest = instance.log.newest(&instance.probe_type).unwrap();
        Batch::parse(newest.batch(), &instance.probe_type).unwrap().get(0).unwrap().values
    }
}

#[test]
fn a_birth_makes_types_with_units_and_data_by_alias_has_the_last_values_of_the_rest() {
    let mut host = Host::new();
    host.birth();
    host.receive(
        "spBv1.0/plant/DDATA/hall/tank",
        &payload(2, &[changed(2, &number(10, u64::from(u32::MAX)))]),
    );
    let tank = host.instance("tank");
    let metrics: Vec<_> =
        tank.probe_type.metrics.iter().map(|one| (&*one.name, one.unit.as_deref())).collect();
    assert_eq!(metrics, [("level", Some("m")), ("pumps", None), ("oasis.absent", None)]);
    assert_eq!(host.newest("tank"), [Value::Real64(1.5), Value::Int(-1), Value::Vector(vec![])]);
    assert_eq!(host.instance(OWN).ledger().last_sequence, 1);
    assert_eq!(tank.ledger().last_sequence, 2);
}

#[test]
fn a_second_value_of_a_metric_is_another_sample_also_under_a_second_alias() {
    let mut host = Host::new();
    host.birth();
    let values = [changed(1, &double(2.0)), changed(2, &number(10, 3)), changed(1, &double(3.0))];
    let taken = host.receive("spBv1.0/plant/DDATA/hall/tank", &payload(2, &values));
    assert_eq!(taken.samples, 2);
    assert_eq!(host.newest("tank")[..2], [Value::Real64(3.0), Value::Int(3)]);
    let twice = [born("level", 1, 10, "m", &double(1.5)), born("level", 2, 10, "m", &double(2.5))];
    let taken = host.receive("spBv1.0/plant/DBIRTH/hall/tank", &payload(3, &twice));
    assert_eq!((taken.samples, taken.left_out), (2, 0));
    let taken = host.receive("spBv1.0/plant/DDATA/hall/tank", &payload(4, &[changed(2, &double(4.0))]));
    assert_eq!((taken.samples, &host.newest("tank")[0]), (1, &Value::Real64(4.0)));
}

#[test]
fn a_gap_of_the_sequence_is_a_gap_and_births_are_asked_for() {
    let mut host = Host::new();
    host.birth();
    let data = |sequence| payload(sequence, &[changed(1, &double(2.0))]);
    let topic = "spBv1.0/plant/DDATA/hall/tank";
    assert_eq!(host.receive(topic, &data(2)).request, None);
    let taken = host.receive(topic, &data(6));
    assert_eq!((taken.missing, taken.samples), (3, 1));
    let request = taken.request.unwrap();
    assert_eq!(request.topic, "spBv1.0/plant/NCMD/hall");
    let asked = Metrics::parse(&request.payload).unwrap();
    assert_eq!(asked.metrics[0].name, Some("Node Control/Rebirth"));
    assert_eq!(host.receive(topic, &data(9)).request, None, "not so soon again");
    let messages = host.instance(MESSAGES);
    let ledger = messages.ledger();
    assert_eq!((ledger.received, ledger.missing), (5, 5));
    assert_eq!(ledger.gaps.iter().map(|gap| gap.cause).collect::<Vec<_>>(), [Cause::Network; 2]);
}

#[test]
fn numbers_wrap_and_begin_again_with_a_birth() {
    let mut host = Host::new();
    host.birth();
    for sequence in 2..600 {
        let taken = host
            .receive("spBv1.0/plant/DDATA/hall/tank", &payload(sequence & 0xff, &[changed(1, &double(0.0))]));
        assert_eq!(taken.missing, 0);
    }
    host.birth();
    assert_eq!(host.instance(MESSAGES).ledger().missing, 0);
}

#[test]
fn a_death_takes_the_node_offline_unless_it_is_late() {
    let mut host = Host::new();
    host.birth();
    let death = |session| bytes(2, &[bytes(1, b"bdSeq"), number(4, 8), number(11, session)].concat());
    host.receive("spBv1.0/plant/NDEATH/hall", &death(6));
    assert_eq!(host.nodes.node_count(), 1, "the death of an earlier connection");
    host.receive("spBv1.0/plant/NDEATH/hall", &death(7));
    assert_eq!(host.nodes.node_count(), 0);
    let taken = host.receive("spBv1.0/plant/DDATA/hall/tank", &payload(2, &[changed(1, &double(2.0))]));
    assert!(taken.request.is_some() && taken.refused.is_some(), "{taken:?}");
}

#[test]
fn the_death_of_a_device_makes_its_values_absent_until_its_next_birth() {
    let mut host = Host::new();
    host.birth();
    assert_eq!(host.receive("spBv1.0/plant/DDEATH/hall/tank", &payload(2, &[])).samples, 1);
    let Value::Real64(level) = host.newest("tank")[0] else { panic!("{:?}", host.newest("tank")) };
    let absent = host.newest("tank")[2].clone();
    assert!(level.is_nan() && absent == Value::Vector(vec![Value::String("pumps".into())]), "{absent:?}");
    let again = host.receive("spBv1.0/plant/DDEATH/hall/tank", &payload(3, &[]));
    assert_eq!((again.samples, again.missing), (0, 0), "there is no device that could die");
    let late = host.receive("spBv1.0/plant/DDATA/hall/tank", &payload(4, &[changed(1, &double(2.0))]));
    assert!(late.request.is_some() && late.samples == 0, "{late:?}");
}

#[test]
fn commands_and_states_have_no_samples_and_other_topics_are_refused() {
    let mut host = Host::new();
    let Host { edges, nodes, .. } = &mut host;
    let mut of = |topic| edges.receive(topic, &[], NOW, nodes).map(|taken| taken.is_some());
    assert_eq!(of("spBv1.0/plant/NCMD/hall"), Ok(false));
    assert_eq!(of("spBv1.0/STATE/host"), Ok(false));
    for topic in ["spBv1.0/plant/NDATA", "spBv1.0/plant/NDATA/hall/tank", "spBv1.0/plant/DDATA/hall", "x/y"] {
        assert!(of(topic).is_err(), "{topic}");
    }
    let mut name = String::new();
    SparkplugTopic::parse("spBv1.0/a:b/NDATA/c*").unwrap().write_node(&mut name);
    assert_eq!(name, "a%3Ab:c%2A");
}

proptest! {
    #[test]
    fn any_bytes_are_taken_or_refused(all in proptest::collection::vec((0..6_usize, any::<Vec<u8>>()), 0..4)) {
        let mut host = Host::new();
        host.birth();
        for (kind, bytes) in all {
            let kind = ["NBIRTH/e", "DBIRTH/e/d", "NDATA/e", "DDATA/e/d", "NDEATH/e", "DDEATH/e/d"][kind];
            let _ = host.edges.receive(&format!("spBv1.0/g/{kind}"), &bytes, NOW, &mut host.nodes);
        }
        prop_assert_eq!(host.nodes.flush().count, 0);
    }
}
