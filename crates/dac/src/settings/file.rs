//! The files of settings: one for each node, replaced as a whole. Its name is made of the hash of the node's name, which may have any
//! characters.

use super::{NodeSettings, SettingsError};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

const ENDING: &str = "json";
const DAMAGED: &str = "damaged";
/// Bytes of the hash in a file name.
const HASH_BYTES: usize = 16;
/// Largest file, in bytes: somewhat more than all that a DAC keeps takes as JSON.
const MAX_FILE_BYTES: u64 = 128 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Content<S> {
    node: String,
    #[serde(flatten)]
    settings: S,
}

/// Replaces the file of a node, or removes it if nothing is kept of it. A reader sees the old text or the new one, also after a power cut.
pub(super) fn write(directory: &Path, node: &str, settings: &NodeSettings) -> Result<(), SettingsError> {
    let path = path_of(directory, node);
    let written = if settings.is_empty() { remove(&path) } else { replace(&path, node, settings) };
    written
        .and_then(|()| File::open(directory)?.sync_all())
        .map_err(|source| SettingsError::Storage { path, source })
}

fn replace(path: &Path, node: &str, settings: &NodeSettings) -> io::Result<()> {
    let json = serde_json::to_vec_pretty(&Content { node: node.into(), settings })?;
    let unfinished = path.with_extension("tmp");
    let mut file = File::create(&unfinished)?;
    file.write_all(&json)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Reads all files of a directory. One that cannot be read is renamed, so that nothing is written over it.
pub(super) fn read_all(directory: &Path) -> io::Result<Vec<(String, NodeSettings)>> {
    fs::create_dir_all(directory)?;
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_none_or(|ending| ending != ENDING) {
            continue;
        }
        match read(&path) {
            Ok(content) if path == path_of(directory, &content.node) => {
                found.push((content.node, content.settings));
            }
            Ok(content) => {
                tracing::warn!(path = %path.display(), node = content.node, "a file of settings has not the name that belongs to its node; it is left alone");
            }
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "settings of a node cannot be read; the file is set aside as .damaged");
                fs::rename(&path, path.with_extension(DAMAGED))?;
            }
        }
    }
    Ok(found)
}

fn read(path: &Path) -> io::Result<Content<NodeSettings>> {
    let size = fs::metadata(path)?.len();
    if size > MAX_FILE_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("{size} bytes")));
    }
    let mut content: Content<NodeSettings> = serde_json::from_slice(&fs::read(path)?)?;
    // A file may have been edited: what this DAC would have refused is left out.
    let settings = &mut content.settings;
    settings.labels.retain(|key, label| super::check_label(key, &label.value).is_ok());
    for of in settings.instances.values_mut() {
        of.labels.retain(|key, label| super::check_label(key, &label.value).is_ok());
        of.kept.retain(|name, kept| kept.value.is_of(name));
    }
    Ok(content)
}

fn path_of(directory: &Path, node: &str) -> PathBuf {
    let mut name = String::new();
    for byte in Sha256::digest(node).iter().take(HASH_BYTES) {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    directory.join(name).with_extension(ENDING)
}
