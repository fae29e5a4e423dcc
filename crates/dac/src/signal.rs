//! How a reader learns that one of its topics has something new.

use std::fmt::Debug;
use tokio::sync::Notify;

/// Who is told of each append: a door that waits in a task has a [`Signal`], one with an event loop of its own something else.
pub trait Wake: Debug + Send + Sync {
    /// There is something new. Called by the writer, so it must neither wait nor take long.
    fn raise(&self);
}

/// Raised by writers, waited for by one reader. A raise is never lost: it is remembered until the reader waits.
#[derive(Debug, Default)]
pub struct Signal(Notify);

impl Signal {
    /// Returns once raised since the last return.
    pub async fn raised(&self) {
        self.0.notified().await;
    }
}

impl Wake for Signal {
    /// Wakes the reader, now or when it next waits.
    fn raise(&self) {
        self.0.notify_one();
    }
}
