//! Points of open files, which have no roll-ups yet: aggregated in advance for requests and for the roll-up.
//!
//! Cells have a second, as in roll-ups, or more if there would be too many: a file with a recording can span years.

use super::{Points, Reach};
use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Most cached shares of files.
const MAX_SHARES: usize = 16;
/// Most values of one share, about 100 bytes each. Beyond that its cells become wider.
const MAX_SHARE_VALUES: usize = 400_000;
/// Most values of all shares. Beyond that the least recently used are evicted.
const MAX_VALUES: usize = 800_000;

/// Number of the segment file, and of the series in it.
pub type Key = (u64, u32);

/// A share of a file, updated by one thread at a time.
pub type Share = Arc<Mutex<Points>>;

/// The cache of points.
#[derive(Debug, Default)]
pub struct PointsCache(Mutex<Shares>);

#[derive(Debug, Default)]
struct Shares {
    kept: VecDeque<CachedShare>,
    /// Shares with too many values even by the hour, which are not cached.
    too_large: BTreeSet<Key>,
}

#[derive(Debug)]
struct CachedShare {
    key: Key,
    share: Share,
    /// Approximate number of values at the last use.
    values: usize,
}

impl PointsCache {
    /// Returns a cached share.
    pub fn get(&self, key: Key) -> Option<Share> {
        let mut shares = self.lock();
        let at = shares.kept.iter().position(|kept| kept.key == key)?;
        let found = shares.kept.remove(at)?;
        let share = found.share.clone();
        shares.kept.push_back(found);
        Some(share)
    }

    /// Whether there is room without evicting a share.
    pub fn has_room(&self) -> bool {
        let shares = self.lock();
        shares.kept.len() < MAX_SHARES && shares.values() + MAX_SHARE_VALUES <= MAX_VALUES
    }

    /// Adds a share with samples after `before`; `None` if it is known to be too large.
    pub fn begin(&self, key: Key, before: Option<Reach>) -> Option<Share> {
        let mut shares = self.lock();
        if shares.too_large.contains(&key) {
            return None;
        }
        let share = Arc::new(Mutex::new(Points::limited(before, MAX_SHARE_VALUES)));
        if shares.kept.len() == MAX_SHARES {
            shares.kept.pop_front();
        }
        shares.kept.push_back(CachedShare { key, share: share.clone(), values: 0 });
        Some(share)
    }

    /// Updates the size of a share. Returns whether it is still cached.
    pub fn limit(&self, key: Key, points: &Points) -> bool {
        let mut shares = self.lock();
        let values = points.size();
        if values > MAX_SHARE_VALUES {
            shares.kept.retain(|kept| kept.key != key);
            shares.too_large.insert(key);
            return false;
        }
        for kept in shares.kept.iter_mut().filter(|kept| kept.key == key) {
            kept.values = values;
        }
        while shares.values() > MAX_VALUES && shares.kept.front().is_some_and(|oldest| oldest.key != key) {
            shares.kept.pop_front();
        }
        true
    }

    /// Removes the shares of a file that has roll-ups.
    pub fn end_file(&self, segment: u64) {
        let mut shares = self.lock();
        shares.kept.retain(|kept| kept.key.0 != segment);
        shares.too_large.retain(|key| key.0 != segment);
    }

    fn lock(&self) -> MutexGuard<'_, Shares> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shares {
    fn values(&self) -> usize {
        self.kept.iter().map(|kept| kept.values).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cells::{Level, Track},
        points::{Arrival, Span},
    };
    use oasis_wire::{
        batch::{Encoder, Fields},
        quantity::{Epoch, Offset},
        schema::ProbeType,
    };
    use uuid::Uuid;

    const MINUTE: u64 = 60_000_000_000;
    const IN_BATCH: u64 = 60;

    /// Adds batches of one sample a minute.
    fn fill(points: &mut Points, batches: u64) {
        let json = r#"{"name": "T", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": [{"name": "n", "type": "uint64"}]}"#;
        let probe_type: Arc<ProbeType> = Arc::new(serde_json::from_str(json).unwrap());
        for first in (0..batches).map(|batch| batch * IN_BATCH) {
            let mut encoder = Encoder::new(&probe_type).unwrap();
            for number in first..first + IN_BATCH {
                encoder.push(number * MINUTE, &number.to_le_bytes()).unwrap();
            }
            let mut batch = Vec::new();
            encoder.finish(Fields { first_sequence: first + 1, ..Fields::default() }, &mut batch);
            let last = first + IN_BATCH - 1;
            let arrival = Arrival {
                epoch: Epoch(1),
                run: Uuid::nil(),
                probe_type: &probe_type,
                first: Offset(first),
                times: (first * MINUTE, last * MINUTE),
                count: IN_BATCH,
                last_sequence: last + 1,
                gaps_before: &[],
            };
            points.add(&arrival, Ok(&batch), |_| (Offset(u64::MAX), oasis_wire::loss::Cause::ArchiveLag));
        }
    }

    #[test]
    fn too_many_seconds_are_merged_to_wider_cells() {
        // With a sample a minute, minutes are as many as seconds.
        for (batches, level) in [(1, Level::Second), (2, Level::Hour), (50, Level::Hour)] {
            let mut points = Points::limited(None, 100);
            fill(&mut points, batches);
            assert_eq!(points.cells.step(), level.width());
            assert!(points.size() <= 100);
            let span = Span { from: 0, to: batches * IN_BATCH * MINUTE, is_open: false, points: 10 };
            let (mut joined, mut read) = (Points::new(span, level), Points::new(span, level));
            joined.join(&points);
            fill(&mut read, batches);
            assert_eq!(joined.cells.cells().collect::<Vec<_>>(), read.cells.cells().collect::<Vec<_>>());
            let all: u64 = joined.cells.cells().map(|(_, cell)| cell.samples).sum();
            assert_eq!(all, batches * IN_BATCH);
            assert!(matches!(joined.cells.cells().next_back().unwrap().1.tracks[..], [Track::Number(_)]));
        }
    }

    #[test]
    fn the_least_recently_used_are_evicted() {
        let recent = PointsCache::default();
        let keys: Vec<Key> = (1..=MAX_SHARES as u64 + 1).map(|segment| (segment, 1)).collect();
        for key in &keys[..MAX_SHARES] {
            recent.begin(*key, None).unwrap();
        }
        assert!(!recent.has_room() && recent.get(keys[0]).is_some());
        recent.begin(keys[MAX_SHARES], None).unwrap();
        assert!(recent.get(keys[0]).is_some() && recent.get(keys[1]).is_none());
        recent.end_file(keys[0].0);
        assert!(recent.get(keys[0]).is_none());
    }

    #[test]
    fn a_share_too_large_even_by_the_hour_is_not_added_again() {
        let recent = PointsCache::default();
        let key = (1, 1);
        recent.begin(key, None).unwrap();
        let mut points = Points::rolling(None);
        fill(&mut points, MAX_SHARE_VALUES as u64 / IN_BATCH + 1);
        assert!(!recent.limit(key, &points) && recent.get(key).is_none());
        assert!(recent.begin(key, None).is_none());
        recent.end_file(key.0);
        assert!(recent.begin(key, None).is_some());
    }
}
