//! Flags of CSV that import and export have in common.

use anyhow::bail;
use clap::ValueEnum;

/// The decimal mark of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DecimalMark {
    Point,
    Comma,
}

/// Parses `--delimiter`: one ASCII character, or tab.
///
/// # Errors
/// If it is another text.
pub fn delimiter(text: Option<&str>) -> anyhow::Result<Option<u8>> {
    Ok(match text {
        None => None,
        Some("tab" | "\\t") => Some(b'\t'),
        Some(text) => match text.as_bytes() {
            [byte] if byte.is_ascii() => Some(*byte),
            _ => bail!("--delimiter is {text:?}: write one ASCII character, or tab"),
        },
    })
}
