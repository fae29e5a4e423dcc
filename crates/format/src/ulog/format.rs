//! Formats of topics: `name:uint64_t timestamp;float[3] xyz;nested[2] of;`. The data of a topic becomes a row.

use crate::{input::FieldBudget, visible::shortened};
use oasis_wire::{
    schema::{MAX_DEPTH, MAX_MEMBERS, Metric, MetricType, StructType},
    value::RowWriter,
};
use std::collections::HashMap;

/// Longest data of a message.
const MAX_DATA_BYTES: usize = u16::MAX as usize;

/// The texts of all formats, by name.
#[derive(Debug, Default)]
pub struct Formats(HashMap<String, String>);

/// Why a topic has no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadFormat {
    /// Not defined.
    #[error("no format defines {0:?}")]
    Undefined(String),
    /// Not a field.
    #[error("{0:?} is no field: expected `TYPE NAME`")]
    Field(String),
    /// Nested too deep.
    #[error("formats are nested deeper than {MAX_DEPTH}")]
    Deep,
    /// Longer than any message.
    #[error("the format has more than {MAX_DATA_BYTES} bytes, or {MAX_MEMBERS} fields")]
    Long,
    /// Without a time.
    #[error("the format has no field `uint64_t timestamp`")]
    NoTime,
    /// Without values.
    #[error("the format has no field besides padding")]
    Empty,
}

/// The fields of a topic.
#[derive(Debug)]
pub struct Layout {
    fields: Vec<Kind>,
    /// Bytes of a message; padding at the end may be absent.
    bytes: usize,
    /// Bytes of padding at the end.
    padding: usize,
    /// The byte of the field `timestamp`.
    pub timestamp: usize,
    /// The byte of the field `time_utc_usec`, if there is one.
    pub utc: Option<usize>,
    pub metrics: Vec<Metric>,
}

#[derive(Debug)]
enum Kind {
    /// Numbers, with their bytes: a row has the same bytes.
    Numbers(usize),
    Boolean,
    /// Characters up to a NUL.
    Text(usize),
    Padding(usize),
    Struct(Vec<Kind>),
    Array(usize, Box<Kind>),
}

impl Formats {
    /// Adds the content of a format message.
    pub fn add(&mut self, content: &[u8]) -> bool {
        let Some((name, fields)) = str::from_utf8(content).ok().and_then(|text| text.split_once(':')) else {
            return false;
        };
        if self.0.len() < MAX_MEMBERS {
            self.0.insert(name.to_owned(), fields.to_owned());
        }
        true
    }

    /// Returns the layout of a topic.
    pub fn layout(&self, name: &str) -> Result<Layout, BadFormat> {
        let (fields, metrics, bytes) = self.fields(name, 0, &mut FieldBudget::new())?;
        if metrics.is_empty() {
            return Err(BadFormat::Empty);
        }
        let text = self.0.get(name).map(String::as_str).unwrap_or_default();
        let (mut at, mut timestamp, mut utc) = (0, None, None);
        for field in text.split(';').filter(|field| !field.trim().is_empty()) {
            match field.trim() {
                "uint64_t timestamp" => timestamp = Some(at),
                "uint64_t time_utc_usec" => utc = Some(at),
                _ => {}
            }
            at += self.width(field, 0, &mut FieldBudget::new())?;
        }
        let padding = match fields.last() {
            Some(Kind::Padding(bytes)) => *bytes,
            _ => 0,
        };
        let timestamp = timestamp.ok_or(BadFormat::NoTime)?;
        Ok(Layout { fields, bytes, padding, timestamp, utc, metrics })
    }

    fn width(&self, field: &str, depth: usize, budget: &mut FieldBudget) -> Result<usize, BadFormat> {
        self.field(field, depth, budget).map(|(.., bytes)| bytes)
    }

    fn fields(
        &self,
        name: &str,
        depth: usize,
        budget: &mut FieldBudget,
    ) -> Result<(Vec<Kind>, Vec<Metric>, usize), BadFormat> {
        if depth > MAX_DEPTH - 2 {
            return Err(BadFormat::Deep);
        }
        let text = self.0.get(name).ok_or_else(|| BadFormat::Undefined(shortened(name)))?;
        let (mut kinds, mut metrics, mut bytes) = (Vec::new(), Vec::<Metric>::new(), 0);
        for field in text.split(';').filter(|field| !field.trim().is_empty()) {
            if !budget.take_field(field) {
                return Err(BadFormat::Long);
            }
            let (name, kind, of, width) = self.field(field, depth, budget)?;
            bytes += width;
            if bytes > MAX_DATA_BYTES {
                return Err(BadFormat::Long);
            }
            if let Some(of) = of {
                // Two fields of one name would be one column.
                if metrics.iter().any(|metric| metric.name == name) {
                    return Err(BadFormat::Field(shortened(field)));
                }
                metrics.push(Metric::new(name, of));
            }
            match (kinds.last_mut(), kind) {
                (Some(Kind::Numbers(before)), Kind::Numbers(more)) => *before += more,
                (_, kind) => kinds.push(kind),
            }
        }
        Ok((kinds, metrics, bytes))
    }

