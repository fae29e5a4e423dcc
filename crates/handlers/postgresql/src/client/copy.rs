//! Encodes rows for `COPY … (FORMAT binary)`: PostgreSQL's documentation of COPY specifies the format.

use super::tables::Shape;
use bytes::Bytes;
use oasis_format::table::{Cell, ColumnType};
use oasis_store::Series;
use oasis_wire::batch::Sample;
use std::{ops::Range, sync::Arc};

/// Microseconds from 1970 to 2000, PostgreSQL's epoch.
const EPOCH_2000: i64 = 946_684_800_000_000;
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Trailer after the last row.
static TRAILER: [u8; 2] = (-1_i16).to_be_bytes();

/// A time that `time_ns` cannot contain, in nanoseconds since 1970. As in SQL and Arrow, no other time is written instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its time is {0} ns since 1970, beyond {max} of the column time_ns: correct the clock of the node, or export the samples as CSV", max = i64::MAX)]
pub struct BeyondTime(u64);

/// Rows of one table.
#[derive(Debug, Default)]
pub struct Rows {
    bytes: Vec<u8>,
    /// End offset and sequence number of each row.
    ends: Vec<(usize, u64)>,
    /// The series of the rows, each with its first row.
    series: Vec<(usize, Arc<Series>)>,
}

impl Rows {
    /// Returns the bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Starts the rows of this series.
    pub fn begin(&mut self, series: &Arc<Series>) {
        self.series.push((self.ends.len(), series.clone()));
    }

    /// Adds a row. Returns [`BeyondTime`] instead if the columns of times cannot contain the sample's time.
    pub fn push(
        &mut self,
        shape: &Shape,
        series: &Series,
        state: u16,
        sample: &Sample,
    ) -> Result<(), BeyondTime> {
        let time = i64::try_from(sample.time).map_err(|_| BeyondTime(sample.time))?;
        let fields = super::tables::FIXED_COLUMNS.len() + shape.columns.len();
        self.bytes.extend_from_slice(&(fields as i16).to_be_bytes()); // at most MAX_COLUMNS and a few more
        self.field(&(time / 1_000 - EPOCH_2000).to_be_bytes());
        self.field(&time.to_be_bytes());
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
        Ok(())
    }

    /// Ends the rows.
    pub fn seal(self) -> CopyData {
        CopyData { bytes: self.bytes.into(), ends: self.ends, series: self.series }
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
            (_, Cell::Blob(bytes)) => self.field(bytes),
            (_, Cell::Nothing) => self.bytes.extend_from_slice(&(-1_i32).to_be_bytes()),
        }
    }

    fn field(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(&(value.len() as i32).to_be_bytes()); // a sample has at most 1 MiB
        self.bytes.extend_from_slice(value);
    }

    /// Writes a text without zero bytes, which PostgreSQL does not accept.
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

    /// Base-10,000 digits, most significant first.
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

/// Rows of one table ready to be sent, all of them or some.
#[derive(Debug)]
pub struct CopyData {
    bytes: Bytes,
    ends: Vec<(usize, u64)>,
    series: Vec<(usize, Arc<Series>)>,
}

impl CopyData {
    /// Returns the number of rows.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the bytes to send for these rows, in order.
    pub fn pieces(&self, rows: Range<usize>) -> [Bytes; 3] {
        let end_of = |row: usize| self.ends.get(row).map_or(self.bytes.len(), |(end, _)| *end);
        let from = rows.start.checked_sub(1).map_or(0, end_of);
        let to = rows.end.checked_sub(1).map_or(0, end_of);
        [Bytes::from_static(HEADER), self.bytes.slice(from..to.max(from)), Bytes::from_static(&TRAILER)]
    }

    /// Returns the series and the sequence number of a row's sample.
    pub fn sample(&self, row: usize) -> Option<(&Series, u64)> {
        let at = self.series.partition_point(|(first, _)| *first <= row);
        let (_, series) = self.series.get(at.checked_sub(1)?)?;
        Some((series, self.ends.get(row)?.1))
    }
}

/// Replaces zero characters in JSON texts: jsonb refuses them. After two backslashes, `u0000` is an ordinary text.
fn without_zeros(json: &str) -> String {
    let parts: Vec<_> = json.split(r"\\").map(|part| part.replace(r"\u0000", "\u{fffd}")).collect();
    parts.join(r"\\")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn only_zero_characters_are_replaced_in_json() {
        for text in ["a\0b", r"\u0000", "\\\0", r"\\u0000\0", "\"\0\n\\", "\0\0\0", ""] {
            let sent: Value = serde_json::from_str(&without_zeros(&json!([text]).to_string())).unwrap();
            assert_eq!(sent, json!([text.replace('\0', "\u{fffd}")]));
        }
    }
}
