use crate::{DeclaredSample, Rejected, SourceLimits, SourceLoss, SourceNodes, SourceSample};
use oasis_dac::{Config, Dac, Instance};
use oasis_format::columns::Cell;
use oasis_wire::{
    batch::Batch,
    loss::Cause,
    schema::{Metric, MetricType, ProbeType, StructType},
    value::Value,
};
use std::{borrow::Cow, sync::Arc};

type Fields<'a> = Vec<(Cow<'a, str>, Cell<'a>)>;

fn nodes(dac: &Arc<Dac>, limits: SourceLimits) -> SourceNodes {
    SourceNodes::new(dac.clone(), "a test", limits)
}

fn push(
    nodes: &mut SourceNodes,
    instance: &str,
    time: u64,
    fields: &[(&str, Cell<'_>)],
) -> Result<u64, Rejected> {
    let fields: Fields<'_> = fields.iter().map(|(name, cell)| (Cow::Borrowed(*name), *cell)).collect();
    let sample = SourceSample { node: "plant", instance, type_name: "Tank", time, fields: &fields };
    nodes.push(&sample).map_err(|refused| refused.why)
}

fn instances(dac: &Dac, name: &str) -> Vec<Arc<Instance>> {
    let mut all: Vec<_> =
        dac.registry.instances().into_iter().filter(|instance| &*instance.name == name).collect();
    all.sort_by_key(|instance| instance.topic.0);
    all
}

fn names(instance: &Instance) -> Vec<String> {
    instance.probe_type.metrics.iter().map(|metric| metric.name.clone()).collect()
}

#[test]
fn a_new_field_and_an_absent_one_make_another_type() {
    let dac = Dac::new(Config::default());
    let mut nodes = nodes(&dac, SourceLimits::default());
    push(&mut nodes, "tank", 1, &[("a", Cell::Int(1))]).unwrap();
    push(&mut nodes, "tank", 2, &[("a", Cell::Int(2)), ("b", Cell::Real(0.5))]).unwrap();
    push(&mut nodes, "tank", 3, &[("a", Cell::Int(3))]).unwrap();
    push(&mut nodes, "tank", 4, &[("b", Cell::Real(1.5))]).unwrap();
    nodes.flush();
    let newest = instances(&dac, "tank").pop().unwrap();
    assert_eq!(names(&newest), ["a", "b", "oasis.absent"]);
    assert_eq!(newest.ledger().last_sequence, 4, "numbers continue with another type");
    assert_eq!(newest.ledger().missing, 0);
    assert_eq!(nodes.instance_count(), 1);
}

#[test]
fn a_field_of_another_type_is_left_out() {
    let dac = Dac::new(Config::default());
    let mut nodes = nodes(&dac, SourceLimits::default());
    push(&mut nodes, "tank", 1, &[("a", Cell::Int(1)), ("b", Cell::Boolean(true))]).unwrap();
    let left_out = push(&mut nodes, "tank", 2, &[("a", Cell::Int(2)), ("b", Cell::Text("on"))]);
    assert_eq!(left_out, Ok(1));
    let error = push(&mut nodes, "tank", 3, &[("b", Cell::Text("on"))]).unwrap_err();
    assert_eq!(error.to_string(), "the field \"b\" has another type than before: a boolean, now a text");
    assert_eq!(push(&mut nodes, "tank", 3, &[]), Err(Rejected::Empty));
    nodes.flush();
    let tank = instances(&dac, "tank").pop().unwrap();
    // The second sample lacks the boolean: another type.
    assert_eq!(
        (names(&tank), tank.ledger().last_sequence),
        (vec!["a".into(), "b".into(), "oasis.absent".into()], 2)
    );
}

#[test]
fn a_second_value_of_a_field_is_counted_as_left_out() {
    let dac = Dac::new(Config::default());
    let mut nodes = nodes(&dac, SourceLimits::default());
    let fields = [("a", Cell::Int(1)), ("a", Cell::Int(2)), ("a", Cell::Absent)];
    assert_eq!(push(&mut nodes, "tank", 1, &fields), Ok(1));
    assert_eq!(nodes.flush().count, 0);
    assert_eq!(instances(&dac, "tank").pop().unwrap().ledger().last_sequence, 1);
}

#[test]
fn an_integer_becomes_a_real_and_is_counted_if_it_is_rounded() {
    let dac = Dac::new(Config::default());
    let mut nodes = nodes(&dac, SourceLimits::default());
    push(&mut nodes, "tank", 1, &[("a", Cell::Real(0.5))]).unwrap();
    push(&mut nodes, "tank", 2, &[("a", Cell::Int((1 << 53) + 1))]).unwrap();
    nodes.flush();
    assert_eq!(nodes.rounded(), 1);
}

#[test]
fn names_and_numbers_have_limits() {
    let dac = Dac::new(Config::default());
    let limits = SourceLimits { max_nodes: 1, max_instances: 2, max_fields: 2 };
    let mut nodes = nodes(&dac, limits);
    let one = [("a", Cell::Int(1))];
    push(&mut nodes, "tank", 1, &one).unwrap();
    push(&mut nodes, "pump", 1, &one).unwrap();
    assert_eq!(push(&mut nodes, "valve", 1, &one), Err(Rejected::TooManyInstances(limits)));
    let three = [("a", Cell::Int(1)), ("b", Cell::Int(1)), ("c", Cell::Int(1))];
    assert_eq!(
        push(&mut nodes, "tank", 1, &three),
        Err(Rejected::TooManyFields { limits, field: "c".into() })
    );
    for node in ["other", "a/b", "*", ""] {
        let fields = [(Cow::Borrowed("a"), Cell::Int(1))];
        let sample = SourceSample { node, instance: "tank", type_name: "Tank", time: 1, fields: &fields };
        let refused = nodes.push(&sample).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("{node}/tank: ")), "{refused}");
    }
    let long = "x".repeat(600 * 1024);
    let error = push(&mut nodes, "pump", 2, &[("b", Cell::Text(&long))]).unwrap_err();
    assert!(matches!(error, Rejected::TooLong { .. }), "{error}");
    push(&mut nodes, "pump", 3, &one).unwrap();
    nodes.flush();
    assert_eq!((nodes.node_count(), nodes.instance_count()), (1, 2));
    let newest = instances(&dac, "pump").pop().unwrap();
    assert_eq!(newest.ledger().last_sequence, 2, "what was refused has no number");
}

