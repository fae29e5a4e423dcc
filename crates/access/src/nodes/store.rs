//! The file of nodes in the folder of accounts: read and changed by several processes, as `access.toml` is.

use super::register::{NodeChangeError, NodeRegister};
use crate::store::{Fingerprint, Store, StoreError};
use std::{fs::File, path::PathBuf};

/// Name of the file.
pub const NODES_FILE: &str = "nodes.toml";
/// Largest file, bytes: all that its bounds allow takes less.
const MAX_FILE_BYTES: u64 = 32 << 20;
const ABOUT: &str = "# Enrolled and revoked nodes of OASIS: see docs/guides/enroll-a-node.md. `oasis node` and the DAC change this\n# file, and keep no comments.\n";

impl Store {
    /// Returns the file of nodes.
    pub fn nodes_file(&self) -> PathBuf {
        self.directory().join(NODES_FILE)
    }

    /// Reads the nodes; none if there is no file yet.
    ///
    /// # Errors
    /// If the file is open to others, or its content is wrong.
    pub fn read_nodes(&self) -> Result<NodeRegister, StoreError> {
        self.read_nodes_marked().map(|(nodes, _)| nodes)
    }

    /// The same, with what tells whether it has changed since; none if there is no file.
    pub(crate) fn read_nodes_marked(&self) -> Result<(NodeRegister, Option<Fingerprint>), StoreError> {
        let path = self.nodes_file();
        let Some((bytes, seen)) = Self::read_private(&path, MAX_FILE_BYTES)? else {
            return match self.has_had(NODES_FILE)? {
                true => Err(StoreError::Gone { path }),
                false => Ok((NodeRegister::default(), None)),
            };
        };
        let format = |reason: String| StoreError::Format { path: path.clone(), reason };
        let text = std::str::from_utf8(&bytes).map_err(|error| format(error.to_string()))?;
        let nodes: NodeRegister = toml::from_str(text).map_err(|error| format(error.to_string()))?;
        nodes.validate()?;
        Ok((nodes, Some(seen)))
    }

    /// Changes the nodes, as [`Store::change`] changes accounts.
    ///
    /// # Errors
    /// If the change is refused, or the file cannot be read or written; it is then as before.
    pub fn change_nodes<T>(
        &self,
        change: impl FnOnce(&mut NodeRegister) -> Result<T, NodeChangeError>,
    ) -> Result<T, StoreError> {
        let lock = self.lock()?;
        self.check_own()?;
        let mut nodes = self.read_nodes()?;
        let result = change(&mut nodes)?;
        nodes.validate()?;
        self.write_nodes(&lock, &nodes)?;
        Ok(result)
    }

    /// Replaces the nodes.
    pub(crate) fn write_nodes(&self, lock: &File, nodes: &NodeRegister) -> Result<(), StoreError> {
        self.write(lock, NODES_FILE, MAX_FILE_BYTES, ABOUT, nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::quantity::Nanos;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn the_file_of_nodes_is_private_and_an_error_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("access").as_path()).unwrap();
        assert_eq!(store.read_nodes().unwrap(), NodeRegister::default());
        store.change_nodes(|nodes| nodes.revoke("plant", Nanos(0))).unwrap();
        let mode = fs::metadata(store.nodes_file()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        assert!(store.read_nodes().unwrap().nodes().contains_key("plant"));
        fs::write(store.nodes_file(), "version = 9").unwrap();
        assert!(store.read_nodes().unwrap_err().to_string().contains("version 9"));
        fs::write(store.nodes_file(), "nodes = 3").unwrap();
        assert!(store.read_nodes().unwrap_err().to_string().contains("nodes.toml"));
        fs::set_permissions(store.nodes_file(), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(store.read_nodes(), Err(StoreError::OpenToOthers { .. })));
        // Revocations must not end because a file is gone.
        fs::remove_file(store.nodes_file()).unwrap();
        assert!(matches!(store.read_nodes(), Err(StoreError::Gone { .. })));
        let change = store.change_nodes(|nodes| nodes.revoke("mill", Nanos(0)));
        assert!(matches!(change, Err(StoreError::Gone { .. })));
    }
}
