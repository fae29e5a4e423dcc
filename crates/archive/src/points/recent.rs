//! Samples that have no roll-ups yet, put together by the second while their file is being written: for those who ask, and for the roll-up.

use super::Points;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

/// Shares of files that are kept, those used last.
const KEPT: usize = 16;
/// One with more values than this is made anew each time.
const VALUES: usize = 100_000;

/// Number of the segment file, and of the series in it.
pub type Key = (u64, u32);

/// A share of a file, which one at a time brings up to date.
pub type Share = Arc<Mutex<Points>>;

/// What was put together.
#[derive(Debug, Default)]
pub struct Recent(Mutex<VecDeque<(Key, Share)>>);

impl Recent {
    /// A share that is kept.
    pub fn get(&self, key: Key) -> Option<Share> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, _)| *known == key)?;
        let found = kept.remove(at)?;
        kept.push_back(found.clone());
        Some(found.1)
    }

    /// Whether one more can be kept without letting go of another.
    pub fn has_room(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len() < KEPT
    }

    /// A share that is kept from now on.
    pub fn begin(&self, key: Key, points: Points) -> Share {
        let share = Arc::new(Mutex::new(points));
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((key, share.clone()));
        share
    }

    /// Lets go of a share that has become too large.
    pub fn limit(&self, key: Key, points: &Points) {
        if points.cells.size() > VALUES {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, _)| *known != key);
        }
    }

    /// Lets go of a file's shares: it has roll-ups.
    pub fn end_file(&self, segment: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|((known, _), _)| *known != segment);
    }
}
