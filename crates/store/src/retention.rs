//! Chooses the sealed files to evict, whole files: by age the oldest, by size the oldest without samples of small instances.

use crate::{
    catalogue::Segment,
    config::{DAY, RetentionRule},
    fair_share::{FairShares, FileShare},
    segment_copies::SafeCopies,
};
use oasis_wire::quantity::Nanos;
use std::{collections::BTreeSet, ops::Range, sync::Arc};

/// The files that pins keep from eviction.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ProtectedFiles {
    /// Their numbers.
    pub files: BTreeSet<u64>,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of files with samples of a pinned time that are beyond the bound.
    pub beyond: u64,
}

/// Returns the files of a rule that pins protect: those with samples of a pinned time, oldest first, up to `most`
/// bytes. Times that have ended come before those without an end yet (which have the greatest end).
pub fn protect(own: &[&Segment], pinned: &[Range<u64>], most: u64) -> ProtectedFiles {
    let mut protected = ProtectedFiles::default();
    for is_over in [true, false] {
        let pins: Vec<_> = pinned.iter().filter(|pin| (pin.end < u64::MAX) == is_over).collect();
        for segment in own {
            let is_within = |pin: &&Range<u64>| segment.min_time < pin.end && pin.start <= segment.max_time;
            if protected.files.contains(&segment.number) || !pins.iter().any(is_within) {
                continue;
            }
            if protected.bytes.saturating_add(segment.bytes) <= most {
                protected.bytes += segment.bytes;
                protected.files.insert(segment.number);
            } else {
                protected.beyond = protected.beyond.saturating_add(segment.bytes);
            }
        }
    }
    protected
}

/// Returns the files to evict of those that are too old, oldest first. A file that waits for its copy stays, unless less than
/// `reserve` of the `free` bytes of the disk would be left.
pub fn too_old_to_wait<'a>(
    old: &[&'a Segment],
    copies: &SafeCopies,
    mut free: u64,
    reserve: u64,
) -> Vec<&'a Segment> {
    let mut goes = |segment: &&&Segment| {
        let goes = !copies.is_awaited(segment.number) || free < reserve;
        free = free.saturating_add(if goes { segment.bytes } else { 0 });
        goes
    };
    old.iter().filter(|segment| goes(segment)).copied().collect()
}

/// Whether a rule evicts a file by its age. Without a time none is.
pub fn is_too_old(rule: &RetentionRule, segment: &Segment, now: Option<Nanos>) -> bool {
    match (rule.days, now) {
        (0, _) | (_, None) => false,
        (days, Some(now)) => segment.sealed.0 < now.0.saturating_sub(days.saturating_mul(DAY)),
    }
}

/// Returns the file to evict next by size, of these, oldest first: the oldest that has samples of large instances only. If there is none,
/// the oldest with at most half of its bytes from small instances; then the oldest. `shares` returns what a file has of each instance.
///
/// # Errors
/// As `shares`.
pub fn next_by_size<E>(
    files: impl Iterator<Item = u64>,
    fair: &FairShares<'_>,
    mut shares: impl FnMut(u64) -> Result<Arc<[FileShare]>, E>,
) -> Result<Option<(Harm, u64)>, E> {
    let mut best: Option<(Harm, u64)> = None;
    for number in files {
        let harm = Harm::of(&shares(number)?, fair);
        if best.is_none_or(|(least, _)| harm < least) {
            best = Some((harm, number));
        }
        if harm == Harm::None {
            break;
        }
    }
    Ok(best)
}

/// Share of a file's bytes that small instances would lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Harm {
    /// Nothing.
    None,
    /// At most half.
    Some,
    /// More.
    Most,
}

