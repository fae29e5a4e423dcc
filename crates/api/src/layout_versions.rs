//! The versions of one layout: the newest, and some before it.

use oasis_wire::quantity::Nanos;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;

/// Most versions of one layout, the newest included.
pub const MOST_VERSIONS: usize = 20;
/// All versions of one layout have at most as many bytes as this many of the largest layouts.
const LARGEST_LAYOUTS: usize = 4;
/// Bytes of a version in its file beside its layout and its author.
const VERSION_OVERHEAD_BYTES: u64 = 200;

/// A layout as it was saved.
#[derive(Debug, Clone)]
pub struct Version {
    /// 1 for the first that had this name, then one more each time.
    pub revision: u64,
    /// When it was saved.
    pub changed: Nanos,
    /// Principal that saved it; empty if it was changed as a file.
    pub by: String,
    pub json: String,
}

/// Versions, oldest first; never empty.
#[derive(Debug, Clone)]
pub struct Versions(VecDeque<Version>);

/// The form of a version in its file.
#[derive(Serialize, Deserialize)]
struct Stored {
    revision: u64,
    changed: u64,
    by: String,
    layout: Value,
}

impl Versions {
    pub fn new(first: Version) -> Self {
        Self(VecDeque::from([first]))
    }

    pub fn newest(&self) -> &Version {
        // `new` puts one in, and `add` keeps the one that it adds.
        &self.0[self.0.len() - 1]
    }

    pub fn find(&self, revision: u64) -> Option<&Version> {
        self.0.iter().find(|version| version.revision == revision)
    }

    /// Newest first.
    pub fn all(&self) -> impl Iterator<Item = &Version> {
        self.0.iter().rev()
    }

    /// Returns them with a newer one, and without the oldest of too many.
    pub fn with(&self, version: Version, largest_layout: usize) -> Self {
        let mut versions = self.0.clone();
        versions.push_back(version);
        let most_bytes = largest_layout.saturating_mul(LARGEST_LAYOUTS);
        let mut bytes: usize = versions.iter().map(|version| version.json.len()).sum();
        while versions.len() > 1 && (versions.len() > MOST_VERSIONS || bytes > most_bytes) {
            bytes -= versions.pop_front().map_or(0, |oldest| oldest.json.len());
        }
        Self(versions)
    }

    /// The text of their file.
    pub fn to_text(&self) -> serde_json::Result<String> {
        let stored = self.0.iter().map(|version| {
            let layout = serde_json::from_str(&version.json)?;
            let (revision, changed, by) = (version.revision, version.changed.0, version.by.clone());
            Ok(Stored { revision, changed, by, layout })
        });
        serde_json::to_string(&stored.collect::<serde_json::Result<Vec<_>>>()?)
    }

    /// Reads the text of a file; without versions there is nothing.
    pub fn from_text(text: &[u8]) -> serde_json::Result<Option<Self>> {
        let stored: Vec<Stored> = serde_json::from_slice(text)?;
        let version = |Stored { revision, changed, by, layout }| Version {
            revision,
            changed: Nanos(changed),
            by,
            json: layout.to_string(),
        };
        let versions: VecDeque<_> = stored.into_iter().map(version).collect();
        Ok((!versions.is_empty()).then_some(Self(versions)))
    }

    /// Largest file of versions, in bytes.
    pub fn largest_file(largest_layout: usize) -> u64 {
        let layouts = largest_layout.saturating_mul(LARGEST_LAYOUTS) as u64;
        // Authors are bounded where accounts are; escapes make them longer.
        layouts.saturating_add(MOST_VERSIONS as u64 * (VERSION_OVERHEAD_BYTES + 4096))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(revision: u64, bytes: usize) -> Version {
        let json = format!(r#"{{"x":"{}"}}"#, "y".repeat(bytes.saturating_sub(8)));
        Version { revision, changed: Nanos(revision), by: "ada".into(), json }
    }

    fn revisions(versions: &Versions) -> Vec<u64> {
        versions.all().map(|version| version.revision).collect()
    }

    #[test]
    fn number_and_bytes_are_bounded_and_the_newest_stays() {
        let many = (2..=30).fold(Versions::new(version(1, 10)), |all, n| all.with(version(n, 10), 100));
        assert_eq!(revisions(&many), (11..=30).rev().collect::<Vec<_>>());
        let large = (2..=9).fold(Versions::new(version(1, 100)), |all, n| all.with(version(n, 100), 100));
        assert_eq!(revisions(&large), [9, 8, 7, 6]);
        assert_eq!(revisions(&large.with(version(10, 1000), 100)), [10]);
        assert!(large.find(5).is_none() && large.find(6).is_some());
    }

    #[test]
    fn they_are_read_as_they_were_written() {
        let versions = Versions::new(version(1, 20)).with(version(2, 30), 100);
        let text = versions.to_text().unwrap();
        let read = Versions::from_text(text.as_bytes()).unwrap().unwrap();
        assert_eq!(read.to_text().unwrap(), text);
        assert_eq!(read.newest().json, versions.newest().json);
        assert!(Versions::from_text(b"[]").unwrap().is_none());
        assert!(Versions::from_text(b"{").is_err());
    }
}
