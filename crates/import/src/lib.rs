//! Makes a recording part of an archive: all of it, or nothing.
//!
//! An [`Import`] takes batches and segment files, then test runs, annotations and causes of losses; [`Import::finish`] makes them visible at once.
//! A sample is known if node, instance, run and sequence number are; known samples are skipped.
//!
//! ```
//! use oasis_import::Import;
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

pub use losses::SourceError;

use known::Known;
use oasis_store::{
    AnnotationError, Finding, OpenError, ReadError, Series, TestRunError, WritableStore,
    catalogue::{CatalogueError, Sealed},
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
    collections::HashMap,
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};
use uuid::Uuid;

/// Longest name of a node or an instance, in bytes: as a DAC takes them.
const MAX_NAME: usize = 1_024;

/// Why nothing was imported.
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
    /// A name that no DAC takes.
    #[error("a name of {0} bytes: 1 to {MAX_NAME} are allowed for a node and an instance")]
    Name(usize),
    /// A schema that no DAC takes.
    #[error("{0}")]
    Type(#[from] InvalidType),
    /// Samples that are not what their schema says.
    #[error("{instance}: a batch does not fit its schema: {error}")]
    Batch {
        /// Node and instance.
        instance: String,
        /// What is wrong.
        error: BatchError,
    },
    /// Samples that are not what their schema says.
    #[error("{0}")]
    Row(#[from] RowError),
    /// Nothing would be kept.
    #[error(
        "no rule of archive.retention matches {0}, so it would not be kept: name it in the configuration, or import it under another name"
    )]
    NoRule(String),
    /// The archive that it comes from.
    #[error(transparent)]
    Source(#[from] OpenError),
    /// A test run.
    #[error("a test run: {0}")]
    TestRun(#[from] TestRunError),
    /// An annotation.
    #[error("an annotation: {0}")]
    Annotation(#[from] AnnotationError),
    /// A segment file of which nothing can be read.
    #[error("{0}")]
    Segment(#[from] Unreadable),
}

/// What has come of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Imported {
    /// Samples that are new.
    pub samples: u64,
    /// Samples that were stored before.
    pub known: u64,
    /// Ranges of missing samples that have a cause now.
    pub causes: u64,
    /// Ranges whose causes had to be forgotten, of this import or the oldest of the archive: the catalogue has room for 100,000.
    pub causes_forgotten: u64,
    /// Test runs that are new.
    pub test_runs: u64,
    /// Annotations that are new.
    pub annotations: u64,
    /// Test runs and annotations that there was no room or no name for.
    pub notes_left_out: u64,
}

/// An import under way. Dropped before [`Import::finish`], or after anything has failed, it leaves the archive as it was.
#[derive(Debug)]
pub struct Import {
    opened: WritableStore,
    folder: PathBuf,
    epoch: Epoch,
    /// By retention rule.
    files: HashMap<usize, SegmentFile>,
    /// Numbers of the complete files that are not in their places yet. The catalogue lists them, but shows them only after its commit.
    sealed: Vec<u64>,
    instances: HashMap<(Arc<str>, Arc<str>), Instance>,
    /// The last one given out.
    topics: u32,
    imported: Imported,
    /// What the recording says was lost.
    lost: Vec<losses::Lost>,
    /// Something of it lies in the archive and could not be removed: the next start does.
    is_left: bool,
}

#[derive(Debug)]
struct Instance {
    /// A file tells series apart by topic and run, so each type has a topic of its own.
    topics: Vec<(Arc<ProbeType>, TopicId)>,
    rule: usize,
    next: Offset,
    known: Known,
}

impl Import {
    /// Into an archive that no DAC has open.
    ///
    /// # Errors
    /// If its disk fails.
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
            imported: Imported::default(),
            lost: Vec::new(),
            is_left: false,
        })
    }

    /// Takes a batch of a series; its epoch and the batch's offset do not matter.
    ///
    /// # Errors
    /// If it is not what it says it is, or the disk fails.
    pub fn add(&mut self, series: &Series, batch: &[u8]) -> Result<(), ImportError> {
        let series = Series { epoch: self.epoch, ..series.clone() };
        let damaged =
            |error| ImportError::Batch { instance: format!("{}/{}", series.node, series.instance), error };
        series.probe_type.validate()?;
        // All of it: nothing that readers stumble over goes into an archive.
        let parsed = Batch::parse(batch, &series.probe_type).map_err(damaged)?;
        let header = *parsed.header();
        let instance = self.instance(&series)?;
        let first = header.first_sequence;
        let end = first.saturating_add(header.count.into());
        let new = instance.known.add(series.run, first..end);
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

    /// Takes all of a segment file; `name` says what its nodes are called here. Answers what is damaged in it and was left out.
    ///
    /// # Errors
    /// If nothing of it can be read, or as [`Import::add`].
    pub fn add_segment_file(
        &mut self,
        path: &Path,
        name: impl Fn(&str) -> String,
    ) -> Result<Vec<Finding>, ImportError> {
        let bytes = fs::read(path)?;
        let (header, found) = recovery::look_at(&bytes)?;
        for of_series in &found.index.series {
            let node = name(&of_series.series.node).into();
            let series = Series { node, ..(*of_series.series).clone() };
            for entry in &of_series.entries {
                let at = usize::try_from(entry.position).unwrap_or(usize::MAX);
                let record = bytes.get(at..).unwrap_or_default();
                // It was checked before, when the file was looked at.
                if let Ok((_, batch, _)) = record::parse(record, header.nonce, entry.position) {
                    self.add(&series, batch)?;
                }
            }
        }
        let length = bytes.len() as u64;
        let torn = if found.is_sealed { 0 } else { length.saturating_sub(found.end) };
        let recovered = recovery::Recovered { header, torn, found, bytes: length };
        Ok(recovered.findings(path))
    }

    fn instance(&mut self, series: &Series) -> Result<&mut Instance, ImportError> {
        let key = (series.node.clone(), series.instance.clone());
        if !self.instances.contains_key(&key) {
            if let Some(name) =
                [&key.0, &key.1].into_iter().find(|name| !(1..=MAX_NAME).contains(&name.len()))
            {
                return Err(ImportError::Name(name.len()));
            }
            let rule = self.opened.config.rule_for(&key.0, &key.1);
            let rule = rule.ok_or_else(|| ImportError::NoRule(format!("{}/{}", key.0, key.1)))?;
            // Before anything of it is listed here: what is listed cannot be read before it is in its place.
            let known = Known::of(&self.opened.store, &key.0, &key.1)?;
            let instance = Instance { topics: Vec::new(), rule, next: Offset(0), known };
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
        self.opened.store.add_sealed(&Sealed {
            number: file.open.header.number,
            rule: &self.opened.config.retention[rule].instances,
            created: file.created(),
            sealed: now(),
            bytes,
            index: &file.open.index(),
        })?;
        self.sealed.push(file.open.header.number);
        Ok(())
    }

    /// Makes all of it part of the archive.
    ///
    /// # Errors
    /// If the disk or the catalogue fails: nothing of it is part of the archive then.
    pub fn finish(mut self) -> Result<Imported, ImportError> {
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

    /// Puts the files in their places; `moved` are those that are there.
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
            // What is left of it is removed by the next start.
            let _ = import_folder::remove(&self.opened.store.directory);
        }
    }
}

/// Removes files that the catalogue does not list.
fn move_out(directory: &Path, moved: &[PathBuf]) -> io::Result<()> {
    moved.iter().try_for_each(fs::remove_file)?;
    segment_file::sync_directory(directory)
}

/// Some samples of a batch as a batch of their own.
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
