//! Restores samples of an export from the values of its binary messages.

use crate::message_types::is_empty;
use oasis_wire::{
    reader::Reader,
    schema::{Blob, Metric, MetricType, ProbeType},
    value::{self, Value},
};

/// Returns the values of a sample and the state of its probe from a row of the message's metrics; `None` if these are not the fields of the
/// probe type.
pub fn restore(probe_type: &ProbeType, metrics: &[Metric], row: &[u8]) -> Option<(Vec<Value>, u16)> {
    let mut from = Reader::new(row, 0);
    let values = metrics.iter().map(|metric| value::read(&metric.kind, &mut from));
    let mut fields = values.collect::<Result<Vec<_>, _>>().ok()?;
    let Value::Uint(state) = fields.pop()? else { return None };
    Some((members(&probe_type.metrics, fields)?, state.try_into().ok()?))
}

fn members(metrics: &[Metric], fields: Vec<Value>) -> Option<Vec<Value>> {
    let mut fields = fields.into_iter();
    let values = metrics.iter().map(|metric| match &metric.kind {
        MetricType::Struct(of) if is_empty(&metric.kind) => {
            members(&of.members, Vec::new()).map(Value::Struct)
        }
        kind => restore_value(kind, fields.next()?),
    });
    let values = values.collect::<Option<_>>()?;
    fields.next().is_none().then_some(values)
}

fn restore_value(kind: &MetricType, field: Value) -> Option<Value> {
    let of_kind = |wanted: MetricType, field: Value| (*kind == wanted).then_some(field);
    match field {
        Value::Vector(elements) => match kind {
            MetricType::Vector(element) => {
                let elements = elements.into_iter().map(|of| restore_element(element, of));
                elements.collect::<Option<_>>().map(Value::Vector)
            }
            // The field is bytes, or a list of `uint8`.
            MetricType::Blob(of) => blob(*of, &elements),
            _ => None,
        },
        Value::Struct(fields) => {
            let MetricType::Struct(of) = kind else { return None };
            members(&of.members, fields).map(Value::Struct)
        }
        Value::Real32(_) => of_kind(MetricType::Real32, field),
        Value::Real64(_) => of_kind(MetricType::Real64, field),
        Value::Boolean(_) => of_kind(MetricType::Boolean, field),
        Value::String(_) => of_kind(MetricType::String, field),
        // No message has fields of this type.
        Value::Blob(_) => None,
        Value::Int(int) => integer(kind, int.into()),
        Value::Uint(uint) => integer(kind, uint.into()),
    }
}

fn blob(of: Blob, elements: &[Value]) -> Option<Value> {
    let byte = |value: &Value| match value {
        Value::Uint(byte) => u8::try_from(*byte).ok(),
        _ => None,
    };
    let bytes = elements.iter().map(byte).collect::<Option<Vec<u8>>>()?;
    of.holds(bytes.len()).then_some(Value::Blob(bytes))
}

/// An element: a vector within a vector is a message with one field.
fn restore_element(element: &MetricType, field: Value) -> Option<Value> {
    match (element, field) {
        (MetricType::Vector(_), Value::Struct(mut fields)) if fields.len() == 1 => {
            restore_value(element, fields.pop()?)
        }
        (element, field) => restore_value(element, field),
    }
}

/// An integer of a message, which can have more bits than its metric.
fn integer(kind: &MetricType, value: i128) -> Option<Value> {
    let (least, most, is_signed) = match kind {
        MetricType::Int8 => (i8::MIN.into(), i8::MAX.into(), true),
        MetricType::Int16 => (i16::MIN.into(), i16::MAX.into(), true),
        MetricType::Int32 => (i32::MIN.into(), i32::MAX.into(), true),
        MetricType::Int64 => (i64::MIN.into(), i64::MAX.into(), true),
        MetricType::Uint8 => (0, u8::MAX.into(), false),
        MetricType::Uint16 => (0, u16::MAX.into(), false),
        MetricType::Uint32 => (0, u32::MAX.into(), false),
        MetricType::Uint64 => (0, u64::MAX.into(), false),
        MetricType::Real32
        | MetricType::Real64
        | MetricType::Boolean
        | MetricType::String
        | MetricType::Vector(_)
        | MetricType::Struct(_)
        | MetricType::Blob(_) => return None,
    };
    let value = Some(value).filter(|value| (least..=most).contains(value))?;
    Some(if is_signed { Value::Int(value as i64) } else { Value::Uint(value as u64) })
}