#[test]
fn a_refusal_has_bounded_names_as_text() {
    let dac = Dac::new(Config::default());
    let mut nodes = nodes(&dac, SourceLimits::default());
    let (node, instance) = ("\u{1b}[2J".repeat(1_000), "\u{202e}".repeat(1_000));
    let fields = [(Cow::Borrowed("a"), Cell::Int(1))];
    let sample =
        SourceSample { node: &node, instance: &instance, type_name: "Tank", time: 1, fields: &fields };
    let refused = nodes.push(&sample).unwrap_err().to_string();
    assert!(refused.starts_with(r"\u{1b}[2J") && refused.contains(r"/\u{202e}"), "{refused}");
    assert!(refused.len() < 1_500 && !refused.contains('\u{1b}'), "{refused}");
    let late = SourceSample { node: "plant", instance: "tank", time: u64::MAX, ..sample };
    let refused = nodes.push(&late).unwrap_err().to_string();
    assert!(refused.starts_with("plant/tank: the DAC refuses it: its time"), "{refused}");
}

#[test]
fn names_of_fields_have_limits_and_a_refused_sample_changes_nothing() {
    let dac = Dac::new(Config::default());
    let mut nodes = nodes(&dac, SourceLimits::default());
    push(&mut nodes, "tank", 1, &[("a", Cell::Int(1))]).unwrap();
    let long = "x".repeat(2_000);
    for name in ["", "oasis.absent", "a\u{85}b", &long] {
        let error = push(&mut nodes, "tank", 2, &[("a", Cell::Int(2)), (name, Cell::Int(1))]).unwrap_err();
        assert!(matches!(error, Rejected::Name { of: "field", .. }), "{error}");
        assert!(error.to_string().len() < 200, "{error}");
    }
    push(&mut nodes, "tank", 3, &[("a", Cell::Int(3))]).unwrap();
    assert_eq!(nodes.flush().count, 0);
    let tank = instances(&dac, "tank").pop().unwrap();
    assert_eq!((names(&tank), tank.ledger().last_sequence), (vec!["a".to_owned()], 2));
}

#[test]
fn another_node_keeps_its_name() {
    let dac = Dac::new(Config::default());
    let mut first = nodes(&dac, SourceLimits::default());
    push(&mut first, "tank", 1, &[("a", Cell::Int(1))]).unwrap();
    let mut second = nodes(&dac, SourceLimits::default());
    let error = push(&mut second, "tank", 1, &[("a", Cell::Int(1))]).unwrap_err();
    assert!(matches!(error, Rejected::Refused(_)), "{error}");
}

