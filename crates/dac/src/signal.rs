//! How a reader sleeps until one of its topics has something new.

use tokio::sync::Notify;

/// Raised by writers, waited for by one reader. A raise is never lost: it is remembered until the reader waits.
#[derive(Debug, Default)]
pub struct Signal(Notify);

impl Signal {
    /// Wakes the reader, now or when it next waits.
    pub fn raise(&self) {
        self.0.notify_one();
    }

    /// Returns once raised since the last return.
    pub async fn raised(&self) {
        self.0.notified().await;
    }
}
