//! Files are written whole or not at all.

use anyhow::Context;
use std::{
    fs::{self, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
};

/// Replaces the content of a file. Keeps its permissions and links. Does not write unchanged content, so that nothing is rebuilt.
pub fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    if fs::read(path).is_ok_and(|present| present == text.as_bytes()) {
        return Ok(());
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    persist(&target, text).with_context(|| format!("cannot write {}", path.display()))
}

fn persist(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let present = fs::metadata(path).map(|present| present.permissions()).ok();
    let wanted = present.clone().unwrap_or_else(|| Permissions::from_mode(0o666));
    // Restricted by the user's mask, like any new file.
    let mut beside = tempfile::Builder::new().permissions(wanted).tempfile_in(folder)?;
    beside.write_all(text.as_bytes())?;
    // But permissions of an existing file are kept.
    if let Some(present) = present {
        beside.as_file().set_permissions(present)?;
    }
    beside.persist(path)?;
    Ok(())
}
