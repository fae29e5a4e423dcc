//! Aligned text for terminals.

use crate::{Format, RowFormat, RowWriter, table::Cell, visible::Visible};
use std::io::{self, Write};

/// Aligned text.
pub(crate) const FORMAT: Format = Format {
    name: "table",
    alias: None,
    extension: "txt",
    is_text: true,
    samples: None,
    rows: Some(RowFormat { help: "For people", open: |out| Box::new(Text::new(out)) }),
};

/// Rows that determine the widths of the columns; later ones are written at once.
const MEASURED: usize = 100;
/// The greatest width that pads a column: a wider cell shifts the columns of its own row only.
const WIDEST: usize = 40;

/// Writes aligned rows.
struct Text<W> {
    out: W,
    /// The names of the columns and the first rows, until the widths are known.
    held: Vec<Vec<String>>,
    widths: Vec<usize>,
    rows: u64,
}

impl<W: Write> Text<W> {
    fn new(out: W) -> Self {
        Self { out, held: Vec::new(), widths: Vec::new(), rows: 0 }
    }

    /// Writes the buffered rows.
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

impl<W: Write> RowWriter for Text<W> {
    fn begin(&mut self, columns: &[String]) -> io::Result<()> {
        self.held.push(columns.iter().map(|column| Visible(column).to_string()).collect());
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.rows += 1;
        let row: Vec<_> = cells.iter().map(|cell| Visible(&cell.to_string()).to_string()).collect();
        if self.widths.is_empty() && self.held.len() <= MEASURED {
            self.held.push(row);
            return Ok(());
        }
        self.release()?;
        self.line(&row)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.release()?;
        writeln!(self.out, "{} {}", self.rows, if self.rows == 1 { "row" } else { "rows" })?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_control_characters_escaped() {
        let mut out = Vec::new();
        let mut text = Text::new(&mut out);
        text.begin(&["name".into(), "n".into()]).unwrap();
        text.row(&[Cell::Text("a\x1b[2J".into()), Cell::Int(5)]).unwrap();
        text.row(&[Cell::Nothing, Cell::Real64(0.5)]).unwrap();
        text.finish().unwrap();
        let lines = ["name        n", "a\\u{1b}[2J  5", "            0.5", "2 rows", ""];
        assert_eq!(String::from_utf8(out).unwrap(), lines.join("\n"));
    }

    #[test]
    fn rows_after_the_measured_ones_are_written_at_once() {
        let mut out = Vec::new();
        let mut text = Text::new(&mut out);
        text.begin(&["n".into()]).unwrap();
        (0..250).for_each(|number| text.row(&[Cell::Int(number)]).unwrap());
        assert!(text.held.is_empty());
        text.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap().lines().count(), 252);
    }
}
