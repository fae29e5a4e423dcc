//! Imports a recording into an archive: all of it, or nothing.
//!
//! An [`Import`] takes batches and segment files, then test runs, annotations and causes of losses; [`Import::finish`] makes them visible at once.
//! A sample with known node, instance, run and sequence number is skipped. If the run was made of the first sample of a recording, the stored sample must be
//! equal: the import fails otherwise.
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
//! by the next start. The catalogue is locked for that commit alone: an import into the archive of a running DAC ([`Import::begin_beside`]) delays nothing
//! while it reads.

mod known;
mod losses;
mod notes;
mod sealed;
mod stored_samples;

pub use known::KnownSequences;
pub use losses::SourceError;

use oasis_store::{
    AnnotationError, ArchiveConfig, Finding, OpenError, ReadError, SegmentNumbers, Series, TestRunError,
    WritableStore,
    catalogue::{Catalogue, CatalogueError},
    import_folder,
    opening::FolderLock,
    record,
    recovery::{self, Unreadable},
    segment_file::{self, SegmentFile, SeriesKey},
    store::Store,
};
use oasis_wire::{
    batch::{self, Batch, BatchError, Encoder, Fields, Header, RowError},
    quantity::{Epoch, Offset, TopicId},
    schema::{InvalidType, ProbeType},
    value,
};
use sealed::SealedPart;
use std::{
    collections::{HashMap, HashSet},
    fmt, fs, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};
use stored_samples::StoredSamples;
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
    /// Another recording that begins as a stored one does.
    #[error(
        "the archive has another recording of {instance}, which begins alike and differs at sample {sequence}: keep this one apart with --name NAME"
    )]
    Differs {
        /// Node and instance.
        instance: String,
        /// The sequence number of the first different sample.
        sequence: u64,
    },
    /// No retention rule matches.
    #[error(
        "no rule of archive.retention matches {0}, so it would not be stored: add a rule to the configuration, or import it under another name"
    )]
    NoRule(String),
    /// The node sends samples to the DAC whose archive this is.
    #[error("{0} has sent samples since the DAC has started: import the recording under another name")]
    Live(String),
    /// The disk has too little space for the samples that arrive meanwhile.
    #[error(
        "{free} bytes are free on the disk of the archive, and {min_free} are left to others (archive.min_free_bytes): make room, and import it again"
    )]
    NoRoom {
        /// Free bytes.
        free: u64,
        /// Bytes to leave free.
        min_free: u64,
    },
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
    store: Arc<Store>,
    config: ArchiveConfig,
    /// Numbers of segment files, which a running DAC uses too.
    numbers: Arc<SegmentNumbers>,
    folder: PathBuf,
    epoch: Epoch,
    /// Open files by retention rule.
    files: HashMap<usize, SegmentFile>,
    /// Complete files that are not moved yet.
    sealed: Vec<SealedPart>,
    instances: HashMap<(Arc<str>, Arc<str>), Instance>,
    /// Archives whose test runs and annotations are part of the import.
    notes: Vec<notes::Source>,
    writers: Writers,
    /// The last number used.
    topics: u32,
    imported: ImportTotals,
    /// Least and greatest time of its new samples.
    times: Option<(u64, u64)>,
    /// Losses of the recording.
    lost: Vec<losses::Lost>,
    /// Whether a run of the recording has samples in the archive.
    continues_run: bool,
    /// Whether leftovers could not be removed: the next start removes them.
    is_left: bool,
}

/// The other writers of the archive.
enum Writers {
    /// None: the folder is locked.
    None(#[expect(dead_code, reason = "it is held, not read")] FolderLock),
    /// A running DAC. The function returns whether a node has sent samples of an instance to it.
    Dac(IsLive),
}

/// Returns whether a DAC has received samples of an instance, by the names of node and instance.
pub type IsLive = Box<dyn Fn(&str, &str) -> bool + Send>;

impl fmt::Debug for Writers {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::None(_) => "None",
            Self::Dac(_) => "Dac",
        })
    }
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
    stored_samples: StoredSamples,
}

