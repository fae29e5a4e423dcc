//! Imports a recording into an archive: all of it, or nothing.
//!
//! An [`Import`] takes batches and segment files, then test runs, annotations and causes of losses; [`Import::finish`] makes them visible at once.
//! A sample with known node, instance, run and sequence number is skipped.
//!
//! ```
//! use oasis_recordings::import::Import;
//! use oasis_store::{ArchiveConfig, open};
//!
//! let folder = tempfile::tempdir()?;
//! let directory = folder.path().display().to_string();
//! let import = Import::begin(open(ArchiveConfig { directory, ..ArchiveConfig::default() })?)?;
//! // import.add(&series, &batch)?;
//! assert_eq!(import.finish()?.samples, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Batches go to segment files in a folder of their own, which move into the archive once all is there. They have an epoch of their own, so that they follow
//! the stored samples and stay in order. One commit of the catalogue makes them part of the archive. If it fails, the moved files are removed again, at the latest
//! by the next start.

mod known;
mod losses;
mod notes;

pub use known::KnownSequences;
pub use losses::SourceError;

use oasis_store::{
    AnnotationError, Finding, OpenError, ReadError, Series, TestRunError, WritableStore,
    catalogue::{CatalogueError, SealedFile},
    clock::now,
    import_folder, record,
    recovery::{self, Unreadable},
    segment_file::{self, SegmentFile, SeriesKey},
};
use oasis_wire::{
    batch::{self, Batch, BatchError, Encoder, Fields, Header, RowError},
    quantity::{Epoch, Offset, TopicId},
    schema::{InvalidType, ProbeType},
    value,
};
use std::{
    collections::{HashMap, HashSet},
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};
use uuid::Uuid;

/// Longest name of a node or an instance, in bytes: the bound of the DAC.
const MAX_NAME: usize = 1_024;

