//! Warnings long before samples are lost: a rule that is at least half full and will evict samples earlier than users
//! may expect, a node that uses most of a rule, pins that reach their bound.
//!
//! Days and bytes of the default rule are not chosen by a user, and the bytes are less than 30 days of most systems.
//! Therefore this rule warns only if it has room for less than a day: samples of the evening would be gone in the
//! morning.

use crate::{
    catalogue::Segment,
    config::{ArchiveConfig, DAY, RetentionRule},
    fair_share::Usage,
    retention::ProtectedFiles,
};
use serde::Serialize;

/// Files from whose times the rate of a rule is estimated: the last ones.
const MAX_RATED_FILES: usize = 8;

/// Days that the default rule has room for at least, without a warning.
const EXPECTED_DAYS: u64 = 1;

/// A retention rule, and how much of its room is used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RuleState {
    /// Its pattern.
    pub instances: String,
    /// Bytes of its files.
    pub bytes: u64,
    /// Its size limit; 0 for none.
    pub limit: u64,
    /// Bytes of files that pinned test runs keep from eviction.
    pub pinned_bytes: u64,
    /// Most bytes that they can keep.
    pub pinned_limit: u64,
    /// Bytes of files that they would keep beyond that.
    pub pinned_beyond: u64,
    /// Bytes of files that are too old and wait for their copy.
    pub awaiting_copy_bytes: u64,
}

/// A warning: all works, and samples will be evicted that a user may expect to be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The pattern of the retention rule.
    pub instances: String,
    /// `size_before_age`, `heavy_node`, `pins_at_limit` or `awaits_copy`.
    pub code: &'static str,
    /// One sentence for people.
    pub detail: String,
}

/// Returns the warnings of a rule. `own` are its sealed files, oldest first.
pub fn warnings(
    rule: &RetentionRule,
    own: &[&Segment],
    usage: Option<&Usage>,
    state: &RuleState,
) -> Vec<Warning> {
    let warning = |code, detail| Warning { instances: rule.instances.clone(), code, detail };
    let mut warnings = Vec::new();
    let is_half_full = state.limit > 0 && state.bytes >= state.limit / 2;
    if let Some(days) = days_of_room(own, state.limit)
        && is_half_full
        && days < expected_days(rule) as f64
    {
        let what = match is_default(rule) {
            true => {
                "only: raise its bytes, or give the instances that need them rules of their own (archive.retention)"
                    .into()
            }
            false => format!(
                "and samples are to stay for {} days: raise its bytes, or lower its days (archive.retention)",
                rule.days
            ),
        };
        let (limit, room) = (size(state.limit), time(days));
        let pattern = &rule.instances;
        let detail = format!(
            "at the present rate the {limit} of the retention rule {pattern:?} have room for {room} {what}"
        );
        warnings.push(warning("size_before_age", detail));
    }
    if let Some((node, percent)) = usage.and_then(heavy_node)
        && is_half_full
    {
        let detail = format!(
            "node {node:?} has {percent} % of the bytes that the retention rule {:?} keeps: its oldest samples are the first that the size limit evicts; give it a rule of its own (archive.retention), or lower its rates",
            rule.instances
        );
        warnings.push(warning("heavy_node", detail));
    }
    // Four of five parts, so that there is time to stop a test run.
    if state.pinned_beyond > 0 || state.pinned_bytes > state.pinned_limit / 5 * 4 {
        let what = if state.pinned_beyond > 0 { "more than" } else { "nearly" };
        let detail = format!(
            "pinned test runs keep {what} the {} that they can keep of the retention rule {:?} (archive.pinned_percent): samples beyond it are evicted as others; stop or unpin test runs",
            size(state.pinned_limit),
            rule.instances
        );
        warnings.push(warning("pins_at_limit", detail));
    }
    if state.awaiting_copy_bytes > 0 {
        let detail = format!(
            "{} of the retention rule {:?} are older than {} days and stay until they are copied: see `oasis handlers` for what keeps the offload",
            size(state.awaiting_copy_bytes),
            rule.instances,
            rule.days
        );
        warnings.push(warning("awaits_copy", detail));
    }
    warnings
}

fn is_default(rule: &RetentionRule) -> bool {
    ArchiveConfig::default().retention.contains(rule)
}

/// Returns for how many days a rule is expected to keep samples.
fn expected_days(rule: &RetentionRule) -> u64 {
    if is_default(rule) { EXPECTED_DAYS } else { rule.days }
}

/// Formats bytes for people.
fn size(bytes: u64) -> String {
    const KIB: f64 = 1024.0;
    let bytes = bytes as f64;
    match bytes {
        _ if bytes >= KIB * KIB * KIB => format!("{:.1} GiB", bytes / (KIB * KIB * KIB)),
        _ if bytes >= KIB * KIB => format!("{:.1} MiB", bytes / (KIB * KIB)),
        _ => format!("{:.1} KiB", bytes / KIB),
    }
}

/// Formats days for people.
fn time(days: f64) -> String {
    if days >= 2.0 { format!("{days:.1} days") } else { format!("{:.1} hours", days * 24.0) }
}

