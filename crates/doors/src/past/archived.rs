//! The archive as doors read it: not too many at the same time, and only on threads that may wait for a disk.

use oasis_archive::Archive;
use oasis_dac::{Delivery, Options, Overflow};
use oasis_store::{History, ReadError};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Readers of the archive at the same time, each a thread that may wait for a disk: the others wait for their turn.
const READERS: usize = 8;

/// What is stored, if anything is, and whose turn it is to read it.
#[derive(Debug, Clone)]
pub struct Archived {
    /// None if nothing is stored.
    pub archive: Option<Arc<Archive>>,
    turns: Arc<Semaphore>,
}

impl Archived {
    /// Everybody's turn.
    pub fn new(archive: Option<Arc<Archive>>) -> Self {
        Self { archive, turns: Arc::new(Semaphore::new(READERS)) }
    }

    /// Whether samples that the log no longer holds are looked for here.
    pub fn serves(&self, options: Options) -> bool {
        self.archive.is_some() && options.delivery == Delivery::Every && options.overflow != Overflow::Latest
    }

    /// Returns when one more may read, as long as what is returned lives.
    pub async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        // An error would mean that there are no turns any more, and nobody ends them.
        self.turns.clone().acquire_owned().await.ok()
    }

    /// Returns the archive, to be read.
    pub fn history(&self) -> Option<History> {
        self.archive.as_ref().map(|archive| archive.history())
    }

    /// Lets the archive store all that it has received. What it cannot store is not found, and its reader learns why.
    pub async fn flush(&self) {
        if let Some(archive) = &self.archive {
            let _ = archive.flush().await;
        }
    }

    /// Reads when it is the reader's turn.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, ReadError> {
        let turn = self.turn().await;
        let work = move || {
            // The caller may have gone. The turn is over when the thread has read.
            let _turn = turn;
            work()
        };
        blocking(work).await
    }
}

/// Runs what takes long or reads files where it keeps nobody waiting.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(ReadError::Io(std::io::Error::other(error))))
}
