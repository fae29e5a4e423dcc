//! Rows as `COPY … (FORMAT binary)` takes them: PostgreSQL's documentation of COPY has the format.

use crate::tables::Shape;
use bytes::Bytes;
use oasis_format::table::{Cell, ColumnType};
use oasis_store::Series;
use oasis_wire::batch::Sample;
use std::{ops::Range, sync::Arc};

/// Microseconds from 1970 to 2000, from when PostgreSQL counts.
const EPOCH_2000: i64 = 946_684_800_000_000;
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Behind the last row.
static END: [u8; 2] = (-1_i16).to_be_bytes();

/// Rows of one table.
#[derive(Debug, Default)]
pub struct Rows {
    bytes: Vec<u8>,
    /// Behind each row, and the number of its sample.
    ends: Vec<(usize, u64)>,
    /// Whose they are, from which row on.
    series: Vec<(usize, Arc<Series>)>,
}

impl Rows {
    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Those that follow are samples of this series.
    pub fn begin(&mut self, series: &Arc<Series>) {
        self.series.push((self.ends.len(), series.clone()));
    }

    /// One more.
    pub fn push(&mut self, shape: &Shape, series: &Series, state: u16, sample: &Sample) {
        let fields = crate::tables::FIRST.len() + shape.columns.len();
        self.bytes.extend_from_slice(&(fields as i16).to_be_bytes()); // at most MAX_COLUMNS and some
        let micros = i64::try_from(sample.time / 1_000).unwrap_or(i64::MAX) - EPOCH_2000;
        self.field(&micros.to_be_bytes());
        self.field(&i64::try_from(sample.time).unwrap_or(i64::MAX).to_be_bytes());
        self.text(&series.node);
        self.text(&series.instance);
        self.field(series.run.as_bytes());
        self.text(&series.epoch.to_string());
        self.numeric(sample.sequence);
        self.field(&i32::from(state).to_be_bytes());
        for (_, column) in &shape.columns {
            self.cell(&column.kind, &column.cell(&sample.values));
        }
        self.ends.push((self.bytes.len(), sample.sequence));
    }

    /// No more follow.
    pub fn seal(self) -> Sealed {
        Sealed { bytes: self.bytes.into(), ends: self.ends, series: self.series }
    }

    fn cell(&mut self, kind: &ColumnType, cell: &Cell<'_>) {
        match (kind, cell) {
            (ColumnType::Int(8 | 16), Cell::Int(value)) => self.field(&(*value as i16).to_be_bytes()),
            (ColumnType::Int(32), Cell::Int(value)) => self.field(&(*value as i32).to_be_bytes()),
            (_, Cell::Int(value)) => self.field(&value.to_be_bytes()),
            (ColumnType::Uint(8), Cell::Uint(value)) => self.field(&(*value as i16).to_be_bytes()),
            (ColumnType::Uint(16), Cell::Uint(value)) => self.field(&(*value as i32).to_be_bytes()),
            (ColumnType::Uint(32), Cell::Uint(value)) => self.field(&(*value as i64).to_be_bytes()),
            (_, Cell::Uint(value)) => self.numeric(*value),
            (_, Cell::Real32(value)) => self.field(&value.to_be_bytes()),
            (_, Cell::Real64(value)) => self.field(&value.to_be_bytes()),
            (_, Cell::Boolean(value)) => self.field(&[u8::from(*value)]),
            (ColumnType::Json(_), Cell::Text(text)) => self.jsonb(text),
            (_, Cell::Text(text)) => self.text(text),
            (_, Cell::Nothing) => self.bytes.extend_from_slice(&(-1_i32).to_be_bytes()),
        }
    }

    fn field(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(&(value.len() as i32).to_be_bytes()); // a sample has at most 1 MiB
        self.bytes.extend_from_slice(value);
    }

    /// PostgreSQL has no text with a zero byte.
    fn text(&mut self, text: &str) {
        if text.contains('\0') {
            self.field(text.replace('\0', "\u{fffd}").as_bytes())
        } else {
            self.field(text.as_bytes())
        }
    }

    fn jsonb(&mut self, json: &str) {
        let mut value = vec![1];
        value.extend_from_slice(without_zeros(json).as_bytes());
        self.field(&value);
    }

    /// Digits to the base of 10,000, the greatest first.
    fn numeric(&mut self, number: u64) {
        let mut digits = Vec::new();
        let mut left = number;
        while left > 0 {
            digits.push((left % 10_000) as i16);
            left /= 10_000;
        }
        let weight = digits.len().saturating_sub(1) as i16;
        let head = [digits.len() as i16, weight, 0, 0];
        let value: Vec<u8> =
            head.into_iter().chain(digits.into_iter().rev()).flat_map(i16::to_be_bytes).collect();
        self.field(&value);
    }
}

/// Rows of one table as they are sent: all of them or some.
#[derive(Debug)]
pub struct Sealed {
    bytes: Bytes,
    ends: Vec<(usize, u64)>,
    series: Vec<(usize, Arc<Series>)>,
}

impl Sealed {
    /// How many.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// What is sent for these rows, in order.
    pub fn pieces(&self, rows: Range<usize>) -> [Bytes; 3] {
        let end_of = |row: usize| self.ends.get(row).map_or(self.bytes.len(), |(end, _)| *end);
        let from = rows.start.checked_sub(1).map_or(0, end_of);
        let to = rows.end.checked_sub(1).map_or(0, end_of);
        [Bytes::from_static(HEADER), self.bytes.slice(from..to.max(from)), Bytes::from_static(&END)]
    }

    /// Whose sample a row is, and its number.
    pub fn sample(&self, row: usize) -> Option<(&Series, u64)> {
        let at = self.series.partition_point(|(first, _)| *first <= row);
        let (_, series) = self.series.get(at.checked_sub(1)?)?;
        Some((series, self.ends.get(row)?.1))
    }
}

/// JSON whose texts have no zero character: jsonb refuses those. Behind two backslashes `u0000` is a text like any other.
fn without_zeros(json: &str) -> String {
    let parts: Vec<_> = json.split(r"\\").map(|part| part.replace(r"\u0000", "\u{fffd}")).collect();
    parts.join(r"\\")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn json_loses_its_zeros_and_nothing_else() {
        for text in ["a\0b", r"\u0000", "\\\0", r"\\u0000\0", "\"\0\n\\", "\0\0\0", ""] {
            let sent: Value = serde_json::from_str(&without_zeros(&json!([text]).to_string())).unwrap();
            assert_eq!(sent, json!([text.replace('\0', "\u{fffd}")]));
        }
    }
}
