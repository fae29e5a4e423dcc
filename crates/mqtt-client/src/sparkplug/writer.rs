//! Writes payloads (6.4).

use super::REBIRTH;
use crate::encode::push_varint;

/// A payload that is being written.
#[derive(Debug)]
pub struct PayloadWriter {
    bytes: Vec<u8>,
    /// Used again for each metric.
    metric: Vec<u8>,
}

/// A metric with its value.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutgoingMetric<'a> {
    /// Births have names; data has aliases.
    pub name: Option<&'a str>,
    /// The number that stands for the name.
    pub alias: Option<u64>,
    /// Milliseconds since 1970.
    pub timestamp: Option<u64>,
    /// The number of its type (6.4.16); births have it.
    pub datatype: Option<u64>,
    /// Whether it is not the present value.
    pub is_historical: bool,
    /// The unit; empty for none.
    pub unit: &'a str,
    /// The value.
    pub value: OutgoingValue<'a>,
}

/// A value.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum OutgoingValue<'a> {
    /// None.
    #[default]
    Null,
    /// A whole number of at most 32 bits.
    Int(i32),
    /// A whole number of at most 32 bits without sign.
    Uint(u32),
    /// A whole number of 64 bits without sign, or such with sign in two's complement.
    Long(u64),
    /// A real of 32 bits.
    Float(f32),
    /// A real of 64 bits.
    Double(f64),
    /// A truth value.
    Boolean(bool),
    /// A text.
    Text(&'a str),
}

impl PayloadWriter {
    /// Begins a payload of this time, milliseconds since 1970.
    pub fn new(milliseconds: u64) -> Self {
        let mut bytes = Vec::new();
        push_number(1, milliseconds, &mut bytes);
        Self { bytes, metric: Vec::new() }
    }

    /// Adds a metric.
    pub fn push(&mut self, metric: &OutgoingMetric<'_>) {
        let to = &mut self.metric;
        to.clear();
        metric.name.iter().for_each(|name| push_bytes(1, name.as_bytes(), to));
        metric.alias.iter().for_each(|alias| push_number(2, *alias, to));
        metric.timestamp.iter().for_each(|time| push_number(3, *time, to));
        metric.datatype.iter().for_each(|datatype| push_number(4, *datatype, to));
        if metric.is_historical {
            push_number(5, 1, to);
        }
        if !metric.unit.is_empty() {
            push_bytes(9, &unit_property(metric.unit), to);
        }
        match metric.value {
            OutgoingValue::Null => push_number(7, 1, to),
            OutgoingValue::Int(value) => push_number(10, value.cast_unsigned().into(), to),
            OutgoingValue::Uint(value) => push_number(10, value.into(), to),
            OutgoingValue::Long(value) => push_number(11, value, to),
            OutgoingValue::Float(value) => {
                push_varint(12 << 3 | 5, to);
                to.extend(value.to_le_bytes());
            }
            OutgoingValue::Double(value) => {
                push_varint(13 << 3 | 1, to);
                to.extend(value.to_le_bytes());
            }
            OutgoingValue::Boolean(value) => push_number(14, value.into(), to),
            OutgoingValue::Text(value) => push_bytes(15, value.as_bytes(), to),
        }
        push_bytes(2, &self.metric, &mut self.bytes);
    }

    /// Ends the payload, with the sequence number of messages that have one.
    pub fn finish(mut self, sequence: Option<u8>) -> Vec<u8> {
        sequence.iter().for_each(|sequence| push_number(3, (*sequence).into(), &mut self.bytes));
        self.bytes
    }
}

/// Returns a request for births: the metric `Node Control/Rebirth` with the value true.
pub fn rebirth(milliseconds: u64) -> Vec<u8> {
    let mut payload = PayloadWriter::new(milliseconds);
    payload.push(&OutgoingMetric {
        name: Some(REBIRTH),
        datatype: Some(11),
        value: OutgoingValue::Boolean(true),
        ..OutgoingMetric::default()
    });
    payload.finish(None)
}

/// The properties of a metric: `engUnit`, which is what Ignition reads.
fn unit_property(unit: &str) -> Vec<u8> {
    let (mut properties, mut value) = (Vec::new(), Vec::new());
    push_number(1, 12, &mut value);
    push_bytes(8, unit.as_bytes(), &mut value);
    push_bytes(1, b"engUnit", &mut properties);
    push_bytes(2, &value, &mut properties);
    properties
}

fn push_number(field: u64, value: u64, to: &mut Vec<u8>) {
    push_varint(field << 3, to);
    push_varint(value, to);
}

fn push_bytes(field: u64, content: &[u8], to: &mut Vec<u8>) {
    push_varint(field << 3 | 2, to);
    push_varint(content.len() as u64, to);
    to.extend(content);
}

#[cfg(test)]
mod tests {
    use super::super::{Metrics, RawValue};
    use super::*;

    #[test]
    fn a_payload_reads_back() {
        let values = [
            (OutgoingValue::Int(-1), RawValue::Integer(u32::MAX.into())),
            (OutgoingValue::Uint(7), RawValue::Integer(7)),
            (OutgoingValue::Long(u64::MAX), RawValue::Integer(u64::MAX)),
            (OutgoingValue::Float(0.5), RawValue::Real(0.5)),
            (OutgoingValue::Double(-2.5), RawValue::Real(-2.5)),
            (OutgoingValue::Boolean(true), RawValue::Boolean(true)),
            (OutgoingValue::Text("ä"), RawValue::Text("ä")),
            (OutgoingValue::Null, RawValue::Null),
        ];
        let mut payload = PayloadWriter::new(1_764_424_800_123);
        for (at, (value, _)) in values.iter().enumerate() {
            payload.push(&OutgoingMetric {
                name: Some("level"),
                alias: Some(at as u64),
                timestamp: Some(5),
                datatype: Some(10),
                is_historical: at == 1,
                unit: "m",
                value: *value,
            });
        }
        let bytes = payload.finish(Some(255));
        let read = Metrics::parse(&bytes).unwrap();
        assert_eq!((read.timestamp, read.sequence), (Some(1_764_424_800_123), Some(255)));
        for (at, (metric, (_, expected))) in read.metrics.iter().zip(values).enumerate() {
            assert_eq!((metric.name, metric.alias, metric.unit), (Some("level"), Some(at as u64), Some("m")));
            assert_eq!((metric.value, metric.is_historical), (expected, at == 1));
        }
    }
}
