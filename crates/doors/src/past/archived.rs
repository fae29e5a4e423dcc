//! Access of doors to the archive: a bounded number of readers, only on threads that may block.

use oasis_archive::Archive;
use oasis_dac::{Delivery, Instance, Options, Overflow};
use oasis_store::{History, ReadError};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Concurrent readers of the archive, each on a thread that may block; others wait for a permit.
const MAX_READERS: usize = 8;

/// The stored samples, if there is an archive, and permits to read them.
#[derive(Debug, Clone)]
pub struct ArchiveAccess {
    /// `None` without an archive.
    pub archive: Option<Arc<Archive>>,
    turns: Arc<Semaphore>,
}

impl ArchiveAccess {
    /// Creates access to the archive, with all permits free.
    pub fn new(archive: Option<Arc<Archive>>) -> Self {
        Self { archive, turns: Arc::new(Semaphore::new(MAX_READERS)) }
    }

    /// Returns whether samples that the log has evicted are read from the archive.
    pub fn serves(&self, options: Options) -> bool {
        self.archive.is_some() && options.delivery == Delivery::Every && options.overflow != Overflow::Latest
    }

    /// Returns whether samples of an earlier epoch can be read: from the archive, or from the upstream of a relayed instance.
    pub fn serves_of(&self, instance: &Instance, options: Options) -> bool {
        self.serves(options) || (instance.is_relayed() && options.delivery == Delivery::Every)
    }

    /// Waits for a permit to read. The permit ends when it is dropped.
    pub async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        // Fails only if the semaphore is closed, which never happens.
        self.turns.clone().acquire_owned().await.ok()
    }

    /// Returns the archive, to be read.
    pub fn history(&self) -> Option<History> {
        self.archive.as_ref().map(|archive| archive.history())
    }

    /// Lets the archive store everything it has received. A sample that it cannot store is not found, and its reader receives the cause.
    pub async fn flush(&self) {
        if let Some(archive) = &self.archive {
            let _ = archive.flush().await;
        }
    }

    /// Waits for a permit, then reads.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, ReadError> {
        let turn = self.turn().await;
        let work = move || {
            // The caller may be gone. The permit ends when the thread has read.
            let _turn = turn;
            work()
        };
        blocking(work).await
    }
}

/// Runs a function that takes long or reads files on a thread that may block.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(ReadError::Io(std::io::Error::other(error))))
}
