//! The readers' side of an archive: used by the DAC that writes it, and by any process that opens its folder.

use crate::{
    catalogue::Catalogue,
    import_folder,
    newest::Newest,
    open_error::OpenError,
    past::Past,
    reach::{Reach, Reaches},
    recovery,
    segment_file::OpenFile,
    store::{ReadError, Store},
    test_runs::TestRuns,
};
use oasis_wire::{quantity::Position, schema::ProbeType};
use std::{
    ops::Range,
    path::Path,
    sync::{Arc, atomic::Ordering},
};

/// An archive's readers' side.
#[derive(Debug, Clone)]
pub struct History(pub Arc<Store>);

impl History {
    /// Opens an archive to read it, whether or not a DAC writes to it just now. What is stored later is not seen, unless in files that were begun before.
    ///
    /// # Errors
    /// If there is no archive, or its catalogue cannot be read.
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        let failed = |error| OpenError::Directory { path: directory.to_owned(), error };
        if !directory.join("catalogue.sqlite").is_file() {
            return Err(OpenError::Absent(directory.to_owned()));
        }
        let catalogue = Catalogue::open_to_read(directory)?;
        let store = Store::new(directory.to_owned(), catalogue);
        for finding in store.rollups.open(directory, false).map_err(failed)? {
            store.counters.report(finding);
        }
        // Files first: one that is sealed in between is then seen twice, and not never.
        let files = recovery::segment_files(directory).map_err(failed)?;
        let unfinished = import_folder::epoch(directory).map_err(failed)?;
        let listed = store.catalogue().segment_numbers()?;
        for (number, path) in files {
            if listed.contains(&number) {
                continue;
            }
            match recovery::look(&path) {
                // Of an import: before all of it is listed, nothing of it is there.
                Ok((header, _)) if unfinished == Some(header.epoch) => {}
                Ok((header, found)) => store.add_open(&Arc::new(OpenFile::new(header, found.index))),
                Err(error) => store.counters.report(recovery::unreadable(&path, &error)),
            }
        }
        Ok(Self(Arc::new(store)))
    }

    /// Node and name of all instances of which anything is stored, in order.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn instances(&self) -> Result<Vec<(String, String)>, ReadError> {
        self.0.instances()
    }

    /// Least and greatest time of what is stored of each instance, as samples or as roll-ups, nanoseconds on its node's clock.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn reaches(&self) -> Result<Reaches, ReadError> {
        self.0.reaches()
    }

    /// The same, of one instance, without a look at the others; nothing if nothing of it is stored.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn reach_of(&self, node: &str, instance: &str) -> Result<Option<Reach>, ReadError> {
        self.0.reach_of(node, instance)
    }

    /// All types of which anything is stored, those that were known first before others.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn types(&self) -> Result<Vec<Arc<ProbeType>>, ReadError> {
        self.0.types()
    }

    /// Node and name of all instances that have samples of this type, in order.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn instances_of(&self, probe_type: &ProbeType) -> Result<Vec<(String, String)>, ReadError> {
        self.0.instances_of(probe_type)
    }

    /// The types that an instance has samples of in a time, nanoseconds on the node's clock. One that has nothing but a part of a batch there may be left out.
    ///
    /// # Errors
    /// If catalogue or files cannot be read.
    pub fn types_between(
        &self,
        node: &str,
        instance: &str,
        times: &Range<u64>,
    ) -> Result<Vec<Arc<ProbeType>>, ReadError> {
        self.0.types_between(node, instance, times)
    }

    /// How often a segment file was opened to read samples.
    pub fn file_reads(&self) -> u64 {
        self.0.file_reads.load(Ordering::Relaxed)
    }

    /// Its test runs, to look at.
    pub fn test_runs(&self) -> TestRuns {
        TestRuns(self.0.clone())
    }

    /// An instance's past from the first sample on that is not older than `time`, up to the first that is not older than `until`, nanoseconds on the
    /// node's clock. None if nothing that recent is stored. Reads files: not for a thread that must not wait.
    ///
    /// # Errors
    /// If catalogue or files cannot be read.
    pub fn past_from(
        &self,
        node: &str,
        instance: &str,
        time: u64,
        until: Option<u64>,
    ) -> Result<Option<Past>, ReadError> {
        Past::from_time(&self.0, node, instance, time, until)
    }

    /// An instance's past from a position on. None if nothing of its epoch is stored. Reads files: not for a thread that must not wait.
    ///
    /// # Errors
    /// If catalogue or files cannot be read.
    pub fn past_at(
        &self,
        node: &str,
        instance: &str,
        at: Position,
        until: Option<u64>,
    ) -> Result<Option<Past>, ReadError> {
        Past::at_position(&self.0, node, instance, at, until)
    }

    /// An instance's past from the oldest of the newest samples on that are still to be found, of those that were received before `before`; up to the
    /// end of their time. None if there are no such samples. Reads files: not for a thread that must not wait.
    ///
    /// # Errors
    /// If catalogue or files cannot be read.
    pub fn past_newest(
        &self,
        node: &str,
        instance: &str,
        newest: &mut Newest,
        before: Position,
    ) -> Result<Option<Past>, ReadError> {
        Past::from_newest(&self.0, node, instance, newest, before)
    }
}
