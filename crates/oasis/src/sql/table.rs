//! An answer for people: columns that line up.

use crate::visible::Visible;
use oasis_archive::{Rows, SqlValue};
use std::{
    fmt::Write as _,
    io::{self, Write},
};

/// Rows that decide how wide columns are; those that follow are written as they come.
const MEASURED: usize = 100;
/// What is wider does not push the columns behind it away in all rows.
const WIDEST: usize = 40;

/// Lines to this.
pub struct Text<W> {
    out: W,
    /// The first rows, until there are enough to know how wide columns are; the names of the columns are the first one.
    held: Vec<Vec<String>>,
    widths: Vec<usize>,
    rows: u64,
}

impl<W: Write> Text<W> {
    pub fn new(out: W) -> Self {
        Self { out, held: Vec::new(), widths: Vec::new(), rows: 0 }
    }

    /// Writes what is still held.
    pub fn finish(&mut self) -> io::Result<()> {
        self.release()?;
        writeln!(self.out, "{} {}", self.rows, if self.rows == 1 { "row" } else { "rows" })
    }

    fn release(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        if self.widths.is_empty() {
            let width = |at: usize| held.iter().map(|row| row[at].chars().count().min(WIDEST)).max();
            let columns = held.first().map_or(0, Vec::len);
            self.widths = (0..columns).map(|at| width(at).unwrap_or_default()).collect();
        }
        held.iter().try_for_each(|row| self.line(row))
    }

    fn line(&mut self, row: &[String]) -> io::Result<()> {
        let cells: Vec<_> =
            row.iter().zip(&self.widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        writeln!(self.out, "{}", cells.join("  ").trim_end())
    }
}

impl<W: Write> Rows for Text<W> {
    fn begin(&mut self, columns: &[String]) -> io::Result<()> {
        self.held.push(columns.iter().map(|column| Visible(column).to_string()).collect());
        Ok(())
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> io::Result<()> {
        self.rows += 1;
        let row: Vec<_> = values.iter().map(|value| Visible(&plain(value)).to_string()).collect();
        if self.widths.is_empty() && self.held.len() <= MEASURED {
            self.held.push(row);
            return Ok(());
        }
        self.release()?;
        self.line(&row)
    }
}

/// A value as text; nothing where there is none.
pub fn plain(value: &SqlValue<'_>) -> String {
    match value {
        SqlValue::Null => String::new(),
        SqlValue::Integer(value) => value.to_string(),
        // As JSON and exports have them.
        SqlValue::Real(f64::INFINITY) => "Infinity".into(),
        SqlValue::Real(f64::NEG_INFINITY) => "-Infinity".into(),
        SqlValue::Real(value) => value.to_string(),
        SqlValue::Text(text) => String::from_utf8_lossy(text).into_owned(),
        SqlValue::Blob(bytes) => hexadecimal(bytes),
    }
}

/// Two digits a byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
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
    fn columns_line_up_and_nothing_moves_the_cursor() {
        let mut out = Vec::new();
        let mut text = Text::new(&mut out);
        text.begin(&["name".into(), "n".into()]).unwrap();
        text.row(&[SqlValue::Text(b"a\x1b[2J"), SqlValue::Integer(5)]).unwrap();
        text.row(&[SqlValue::Null, SqlValue::Real(0.5)]).unwrap();
        text.finish().unwrap();
        let lines = ["name        n", "a\\u{1b}[2J  5", "            0.5", "2 rows", ""];
        assert_eq!(String::from_utf8(out).unwrap(), lines.join("\n"));
    }

    #[test]
    fn infinities_are_called_as_everywhere() {
        let texts = [f64::INFINITY, f64::NEG_INFINITY, 0.5].map(|value| plain(&SqlValue::Real(value)));
        assert_eq!(texts, ["Infinity", "-Infinity", "0.5"]);
    }

    #[test]
    fn rows_beyond_those_that_are_measured_are_written_as_they_come() {
        let mut out = Vec::new();
        let mut text = Text::new(&mut out);
        text.begin(&["n".into()]).unwrap();
        (0..250).for_each(|number| text.row(&[SqlValue::Integer(number)]).unwrap());
        assert!(text.held.is_empty());
        text.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap().lines().count(), 252);
    }
}
