//! Sealed segments that a handler copies elsewhere. Retention keeps those whose copies are not safe yet, as long as the disk has room.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The segments with a safe copy. Has no more numbers than the catalogue lists.
#[derive(Debug, Default)]
pub struct SegmentCopies {
    /// `None` as long as nothing copies segments.
    safe: Mutex<Option<BTreeSet<u64>>>,
}

/// The segments with a safe copy, at one time.
#[derive(Debug, Clone, Default)]
pub struct SafeCopies(Option<BTreeSet<u64>>);

impl SegmentCopies {
    /// Lets retention wait for copies. Called before the archive starts.
    pub fn require(&self) {
        self.locked().get_or_insert_default();
    }

    /// Lets retention wait for copies if it did with another store: nothing is known to be safe in a folder that was opened again.
    pub fn continue_from(&self, before: &Self) {
        if before.locked().is_some() {
            self.require();
        }
    }

    /// Replaces the segments that retention need not wait for: those with a safe copy, and those that cannot be copied.
    pub fn set_safe(&self, numbers: BTreeSet<u64>) {
        if let Some(safe) = self.locked().as_mut() {
            *safe = numbers;
        }
    }

    /// Adds a segment that retention need not wait for.
    pub fn add_safe(&self, number: u64) {
        if let Some(safe) = self.locked().as_mut() {
            safe.insert(number);
        }
    }

    /// Returns the segments with a safe copy.
    pub fn safe(&self) -> SafeCopies {
        SafeCopies(self.locked().clone())
    }

    fn locked(&self) -> MutexGuard<'_, Option<BTreeSet<u64>>> {
        self.safe.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SafeCopies {
    /// Whether retention waits for any copies.
    pub fn are_required(&self) -> bool {
        self.0.is_some()
    }

    /// Whether a segment must wait for its copy.
    pub fn is_awaited(&self, number: u64) -> bool {
        self.0.as_ref().is_some_and(|safe| !safe.contains(&number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_waits_unless_something_copies() {
        let copies = SegmentCopies::default();
        copies.add_safe(1);
        assert!(!copies.safe().is_awaited(1) && !copies.safe().is_awaited(2));
        copies.require();
        assert!(copies.safe().is_awaited(1));
        copies.add_safe(1);
        copies.require();
        assert!(!copies.safe().is_awaited(1) && copies.safe().is_awaited(2));
        copies.set_safe(BTreeSet::from([2]));
        assert!(copies.safe().is_awaited(1) && !copies.safe().is_awaited(2));
        let again = SegmentCopies::default();
        again.continue_from(&SegmentCopies::default());
        assert!(!again.safe().is_awaited(2));
        again.continue_from(&copies);
        assert!(again.safe().is_awaited(2), "the folder may be another one");
    }
}
