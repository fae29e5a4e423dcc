//! Notification of a reader about new samples in its topics.

use std::fmt::Debug;
use tokio::sync::Notify;

/// Notified of each append. A door that waits in a task uses a [`Signal`]; one with its own event loop implements
/// this trait.
pub trait Wake: Debug + Send + Sync {
    /// Reports new samples. The writer calls it, so it must return quickly and never block.
    fn raise(&self);
}

/// Raised by writers, awaited by one reader. A raise is never lost: the signal stays up until the reader waits.
#[derive(Debug, Default)]
pub struct Signal(Notify);

impl Signal {
    /// Completes once the signal was raised since the last return.
    pub async fn raised(&self) {
        self.0.notified().await;
    }
}

impl Wake for Signal {
    /// Wakes the reader now, or when it next waits.
    fn raise(&self) {
        self.0.notify_one();
    }
}