    /// Returns name, kind, type (none of padding) and bytes of a field.
    fn field<'f>(
        &self,
        field: &'f str,
        depth: usize,
        budget: &mut FieldBudget,
    ) -> Result<(&'f str, Kind, Option<MetricType>, usize), BadFormat> {
        let bad = || BadFormat::Field(shortened(field));
        let (kind, name) = field.trim().split_once(' ').ok_or_else(bad)?;
        let name = name.trim();
        let (kind, count) = match kind.split_once('[') {
            Some((kind, count)) => {
                let count = count.strip_suffix(']').and_then(|count| count.parse::<usize>().ok());
                (kind, Some(count.filter(|count| (1..=MAX_DATA_BYTES).contains(count)).ok_or_else(bad)?))
            }
            None => (kind, None),
        };
        if name.is_empty() || name.contains(char::is_control) {
            return Err(bad());
        }
        let of = match kind {
            "char" => {
                let bytes = count.unwrap_or(1);
                return Ok((name, Kind::Text(bytes), Some(MetricType::String), bytes));
            }
            "bool" => Some((Kind::Boolean, MetricType::Boolean, 1)),
            number => number_of(number).map(|(of, bytes)| (Kind::Numbers(bytes), of, bytes)),
        };
        let (kind, of, bytes) = match of {
            Some(known) => known,
            None => {
                let within = depth + 1 + usize::from(count.is_some());
                let (kinds, members, bytes) = self.fields(kind, within, budget)?;
                if members.is_empty() {
                    return Err(BadFormat::Empty);
                }
                (
                    Kind::Struct(kinds),
                    MetricType::Struct(StructType { name: kind.to_owned(), members }),
                    bytes,
                )
            }
        };
        let total = bytes * count.unwrap_or(1);
        if name.starts_with("_padding") {
            return Ok((name, Kind::Padding(total), None, total));
        }
        if total > MAX_DATA_BYTES {
            return Err(BadFormat::Long);
        }
        Ok(match count {
            Some(count) => {
                (name, Kind::Array(count, Box::new(kind)), Some(MetricType::Vector(Box::new(of))), total)
            }
            None => (name, kind, Some(of), total),
        })
    }
}

/// Returns type and bytes of a number.
pub fn number_of(name: &str) -> Option<(MetricType, usize)> {
    Some(match name {
        "int8_t" => (MetricType::Int8, 1),
        "uint8_t" => (MetricType::Uint8, 1),
        "int16_t" => (MetricType::Int16, 2),
        "uint16_t" => (MetricType::Uint16, 2),
        "int32_t" => (MetricType::Int32, 4),
        "uint32_t" => (MetricType::Uint32, 4),
        "int64_t" => (MetricType::Int64, 8),
        "uint64_t" => (MetricType::Uint64, 8),
        "float" => (MetricType::Real32, 4),
        "double" => (MetricType::Real64, 8),
        _ => return None,
    })
}

impl Layout {
    /// Converts the data of a message to a row, which is cleared before. Returns the number of texts that are not UTF-8.
    pub fn decode(&self, data: &[u8], row: &mut Vec<u8>) -> Result<u64, String> {
        row.clear();
        if data.len() + self.padding < self.bytes || data.len() > self.bytes {
            return Err(format!("{} bytes of data, its format has {}", data.len(), self.bytes));
        }
        let (mut rest, mut no_utf8) = (data, 0);
        for kind in &self.fields {
            decode(kind, &mut rest, row, &mut no_utf8);
        }
        Ok(no_utf8)
    }
}

/// Takes at most the bytes that are there: only padding can be short.
fn decode(kind: &Kind, from: &mut &[u8], row: &mut Vec<u8>, no_utf8: &mut u64) {
    let mut take = |bytes: usize| {
        let (taken, rest) = from.split_at_checked(bytes).unwrap_or((*from, &[]));
        *from = rest;
        taken
    };
    match kind {
        Kind::Numbers(bytes) => row.extend_from_slice(take(*bytes)),
        Kind::Boolean => row.push(u8::from(take(1) != [0])),
        Kind::Padding(bytes) => drop(take(*bytes)),
        Kind::Text(bytes) => {
            let text = take(*bytes);
            let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
            let text = String::from_utf8_lossy(text);
            *no_utf8 += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
            RowWriter::new(row).string(&text);
        }
        Kind::Struct(fields) => fields.iter().for_each(|kind| decode(kind, from, row, no_utf8)),
        Kind::Array(count, of) => {
            RowWriter::new(row).vector(*count);
            match &**of {
                Kind::Numbers(bytes) => row.extend_from_slice(take(bytes * count)),
                of => (0..*count).for_each(|_| decode(of, from, row, no_utf8)),
            }
        }
    }
}
