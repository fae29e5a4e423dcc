//! The archive's bounds, each with its reason (`[archive]`).

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// Where and how much (`[archive]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArchiveConfig {
    /// Folder of the archive, made if there is none; empty for no archive.
    pub directory: String,
    /// Longest that a received sample waits to be stored while all is well, in milliseconds: one `fdatasync` covers all that came meanwhile.
    pub commit_ms: u64,
    /// Size beyond which a segment file is sealed and the next one begun, in bytes: what a restart reads again, and the least that retention lets go of.
    pub segment_bytes: u64,
    /// Age at which a segment file is sealed, in seconds.
    pub segment_seconds: u64,
    /// Room that is left to others on the disk, in bytes: with less the archive waits.
    pub min_free_bytes: u64,
    /// How much is kept of what. The first rule that matches an instance holds; one that none matches is not archived.
    pub retention: Vec<RetentionRule>,
    /// Longest that roll-ups are kept, in days; 0 for no limit. They are made when a segment file is sealed, and stay when it goes.
    pub rollup_days: u64,
    /// Most room for roll-ups, in bytes; 0 for no limit. Beyond it the oldest seconds go first, then the oldest minutes, then the oldest hours.
    pub rollup_bytes: u64,
}

/// How much is kept of some instances.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetentionRule {
    /// `NODE/INSTANCE`; a `*` stands for any text.
    #[serde(deserialize_with = "pattern")]
    pub instances: String,
    /// Longest that a sample is kept, in days; 0 for no limit.
    #[serde(default)]
    pub days: u64,
    /// Most room for all that the rule matches, in bytes; 0 for no limit.
    #[serde(default)]
    pub bytes: u64,
}

impl Default for ArchiveConfig {
    fn default() -> Self {
        Self {
            directory: String::new(),
            commit_ms: 100,
            segment_bytes: 64 * 1024 * 1024,
            segment_seconds: 3_600,
            min_free_bytes: 256 * 1024 * 1024,
            retention: vec![RetentionRule {
                instances: "*".into(),
                days: 30,
                bytes: 10 * 1024 * 1024 * 1024,
            }],
            rollup_days: 0,
            rollup_bytes: 2 * 1024 * 1024 * 1024,
        }
    }
}

impl ArchiveConfig {
    /// Which rule holds for an instance.
    pub fn rule_for(&self, node: &str, instance: &str) -> Option<usize> {
        let name = format!("{node}/{instance}");
        self.retention.iter().position(|rule| matches(&rule.instances, &name))
    }
}

/// Parses a pattern that can match something: instances without a matching rule are not archived, and a pattern that matches none would hide that.
fn pattern<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let pattern = String::deserialize(from)?;
    if pattern.contains(['/', '*']) {
        return Ok(pattern);
    }
    Err(D::Error::custom(format!(
        "{pattern:?} matches no instance: write NODE/INSTANCE, such as \"{pattern}/*\" for all of a node or \"*/{pattern}\" for one of each node"
    )))
}

/// Whether the pattern describes all of the text. A `*` stands for any text, everything else for itself.
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    // The first place where the next literal stands is good enough: a later star takes what lies behind it.
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return text.ends_with(part);
        }
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text) in [
            ("*", ""),
            ("*", "a/b"),
            ("a/b", "a/b"),
            ("a/*", "a/"),
            ("*/cpu*", "plant/cpu 3"),
            ("*a*b", "xaxbxb"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("", "a"), ("a", "ab"), ("a/*", "b/a/"), ("*/cpu", "a/cpu1"), ("a*a", "a"), ("*a*b", "ba")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn the_first_rule_that_matches_holds() {
        let rule = |instances: &str| RetentionRule { instances: instances.into(), days: 0, bytes: 0 };
        let config = ArchiveConfig { retention: vec![rule("a/*"), rule("*/x")], ..ArchiveConfig::default() };
        assert_eq!(["a", "b"].map(|node| config.rule_for(node, "x")), [Some(0), Some(1)]);
        assert_eq!(config.rule_for("b", "y"), None);
    }
}