/// Errors of an import: nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The archive's catalogue or files.
    #[error("the archive: {0}")]
    Read(#[from] ReadError),
    /// The archive's catalogue.
    #[error("the archive: {0}")]
    Catalogue(#[from] CatalogueError),
    /// The archive's disk.
    #[error("cannot write to the archive: {0}")]
    Io(#[from] io::Error),
    /// A name that a DAC refuses.
    #[error("name of {0} bytes: node and instance names have 1 to {MAX_NAME} bytes")]
    Name(usize),
    /// A name that a DAC refuses.
    #[error("the name {0:?} has a control character: node and instance names must have none")]
    ControlCharacter(String),
    /// A schema that a DAC refuses.
    #[error("{0}")]
    Type(#[from] InvalidType),
    /// Samples that do not match their schema.
    #[error("{instance}: a batch does not match its schema: {error}")]
    Batch {
        /// Node and instance.
        instance: String,
        /// The error.
        error: BatchError,
    },
    /// Samples that do not match their schema.
    #[error("{0}")]
    Row(#[from] RowError),
    /// No retention rule matches.
    #[error(
        "no rule of archive.retention matches {0}, so it would not be stored: add a rule to the configuration, or import it under another name"
    )]
    NoRule(String),
    /// The source archive.
    #[error(transparent)]
    Source(#[from] OpenError),
    /// A test run.
    #[error("a test run: {0}")]
    TestRun(#[from] TestRunError),
    /// An annotation.
    #[error("an annotation: {0}")]
    Annotation(#[from] AnnotationError),
    /// An unreadable segment file.
    #[error("{0}")]
    Segment(#[from] Unreadable),
}

/// The result of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportTotals {
    /// New samples.
    pub samples: u64,
    /// Samples that were already stored.
    pub known: u64,
    /// New causes of missing samples.
    pub causes: u64,
    /// Causes that were deleted, of this import or the oldest of the archive: the catalogue stores at most 100,000.
    pub causes_forgotten: u64,
    /// New test runs.
    pub test_runs: u64,
    /// New annotations.
    pub annotations: u64,
    /// Test runs and annotations that were skipped: limit reached, or invalid name.
    pub notes_left_out: u64,
}

/// A running import. If it fails or is dropped before [`Import::finish`], the archive is unchanged.
#[derive(Debug)]
pub struct Import {
    opened: WritableStore,
    folder: PathBuf,
    epoch: Epoch,
    /// Open files by retention rule.
    files: HashMap<usize, SegmentFile>,
    /// Numbers of complete files that are not moved yet. The catalogue lists them in an open transaction.
    sealed: Vec<u64>,
    instances: HashMap<(Arc<str>, Arc<str>), Instance>,
    /// The last number used.
    topics: u32,
    imported: ImportTotals,
    /// Losses of the recording.
    lost: Vec<losses::Lost>,
    /// Whether a run of the recording has samples in the archive.
    continues_run: bool,
    /// Whether leftovers could not be removed: the next start removes them.
    is_left: bool,
}

#[derive(Debug)]
struct Instance {
    /// A file distinguishes series by topic and run, so each type has its own topic.
    topics: Vec<(Arc<ProbeType>, TopicId)>,
    rule: usize,
    next: Offset,
    known: KnownSequences,
    /// Runs with samples in the archive before the import.
    stored_runs: HashSet<Uuid>,
}

impl Import {
    /// Begins an import into an archive that no DAC has open.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn begin(opened: WritableStore) -> Result<Self, ImportError> {
        let epoch = Epoch(Uuid::new_v4().as_u64_pair().0);
        let folder = import_folder::begin(&opened.store.directory, epoch)?;
        opened.store.catalogue().begin()?;
        Ok(Self {
            opened,
            folder,
            epoch,
            files: HashMap::new(),
            sealed: Vec::new(),
            instances: HashMap::new(),
            topics: 0,
            imported: ImportTotals::default(),
            lost: Vec::new(),
            continues_run: false,
            is_left: false,
        })
    }

    /// Adds a batch of a series; its epoch and the offset of the batch are ignored.
    ///
    /// # Errors
    /// If it is invalid, or the disk fails.
    pub fn add(&mut self, series: &Series, batch: &[u8]) -> Result<(), ImportError> {
        let series = Series { epoch: self.epoch, ..series.clone() };
        let damaged =
            |error| ImportError::Batch { instance: format!("{}/{}", series.node, series.instance), error };
        series.probe_type.validate()?;
        // Decodes everything: no invalid batch gets into an archive.
        let parsed = Batch::parse(batch, &series.probe_type).map_err(damaged)?;
        let header = *parsed.header();
        let instance = self.instance(&series)?;
        let first = header.first_sequence;
        let end = first.saturating_add(header.count.into());
        let continues_run = instance.stored_runs.contains(&series.run);
        let new = instance.known.add(series.run, first..end);
        self.continues_run |= continues_run;
        let samples: u64 = new.iter().map(|range| range.end - range.start).sum();
        self.imported.samples += samples;
        self.imported.known += u64::from(header.count) - samples;
        if samples == u64::from(header.count) {
            return self.store(&series, batch.to_vec(), &header);
        }
        for range in new {
            let part = part_of(&parsed, &series, range)?;
            let header = Header::parse(&part).map_err(damaged)?;
            self.store(&series, part, &header)?;
        }
        Ok(())
    }

    /// Adds a whole segment file; `name` maps the names of its nodes. Returns damage that was skipped.
    ///
    /// # Errors
    /// If it cannot be read, or as [`Import::add`].
    pub fn add_segment_file(
        &mut self,
        path: &Path,
        name: impl Fn(&str) -> String,
    ) -> Result<Vec<Finding>, ImportError> {
        let bytes = fs::read(path)?;
        let (header, found) = recovery::scan(&bytes)?;
        for of_series in &found.index.series {
            let node = name(&of_series.series.node).into();
            let series = Series { node, ..(*of_series.series).clone() };
            for entry in &of_series.entries {
                let at = usize::try_from(entry.position).unwrap_or(usize::MAX);
                let record = bytes.get(at..).unwrap_or_default();
                // Already checked.
                if let Ok((_, batch, _)) = record::parse(record, header.nonce, entry.position) {
                    self.add(&series, batch)?;
                }
            }
        }
        let length = bytes.len() as u64;
        let torn = if found.is_sealed { 0 } else { length.saturating_sub(found.end) };
        let recovered = recovery::RecoveredFile { header, torn, found, bytes: length };
        Ok(recovered.findings(path))
    }

    /// Returns an instance with stored samples of which the import continues no run: they are of another recording.
    pub fn unrelated_history(&self) -> Option<(&str, &str)> {
        if self.continues_run {
            return None;
        }
        let stored = self.instances.iter().filter(|(_, instance)| !instance.stored_runs.is_empty());
        stored.map(|((node, instance), _)| (&**node, &**instance)).min()
    }

    fn instance(&mut self, series: &Series) -> Result<&mut Instance, ImportError> {
        let key = (series.node.clone(), series.instance.clone());
        if !self.instances.contains_key(&key) {
            if let Some(name) =
                [&key.0, &key.1].into_iter().find(|name| !(1..=MAX_NAME).contains(&name.len()))
            {
                return Err(ImportError::Name(name.len()));
            }
            if let Some(name) = [&key.0, &key.1].into_iter().find(|name| name.contains(char::is_control)) {
                return Err(ImportError::ControlCharacter(name.to_string()));
            }
            let rule = self.opened.config.rule_for(&key.0, &key.1);
            let rule = rule.ok_or_else(|| ImportError::NoRule(format!("{}/{}", key.0, key.1)))?;
            // Before its files are listed: listed files cannot be read before they are moved.
            let known = KnownSequences::of(&self.opened.store, &key.0, &key.1)?;
            let stored_runs = known.ranges().map(|(run, _)| run).collect();
            let instance = Instance { topics: Vec::new(), rule, next: Offset(0), known, stored_runs };
            self.instances.insert(key.clone(), instance);
        }
        self.instances.get_mut(&key).ok_or(ImportError::Name(0))
    }

    fn store(&mut self, series: &Series, mut batch: Vec<u8>, header: &Header) -> Result<(), ImportError> {
        let unused = TopicId(self.topics + 1);
        let instance = self.instance(series)?;
        let topic = match instance.topics.iter().find(|(known, _)| **known == *series.probe_type) {
            Some((_, topic)) => *topic,
            None => {
                instance.topics.push((series.probe_type.clone(), unused));
                unused
            }
        };
        let (rule, first) = (instance.rule, instance.next);
        instance.next = Offset(first.0 + u64::from(header.count));
        self.topics = self.topics.max(topic.0);
        let arrived = if header.dac_time == 0 { header.node_time } else { header.dac_time };
        batch::stamp(&mut batch, first.0, arrived);
        let mut file = match self.files.remove(&rule) {
            Some(file) => file,
            None => self.begin_file()?,
        };
        let key: SeriesKey = (topic, series.run);
        file.stage(key, || series.clone(), &batch, (first, header.count))?;
        if file.length() >= self.opened.config.segment_bytes {
            return self.seal(rule, file);
        }
        self.files.insert(rule, file);
        Ok(())
    }

    fn begin_file(&mut self) -> io::Result<SegmentFile> {
        let number = self.opened.next_number;
        self.opened.next_number += 1;
        SegmentFile::create(&self.folder, number, self.epoch)
    }

    fn seal(&mut self, rule: usize, mut file: SegmentFile) -> Result<(), ImportError> {
        file.finish_writing()?;
        file.commit()?;
        let bytes = file.seal()?;
        let (created, sealed) = (file.created(), now());
        self.opened.store.add_sealed(&SealedFile {
            number: file.open.header.number,
            rule: &self.opened.config.retention[rule].instances,
            created,
            sealed,
            bytes,
            index: &file.open.index(),
            window: self.opened.store.limits.around(created, sealed),
        })?;
        self.sealed.push(file.open.header.number);
        Ok(())
    }

    /// Commits everything to the archive.
    ///
    /// # Errors
    /// If the disk or the catalogue fails: the archive is unchanged then.
    pub fn finish(mut self) -> Result<ImportTotals, ImportError> {
        for (rule, file) in std::mem::take(&mut self.files) {
            self.seal(rule, file)?;
        }
        self.list_losses()?;
        let mut moved = Vec::new();
        let made = self.move_in(&mut moved).map_err(ImportError::from);
        let made = made.and_then(|()| Ok(self.opened.store.catalogue().commit()?));
        if made.is_err() {
            self.is_left = move_out(&self.opened.store.directory, &moved).is_err();
        }
        made.map(|()| self.imported)
    }

    /// Moves the files into the archive; `moved` receives the moved ones.
    fn move_in(&self, moved: &mut Vec<PathBuf>) -> io::Result<()> {
        let directory = &self.opened.store.directory;
        for number in &self.sealed {
            let place = segment_file::path(directory, *number);
            fs::rename(segment_file::path(&self.folder, *number), &place)?;
            moved.push(place);
        }
        segment_file::sync_directory(directory)
    }
}

impl Drop for Import {
    fn drop(&mut self) {
        if !self.is_left {
            // The next start removes leftovers.
            let _ = import_folder::remove(&self.opened.store.directory);
        }
    }
}

/// Removes files that the catalogue does not list.
fn move_out(directory: &Path, moved: &[PathBuf]) -> io::Result<()> {
    moved.iter().try_for_each(fs::remove_file)?;
    segment_file::sync_directory(directory)
}

/// Cuts some samples of a batch into a new batch.
fn part_of(of: &Batch, series: &Series, sequences: Range<u64>) -> Result<Vec<u8>, ImportError> {
    let mut encoder = Encoder::new(&series.probe_type)?;
    let mut row = Vec::new();
    for sample in of.samples().filter(|sample| sequences.contains(&sample.sequence)) {
        value::write_row(&series.probe_type, &sample.values, &mut row);
        encoder.push(sample.time, &row)?;
    }
    let header = of.header();
    let fields = Fields {
        state: header.state,
        first_sequence: sequences.start,
        node_time: header.node_time,
        ..Fields::default()
    };
    let mut batch = Vec::new();
    encoder.finish(fields, &mut batch);
    Ok(batch)
}
