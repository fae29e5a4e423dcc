//! The names of recordings.

use super::unpacked::without_compression;
use anyhow::{Context, bail};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

/// The name of a recording: that of its file, without the extension and that of compression.
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

/// Checks that no two recordings have one name: their samples would mix.
///
/// # Errors
/// If two different files have one name.
pub fn check_distinct(files: &[PathBuf]) -> anyhow::Result<()> {
    let mut known: HashMap<String, &Path> = HashMap::new();
    for path in files {
        // A file without a name is reported when it is imported.
        let Ok(name) = default_name(path) else { continue };
        if let Some(other) = known.insert(name.clone(), path)
            && other.canonicalize()? != path.canonicalize()?
        {
            bail!(
                "{} and {} would both be imported as {name}: import them one after the other, each with its own --name",
                other.display(),
                path.display()
            );
        }
    }
    Ok(())
}
