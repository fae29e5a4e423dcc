//! Makes the files of an import part of the archive.

use super::{NotStored, Writer};
use crate::importing::{NotImported, ReadyImport};
use oasis_recordings::import::{Import, ImportTotals};

impl Writer {
    /// Makes an import part of the archive, before the samples that come later.
    pub(super) fn finish_import(&mut self, ready: ReadyImport) {
        let ReadyImport { import, answer } = ready;
        let (import, turn) = import.into_parts();
        let finished = self.commit_import(import);
        drop(turn);
        // The caller may have stopped waiting.
        let _ = answer.send(finished);
    }

    fn commit_import(&mut self, import: Import) -> Result<ImportTotals, NotImported> {
        if !import.is_into(&self.store) {
            return Err(NotImported::Reopened);
        }
        self.store.check_named().map_err(NotStored::from)?;
        // The file of a lane continues with a smaller number than that of the import.
        self.end_files(|_| true);
        let totals = import.finish()?;
        self.retaining.read_again();
        Ok(totals)
    }
}
