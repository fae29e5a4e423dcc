//! Markdown tables, and formats of numbers.

use crate::statistics::{median, spread};
use std::{fmt, time::Duration};

/// Headings and rows.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Whether it has no rows below its headings.
    pub fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// One without rows.
    pub fn new<T: Into<String>>(headings: impl IntoIterator<Item = T>) -> Self {
        Self { rows: vec![headings.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
        for (number, row) in self.rows.iter().enumerate() {
            for (cell, width) in row.iter().zip(&widths) {
                write!(out, "| {cell:<width$} ")?;
            }
            writeln!(out, "|")?;
            if number == 0 {
                widths.iter().try_for_each(|width| write!(out, "|{:-<1$}", "", width + 2))?;
                writeln!(out, "|")?;
            }
        }
        Ok(())
    }
}

/// `229 k`, `3.71 M`.
pub fn short(number: f64) -> String {
    match number {
        n if n >= 1e6 => format!("{:.2} M", n / 1e6),
        n if n >= 1e4 => format!("{:.0} k", n / 1e3),
        n if n >= 1e3 => format!("{:.1} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

/// Median, and the spread in brackets.
pub fn with_spread(values: &[f64]) -> String {
    match (median(values), spread(values)) {
        (Some(median), Some((low, high))) => {
            format!("{} ({} to {})", short(median), short(low), short(high))
        }
        _ => "–".into(),
    }
}

/// A ratio.
pub fn ratio(value: Option<f64>) -> String {
    match value {
        Some(value) if value >= 9.95 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
        None => "–".into(),
    }
}

/// A share of a core.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Milliseconds.
pub fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(["server", "k"]);
        table.row(vec!["ws".into(), "111".into()]);
        assert_eq!(table.to_string(), "| server | k   |\n|--------|-----|\n| ws     | 111 |\n");
    }

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!([229_400.0, 3_712_000.0, 2_340.0, 17.0].map(short), ["229 k", "3.71 M", "2.3 k", "17"]);
        assert_eq!([Some(0.934), Some(24.96), None].map(ratio), ["0.93", "25.0", "–"]);
    }
}
