//! Samples as a probe writes them, from values known only at run time.

use oasis_wire::{
    schema::{MetricType, ProbeType},
    value::{RowWriter, Value},
};

pub fn row(values: &[Value], probe_type: &ProbeType) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut to = RowWriter::new(&mut bytes);
    values.iter().zip(&probe_type.metrics).for_each(|(value, metric)| put(value, &metric.kind, &mut to));
    bytes
}

fn put(value: &Value, kind: &MetricType, to: &mut RowWriter<'_>) {
    match (value, kind) {
        (Value::Int(v), MetricType::Int8) => to.i8(*v as i8),
        (Value::Int(v), MetricType::Int16) => to.i16(*v as i16),
        (Value::Int(v), MetricType::Int32) => to.i32(*v as i32),
        (Value::Int(v), _) => to.i64(*v),
        (Value::Uint(v), MetricType::Uint8) => to.u8(*v as u8),
        (Value::Uint(v), MetricType::Uint16) => to.u16(*v as u16),
        (Value::Uint(v), MetricType::Uint32) => to.u32(*v as u32),
        (Value::Uint(v), _) => to.u64(*v),
        (Value::Real32(v), _) => to.f32(*v),
        (Value::Real64(v), _) => to.f64(*v),
        (Value::Boolean(v), _) => to.boolean(*v),
        (Value::String(v), _) => to.string(v),
        (Value::Vector(elements), MetricType::Vector(kind)) => {
            to.vector(elements.len());
            elements.iter().for_each(|element| put(element, kind, to));
        }
        (Value::Struct(members), MetricType::Struct(of)) => {
            members.iter().zip(&of.members).for_each(|(value, member)| put(value, &member.kind, to));
        }
        _ => panic!("{value:?} is no {kind:?}"),
    }
}
