//! The names of several recordings.

use anyhow::bail;
use oasis_recordings::file::default_name;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

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
