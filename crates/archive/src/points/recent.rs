//! Samples that have no roll-ups yet, put together by the second: kept for those who come again while a file is being written.

use super::Points;
use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

/// Shares of files that are kept, those asked for last.
const KEPT: usize = 16;
/// One with more values than this is made anew each time.
const VALUES: usize = 100_000;

/// Number of the segment file, and of the series in it.
pub type Key = (u64, u32);

/// What was put together.
#[derive(Debug, Default)]
pub struct Recent(Mutex<VecDeque<(Key, Points)>>);

impl Recent {
    /// Takes a share out, to bring it up to date. Who comes meanwhile makes it anew.
    pub fn take(&self, key: Key) -> Option<Points> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, _)| *known == key)?;
        kept.remove(at).map(|(_, points)| points)
    }

    /// Keeps it for the next one.
    pub fn keep(&self, key: Key, points: Points) {
        if points.cells.size() > VALUES {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != key);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((key, points));
    }
}