impl Harm {
    fn of(shares: &[FileShare], fair: &FairShares<'_>) -> Self {
        let (mut all, mut small) = (0, 0);
        for share in shares {
            all += share.bytes;
            small += if fair.is_small(&share.node, &share.instance) { share.bytes } else { 0 };
        }
        match small {
            0 => Self::None,
            small if small <= all / 2 => Self::Some,
            _ => Self::Most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fair_share::Usage, segment_copies::SegmentCopies};
    use std::convert::Infallible;

    fn segments() -> Vec<Segment> {
        let segment = |number: u64| Segment {
            number,
            rule: "*".into(),
            sealed: Nanos(number * DAY + 1),
            bytes: 100,
            samples: 1,
            min_time: number * DAY,
            max_time: number * DAY + 1,
        };
        (1..=5).map(segment).collect()
    }

    fn too_old(days: u64, now: Option<u64>) -> Vec<u64> {
        let rule = RetentionRule { instances: "*".into(), days, bytes: 0 };
        let old = segments().into_iter().filter(|segment| is_too_old(&rule, segment, now.map(Nanos)));
        old.map(|segment| segment.number).collect()
    }

    #[test]
    fn files_beyond_the_age_are_evicted_and_none_without_a_trusted_time() {
        assert_eq!(too_old(3, Some(6 * DAY)), [1, 2]);
        assert_eq!(too_old(0, Some(6 * DAY)), [0_u64; 0]);
        assert_eq!(too_old(3, None), [0_u64; 0]);
    }

    #[test]
    fn old_files_that_wait_for_their_copies_stay_while_the_disk_has_room() {
        let segments = segments();
        let old: Vec<_> = segments.iter().take(4).collect();
        let evicted = |copies: &SegmentCopies, free| -> Vec<u64> {
            too_old_to_wait(&old, &copies.safe(), free, 1_000).iter().map(|segment| segment.number).collect()
        };
        let copies = SegmentCopies::default();
        assert_eq!(evicted(&copies, 0), [1, 2, 3, 4], "nothing copies segments");
        copies.require();
        assert_eq!(evicted(&copies, 1_000), [0_u64; 0]);
        copies.add_safe(3);
        assert_eq!(evicted(&copies, 1_000), [3]);
        // Each has 100 bytes: two make room again, and the third one has its copy.
        assert_eq!(evicted(&copies, 850), [1, 2, 3]);
    }

    fn protected(pinned: &[Range<u64>], most: u64) -> (Vec<u64>, u64) {
        let segments = segments();
        let own: Vec<_> = segments.iter().collect();
        let protected = protect(&own, pinned, most);
        assert_eq!(protected.bytes, protected.files.len() as u64 * 100);
        (protected.files.into_iter().collect(), protected.beyond)
    }

    #[test]
    fn pins_protect_up_to_their_bound_those_that_have_ended_first() {
        let (ended, goes_on) = (4 * DAY..5 * DAY, 2 * DAY..u64::MAX);
        assert_eq!(protected(&[], 1_000), (vec![], 0));
        assert_eq!(protected(std::slice::from_ref(&ended), 1_000), (vec![4], 0));
        assert_eq!(protected(&[goes_on.clone(), ended.clone()], 1_000), (vec![2, 3, 4, 5], 0));
        assert_eq!(protected(&[goes_on.clone(), ended], 250), (vec![2, 4], 200));
        assert_eq!(protected(&[goes_on], 0), (vec![], 400));
    }

    /// Returns the order in which files are evicted. Each has this many bytes of a heavy node, and of a light one.
    fn evicted(files: &[(u64, u64)], capacity: u64) -> Vec<u64> {
        let shares = |number: u64| -> Arc<[FileShare]> {
            let (heavy, light) = files[usize::try_from(number).unwrap()];
            let of = [("heavy", heavy), ("light", light)].into_iter().filter(|(_, bytes)| *bytes > 0);
            of.map(|(node, bytes)| FileShare { node: node.into(), instance: "x".into(), bytes }).collect()
        };
        let mut usage = Usage::default();
        (0..files.len() as u64).for_each(|number| shares(number).iter().for_each(|share| usage.add(share)));
        let mut left: BTreeSet<_> = (0..files.len() as u64).collect();
        let mut gone = Vec::new();
        while usage.by_node().map(|(_, bytes)| bytes).sum::<u64>() > capacity {
            let fair = usage.shares_of(capacity);
            let look = |number| Ok::<Arc<[FileShare]>, Infallible>(shares(number));
            let (_, next) = next_by_size(left.iter().copied(), &fair, look).unwrap().unwrap();
            shares(next).iter().for_each(|share| usage.remove(share));
            left.remove(&next);
            gone.push(next);
        }
        gone
    }

    #[test]
    fn a_heavy_node_loses_its_own_oldest_files_and_nodes_alike_lose_the_oldest() {
        assert_eq!(evicted(&[(90, 10), (0, 20), (100, 0), (100, 0), (100, 0)], 250), [2, 3]);
        // A file that is shared with others is evicted only when nothing else is left.
        assert_eq!(evicted(&[(0, 20), (90, 10), (100, 0)], 110), [2, 1]);
        assert_eq!(evicted(&[(50, 50), (50, 50), (50, 50)], 150), [0, 1]);
    }
}
