//! Parameters, information and log records: the instances that are no topics.

use super::format::number_of;
use crate::input::infer;
use oasis_wire::{
    schema::{Metric, MetricType, ProbeType},
    value::RowWriter,
};
use std::sync::Arc;

/// The type of log records, `pdl/instrument/log.pdl`.
const LOG_PROBE: &str = include_str!("log_probe.json");

/// A key with a type, and a value.
#[derive(Debug, PartialEq)]
pub struct KeyValue<'a> {
    pub kind: &'a str,
    pub key: &'a str,
    pub value: &'a [u8],
}

impl<'a> KeyValue<'a> {
    /// Reads the length of a key, the key and a value.
    pub fn read(content: &'a [u8]) -> Option<Self> {
        let (length, rest) = content.split_first()?;
        let (key, value) = rest.split_at_checked(usize::from(*length))?;
        let (kind, key) = str::from_utf8(key).ok()?.split_once(' ')?;
        Some(Self { kind, key, value })
    }

    /// The value as a number.
    pub fn number(&self) -> Option<f64> {
        let array = self.value.try_into().ok();
        match self.kind {
            "int32_t" => array.map(|bytes| i32::from_le_bytes(bytes).into()),
            "float" => array.map(|bytes| f32::from_le_bytes(bytes).into()),
            _ => None,
        }
    }

    /// The value as text, and whether that replaces bytes that are not UTF-8; none if it consists of bytes.
    pub fn text(&self) -> Option<(String, bool)> {
        if self.kind.starts_with("char[") {
            let text = String::from_utf8_lossy(self.value);
            return Some((
                text.trim_end_matches('\0').to_owned(),
                matches!(text, std::borrow::Cow::Owned(_)),
            ));
        }
        let (_, bytes) = number_of(self.kind)?;
        let value = self.value.get(..bytes)?;
        let mut long = [0; 8];
        long[..bytes].copy_from_slice(value);
        let unsigned = u64::from_le_bytes(long);
        let shift = 64 - 8 * bytes as u32;
        let text = match self.kind {
            "float" => f32::from_bits(unsigned as u32).to_string(),
            "double" => f64::from_bits(unsigned).to_string(),
            kind if kind.starts_with("int") => ((unsigned << shift) as i64 >> shift).to_string(),
            _ => unsigned.to_string(),
        };
        Some((text, false))
    }
}

/// The type of parameters and their defaults.
pub fn parameter_type() -> Arc<ProbeType> {
    let mut value = Metric::new("value", MetricType::Real64);
    value.doc = Some("A 32-bit integer or real: each is exact.".into());
    let metrics =
        vec![Metric::new("name", MetricType::String), value, Metric::new("is_integer", MetricType::Boolean)];
    Arc::new(infer::described("ULog::Parameter", metrics))
}

/// Writes the row of a parameter.
pub fn parameter_row(of: &KeyValue<'_>, value: f64, row: &mut Vec<u8>) {
    row.clear();
    let mut to = RowWriter::new(row);
    to.string(of.key);
    to.f64(value);
    to.boolean(of.kind == "int32_t");
}

/// The type of information about the vehicle and the log.
pub fn information_type() -> Arc<ProbeType> {
    let bytes = MetricType::Vector(Box::new(MetricType::Uint8));
    let metrics = vec![
        Metric::new("key", MetricType::String),
        Metric::new("value", MetricType::String),
        Metric::new("bytes", bytes),
    ];
    Arc::new(infer::described("ULog::Information", metrics))
}

/// Writes the row of an information, a text or bytes.
pub fn information_row(key: &str, text: &str, bytes: &[u8], row: &mut Vec<u8>) {
    row.clear();
    let mut to = RowWriter::new(row);
    to.string(key);
    to.string(text);
    to.vector(bytes.len());
    to.packed(bytes);
}

/// The type of times in which the log could not be written.
pub fn dropout_type() -> Arc<ProbeType> {
    let duration = Metric { unit: Some("ms".into()), ..Metric::new("duration", MetricType::Uint16) };
    Arc::new(infer::described("ULog::Dropout", vec![duration]))
}

/// The type of log records.
pub fn log_type() -> Option<Arc<ProbeType>> {
    serde_json::from_str(LOG_PROBE).ok().map(Arc::new)
}

/// Writes the row of a log record. `level` is a digit, as in syslog.
pub fn log_row(level: u8, target: &str, message: &str, row: &mut Vec<u8>) {
    // The numbers of OpenTelemetry, as in `LogLevel`.
    let level = match level {
        b'0'..=b'2' => 21,
        b'3' => 17,
        b'4' => 13,
        b'7' => 5,
        _ => 9,
    };
    row.clear();
    let mut to = RowWriter::new(row);
    to.u8(level);
    to.string(target);
    to.string(message);
    to.string("");
    to.u32(0);
    to.string("");
    to.string("");
    to.vector(0);
    to.u64(0);
}
