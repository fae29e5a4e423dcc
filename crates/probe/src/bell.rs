//! Wakes the collector before it polls the rings by itself.
//!
//! A flush makes no system call, so the collector looks every two milliseconds. A thread that may make system calls (it waits for a serial line, say) rings the
//! bell after its flush. The collector answers once, however often it was rung: what waits for it is bounded.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// A bell that all probes of a node share.
#[derive(Clone, Default)]
pub struct Bell(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Rung, and not answered yet.
    is_rung: AtomicBool,
    /// Wakes the collector; empty before the node starts.
    wake: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl Bell {
    /// Sets what it wakes. Only the first call counts.
    pub fn connect(&self, wake: impl Fn() + Send + Sync + 'static) {
        let _ = self.0.wake.set(Box::new(wake));
    }

    /// Wakes the collector, unless it was woken and has not answered yet.
    pub fn ring(&self) {
        if let Some(wake) = self.0.wake.get()
            && !self.0.is_rung.swap(true, Ordering::AcqRel)
        {
            wake();
        }
    }

    /// The collector is about to poll all rings: a later flush rings again.
    pub fn answer(&self) {
        self.0.is_rung.store(false, Ordering::Release);
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
    use std::sync::mpsc;

    #[test]
    fn the_collector_is_woken_once_until_it_answers() {
        let (bell, (woken, wakes)) = (Bell::default(), mpsc::channel());
        bell.ring();
        bell.connect(move || woken.send(()).expect("a receiver"));
        (0..3).for_each(|_| bell.ring());
        assert_eq!(wakes.try_iter().count(), 1);
        bell.answer();
        bell.ring();
        assert_eq!(wakes.try_iter().count(), 1);
    }
}
