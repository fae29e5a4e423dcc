//! Passes rows of a result from SQLite to a format.

use super::Rows;
use oasis_format::{RowWriter, table::Cell};
use rusqlite::types::ValueRef as SqlValue;
use std::{fmt::Write, io};

/// The receiver of rows.
pub struct Answer<'a>(pub &'a mut dyn RowWriter);

impl Rows for Answer<'_> {
    fn begin(&mut self, columns: &[String]) -> io::Result<()> {
        self.0.begin(columns)
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> io::Result<()> {
        self.0.row(&values.iter().map(cell).collect::<Vec<_>>())
    }
}

/// Returns the value as a format shows it.
pub fn cell<'a>(value: &SqlValue<'a>) -> Cell<'a> {
    match *value {
        SqlValue::Null => Cell::Nothing,
        SqlValue::Integer(value) => Cell::Int(value),
        SqlValue::Real(value) => Cell::Real64(value),
        SqlValue::Text(text) => Cell::Text(String::from_utf8_lossy(text)),
        SqlValue::Blob(bytes) => Cell::Text(hexadecimal(bytes).into()),
    }
}

/// Two digits a byte.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_has_its_cell() {
        let values = [
            SqlValue::Null,
            SqlValue::Integer(-5),
            SqlValue::Real(0.5),
            SqlValue::Text(b"a\xff"),
            SqlValue::Blob(&[0, 0xab]),
        ];
        let texts = ["", "-5", "0.5", "a\u{fffd}", "00ab"];
        assert_eq!(values.each_ref().map(|value| cell(value).to_string()), texts);
    }
}