/// Returns the days that a limit has room for at the rate of the last files.
fn days_of_room(own: &[&Segment], limit: u64) -> Option<f64> {
    let last = &own[own.len().saturating_sub(MAX_RATED_FILES)..];
    let (first, rest) = last.split_first()?;
    let took = rest.last()?.sealed.0.checked_sub(first.sealed.0).filter(|took| *took > 0)?;
    let bytes: u64 = rest.iter().map(|segment| segment.bytes).sum();
    (limit > 0).then(|| limit as f64 / bytes as f64 * took as f64 / DAY as f64)
}

/// Returns the node that has more than half of all bytes, if there are others, and its part in percent.
fn heavy_node(usage: &Usage) -> Option<(&str, u64)> {
    let all: u64 = usage.by_node().map(|(_, bytes)| bytes).sum();
    let (node, most) = usage.by_node().max_by_key(|(_, bytes)| *bytes)?;
    (most > all / 2 && most < all).then(|| (&**node, most.saturating_mul(100) / all.max(1)))
}

impl RuleState {
    /// Returns the state of a rule with this many bytes.
    pub fn new(rule: &RetentionRule, bytes: u64, protected: &ProtectedFiles, pinned_limit: u64) -> Self {
        Self {
            instances: rule.instances.clone(),
            bytes,
            limit: rule.bytes,
            pinned_bytes: protected.bytes,
            pinned_limit,
            pinned_beyond: protected.beyond,
            awaiting_copy_bytes: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair_share::FileShare;
    use oasis_wire::quantity::Nanos;

    fn codes(days: u64, files: u64, nodes: &[(&str, u64)], state: RuleState) -> Vec<&'static str> {
        let rule = RetentionRule { instances: "*".into(), days, bytes: state.limit };
        let segment = |number: u64| Segment {
            number,
            rule: "*".into(),
            sealed: Nanos(number * DAY),
            bytes: 100,
            samples: 1,
            min_time: 0,
            max_time: 0,
        };
        let segments: Vec<_> = (0..files).map(segment).collect();
        let own: Vec<_> = segments.iter().collect();
        let mut usage = Usage::default();
        for (node, bytes) in nodes {
            usage.add(&FileShare { node: (*node).into(), instance: "x".into(), bytes: *bytes });
        }
        warnings(&rule, &own, Some(&usage), &state).into_iter().map(|warning| warning.code).collect()
    }

    fn state(bytes: u64) -> RuleState {
        RuleState { bytes, limit: 1_000, pinned_limit: 500, ..RuleState::default() }
    }

    #[test]
    fn a_rule_that_will_evict_younger_samples_warns_once_it_is_half_full() {
        // 100 bytes a day, so there is room for ten days.
        assert_eq!(codes(11, 6, &[], state(600)), ["size_before_age"]);
        assert!(codes(9, 6, &[], state(600)).is_empty());
        assert!(codes(0, 6, &[], state(600)).is_empty());
        assert!(codes(11, 4, &[], state(400)).is_empty());
        assert!(codes(11, 1, &[], state(600)).is_empty());
    }

    #[test]
    fn the_default_rule_warns_only_if_it_keeps_less_than_a_day() {
        let rule = &ArchiveConfig::default().retention[0];
        // Half full, with files of `seconds` each that have the size of a hundredth of the limit.
        let detail = |seconds: u64| {
            let segment = |number: u64| Segment {
                number,
                rule: rule.instances.clone(),
                sealed: Nanos(number * seconds * 1_000_000_000),
                bytes: rule.bytes / 100,
                samples: 1,
                min_time: 0,
                max_time: 0,
            };
            let segments: Vec<_> = (0..60).map(segment).collect();
            let own: Vec<_> = segments.iter().collect();
            let state = RuleState { bytes: rule.bytes / 2, limit: rule.bytes, ..RuleState::default() };
            warnings(rule, &own, None, &state).pop().map(|warning| warning.detail)
        };
        assert_eq!(detail(3 * 3_600), None, "12.5 days of the 30");
        assert_eq!(detail(900), None, "25 hours");
        let warned = detail(600).unwrap();
        assert!(
            warned.contains("the 10.0 GiB") && warned.contains("have room for 16.7 hours only"),
            "{warned}"
        );
    }

    #[test]
    fn a_node_with_most_of_the_bytes_is_named_unless_it_is_alone() {
        assert_eq!(codes(0, 6, &[("a", 400), ("b", 200)], state(600)), ["heavy_node"]);
        assert!(codes(0, 6, &[("a", 600)], state(600)).is_empty());
        assert!(codes(0, 6, &[("a", 300), ("b", 300)], state(600)).is_empty());
    }

    #[test]
    fn pins_warn_before_they_reach_their_bound() {
        let pinned = |pinned_bytes, pinned_beyond| RuleState { pinned_bytes, pinned_beyond, ..state(100) };
        assert!(codes(0, 1, &[], pinned(400, 0)).is_empty());
        assert_eq!(codes(0, 1, &[], pinned(401, 0)), ["pins_at_limit"]);
        assert_eq!(codes(0, 1, &[], pinned(300, 300)), ["pins_at_limit"]);
    }
}
