//! The handler's thread: follows the instances, writes what has come, and tries again.

use crate::{
    config::PostgresqlConfig,
    copy::Rows,
    database::{Database, Failure, Load, clean, day},
    source::{Found, Source},
    state::{Book, Condition, State},
    tables::Shape,
    tls::{BadTarget, Target},
};
use oasis_archive::Archive;
use oasis_dac::{Dac, Instance, Signal, now};
use oasis_wire::{
    batch::Batch,
    quantity::{Position, TopicId},
    schema::ProbeType,
};
use std::{
    collections::{BTreeMap, HashMap},
    io,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::Duration,
};
use tokio::sync::watch;

/// Bytes of rows written in one transaction, about.
const ROUND_BYTES: usize = 8 * 1024 * 1024;
/// How long it waits before it tries a database again that has failed.
const RETRY: Duration = Duration::from_secs(1);
/// How often it looks at how far it is behind if nothing happens.
const LOOK: Duration = Duration::from_secs(1);
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a round may take before the connection is given up.
const HANGS: Duration = Duration::from_secs(30);
/// How long the last rounds may take when the DAC ends.
const LAST_CALL: Duration = Duration::from_secs(3);

/// Why the handler cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum NotStarted {
    /// The address, or the certificates.
    #[error("{0}")]
    Target(#[from] BadTarget),
    /// The thread.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A handler at work.
#[derive(Debug)]
pub struct Handler {
    book: Arc<Book>,
    ending: watch::Sender<bool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Handler {
    /// Starts the thread that writes what the DAC receives; what the logs hold no more it takes from the archive.
    ///
    /// # Errors
    /// If the address or the certificates are none, or there cannot be one more thread. A database that is away is no error.
    pub fn start(
        dac: Arc<Dac>,
        archive: Option<Arc<Archive>>,
        config: PostgresqlConfig,
    ) -> Result<Self, NotStarted> {
        let target = Target::new(&config)?;
        let (ending, ended) = watch::channel(false);
        let book = Arc::new(Book::default());
        let work = Work {
            registry: dac.registry.watch(),
            dac,
            archive,
            config,
            target,
            book: book.clone(),
            signal: Arc::default(),
            sources: BTreeMap::new(),
            starts: HashMap::new(),
            shapes: Vec::new(),
            ended,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new()
            .name("postgresql".into())
            .spawn(move || runtime.block_on(work.run()))?;
        Ok(Self { book, ending, thread: Mutex::new(Some(thread)) })
    }

    /// How it is.
    pub fn state(&self) -> State {
        self.book.open().clone()
    }

    /// Writes what has come, if the database takes it at once, and ends.
    pub fn stop(&self) {
        self.ending.send_replace(true);
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = thread.join();
        }
    }
}

/// The thread's own.
struct Work {
    dac: Arc<Dac>,
    archive: Option<Arc<Archive>>,
    config: PostgresqlConfig,
    target: Target,
    book: Arc<Book>,
    registry: watch::Receiver<u64>,
    signal: Arc<Signal>,
    sources: BTreeMap<TopicId, Source>,
    /// Where to begin if the database knows nothing of an instance: what was held when it was first seen.
    starts: HashMap<(String, String), Position>,
    /// Of the types seen; those that no table holds have none.
    shapes: Vec<(Arc<ProbeType>, Option<Arc<Shape>>)>,
    ended: watch::Receiver<bool>,
}

impl Work {
    async fn run(mut self) {
        loop {
            self.follow_instances(&HashMap::new());
            let last_call = last_call(self.ended.clone());
            let ended = tokio::select! {
                ended = self.session() => ended,
                // A database that hangs does not keep the DAC from ending.
                () = last_call => return,
            };
            match ended {
                Ok(()) => return,
                Err(failure) => self.book.note(Condition::Failing, Some(failure.to_string())),
            }
            self.measure();
            let mut ended = self.ended.clone();
            tokio::select! {
                _ = ended.wait_for(|&ended| ended) => return,
                () = tokio::time::sleep(RETRY) => {}
            }
        }
    }

    /// Writes through one connection until it breaks, or the DAC ends.
    async fn session(&mut self) -> Result<(), Failure> {
        let connecting = tokio::time::timeout(CONNECT, Database::connect(&self.target, &self.config.schema));
        let mut database = connecting.await.map_err(|_| Failure::Timeout(CONNECT))??;
        // What was read and not written is read again.
        self.sources.clear();
        let stopped = database.positions().await?;
        let pause = Duration::from_millis(self.config.commit_ms);
        loop {
            let is_last = *self.ended.borrow();
            self.follow_instances(&stopped);
            let round = tokio::time::timeout(HANGS, self.round(&mut database));
            let has_more = round.await.map_err(|_| Failure::Timeout(HANGS))??;
            self.book.note(Condition::Storing, None);
            self.measure();
            if has_more {
                continue;
            }
            if is_last {
                return Ok(());
            }
            let signal = self.signal.clone();
            tokio::select! {
                () = signal.raised() => {}
                _ = self.registry.changed() => {}
                _ = self.ended.changed() => continue,
                () = tokio::time::sleep(LOOK) => {}
            }
            tokio::time::sleep(pause).await;
        }
    }

    fn follow_instances(&mut self, stopped: &HashMap<(String, String), Position>) {
        for instance in self.dac.registry.instances() {
            if self.sources.contains_key(&instance.topic) {
                continue;
            }
            // A topic that another one has taken the place of is read to its end first.
            let is_before = |source: &&Source| {
                source.instance.node == instance.node && source.instance.name == instance.name
            };
            let before = self
                .sources
                .values()
                .find(is_before)
                .map(|source| (source.instance.topic, source.is_over(), source.position()));
            let from = match before {
                Some((_, false, _)) => continue,
                Some((topic, true, at)) => {
                    self.sources.remove(&topic);
                    Some(at)
                }
                None => None,
            };
            let source = self.source(&instance, from, stopped);
            self.sources.insert(instance.topic, source);
        }
    }

    fn source(
        &mut self,
        instance: &Arc<Instance>,
        from: Option<Position>,
        stopped: &HashMap<(String, String), Position>,
    ) -> Source {
        let key = (clean(&instance.node), clean(&instance.name));
        let log = &instance.log;
        let start = Position { epoch: log.epoch(), offset: log.state().first_offset };
        let start = *self.starts.entry(key.clone()).or_insert(start);
        let from = from.or(stopped.get(&key).copied()).or(Some(start));
        Source::new(instance.clone(), from, self.signal.clone())
    }

    /// Writes some of what has come; whether there is more.
    async fn round(&mut self, database: &mut Database) -> Result<bool, Failure> {
        let (mut loads, mut positions, mut read) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (mut bytes, mut missing, mut has_more) = (0, 0, false);
        let topics: Vec<_> = self.sources.keys().copied().collect();
        for topic in topics {
            let Some(source) = self.sources.get_mut(&topic) else { continue };
            let before = source.position();
            while bytes < ROUND_BYTES {
                let Some(source) = self.sources.get_mut(&topic) else { break };
                let at = source.position();
                let found = match source.read(self.archive.as_ref()).await {
                    Ok(found) => found,
                    Err(error) => {
                        tracing::warn!(%error, "the archive cannot be read for PostgreSQL");
                        break;
                    }
                };
                let is_done = found.batches.is_empty() && source.position() == at;
                missing += found.missing;
                let (rows, lost) = self.add(found, database, &mut loads).await?;
                (bytes, missing) = (bytes + rows, missing + lost);
                if is_done {
                    break;
                }
            }
            has_more |= bytes >= ROUND_BYTES;
            let Some(source) = self.sources.get(&topic) else { continue };
            if source.position() != before {
                read.push((topic, before));
                positions.push((
                    clean(&source.instance.node),
                    clean(&source.instance.name),
                    source.position(),
                ));
            }
        }
        if positions.is_empty() {
            return Ok(false);
        }
        let rows: u64 = loads.values().map(|load: &Load| load.rows.count).sum();
        let written = database.write(loads.into_values().collect(), &positions).await;
        let new = match written {
            Ok(new) => new,
            Err(failure) => {
                for (topic, before) in read {
                    self.sources.get_mut(&topic).into_iter().for_each(|source| source.go_back(before));
                }
                return Err(failure);
            }
        };
        let mut state = self.book.open();
        state.rows += new;
        state.known += rows - new.min(rows);
        state.missing += missing;
        state.commits += 1;
        Ok(has_more)
    }

    /// Puts what was found where it is to go; answers how many bytes that are, and how many samples no table takes.
    async fn add(
        &mut self,
        found: Found,
        database: &mut Database,
        loads: &mut BTreeMap<String, Load>,
    ) -> Result<(usize, u64), Failure> {
        let (mut bytes, mut missing) = (0, 0);
        for (series, batch, wanted) in found.batches {
            let parsed = Batch::parse(&batch, &series.probe_type).ok();
            let (Some(parsed), Some(shape)) = (parsed, self.shape(&series.probe_type)) else {
                missing += wanted.end.0 - wanted.start.0;
                continue;
            };
            let table = database.table(&shape).await?;
            let load = loads.entry(table.clone()).or_insert_with(|| Load {
                table,
                rows: Rows::new(),
                days: Default::default(),
            });
            let before = load.rows.len();
            let is_wanted =
                |sample: &oasis_wire::batch::Sample| (wanted.start.0..wanted.end.0).contains(&sample.offset);
            for sample in parsed.samples().filter(is_wanted) {
                load.rows.push(&shape, &series, parsed.header().state, &sample);
                load.days.extend(day(sample.time));
            }
            bytes += load.rows.len() - before;
        }
        Ok((bytes, missing))
    }

    fn shape(&mut self, probe_type: &Arc<ProbeType>) -> Option<Arc<Shape>> {
        let known =
            self.shapes.iter().find(|(known, _)| Arc::ptr_eq(known, probe_type) || **known == **probe_type);
        if let Some((_, shape)) = known {
            return shape.clone();
        }
        let shape = Shape::of(probe_type).map(Arc::new);
        if shape.is_none() {
            tracing::error!(probe_type = %probe_type.name, "it has more columns than a table of PostgreSQL: its samples are left out");
        }
        self.shapes.push((probe_type.clone(), shape.clone()));
        shape
    }

    /// Notes how far it is behind.
    fn measure(&self) {
        let behind = self.sources.values().map(Source::behind).sum();
        let oldest = self.sources.values().filter_map(Source::oldest).min();
        let mut state = self.book.open();
        state.behind = behind;
        state.lag_ns = oldest.map_or(0, |arrived| now().0.saturating_sub(arrived.0));
    }
}

/// Completes when the DAC has been ending for a while.
async fn last_call(mut ended: watch::Receiver<bool>) {
    // An error would mean that the handler is gone, and it waits for this thread.
    let _ = ended.wait_for(|&ended| ended).await;
    tokio::time::sleep(LAST_CALL).await;
}
