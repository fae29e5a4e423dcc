//! Aligned columns for people.

use oasis_format::visible::Visible;
use std::io::{self, Write};

/// Prints rows under a heading. The last column is not padded.
pub fn print<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| row.each_ref().map(|cell| Visible(cell).to_string())).collect();
    let mut widths = heading.map(|cell| cell.chars().count());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut line = |cells: [&str; N]| {
        let padded: Vec<String> =
            cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        writeln!(out, "{}", padded.join("  ").trim_end())
    };
    line(heading)?;
    rows.iter().try_for_each(|row| line(row.each_ref().map(String::as_str)))
}
