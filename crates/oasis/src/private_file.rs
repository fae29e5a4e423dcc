//! Files with secrets: refused if another user than their owner can read them.

use anyhow::{Context, bail};
use std::{fs::File, os::unix::fs::MetadataExt, path::Path};

/// Opens a file with a secret. `what` says what it is, such as "the token".
///
/// # Errors
/// If it cannot be read, or if others can read it too.
pub fn open(path: &Path, what: &str) -> anyhow::Result<File> {
    let file = File::open(path).with_context(|| format!("cannot read {what} in {}", path.display()))?;
    check(&file, path).with_context(|| format!("refusing {what} in {}", path.display()))?;
    Ok(file)
}

/// Refuses a file that others can read. A pipe or a terminal has no other readers.
///
/// # Errors
/// Says what to do.
pub fn check(file: &File, path: &Path) -> anyhow::Result<()> {
    let metadata = file.metadata()?;
    let mode = metadata.mode() & 0o777;
    if metadata.is_file() && mode & 0o077 != 0 {
        bail!("others can read it (mode {mode:03o}): run `chmod 600 {}`", path.display());
    }
    Ok(())
}
