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
    Ok(matching.find(has_extension).or(first).or_else(|| INPUTS.iter().find(has_extension)))
}
