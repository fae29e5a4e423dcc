//! Files are written whole or not at all.

use anyhow::Context;
use std::{
    fs::{self, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
};

/// Makes the file say this. It keeps its permissions; it keeps its time too if it says the same already, so that nothing that depends on it is built again.
pub fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    if fs::read(path).is_ok_and(|present| present == text.as_bytes()) {
        return Ok(());
    }
    persist(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn persist(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let permissions = match fs::metadata(path) {
        Ok(present) => present.permissions(),
        // The user's mask takes from it, as from any file that a compiler makes.
        Err(_) => Permissions::from_mode(0o666),
    };
    let mut beside = tempfile::Builder::new().permissions(permissions).tempfile_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.persist(path)?;
    Ok(())
}
