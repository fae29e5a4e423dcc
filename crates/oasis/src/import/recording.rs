//! Reads recordings of one format, for rules over them.

use super::{
    feature_of,
    terminal::{Terminal, print_note},
};
use oasis_format::{
    input::{InputFormat, InputOptions, Report, TakeBatch},
    inputs,
    visible::Visible,
};
use std::{fs::File, path::Path};

/// Returns the format of a file, if it is a recording.
///
/// # Errors
/// If it cannot be read, or this program is built without its format.
pub fn find(path: &Path) -> anyhow::Result<Option<&'static InputFormat>> {
    let found = inputs::find(path, &mut File::open(path)?)?;
    if let Some(feature) = found.and_then(feature_of) {
        feature.require("the file")?;
    }
    Ok(found)
}

/// Reads a file, and shows the progress.
pub fn read(
    path: &Path,
    format: &InputFormat,
    options: &InputOptions,
    take: &mut TakeBatch<'_>,
) -> anyhow::Result<Report> {
    let terminal = Terminal::new();
    oasis_recordings::file::read(path, format, options, &terminal, take)
}

/// Reports the content of a file that its samples do not have, on standard error.
pub fn print(path: &Path, report: &Report) {
    for finding in report.findings.iter().filter(|finding| !finding.text.is_empty()) {
        print_note(path, finding.subject.as_deref(), &Visible(&finding.text).to_string());
    }
}
