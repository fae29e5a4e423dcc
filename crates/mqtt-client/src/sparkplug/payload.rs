//! Payloads (6.4): Protocol Buffers with metrics.

use oasis_format::{
    columns::Cell,
    protobuf::{BadWire, WireValue, next_field},
};

/// Most metrics of a payload.
pub const MAX_METRICS: usize = 1_000;
/// Longest unit, in bytes.
const MAX_UNIT_BYTES: usize = 63;
/// Properties that have the unit of a metric; `engUnit` is what Ignition writes.
const UNIT_PROPERTIES: [&str; 3] = ["engUnit", "unit", "units"];

/// Why bytes are no payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadMetrics {
    /// No Protocol Buffers.
    #[error("it is no payload of Sparkplug B: {0}")]
    Wire(#[from] BadWire),
    /// Names are UTF-8.
    #[error("a name or text is not UTF-8")]
    Text,
    /// More metrics than are taken.
    #[error("it has more than {MAX_METRICS} metrics")]
    Metrics,
}

/// A payload.
#[derive(Debug, Default, PartialEq)]
pub struct Metrics<'m> {
    /// Milliseconds since 1970.
    pub timestamp: Option<u64>,
    /// The sequence number, 0 to 255.
    pub sequence: Option<u8>,
    /// The metrics in their order.
    pub metrics: Vec<MetricValue<'m>>,
}

/// A metric with its value.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct MetricValue<'m> {
    /// Births have names; data may have only aliases.
    pub name: Option<&'m str>,
    /// The number that stands for the name.
    pub alias: Option<u64>,
    /// Milliseconds since 1970.
    pub timestamp: Option<u64>,
    /// The number of its type; births have it.
    pub datatype: Option<u64>,
    /// Whether it is of the past, so that it is not the present value.
    pub is_historical: bool,
    /// The unit among the properties.
    pub unit: Option<&'m str>,
    /// The value.
    pub value: RawValue<'m>,
}

/// A value as it was sent.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub enum RawValue<'m> {
    /// No value.
    #[default]
    Null,
    /// A whole number; negative ones of 8 to 32 bits are sent as 32 bits without sign.
    Integer(u64),
    /// A real.
    Real(f64),
    /// A truth value.
    Boolean(bool),
    /// A text.
    Text(&'m str),
    /// A set, a template, bytes.
    Other,
}

impl<'m> Metrics<'m> {
    /// Parses a payload.
    ///
    /// # Errors
    /// If it is damaged, or has too many metrics.
    pub fn parse(mut bytes: &'m [u8]) -> Result<Self, BadMetrics> {
        let mut parsed = Self::default();
        while let Some((field, value)) = next_field(&mut bytes)? {
            match (field, value) {
                (1, WireValue::Varint(time)) => parsed.timestamp = Some(time),
                (2, WireValue::Bytes(_)) if parsed.metrics.len() == MAX_METRICS => {
                    return Err(BadMetrics::Metrics);
                }
                (2, WireValue::Bytes(metric)) => parsed.metrics.push(metric_value(metric)?),
                (3, WireValue::Varint(sequence)) => parsed.sequence = Some((sequence & 0xff) as u8),
                _ => {}
            }
        }
        Ok(parsed)
    }

    /// The value of a whole number.
    pub fn integer(&self, name: &str) -> Option<u64> {
        let mut named = self.metrics.iter().filter(|metric| metric.name == Some(name));
        match named.next()?.value {
            RawValue::Integer(integer) => Some(integer),
            _ => None,
        }
    }
}

