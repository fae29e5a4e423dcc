//! The readers' side of an archive: used by the DAC that writes it, and by any process that opens its folder.

use crate::{
    catalogue::{Catalogue, Loss},
    clock::SystemClock,
    clock_watch::ClockWatch,
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
use oasis_wire::{
    loss::Cause,
    quantity::{Epoch, PortablePosition, Position},
    schema::ProbeType,
};
use std::{
    ops::{Range, RangeInclusive},
    path::Path,
    sync::{Arc, atomic::Ordering},
};
use uuid::Uuid;

/// The readers' side of an archive.
#[derive(Debug, Clone)]
pub struct History(pub Arc<Store>);

impl History {
    /// Returns the listed losses of a run within these sequence numbers, in order, with their causes: samples that never reached a topic log.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn losses(
        &self,
        node: &str,
        instance: &str,
        run: Uuid,
        numbers: RangeInclusive<u64>,
    ) -> Result<Vec<(RangeInclusive<u64>, Cause)>, ReadError> {
        let listed = self.0.catalogue().losses_in(node, instance, run, &numbers)?;
        let within = |Loss { numbers: of, cause }: Loss| {
            (*of.start().max(numbers.start())..=*of.end().min(numbers.end()), cause)
        };
        Ok(listed.into_iter().map(within).filter(|(numbers, _)| !numbers.is_empty()).collect())
    }

    /// Opens an archive to read it, whether or not a DAC writes to it. Later samples are visible only in files that existed before.
    ///
    /// # Errors
    /// If there is no archive, or its catalogue cannot be read.
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        let failed = |error| OpenError::Directory { path: directory.to_owned(), error };
        if !directory.join("catalogue.sqlite").is_file() {
            return Err(OpenError::Absent(directory.to_owned()));
        }
        let catalogue = Catalogue::open_to_read(directory)?;
        let clock = ClockWatch::new(Arc::new(SystemClock), None);
        let store = Store::new(directory.to_owned(), catalogue, clock, None);
        for finding in store.rollups.open(directory, false).map_err(failed)? {
            store.counters.report(finding);
        }
        // The files are listed first: one that is sealed meanwhile is then seen twice, and not never.
        let files = recovery::segment_files(directory).map_err(failed)?;
        let unfinished = import_folder::epoch(directory).map_err(failed)?;
        let listed = store.catalogue().segment_numbers()?;
        for (number, path) in files {
            if listed.contains(&number) {
                continue;
            }
            match recovery::read_file(&path) {
                // Files of an import become visible when all of them are listed.
                Ok((header, _)) if unfinished == Some(header.epoch) => {}
                Ok((header, found)) => store.add_open(&Arc::new(OpenFile::new(header, found.index))),
                Err(error) => store.counters.report(recovery::unreadable(&path, &error)),
            }
        }
        Ok(Self(Arc::new(store)))
    }

    /// Returns node and name of all instances with stored samples, in order.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn instances(&self) -> Result<Vec<(String, String)>, ReadError> {
        self.0.instances()
    }

    /// Returns the epochs of all stored samples, oldest first.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn epochs(&self) -> Result<Vec<Epoch>, ReadError> {
        self.0.epochs()
    }

    /// Returns the least and greatest time of each instance's stored samples or roll-ups, nanoseconds on its node's clock.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn reaches(&self) -> Result<Reaches, ReadError> {
        self.0.reaches()
    }

    /// Returns these times of one instance, at a cost that does not depend on the others; `None` if nothing of it is stored.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn reach_of(&self, node: &str, instance: &str) -> Result<Option<Reach>, ReadError> {
        self.0.reach_of(node, instance)
    }

    /// Returns all types with stored samples, in the order in which they became known.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn types(&self) -> Result<Vec<Arc<ProbeType>>, ReadError> {
        self.0.types()
    }

    /// Returns node and name of all instances with samples of this type, in order.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn instances_of(&self, probe_type: &ProbeType) -> Result<Vec<(String, String)>, ReadError> {
        self.0.instances_of(probe_type)
    }

    /// Returns the types of an instance's samples in a time, nanoseconds on the node's clock.
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

    /// Returns how often a segment file was opened to read samples.
    pub fn file_reads(&self) -> u64 {
        self.0.file_reads.load(Ordering::Relaxed)
    }

    /// Returns its test runs, read-only.
    pub fn test_runs(&self) -> TestRuns {
        TestRuns(self.0.clone())
    }

    /// Returns an instance's past, from the first sample that is not older than `time` and older than `until` to the last one, nanoseconds on the node's
    /// clock, in the order in which they were received: if a clock was set back, samples of other times are between them. `None` if there are no such
    /// samples. Reads files: do not call it on a thread that must not block.
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

    /// Returns an instance's past from a position on; `None` if nothing of its epoch is stored. Reads files: do not call it on a thread that must not block.
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

    /// Returns an instance's past from the sample of a run with this sequence number on, whatever its offset is; `None` if the stored samples of the run
    /// begin later, or there are none. Reads files: do not call it on a thread that must not block.
    ///
    /// # Errors
    /// If catalogue or files cannot be read.
    pub fn past_at_portable(
        &self,
        node: &str,
        instance: &str,
        at: PortablePosition,
        until: Option<u64>,
    ) -> Result<Option<Past>, ReadError> {
        Past::at_portable(&self.0, node, instance, at, until)
    }

    /// Returns an instance's past, from the oldest of the newest samples that are still wanted and were received before `before`, to the end of their time.
    /// `None` if there are no such samples. Reads files: do not call it on a thread that must not block.
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