impl Import {
    /// Begins an import into an archive that no DAC has open.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn begin(opened: WritableStore) -> Result<Self, ImportError> {
        let WritableStore { store, config, numbers, lock } = opened;
        Self::new((store, config), numbers, Writers::None(lock))
    }

    /// Begins an import into the archive of a running DAC, which gives both their file numbers. One import runs at a time. The DAC seals its open files
    /// before [`Import::finish`], so that its later samples follow the import.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn begin_beside(
        store: Arc<Store>,
        config: ArchiveConfig,
        numbers: Arc<SegmentNumbers>,
        is_live: IsLive,
    ) -> Result<Self, ImportError> {
        Self::new((store, config), numbers, Writers::Dac(is_live))
    }

    fn new(
        (store, config): (Arc<Store>, ArchiveConfig),
        numbers: Arc<SegmentNumbers>,
        writers: Writers,
    ) -> Result<Self, ImportError> {
        let epoch = Epoch(Uuid::new_v4().as_u64_pair().0);
        let folder = import_folder::begin(&store.directory, epoch)?;
        Ok(Self {
            store,
            config,
            numbers,
            folder,
            epoch,
            files: HashMap::new(),
            sealed: Vec::new(),
            instances: HashMap::new(),
            notes: Vec::new(),
            writers,
            topics: 0,
            imported: ImportTotals::default(),
            times: None,
            lost: Vec::new(),
            continues_run: false,
            is_left: false,
        })
    }

    /// Whether it is an import into this store.
    pub fn is_into(&self, store: &Arc<Store>) -> bool {
        Arc::ptr_eq(&self.store, store)
    }

    /// Returns least and greatest time of its new samples, in nanoseconds since 1970.
    pub fn times(&self) -> Option<(u64, u64)> {
        self.times
    }

    /// Returns the names of its nodes and instances.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.instances.keys().map(|(node, instance)| (&**node, &**instance))
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
        let known = u64::from(header.count) - samples;
        self.imported.known += known;
        if known > 0 && continues_run && stored_samples::is_made_of_first_sample(series.run) {
            self.check_known(&series, &parsed)?;
        }
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

    /// Refuses a batch with a sample that is stored already, and not equal.
    fn check_known(&mut self, series: &Series, batch: &Batch) -> Result<(), ImportError> {
        let store = self.store.clone();
        let stored = &mut self.instance(series)?.stored_samples;
        let of = (&*series.node, &*series.instance, series.run);
        match stored.first_different(&store, of, (batch, &series.probe_type))? {
            None => Ok(()),
            Some(sequence) => {
                let instance = format!("{}/{}", series.node, series.instance);
                Err(ImportError::Differs { instance, sequence })
            }
        }
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
            let rule = self.config.rule_for(&key.0, &key.1);
            let rule = rule.ok_or_else(|| ImportError::NoRule(format!("{}/{}", key.0, key.1)))?;
            self.writers.check(&key)?;
            let known = KnownSequences::of(&self.store, &key.0, &key.1)?;
            let stored_runs = known.ranges().map(|(run, _)| run).collect();
            let instance = Instance {
                topics: Vec::new(),
                rule,
                next: Offset(0),
                known,
                stored_runs,
                stored_samples: StoredSamples::default(),
            };
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
        let times = file.stage(key, || series.clone(), &batch, (first, header.count))?;
        let known = self.times.unwrap_or(times);
        self.times = Some((known.0.min(times.0), known.1.max(times.1)));
        if file.length() >= self.config.segment_bytes {
            return self.seal(rule, file);
        }
        self.files.insert(rule, file);
        Ok(())
    }

    fn begin_file(&mut self) -> Result<SegmentFile, ImportError> {
        if matches!(self.writers, Writers::Dac(_)) {
            let (free, min_free) = (self.store.free_bytes()?, self.config.min_free_bytes);
            // The file will have this size.
            if free < min_free.saturating_add(self.config.segment_bytes) {
                return Err(ImportError::NoRoom { free, min_free });
            }
        }
        let number = self.numbers.take();
        Ok(SegmentFile::create(&self.folder, number, self.epoch)?)
    }

    fn seal(&mut self, rule: usize, file: SegmentFile) -> Result<(), ImportError> {
        self.sealed.push(SealedPart::seal(rule, file)?);
        Ok(())
    }

    /// Seals and syncs the files that are open, so that [`Import::finish`] takes little time.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn seal_all(&mut self) -> Result<(), ImportError> {
        let files = std::mem::take(&mut self.files);
        files.into_iter().try_for_each(|(rule, file)| self.seal(rule, file))
    }

    /// Commits everything to the archive.
    ///
    /// # Errors
    /// If the disk or the catalogue fails: the archive is unchanged then.
    pub fn finish(mut self) -> Result<ImportTotals, ImportError> {
        self.seal_all()?;
        // They may have come meanwhile.
        self.instances.keys().try_for_each(|names| self.writers.check(names))?;
        let mut moved = Vec::new();
        let made = self.move_in(&mut moved).map_err(ImportError::from).and_then(|()| self.list());
        if made.is_err() {
            self.is_left = move_out(&self.store.directory, &moved).is_err();
        }
        made.map(|()| self.imported)
    }

    /// Moves the files into the archive; `moved` receives the moved ones.
    fn move_in(&self, moved: &mut Vec<PathBuf>) -> io::Result<()> {
        let directory = &self.store.directory;
        for part in &self.sealed {
            let place = segment_file::path(directory, part.number);
            // A rename replaces a file without an error. Only this thread moves files into the folder.
            if fs::exists(&place)? {
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, place.display().to_string()));
            }
            fs::rename(segment_file::path(&self.folder, part.number), &place)?;
            moved.push(place);
        }
        segment_file::sync_directory(directory)
    }

    /// Lists the files that were moved, and the rest of the recording, in one transaction.
    fn list(&mut self) -> Result<(), ImportError> {
        let store = self.store.clone();
        let mut catalogue = store.catalogue();
        catalogue.begin()?;
        let listed = self.list_in(&mut catalogue).and_then(|()| Ok(catalogue.commit()?));
        if listed.is_err() {
            catalogue.roll_back();
            return listed;
        }
        drop(catalogue);
        let mut counters = store.counters.lock();
        counters.segments += self.sealed.len() as u64;
        counters.segment_bytes += self.sealed.iter().map(|part| part.bytes).sum::<u64>();
        Ok(())
    }

    fn list_in(&mut self, catalogue: &mut Catalogue) -> Result<(), ImportError> {
        for part in &self.sealed {
            part.list(&self.store, &self.config, catalogue)?;
        }
        for source in std::mem::take(&mut self.notes) {
            self.list_notes(&source, catalogue)?;
        }
        self.list_losses(catalogue)
    }
}

impl Writers {
    /// Refuses an instance of a node that sends samples.
    fn check(&self, (node, instance): &(Arc<str>, Arc<str>)) -> Result<(), ImportError> {
        match self {
            Self::Dac(is_live) if is_live(node, instance) => {
                Err(ImportError::Live(format!("{node}/{instance}")))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Import {
    fn drop(&mut self) {
        if !self.is_left {
            // The next start removes leftovers.
            let _ = import_folder::remove(&self.store.directory);
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
