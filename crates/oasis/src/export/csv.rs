//! A table for spreadsheets and scripts: a line a sample, a column a metric (RFC 4180).

use super::{Format, same_type};
use crate::dates::date_and_time;
use anyhow::Context;
use csv::Writer;
use oasis_archive::Series;
use oasis_format::table::{Cell, Table};
use oasis_wire::{batch::Sample, schema::ProbeType};
use std::{io::Write, sync::Arc};

/// What a spreadsheet may take for the beginning of a formula, and run.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// What each sample has, whatever its type.
const FIXED: [&str; 7] = ["node", "instance", "run", "time", "time_ns", "sequence", "state"];

/// A table to this.
pub struct Csv<'a, W: Write> {
    out: Writer<&'a mut W>,
    /// Whose metrics the columns are, and the columns.
    of: Option<(Arc<ProbeType>, Table)>,
}

impl<'a, W: Write> Csv<'a, W> {
    pub fn new(out: &'a mut W) -> Self {
        Self { out: Writer::from_writer(out), of: None }
    }

    /// The columns; the first call writes them as the first line. A table has the columns of one type.
    fn table(&mut self, series: &Series) -> anyhow::Result<&Table> {
        if let Some((known, _)) = &self.of {
            same_type(known, &series.probe_type)?;
        }
        if self.of.is_none() {
            let table = Table::new(&series.probe_type);
            let metrics = table.columns.iter().map(|column| text(&column.name));
            self.out.write_record(FIXED.map(str::to_owned).into_iter().chain(metrics))?;
            self.of = Some((series.probe_type.clone(), table));
        }
        self.of.as_ref().map(|(_, table)| table).context("a table that was just made")
    }
}

impl<W: Write> Format for Csv<'_, W> {
    fn sample(&mut self, series: &Arc<Series>, state: u16, sample: &Sample) -> anyhow::Result<()> {
        let cells: Vec<_> = self.table(series)?.cells(&sample.values).map(field).collect();
        let fixed = [
            text(&series.node),
            text(&series.instance),
            series.run.to_string(),
            // All nine digits, so that texts sort as times do.
            date_and_time(sample.time, 9),
            sample.time.to_string(),
            sample.sequence.to_string(),
            state.to_string(),
        ];
        Ok(self.out.write_record(fixed.into_iter().chain(cells))?)
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        if self.of.is_none() {
            // A table without a line is still one.
            self.out.write_record(FIXED)?;
        }
        Ok(self.out.flush()?)
    }
}

/// A value as text. Reals are as short as they can be without losing anything.
fn field(cell: Cell<'_>) -> String {
    match cell {
        Cell::Nothing => String::new(),
        Cell::Int(value) => value.to_string(),
        Cell::Uint(value) => value.to_string(),
        // As JSON lines write them: a spreadsheet shows them as text, scripts read them as numbers.
        Cell::Real32(value) if value.is_infinite() => infinity(value.is_sign_negative()),
        Cell::Real64(value) if value.is_infinite() => infinity(value.is_sign_negative()),
        Cell::Real32(value) => format!("{value:?}"),
        Cell::Real64(value) => format!("{value:?}"),
        Cell::Boolean(value) => value.to_string(),
        Cell::Text(value) => text(&value),
    }
}

fn infinity(is_negative: bool) -> String {
    if is_negative { "-Infinity".into() } else { "Infinity".into() }
}

/// A text that no spreadsheet runs: one that looks like a formula begins with an apostrophe.
pub fn text(value: &str) -> String {
    let is_number = value.parse::<f64>().is_ok();
    if value.starts_with(FORMULA) && !is_number { format!("'{value}") } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_looks_like_a_formula_is_made_harmless() {
        for formula in ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", "\r=1", "=HYPERLINK(\"http://x\")"] {
            assert_eq!(text(formula), format!("'{formula}"));
        }
        for harmless in ["", "a=1", "-1.5", "+2", "-Infinity", "NaN", "1e5"] {
            assert_eq!(text(harmless), harmless);
        }
    }
}
