//! Bounds how many passwords are hashed at the same time: each takes a core and 19 MiB.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Lets some callers pass at once and some wait; others are refused.
#[derive(Debug)]
pub(crate) struct Gate {
    counts: Mutex<Counts>,
    left: Condvar,
    most_inside: usize,
    most_waiting: usize,
}

#[derive(Debug, Default)]
struct Counts {
    inside: usize,
    waiting: usize,
}

/// Lets the next one pass when dropped.
#[derive(Debug)]
pub(crate) struct Pass<'a>(&'a Gate);

impl Gate {
    pub(crate) fn new(most_inside: usize, most_waiting: usize) -> Self {
        Self { counts: Mutex::default(), left: Condvar::new(), most_inside, most_waiting }
    }

    /// Waits for a place. None if too many wait already.
    pub(crate) fn enter(&self) -> Option<Pass<'_>> {
        let mut counts = self.lock();
        if counts.inside >= self.most_inside {
            if counts.waiting >= self.most_waiting {
                return None;
            }
            counts.waiting += 1;
            while counts.inside >= self.most_inside {
                counts = self.left.wait(counts).unwrap_or_else(PoisonError::into_inner);
            }
            counts.waiting -= 1;
        }
        counts.inside += 1;
        Some(Pass(self))
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.0.lock().inside -= 1;
        self.0.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn no_more_than_allowed_are_inside() {
        let gate = Gate::new(2, 8);
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _pass = gate.enter().unwrap();
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!(most.into_inner() <= 2);
    }

    #[test]
    fn who_would_wait_too_long_is_refused() {
        let gate = Gate::new(1, 0);
        let pass = gate.enter().unwrap();
        assert!(gate.enter().is_none());
        drop(pass);
        assert!(gate.enter().is_some());
    }
}
