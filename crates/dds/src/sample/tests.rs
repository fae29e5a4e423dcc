//! The layout against an encoder that follows the rules of CDR one by one, for any type of the PDL.

use super::*;
use oasis_wire::{
    schema::{Metric, MetricType, StructType},
    value::Value,
};
use proptest::prelude::*;
use uuid::Uuid;

fn probe_type(metrics: Vec<Metric>) -> ProbeType {
    ProbeType {
        name: "Plant::Line".into(),
        uuid: Uuid::nil(),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics,
    }
}

fn sample(values: Vec<Value>) -> Sample {
    Sample { sequence: 7, offset: 0, time: 9, values }
}

#[test]
fn a_sample_has_the_bytes_of_the_struct() {
    let line = probe_type(vec![
        Metric::new("mode", MetricType::Uint8),
        Metric::new("temperature", MetricType::Real32),
        Metric::new("counts", MetricType::Vector(Box::new(MetricType::Uint64))),
    ]);
    let values =
        vec![Value::Uint(5), Value::Real32(21.5), Value::Vector(vec![Value::Uint(1), Value::Uint(2)])];
    let bytes = encode(&InstanceKey::new("p7", "line"), &line, &sample(values));
    let expected: Vec<u8> = [
        &[3, 0, 0, 0, b'p', b'7', 0][..],
        &[0], // to 8
        &[5, 0, 0, 0, b'l', b'i', b'n', b'e', 0],
        &[0, 0, 0, 0, 0, 0, 0], // to 24
        &7_u64.to_le_bytes(),
        &9_u64.to_le_bytes(),
        &[5],
        &[0, 0, 0], // to 44
        &21.5_f32.to_le_bytes(),
        &2_u32.to_le_bytes(),
        &[0, 0, 0, 0], // to 56
        &1_u64.to_le_bytes(),
        &2_u64.to_le_bytes(),
    ]
    .concat();
    assert_eq!(bytes, expected);
}

#[test]
fn a_name_ends_at_its_first_nul() {
    assert_eq!(InstanceKey::new("a\0b", "c\0"), InstanceKey::new("a", "c"));
}

/// A number at a multiple of its size, from the start of the sample.
fn number(bytes: &[u8], out: &mut Vec<u8>) {
    while !out.len().is_multiple_of(bytes.len()) {
        out.push(0);
    }
    out.extend_from_slice(bytes);
}

