//! When each node was last connected, by its certificate. Kept apart from the register, so that a connection changes no rights.

use crate::{private_file, secret::Digest, time_text::Time};
use oasis_wire::quantity::Nanos;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

const FILE: &str = "nodes-seen.json";
/// Largest file that is read, bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// Most nodes in it: a DAC knows as many.
const MAX_SEEN_NODES: usize = 10_000;
/// Shortest time between two writes, nanoseconds.
const MIN_WRITE_INTERVAL_NANOS: u64 = 60_000_000_000;

/// The last connection of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenNode {
    /// SHA-256 of its certificate, 64 hexadecimal digits.
    pub sha256: String,
    /// When it was there last, to the minute.
    pub time: Time,
}

/// The last connections by the names of certificates.
#[derive(Debug, Default)]
pub(crate) struct SeenNodes {
    path: PathBuf,
    nodes: BTreeMap<String, SeenNode>,
    is_changed: bool,
    written: Option<Nanos>,
}

impl SeenNodes {
    pub(crate) fn read(directory: &Path) -> Self {
        Self { path: directory.join(FILE), nodes: read(directory), is_changed: false, written: None }
    }

    /// Notes that a node is connected.
    pub(crate) fn note(&mut self, name: &str, sha256: Digest, wall: Nanos) {
        self.is_changed = true;
        if let Some(seen) = self.nodes.get_mut(name) {
            seen.time = Time(wall);
            let sha256 = sha256.to_string();
            if seen.sha256 != sha256 {
                seen.sha256 = sha256;
            }
            return;
        }
        if self.nodes.len() < MAX_SEEN_NODES {
            self.nodes.insert(name.into(), SeenNode { sha256: sha256.to_string(), time: Time(wall) });
        }
    }

    /// Returns what is to be written, at most once a minute: the file, and its text.
    pub(crate) fn take_due(&mut self, steady: Nanos) -> Option<(PathBuf, String)> {
        let is_due =
            self.written.is_none_or(|before| steady.0.saturating_sub(before.0) >= MIN_WRITE_INTERVAL_NANOS);
        if !self.is_changed || !is_due {
            return None;
        }
        (self.is_changed, self.written) = (false, Some(steady));
        Some((self.path.clone(), serde_json::to_string(&self.nodes).ok()?))
    }
}

/// Writes what [`SeenNodes::take_due`] returned, without a lock.
pub(crate) fn write((path, text): (PathBuf, String)) -> io::Result<()> {
    private_file::replace(&path, text.as_bytes())
}

/// Reads when nodes were last there. A damaged file is as none: it is only for people.
pub fn read(directory: &Path) -> BTreeMap<String, SeenNode> {
    let path = directory.join(FILE);
    let is_bounded = fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= MAX_FILE_BYTES);
    let text = is_bounded.then(|| fs::read_to_string(&path).ok()).flatten();
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_connection_is_written_at_once_and_then_once_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let mut seen = SeenNodes::read(folder.path());
        seen.note("plant", Digest::of("a"), Nanos(5_000_000_000));
        write(seen.take_due(Nanos(7)).unwrap()).unwrap();
        assert_eq!(read(folder.path())["plant"].time.to_string(), "1970-01-01T00:00:05Z");
        seen.note("plant", Digest::of("b"), Nanos(6_000_000_000));
        assert!(seen.take_due(Nanos(MIN_WRITE_INTERVAL_NANOS)).is_none());
        write(seen.take_due(Nanos(MIN_WRITE_INTERVAL_NANOS + 7)).unwrap()).unwrap();
        assert_eq!(read(folder.path())["plant"].sha256, Digest::of("b").to_string());
        assert!(seen.take_due(Nanos(9 * MIN_WRITE_INTERVAL_NANOS)).is_none(), "nothing has changed");
        fs::write(folder.path().join(FILE), "[").unwrap();
        assert!(read(folder.path()).is_empty());
    }

    #[test]
    fn nodes_are_bounded() {
        let mut seen = SeenNodes::default();
        (0..=MAX_SEEN_NODES).for_each(|at| seen.note(&at.to_string(), Digest::of("a"), Nanos(0)));
        assert_eq!(seen.nodes.len(), MAX_SEEN_NODES);
    }
}
