//! Encodes a sample as a CDR message of ROS 2: little-endian, XCDR version 1 (OMG DDS-XTypes 1.3, 7.4.1).

use crate::message_types::is_empty;
use oasis_wire::{
    schema::{Metric, MetricType, ProbeType},
    value::Value,
};

/// Representation identifier of plain CDR, little-endian, and options.
const HEADER: [u8; 4] = [0, 1, 0, 0];

/// Replaces the content of `message` by a sample and the state of its probe.
pub fn encode(probe_type: &ProbeType, state: u16, values: &[Value], message: &mut Vec<u8>) {
    message.clear();
    message.extend_from_slice(&HEADER);
    members(&probe_type.metrics, values, message);
    aligned(&state.to_le_bytes(), message);
}

fn members(metrics: &[Metric], values: &[Value], to: &mut Vec<u8>) {
    for (metric, value) in metrics.iter().zip(values).filter(|(metric, _)| !is_empty(&metric.kind)) {
        encode_value(&metric.kind, value, to);
    }
}

/// Appends the bytes of a number at a multiple of their length.
fn aligned(bytes: &[u8], to: &mut Vec<u8>) {
    let end = (to.len() - HEADER.len()).next_multiple_of(bytes.len()) + HEADER.len();
    to.resize(end, 0);
    to.extend_from_slice(bytes);
}

fn length(length: usize, to: &mut Vec<u8>) {
    // A sample has less than 2^32 bytes.
    aligned(&(length as u32).to_le_bytes(), to);
}

fn encode_value(kind: &MetricType, value: &Value, to: &mut Vec<u8>) {
    match (kind, value) {
        (MetricType::Int8, Value::Int(int)) => to.push(*int as u8),
        (MetricType::Int16, Value::Int(int)) => aligned(&(*int as i16).to_le_bytes(), to),
        (MetricType::Int32, Value::Int(int)) => aligned(&(*int as i32).to_le_bytes(), to),
        (_, Value::Int(int)) => aligned(&int.to_le_bytes(), to),
        (MetricType::Uint8, Value::Uint(uint)) => to.push(*uint as u8),
        (MetricType::Uint16, Value::Uint(uint)) => aligned(&(*uint as u16).to_le_bytes(), to),
        (MetricType::Uint32, Value::Uint(uint)) => aligned(&(*uint as u32).to_le_bytes(), to),
        (_, Value::Uint(uint)) => aligned(&uint.to_le_bytes(), to),
        (_, Value::Real32(real)) => aligned(&real.to_le_bytes(), to),
        (_, Value::Real64(real)) => aligned(&real.to_le_bytes(), to),
        (_, Value::Boolean(boolean)) => to.push((*boolean).into()),
        (_, Value::String(text)) => {
            length(text.len() + 1, to);
            to.extend_from_slice(text.as_bytes());
            to.push(0);
        }
        (_, Value::Blob(bytes)) => {
            length(bytes.len(), to);
            to.extend_from_slice(bytes);
        }
        // A vector within a vector is a message with one sequence, whose bytes are those of the sequence.
        (MetricType::Vector(element), Value::Vector(elements)) => {
            length(elements.len(), to);
            elements.iter().for_each(|value| encode_value(element, value, to));
        }
        (MetricType::Struct(of), Value::Struct(values)) => members(&of.members, values, to),
        // Samples match their type.
        (_, Value::Vector(_) | Value::Struct(_)) => {}
    }
}