#[test]
fn many_samples_make_several_batches() {
    let dac = Dac::new(Config::default());
    let mut nodes = nodes(&dac, SourceLimits::default());
    for time in 0..10_000 {
        push(&mut nodes, "tank", time, &[("a", Cell::Uint(time)), ("t", Cell::Text("abc"))]).unwrap();
    }
    nodes.flush();
    let tank = instances(&dac, "tank").pop().unwrap();
    assert_eq!(tank.ledger().last_sequence, 10_000);
    let newest = tank.log.newest(&tank.probe_type).unwrap();
    let sample = Batch::parse(newest.batch(), &tank.probe_type).unwrap().get(0).unwrap();
    assert_eq!(sample.values, [Value::Int(9_999), Value::String("abc".into())]);
}

#[test]
fn a_declared_type_has_structs_and_continues_with_another_one() {
    let dac = Dac::new(Config::default());
    let mut nodes = nodes(&dac, SourceLimits { max_instances: 1, ..SourceLimits::default() });
    let of = |name: &str| {
        let members = vec![Metric::new("count", MetricType::Uint64)];
        let kind = MetricType::Struct(StructType { name: "Tank".into(), members });
        let uuid = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, name.as_bytes());
        let metrics = vec![Metric::new(name, kind)];
        Arc::new(ProbeType { name: name.into(), uuid, version: "1.0".into(), doc: None, rate: None, metrics })
    };
    let (first, second) = (of("a"), of("b"));
    let push = |nodes: &mut SourceNodes, instance, probe_type: &Arc<ProbeType>, row: &[u8]| {
        let sample = DeclaredSample { node: "plant", instance, probe_type, time: 1, row };
        nodes.push_declared(&sample).map_err(|refused| refused.why)
    };
    for number in 0..5_000_u64 {
        push(&mut nodes, "tank", &first, &number.to_le_bytes()).unwrap();
    }
    assert!(push(&mut nodes, "tank", &second, &[1]).is_err(), "a row of another length");
    push(&mut nodes, "tank", &first, &7_u64.to_le_bytes()).unwrap();
    assert_eq!(nodes.flush().count, 0);
    let before = instances(&dac, "tank").pop().unwrap();
    assert_eq!(before.ledger().last_sequence, 5_001, "what was refused has no number");
    push(&mut nodes, "tank", &second, &8_u64.to_le_bytes()).unwrap();
    assert!(matches!(push(&mut nodes, "pump", &first, &[0; 8]), Err(Rejected::TooManyInstances(_))));
    assert_eq!(nodes.flush().count, 0);
    let tank = instances(&dac, "tank").pop().unwrap();
    {
        let ledger = tank.ledger();
        assert_eq!((ledger.last_sequence, ledger.received, ledger.missing), (5_002, 5_002, 0));
        assert_eq!(ledger.received + ledger.missing + ledger.stored_before, ledger.last_sequence);
    }
    let batch = tank.log.newest(&tank.probe_type).unwrap();
    let sample = Batch::parse(batch.batch(), &tank.probe_type).unwrap().get(0).unwrap();
    assert_eq!(sample.values, [Value::Struct(vec![Value::Uint(8)])]);
}

#[test]
fn samples_that_were_lost_on_the_way_here_are_a_gap() {
    let dac = Dac::new(Config::default());
    let mut nodes = nodes(&dac, SourceLimits::default());
    let metrics = vec![Metric::new("seq", MetricType::Uint64)];
    let uuid = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, b"seq");
    let name = "Message".to_owned();
    let probe_type =
        Arc::new(ProbeType { name, uuid, version: "1.0".into(), doc: None, rate: None, metrics });
    let mut push = |missing| {
        if missing > 0 {
            nodes.note_missing("plant", "messages", missing, SourceLoss::Network);
        }
        let (probe_type, row) = (&probe_type, &[0; 8]);
        let sample = DeclaredSample { node: "plant", instance: "messages", probe_type, time: 1, row };
        nodes.push_declared(&sample).unwrap();
    };
    [0, 0, 3, 0, 2].into_iter().for_each(&mut push);
    assert_eq!(nodes.flush().count, 0);
    let messages = instances(&dac, "messages").pop().unwrap();
    let ledger = messages.ledger();
    assert_eq!((ledger.last_sequence, ledger.received, ledger.missing), (10, 5, 5));
    let gaps: Vec<_> =
        ledger.gaps.iter().map(|gap| (gap.from_sequence, gap.to_sequence, gap.cause)).collect();
    assert_eq!(gaps, [(3, 5, Cause::Network), (8, 9, Cause::Network)]);
}
