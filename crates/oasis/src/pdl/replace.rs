//! Files are written whole or not at all.

use anyhow::Context;
use std::{
    fs::{self, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
};

/// Makes the file say this. It keeps its permissions, and a link stays one. It keeps its time too if it says the same already, so that nothing that depends on it is built again.
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
    // The user's mask takes from it, as from any file that a compiler makes.
    let mut beside = tempfile::Builder::new().permissions(wanted).tempfile_in(folder)?;
    beside.write_all(text.as_bytes())?;
    // But it takes nothing from what the file has already.
    if let Some(present) = present {
        beside.as_file().set_permissions(present)?;
    }
    beside.persist(path)?;
    Ok(())
}
