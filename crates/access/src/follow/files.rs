//! Two small files beside the accounts: the revisions of a DAC that keeps them, and the marker of a copy.

use super::copy::Position;
use crate::{
    document::Document,
    nodes::NodeRegister,
    private_file,
    secret::{Digest, random},
    store::{Store, StoreError},
    time_text::Time,
};
use serde::{Deserialize, Serialize};
use std::{fs::File, path::PathBuf};

/// The revisions of accounts that are kept here.
const REVISIONS: &str = "revisions.toml";
const ABOUT_REVISIONS: &str = "# Revisions of the accounts, for DACs that follow them (docs/reference/permissions.md). Keep this file with the others.\n";
/// The marker of a copy.
pub(crate) const MARKER: &str = "copy.toml";
const ABOUT_MARKER: &str =
    "# The accounts in this folder are a copy (access.follow, docs/reference/permissions.md).\n";
/// Largest of both, bytes.
const MAX_MARKER_BYTES: u64 = 4_096;

/// Revisions, and what they are of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Revisions {
    position: Position,
    accounts_sha256: String,
    nodes_sha256: String,
}

/// Origin of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Marker {
    /// The address that the copy is from.
    pub(super) source: String,
    pub(super) position: Position,
    /// When the source last confirmed it, to the minute.
    pub(super) confirmed: Time,
}

impl Store {
    /// Returns the present revisions. They grow if the content is not what they are of; whoever changed it.
    ///
    /// # Errors
    /// If the files cannot be read or written.
    pub(super) fn number(&self, accounts: &Document, nodes: &NodeRegister) -> Result<Position, StoreError> {
        let lock = self.lock()?;
        let [accounts_sha256, nodes_sha256] = [digest(accounts), digest(nodes)];
        let known: Option<Revisions> = self.read_small(REVISIONS)?;
        let mut revisions = match known.clone() {
            Some(known) => known,
            None => Revisions {
                position: Position { authority: random_name()?, accounts: 1, nodes: 1 },
                accounts_sha256: accounts_sha256.clone(),
                nodes_sha256: nodes_sha256.clone(),
            },
        };
        let position = &mut revisions.position;
        position.accounts += u64::from(revisions.accounts_sha256 != accounts_sha256);
        position.nodes += u64::from(revisions.nodes_sha256 != nodes_sha256);
        (revisions.accounts_sha256, revisions.nodes_sha256) = (accounts_sha256, nodes_sha256);
        if known.as_ref() != Some(&revisions) {
            self.write_small(&lock, REVISIONS, ABOUT_REVISIONS, &revisions)?;
        }
        Ok(revisions.position)
    }

    /// Returns the marker; none if the accounts are no copy.
    pub(super) fn marker(&self) -> Result<Option<Marker>, StoreError> {
        self.read_small(MARKER)
    }

    /// Refuses a change of a copy.
    ///
    /// # Errors
    /// [`StoreError::Follows`] with the address to go to.
    pub(crate) fn check_own(&self) -> Result<(), StoreError> {
        match self.marker()? {
            Some(marker) => Err(StoreError::Follows { from: marker.source }),
            None => Ok(()),
        }
    }

    /// Replaces changed files, revocations first, and the marker last: an interrupted copy is taken again.
    pub(super) fn take_copy(
        &self,
        accounts: Option<&Document>,
        nodes: Option<&NodeRegister>,
        marker: &Marker,
    ) -> Result<(), StoreError> {
        let lock = self.lock()?;
        if self.marker()?.is_none() {
            // Before the content, so that it is never taken for the DAC's own.
            let position = Position { accounts: 0, nodes: 0, ..marker.position.clone() };
            let first = Marker { position, ..marker.clone() };
            self.write_small(&lock, MARKER, ABOUT_MARKER, &first)?;
        }
        if let Some(nodes) = nodes {
            self.write_nodes(&lock, nodes)?;
        }
        if let Some(accounts) = accounts {
            self.write_accounts(&lock, accounts)?;
        }
        self.write_small(&lock, MARKER, ABOUT_MARKER, marker)
    }

    /// Whether there are accounts or nodes that are no copy.
    pub(super) fn has_own(&self) -> Result<bool, StoreError> {
        let is_there = |path: PathBuf| Ok::<_, StoreError>(Self::fingerprint(&path)?.is_some());
        Ok(self.marker()?.is_none() && (is_there(self.file())? || is_there(self.nodes_file())?))
    }

    /// Replaces one of these files. Unlike accounts, they may be removed by hand.
    fn write_small(
        &self,
        _lock: &File,
        file: &str,
        about: &str,
        content: &impl Serialize,
    ) -> Result<(), StoreError> {
        let path = self.directory().join(file);
        let text = toml::to_string(content)
            .map_err(|error| StoreError::Format { path: path.clone(), reason: error.to_string() })?;
        let written = private_file::replace(&path, format!("{about}{text}").as_bytes());
        written.map_err(|error| StoreError::Io { doing: "write", path, error })
    }

    fn read_small<T: for<'de> Deserialize<'de>>(&self, file: &str) -> Result<Option<T>, StoreError> {
        let path = self.directory().join(file);
        let Some((bytes, _)) = Self::read_private(&path, MAX_MARKER_BYTES)? else {
            return Ok(None);
        };
        let parsed = std::str::from_utf8(&bytes).map_err(|error| error.to_string());
        let parsed = parsed.and_then(|text| toml::from_str(text).map_err(|error| error.to_string()));
        parsed.map(Some).map_err(|reason| StoreError::Format { path, reason })
    }
}

/// Returns the digest of the canonical form: maps are ordered.
fn digest(content: &impl Serialize) -> String {
    let text = serde_json::to_string(content).unwrap_or_default();
    Digest::of(&text).to_string()
}

/// A random name of an authority or a process.
pub(super) fn random_name() -> Result<String, StoreError> {
    let failed = |error| StoreError::Change(crate::ChangeError::Random(error));
    let bytes = random::<16>().map_err(failed)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
