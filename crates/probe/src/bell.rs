//! Wakes the collector before it polls the rings by itself.
//!
//! While the probes of a node are flushed, the collector polls their rings every two milliseconds, and a flush makes no system call. Once all probes are silent, it
//! sleeps ([`crate::idle`]), and the next flush wakes it: one system call that waits for nothing. A thread that makes system calls anyway (it waits for a serial
//! line, say) rings the bell after each flush. The collector answers once, however often it was rung: what waits for it is bounded.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering, compiler_fence},
    },
    thread::{self, Thread},
    time::Instant,
};

/// A bell that all probes of a node share. Lock-free.
#[derive(Clone, Default)]
pub struct Bell(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Whether the collector sleeps, so that a flush has to wake it. Written only when it begins or ends to sleep.
    is_asleep: AtomicBool,
    /// Rung, and not answered yet.
    is_rung: AtomicBool,
    /// The collector; empty before the node starts.
    collector: OnceLock<Thread>,
}

impl Bell {
    /// Has the bell wake the calling thread, which waits with [`Bell::wait_until`]. Only the first call counts.
    pub fn connect(&self) {
        let _ = self.0.collector.set(thread::current());
    }

    /// Wakes the collector, unless it was woken and has not answered yet.
    pub fn ring(&self) {
        if !self.0.is_rung.swap(true, Ordering::AcqRel)
            && let Some(collector) = self.0.collector.get()
        {
            collector.unpark();
        }
    }

    /// Wakes the collector after a flush if it sleeps. Otherwise this is one read of memory that seldom changes.
    #[inline]
    pub fn ring_if_asleep(&self) {
        // The compiler keeps the order of the record and this read. The processor may read first: the collector polls once more, after
        // a time in which each processor has written its stores, before it relies on the bell.
        compiler_fence(Ordering::SeqCst);
        if self.0.is_asleep.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        if self.0.is_asleep.swap(false, Ordering::AcqRel) {
            self.ring();
        }
    }

    /// Sets whether a flush has to wake the collector.
    pub fn set_asleep(&self, is_asleep: bool) {
        self.0.is_asleep.store(is_asleep, Ordering::SeqCst);
    }

    /// Returns whether no flush has woken the collector since [`Bell::set_asleep`].
    pub fn is_asleep(&self) -> bool {
        self.0.is_asleep.load(Ordering::Relaxed)
    }

    /// The collector is about to poll all rings: a later ring wakes it again. Returns whether the bell was rung.
    pub fn answer(&self) -> bool {
        self.0.is_rung.swap(false, Ordering::AcqRel)
    }

    /// Waits until the bell is rung or this time, and answers. For the connected thread.
    pub fn wait_until(&self, until: Instant) {
        while !self.answer() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::park_timeout(left);
        }
    }
}

impl fmt::Debug for Bell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Bell").field("is_rung", &self.0.is_rung).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;
    use std::time::Duration;

    const WAIT_TIMEOUT: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_ring_before_the_collector_waits_is_not_lost_and_counts_once() {
        let bell = Bell::default();
        (0..3).for_each(|_| bell.ring());
        bell.connect();
        bell.wait_until(Instant::now() + WAIT_TIMEOUT);
        assert!(!bell.answer());
        bell.wait_until(Instant::now());
    }

    #[test]
    fn a_flush_wakes_only_a_collector_that_sleeps() {
        let bell = Bell::default();
        bell.connect();
        bell.ring_if_asleep();
        assert!(!bell.answer());
        bell.set_asleep(true);
        let flusher = thread::spawn({
            let bell = bell.clone();
            move || (0..2).for_each(|_| bell.ring_if_asleep())
        });
        bell.wait_until(Instant::now() + WAIT_TIMEOUT);
        flusher.join().unwrap();
        assert!(!bell.is_asleep() && !bell.answer(), "woken once");
    }
}
