//! Imports recordings into the archive while it runs.
//!
//! An import writes segment files of its own, with numbers of this archive. The archive's thread seals its open files, and then makes those of the import part of
//! the archive. Samples that arrive later are in files with greater numbers, so that the order of an instance is that of the file numbers.

use crate::{Archive, NotStored, writer::Request};
use oasis_dac::Dac;
use oasis_recordings::import::{Import, ImportError, ImportTotals};
use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// Errors of an import into a running archive: nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum NotImported {
    /// The recording, or the disk.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The archive's thread.
    #[error(transparent)]
    Archive(#[from] NotStored),
    /// The folder was gone meanwhile.
    #[error("the folder of the archive was opened again meanwhile: import the recording again")]
    Reopened,
}

/// An import into a running archive, which has at most one.
#[derive(Debug)]
pub struct LiveImport {
    import: Import,
    turn: OwnedSemaphorePermit,
}

impl LiveImport {
    /// Returns the import, and the permit that keeps others from beginning.
    pub(crate) fn into_parts(self) -> (Import, OwnedSemaphorePermit) {
        (self.import, self.turn)
    }
}

impl Deref for LiveImport {
    type Target = Import;

    fn deref(&self) -> &Import {
        &self.import
    }
}

impl DerefMut for LiveImport {
    fn deref_mut(&mut self) -> &mut Import {
        &mut self.import
    }
}

/// An import that waits for the archive's thread.
#[derive(Debug)]
pub struct ReadyImport {
    pub import: LiveImport,
    pub answer: oneshot::Sender<Result<ImportTotals, NotImported>>,
}

impl Archive {
    /// Waits until no other import runs, and begins one. Dropping it leaves the archive unchanged.
    ///
    /// # Errors
    /// If the disk fails.
    pub async fn begin_import(&self, dac: &Arc<Dac>) -> Result<LiveImport, NotImported> {
        // The semaphore is never closed.
        let turn = self.import_turn.clone().acquire_owned().await.map_err(|_| NotStored::Stopped)?;
        let of_dac = dac.clone();
        let is_live = Box::new(move |node: &str, instance: &str| {
            let known = of_dac.registry.find(node, instance);
            known.is_some_and(|instance| instance.ledger().run().is_some())
        });
        let numbers = self.numbers.clone();
        let import = Import::begin_beside(self.store(), self.config.clone(), numbers, is_live)?;
        Ok(LiveImport { import, turn })
    }

    /// Makes an import part of the archive.
    ///
    /// # Errors
    /// If the archive is stopped, or as [`Import::finish`].
    pub async fn finish_import(&self, import: LiveImport) -> Result<ImportTotals, NotImported> {
        let (answer, answered) = oneshot::channel();
        let requests = self.lives().requests.clone().ok_or(NotStored::Stopped)?;
        let request = Request::Import(Box::new(ReadyImport { import, answer }));
        requests.send(request).await.map_err(|_| NotStored::Stopped)?;
        answered.await.map_err(|_| NotStored::Stopped)?
    }
}