fn text(text: &str, out: &mut Vec<u8>) {
    number(&(text.len() as u32 + 1).to_le_bytes(), out);
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

fn expected(kind: &MetricType, value: &Value, out: &mut Vec<u8>) {
    match (kind, value) {
        (MetricType::Int8, Value::Int(value)) => number(&(*value as i8).to_le_bytes(), out),
        (MetricType::Int16, Value::Int(value)) => number(&(*value as i16).to_le_bytes(), out),
        (MetricType::Int32, Value::Int(value)) => number(&(*value as i32).to_le_bytes(), out),
        (MetricType::Int64, Value::Int(value)) => number(&value.to_le_bytes(), out),
        (MetricType::Uint8, Value::Uint(value)) => number(&(*value as u8).to_le_bytes(), out),
        (MetricType::Uint16, Value::Uint(value)) => number(&(*value as u16).to_le_bytes(), out),
        (MetricType::Uint32, Value::Uint(value)) => number(&(*value as u32).to_le_bytes(), out),
        (MetricType::Uint64, Value::Uint(value)) => number(&value.to_le_bytes(), out),
        (MetricType::Real32, Value::Real32(value)) => number(&value.to_le_bytes(), out),
        (MetricType::Real64, Value::Real64(value)) => number(&value.to_le_bytes(), out),
        (MetricType::Boolean, Value::Boolean(value)) => number(&[u8::from(*value)], out),
        (MetricType::String, Value::String(value)) => text(value, out),
        (MetricType::Vector(element), Value::Vector(values)) => {
            number(&(values.len() as u32).to_le_bytes(), out);
            values.iter().for_each(|value| expected(element, value, out));
        }
        (MetricType::Blob(_), Value::Blob(bytes)) => {
            number(&(bytes.len() as u32).to_le_bytes(), out);
            out.extend_from_slice(bytes);
        }
        (MetricType::Struct(of), Value::Struct(values)) => {
            of.members.iter().zip(values).for_each(|(member, value)| expected(&member.kind, value, out));
        }
        (
            kind @ (MetricType::Int8
            | MetricType::Int16
            | MetricType::Int32
            | MetricType::Int64
            | MetricType::Uint8
            | MetricType::Uint16
            | MetricType::Uint32
            | MetricType::Uint64
            | MetricType::Real32
            | MetricType::Real64
            | MetricType::Boolean
            | MetricType::String
            | MetricType::Vector(_)
            | MetricType::Struct(_)
            | MetricType::Blob(_)),
            value,
        ) => panic!("{kind:?} has no value {value:?}"),
    }
}

fn kinds() -> impl Strategy<Value = MetricType> {
    let simple = prop::sample::select(vec![
        MetricType::Int8,
        MetricType::Int16,
        MetricType::Int32,
        MetricType::Int64,
        MetricType::Uint8,
        MetricType::Uint16,
        MetricType::Uint32,
        MetricType::Uint64,
        MetricType::Real32,
        MetricType::Real64,
        MetricType::Boolean,
        MetricType::String,
    ]);
    simple.prop_recursive(3, 12, 4, |inner| {
        let members = prop::collection::vec(inner.clone(), 1..4);
        let of = members.prop_map(|members| {
            let member = |(number, kind)| Metric::new(format!("m{number}"), kind);
            let members = members.into_iter().enumerate().map(member).collect();
            MetricType::Struct(StructType { name: "Plant::S".into(), members })
        });
        prop_oneof![inner.prop_map(|element| MetricType::Vector(Box::new(element))), of]
    })
}

fn values(kind: &MetricType) -> BoxedStrategy<Value> {
    match kind {
        MetricType::Int8 => any::<i8>().prop_map(|value| Value::Int(value.into())).boxed(),
        MetricType::Int16 => any::<i16>().prop_map(|value| Value::Int(value.into())).boxed(),
        MetricType::Int32 => any::<i32>().prop_map(|value| Value::Int(value.into())).boxed(),
        MetricType::Int64 => any::<i64>().prop_map(Value::Int).boxed(),
        MetricType::Uint8 => any::<u8>().prop_map(|value| Value::Uint(value.into())).boxed(),
        MetricType::Uint16 => any::<u16>().prop_map(|value| Value::Uint(value.into())).boxed(),
        MetricType::Uint32 => any::<u32>().prop_map(|value| Value::Uint(value.into())).boxed(),
        MetricType::Uint64 => any::<u64>().prop_map(Value::Uint).boxed(),
        MetricType::Real32 => any::<f32>().prop_map(Value::Real32).boxed(),
        MetricType::Real64 => any::<f64>().prop_map(Value::Real64).boxed(),
        MetricType::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        MetricType::String => "[a-zä]{0,5}".prop_map(Value::String).boxed(),
        MetricType::Vector(element) => {
            prop::collection::vec(values(element), 0..4).prop_map(Value::Vector).boxed()
        }
        MetricType::Struct(of) => {
            let members: Vec<_> = of.members.iter().map(|member| values(&member.kind)).collect();
            members.prop_map(Value::Struct).boxed()
        }
        MetricType::Blob(_) => prop::collection::vec(any::<u8>(), 0..9).prop_map(Value::Blob).boxed(),
    }
}

fn samples() -> impl Strategy<Value = (Vec<MetricType>, Vec<Value>)> {
    prop::collection::vec(kinds(), 0..5).prop_flat_map(|kinds| {
        let each: Vec<_> = kinds.iter().map(values).collect();
        (Just(kinds), each)
    })
}

proptest! {
    #[test]
    fn each_type_of_the_pdl_has_its_bytes((kinds, values) in samples(), node in "[a-z]{0,5}", instance in "[a-z]{0,5}") {
        let metrics = kinds.iter().enumerate().map(|(number, kind)| Metric::new(format!("m{number}"), kind.clone()));
        let mut out = Vec::new();
        text(&node, &mut out);
        text(&instance, &mut out);
        number(&7_u64.to_le_bytes(), &mut out);
        number(&9_u64.to_le_bytes(), &mut out);
        kinds.iter().zip(&values).for_each(|(kind, value)| expected(kind, value, &mut out));
        let line = probe_type(metrics.collect());
        prop_assert_eq!(encode(&InstanceKey::new(&node, &instance), &line, &sample(values)), out);
    }
}
