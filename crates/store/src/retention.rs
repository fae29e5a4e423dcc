//! Chooses the sealed files to evict: whole files, oldest first.

use crate::{catalogue::Segment, config::RetentionRule};
use oasis_wire::quantity::Nanos;
use std::ops::Range;

const DAY: u64 = 24 * 3_600 * 1_000_000_000;

/// Returns the numbers of the files that a rule evicts. `segments` are all sealed files, oldest first; `open_bytes` is the size of the rule's open file.
/// Files with samples within a pinned time span stay, and count. Without a time none is evicted by age.
pub fn plan(
    rule: &RetentionRule,
    segments: &[Segment],
    open_bytes: u64,
    pinned: &[Range<u64>],
    now: Option<Nanos>,
) -> Vec<u64> {
    let own = || segments.iter().filter(|segment| segment.rule == rule.instances);
    let oldest_kept = match (rule.days, now) {
        (0, _) | (_, None) => 0,
        (days, Some(now)) => now.0.saturating_sub(days.saturating_mul(DAY)),
    };
    let most = if rule.bytes == 0 { u64::MAX } else { rule.bytes };
    let mut bytes = open_bytes + own().map(|segment| segment.bytes).sum::<u64>();
    let is_pinned = |segment: &Segment| {
        pinned.iter().any(|run| segment.min_time < run.end && run.start <= segment.max_time)
    };
    let mut going = Vec::new();
    for segment in own().filter(|segment| !is_pinned(segment)) {
        if segment.sealed.0 < oldest_kept || bytes > most {
            bytes -= segment.bytes;
            going.push(segment.number);
        }
    }
    going
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments() -> Vec<Segment> {
        let segment = |number: u64| Segment {
            number,
            rule: if number == 3 { "b/*" } else { "*" }.into(),
            sealed: Nanos(number * DAY + 1),
            bytes: 100,
            samples: 1,
            min_time: number * DAY,
            max_time: number * DAY + 1,
        };
        (1..=5).map(segment).collect()
    }

    fn plan_of(days: u64, bytes: u64, pinned: Option<Range<u64>>) -> Vec<u64> {
        let rule = RetentionRule { instances: "*".into(), days, bytes };
        plan(&rule, &segments(), 50, pinned.as_slice(), Some(Nanos(6 * DAY)))
    }

    #[test]
    fn files_beyond_age_or_size_are_evicted_oldest_first_under_their_own_rule() {
        assert_eq!(plan_of(0, 0, None), [0_u64; 0]);
        assert_eq!(plan_of(3, 0, None), [1, 2]);
        assert_eq!(plan_of(0, 260, None), [1, 2]);
        assert_eq!(plan_of(0, 250, None), [1, 2]);
        assert_eq!(plan_of(3, 150, None), [1, 2, 4]);
        assert_eq!(plan_of(0, 1, None), [1, 2, 4, 5]);
    }

    #[test]
    fn without_a_trusted_time_only_the_size_counts() {
        let rule = RetentionRule { instances: "*".into(), days: 3, bytes: 350 };
        assert_eq!(plan(&rule, &segments(), 50, &[], None), [1]);
    }

    #[test]
    fn pinned_files_stay_and_count() {
        assert_eq!(plan_of(1, 0, Some(2 * DAY..2 * DAY + 1)), [1, 4]);
        assert_eq!(plan_of(0, 250, Some(DAY..2 * DAY)), [2, 4]);
    }
}
