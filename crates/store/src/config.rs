//! The settings of the archive (`[archive]`).

use oasis_wire::pattern::matches;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// Nanoseconds of a day.
pub const DAY: u64 = 24 * 3_600 * 1_000_000_000;

/// Folder and bounds of the archive (`[archive]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArchiveConfig {
    /// Folder of the archive, created if it does not exist; empty for no archive.
    pub directory: String,
    /// Longest time until a received sample is stored in normal operation, in milliseconds: one `fdatasync` covers all samples of that time.
    pub commit_ms: u64,
    /// Size at which a segment file is sealed, in bytes: the most that a restart reads again, and the unit of retention.
    pub segment_bytes: u64,
    /// Age at which a segment file is sealed, in seconds.
    pub segment_seconds: u64,
    /// Whether small batches are put together when a segment file is sealed. Earlier releases cannot read such files.
    pub group_batches: bool,
    /// Free space to leave on the disk, in bytes: with less the archive waits.
    pub min_free_bytes: u64,
    /// Retention rules. The first rule that matches an instance applies; an instance without a rule is not archived.
    pub retention: Vec<RetentionRule>,
    /// Part of a rule's `bytes` that pinned test runs can keep from eviction, in percent; of a rule without `bytes`, part of what it has and
    /// of the free space.
    pub pinned_percent: u64,
    /// Days before its receipt at which a sample may have been taken, and days later by its node's clock, for pins and
    /// ranges to take its time into account; 0 for no limit.
    pub plausible_past_days: u64,
    /// See `plausible_past_days`.
    pub plausible_ahead_days: u64,
    /// Longest that roll-ups are kept, in days; 0 for no limit. They are made when a segment file is sealed, and stay when it is evicted.
    pub rollup_days: u64,
    /// Most bytes of roll-ups; 0 for no limit. Beyond it the oldest seconds are evicted first, then the oldest minutes, then the oldest hours.
    pub rollup_bytes: u64,
}

/// The retention of some instances.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetentionRule {
    /// `NODE/INSTANCE`; a `*` stands for any text.
    #[serde(deserialize_with = "pattern")]
    pub instances: String,
    /// Longest that a sample is kept, in days; 0 for no limit.
    #[serde(default)]
    pub days: u64,
    /// Most bytes of all matching instances; 0 for no limit.
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
            group_batches: true,
            min_free_bytes: 256 * 1024 * 1024,
            retention: vec![RetentionRule {
                instances: "*".into(),
                days: 30,
                bytes: 10 * 1024 * 1024 * 1024,
            }],
            pinned_percent: 50,
            plausible_past_days: 3_650,
            plausible_ahead_days: 1,
            rollup_days: 0,
            rollup_bytes: 2 * 1024 * 1024 * 1024,
        }
    }
}

impl ArchiveConfig {
    /// Whether samples or roll-ups are evicted by age.
    pub fn evicts_by_age(&self) -> bool {
        self.rollup_days > 0 || self.retention.iter().any(|rule| rule.days > 0)
    }

    /// Returns the index of the rule that applies to an instance.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_rule_applies() {
        let rule = |instances: &str| RetentionRule { instances: instances.into(), days: 0, bytes: 0 };
        let config = ArchiveConfig { retention: vec![rule("a/*"), rule("*/x")], ..ArchiveConfig::default() };
        assert_eq!(["a", "b"].map(|node| config.rule_for(node, "x")), [Some(0), Some(1)]);
        assert_eq!(config.rule_for("b", "y"), None);
    }
}
