//! The names of recordings.

use anyhow::Context;
use std::path::{Path, PathBuf};

/// Endings of compressed files.
pub(super) const EXTENSIONS: [&str; 3] = ["gz", "zst", "zstd"];

/// Returns the name of a recording: that of its file, without the extension and that of compression.
///
/// # Errors
/// If the file does not exist, or its name cannot be that of a node.
pub fn default_name(path: &Path) -> anyhow::Result<String> {
    let path = path.canonicalize()?;
    let path = if path.is_dir() { path } else { without_compression(&path) };
    let stem = if path.is_dir() { path.file_name() } else { path.file_stem() };
    let stem = stem.and_then(|stem| stem.to_str());
    let stem = stem.filter(|stem| {
        !stem.is_empty() && !stem.contains(|letter: char| letter == '/' || letter.is_control())
    });
    stem.map(str::to_owned).context("cannot derive a node name from the file name: use --name NAME")
}

/// Returns the name of a recorded node in the archive: its history must not mix with that of an existing node.
pub fn of_recording(prefix: &str, node: &str) -> String {
    format!("{prefix}:{node}")
}

/// Returns the path without the ending of a compressed file.
pub fn without_compression(path: &Path) -> PathBuf {
    if is_compressed(path) { path.with_extension("") } else { path.to_owned() }
}

/// Whether a file name ends as that of a compressed file.
pub(super) fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| EXTENSIONS.iter().any(|of| extension == *of))
}
