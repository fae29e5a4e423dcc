//! The formats that recordings are read from.

use crate::input::{DETECT_BYTES, InputFormat};
use std::{
    io::{self, Read},
    path::Path,
};

/// Every format, in the order of detection: those with a magic number first.
pub const INPUTS: &[InputFormat] = &[
    crate::mcap_format::INPUT,
    crate::arrow::PARQUET_INPUT,
    crate::arrow::IPC_INPUT,
    crate::ulog::INPUT,
    crate::rosbag2::INPUT,
    crate::rosbag1::INPUT,
    crate::candump::INPUT,
    crate::json_lines::INPUT,
    crate::line_protocol::INPUT,
    crate::csv::INPUT,
];

/// Returns the format with this name.
pub fn by_name(name: &str) -> Option<&'static InputFormat> {
    INPUTS.iter().find(|format| format.name == name)
}

/// Formats of lines that the ending of a file names, even if it looks like CSV.
const LINE_FORMATS: [&str; 2] = ["jsonl", "line-protocol"];

/// Returns the format of a file: by its content, or else by the ending of its name.
///
/// # Errors
/// If the file cannot be read.
pub fn find(path: &Path, content: &mut dyn Read) -> io::Result<Option<&'static InputFormat>> {
    let mut beginning = Vec::new();
    content.take(DETECT_BYTES as u64).read_to_end(&mut beginning)?;
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let has_extension =
        |format: &&InputFormat| format.extensions.iter().any(|of| of.eq_ignore_ascii_case(extension));
    // A text can look like several formats: the ending decides between those.
    let mut matching = INPUTS.iter().filter(|format| (format.detect)(&beginning));
    let first = matching.clone().next();
    let by_ending = || INPUTS.iter().find(has_extension);
    if let Some(format) = matching.find(has_extension) {
        return Ok(Some(format));
    }
    // Defective lines of these formats look like CSV.
    let looks_like_csv = first.is_some_and(|format| format.name == "csv");
    let text = by_ending().filter(|format| looks_like_csv && LINE_FORMATS.contains(&format.name));
    Ok(text.or(first).or_else(by_ending))
}
