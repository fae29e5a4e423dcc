//! When each token was last used. Kept apart from the accounts, so that a use changes no rights.

use crate::{private_file, time_text::Time, token::TokenId};
use oasis_wire::quantity::Nanos;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

const FILE: &str = "last-use.json";
/// Largest file that is read, bytes: 10,000 tokens take half of it.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Shortest time between two writes, nanoseconds.
const MIN_WRITE_INTERVAL_NANOS: u64 = 60_000_000_000;

/// Last uses by token, bounded by the number of tokens.
#[derive(Debug, Default)]
pub(crate) struct LastUses {
    path: PathBuf,
    uses: BTreeMap<TokenId, Time>,
    is_changed: bool,
    written: Nanos,
}

impl LastUses {
    pub(crate) fn read(directory: &Path) -> Self {
        Self { path: directory.join(FILE), uses: read(directory), is_changed: false, written: Nanos(0) }
    }

    /// Notes a use of a token that exists.
    pub(crate) fn note(&mut self, token: TokenId, wall: Nanos) {
        self.uses.insert(token, Time(wall));
        self.is_changed = true;
    }

    /// Returns when a token was used last.
    pub(crate) fn of(&self, token: TokenId) -> Option<Time> {
        self.uses.get(&token).copied()
    }

    /// Returns what is to be written, at most once a minute, without tokens that are gone.
    pub(crate) fn take_due(
        &mut self,
        exists: impl Fn(&TokenId) -> bool,
        steady: Nanos,
    ) -> Option<LastUseFile> {
        if !self.is_changed || steady.0.saturating_sub(self.written.0) < MIN_WRITE_INTERVAL_NANOS {
            return None;
        }
        self.uses.retain(|token, _| exists(token));
        (self.is_changed, self.written) = (false, steady);
        let text = serde_json::to_string(&self.uses).ok()?;
        Some(LastUseFile { path: self.path.clone(), text })
    }
}

/// The file to write, without a lock.
#[derive(Debug)]
pub(crate) struct LastUseFile {
    path: PathBuf,
    text: String,
}

impl LastUseFile {
    pub(crate) fn write(&self) -> io::Result<()> {
        private_file::replace(&self.path, self.text.as_bytes())
    }
}

/// Reads when tokens were last used, to the minute. A damaged file is as none: it is only for people.
pub fn read(directory: &Path) -> BTreeMap<TokenId, Time> {
    let path = directory.join(FILE);
    let is_bounded = fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= MAX_FILE_BYTES);
    let text = is_bounded.then(|| fs::read_to_string(&path).ok()).flatten();
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_written_once_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let mut uses = LastUses::read(folder.path());
        let [kept, gone]: [TokenId; 2] = ["00000001", "00000002"].map(|id| id.parse().unwrap());
        uses.note(kept, Nanos(5_000_000_000));
        uses.note(gone, Nanos(5_000_000_000));
        assert!(uses.take_due(|_| true, Nanos(0)).is_none());
        uses.take_due(|id| *id == kept, Nanos(MIN_WRITE_INTERVAL_NANOS)).unwrap().write().unwrap();
        assert!(
            uses.take_due(|_| true, Nanos(9 * MIN_WRITE_INTERVAL_NANOS)).is_none(),
            "nothing has changed"
        );
        let read = read(folder.path());
        assert_eq!(read.len(), 1);
        assert_eq!(read[&kept].to_string(), "1970-01-01T00:00:05Z");
        fs::write(folder.path().join(FILE), "[").unwrap();
        assert!(super::read(folder.path()).is_empty());
    }
}
