//! Complete files of an import.

use super::ImportError;
use oasis_store::{
    ArchiveConfig, Series,
    catalogue::{Catalogue, SealedFile},
    clock::now,
    segment_file::SegmentFile,
    store::Store,
};
use oasis_wire::quantity::Nanos;
use std::{io, sync::Arc};

/// A complete file. Its index stays on the disk, because it can be long.
#[derive(Debug)]
pub(super) struct SealedPart {
    pub number: u64,
    pub bytes: u64,
    rule: usize,
    created: Nanos,
    sealed: Nanos,
    /// Its series, in the order of its index.
    series: Vec<Arc<Series>>,
}

impl SealedPart {
    /// Syncs and seals a file.
    pub fn seal(rule: usize, mut file: SegmentFile) -> io::Result<Self> {
        file.finish_writing()?;
        file.commit()?;
        let bytes = file.seal()?;
        let series = file.open.index().series.iter().map(|of| of.series.clone()).collect();
        let number = file.open.header.number;
        Ok(Self { number, bytes, rule, created: file.created(), sealed: now(), series })
    }

    /// Lists the file, which is in the folder of the archive by now.
    pub fn list(
        &self,
        store: &Store,
        config: &ArchiveConfig,
        catalogue: &mut Catalogue,
    ) -> Result<(), ImportError> {
        let window = store.limits.around(self.created, self.sealed);
        Ok(catalogue.add(&SealedFile {
            number: self.number,
            rule: &config.retention[self.rule].instances,
            created: self.created,
            sealed: self.sealed,
            bytes: self.bytes,
            index: &store.sealed_index(self.number, &self.series)?,
            window,
        })?)
    }
}
