//! A thread that does something again and again.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// Repeats something until this value is dropped.
#[derive(Debug)]
pub(crate) struct Repeat {
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Repeat {
    /// Starts the thread. The function returns how long to pause after it.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub(crate) fn start(name: &str, mut act: impl FnMut() -> Duration + Send + 'static) -> io::Result<Self> {
        let is_ending = Arc::new(AtomicBool::new(false));
        let ends = is_ending.clone();
        let run = move || {
            while !ends.load(Ordering::Acquire) {
                thread::park_timeout(act());
            }
        };
        let thread = thread::Builder::new().name(name.into()).spawn(run)?;
        Ok(Self { is_ending, thread: Some(thread) })
    }
}

impl Drop for Repeat {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // Fails only if it panicked, which is logged.
            let _ = thread.join();
        }
    }
}
