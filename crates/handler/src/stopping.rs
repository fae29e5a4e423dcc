//! The request to stop, as a handler sees it.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::watch;

/// Whether a handler has to stop. Threads wait with [`Stopping::wait_for`], tasks with [`Stopping::stopped`].
#[derive(Debug, Clone)]
pub struct Stopping {
    flag: Arc<(Mutex<bool>, Condvar)>,
    watched: watch::Receiver<bool>,
}

/// The other end: asks a handler to stop.
#[derive(Debug)]
pub(crate) struct StopRequest {
    flag: Arc<(Mutex<bool>, Condvar)>,
    watched: watch::Sender<bool>,
}

impl StopRequest {
    pub(crate) fn new() -> (Self, Stopping) {
        let flag = Arc::default();
        let (sender, receiver) = watch::channel(false);
        (Self { flag: Arc::clone(&flag), watched: sender }, Stopping { flag, watched: receiver })
    }

    pub(crate) fn stop(&self) {
        // First: a handler that the flag wakes must find `is_stopping` true.
        self.watched.send_replace(true);
        *self.flag.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.flag.1.notify_all();
    }
}

impl Stopping {
    /// Whether it has to stop.
    pub fn is_stopping(&self) -> bool {
        *self.watched.borrow()
    }

    /// Blocks until it has to stop, for at most `most`; returns whether it has to.
    pub fn wait_for(&self, most: Duration) -> bool {
        let flag = self.flag.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.flag.1.wait_timeout_while(flag, most, |stop| !*stop);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// A receiver that turns true when it has to stop.
    pub fn watch(&self) -> watch::Receiver<bool> {
        self.watched.clone()
    }

    /// Completes when it has to stop.
    pub async fn stopped(&self) {
        // Fails only if the supervisor is gone, which stops handlers as well.
        let _ = self.watched.clone().wait_for(|&stop| stop).await;
    }
}