fn metric_value(mut bytes: &[u8]) -> Result<MetricValue<'_>, BadMetrics> {
    let mut metric = MetricValue::default();
    let mut is_null = false;
    while let Some((field, value)) = next_field(&mut bytes)? {
        match (field, value) {
            (1, WireValue::Bytes(name)) => metric.name = Some(text(name)?),
            (2, WireValue::Varint(alias)) => metric.alias = Some(alias),
            (3, WireValue::Varint(time)) => metric.timestamp = Some(time),
            (4, WireValue::Varint(datatype)) => metric.datatype = Some(datatype),
            (5, WireValue::Varint(flag)) => metric.is_historical = flag != 0,
            (7, WireValue::Varint(flag)) => is_null = flag != 0,
            (9, WireValue::Bytes(properties)) => metric.unit = unit(properties)?,
            (10 | 11, WireValue::Varint(integer)) => metric.value = RawValue::Integer(integer),
            (12, WireValue::Fixed32(float)) => {
                metric.value = RawValue::Real(f32::from_le_bytes(float).into())
            }
            (13, WireValue::Fixed64(double)) => metric.value = RawValue::Real(f64::from_le_bytes(double)),
            (14, WireValue::Varint(flag)) => metric.value = RawValue::Boolean(flag != 0),
            (15, WireValue::Bytes(string)) => metric.value = RawValue::Text(text(string)?),
            (16..=19, _) => metric.value = RawValue::Other,
            _ => {}
        }
    }
    if is_null {
        metric.value = RawValue::Null;
    }
    Ok(metric)
}

/// Finds the unit in a set of properties: keys, and values in the same order.
fn unit(mut bytes: &[u8]) -> Result<Option<&str>, BadMetrics> {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    while let Some((field, value)) = next_field(&mut bytes)? {
        match (field, value) {
            (1, WireValue::Bytes(key)) => keys.push(key),
            (2, WireValue::Bytes(value)) => values.push(value),
            _ => {}
        }
    }
    let is_unit = |key: &[u8]| UNIT_PROPERTIES.iter().any(|name| name.as_bytes() == key);
    let Some(mut value) = keys.into_iter().position(is_unit).and_then(|at| values.get(at).copied()) else {
        return Ok(None);
    };
    while let Some((field, of_field)) = next_field(&mut value)? {
        if let (8, WireValue::Bytes(string)) = (field, of_field) {
            let unit = text(string)?;
            let is_plain =
                !unit.is_empty() && unit.len() <= MAX_UNIT_BYTES && !unit.chars().any(char::is_control);
            return Ok(Some(unit).filter(|_| is_plain));
        }
    }
    Ok(None)
}

fn text(bytes: &[u8]) -> Result<&str, BadMetrics> {
    str::from_utf8(bytes).map_err(|_| BadMetrics::Text)
}

/// The kind of a type (6.4.16), as a cell of any value of it; `None` if its values are not taken.
pub fn example(datatype: u64) -> Option<Cell<'static>> {
    Some(match datatype {
        1..=4 => Cell::Int(0),
        5..=7 => Cell::Uint(0),
        // Whole numbers of 64 bits without sign; times are milliseconds since 1970.
        8 | 13 => Cell::Uint(u64::MAX),
        9 | 10 => Cell::Real(0.0),
        11 => Cell::Boolean(false),
        12 | 14 | 15 => Cell::Text(""),
        _ => return None,
    })
}

impl<'m> MetricValue<'m> {
    /// The value, read as this type.
    pub fn cell(&self, datatype: u64) -> Cell<'m> {
        match (datatype, self.value) {
            // Negative numbers of 8 to 32 bits are sent as 32 bits without sign.
            (1, RawValue::Integer(integer)) => Cell::Int((integer as i8).into()),
            (2, RawValue::Integer(integer)) => Cell::Int((integer as i16).into()),
            (3, RawValue::Integer(integer)) => Cell::Int((integer as i32).into()),
            (4, RawValue::Integer(integer)) => Cell::Int(integer.cast_signed()),
            (5..=8 | 13, RawValue::Integer(integer)) => Cell::Uint(integer),
            (9 | 10, RawValue::Real(real)) => Cell::Real(real),
            (11, RawValue::Boolean(truth)) => Cell::Boolean(truth),
            (12 | 14 | 15, RawValue::Text(text)) => Cell::Text(text),
            _ => Cell::Absent,
        }
    }
}
