//! The handler's thread: follows the instances, writes new samples, and retries.

use super::{
    database::{Database, clean, in_time},
    failure::Failure,
    positions::GapRow,
    round::{ROUND_BYTES, Rounds},
    source::Source,
    starts::{Names, Starts},
    state::{Condition, SharedState, State},
    tls::{BadTarget, MAX_WRITER, Target},
    writer::Writer,
};
use crate::PostgresqlConfig;
use oasis_dac::{Dac, Follower, Instance, Signal, now};
use oasis_handler::{ConfiguredHandler, Context, Handler, StateMetrics, StoredSamples};
use oasis_wire::quantity::{Epoch, Position, TopicId};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};
use tokio::sync::watch;

/// Pause before it retries a failed database.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Interval of lag updates while nothing happens.
const LAG_UPDATE_INTERVAL: Duration = Duration::from_secs(1);
/// Timeout of connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Name of a DAC that has none.
const UNNAMED: &str = "dac";
/// Gaps written at once.
const MAX_GAPS: usize = 10_000;
/// Timeout of the last rounds at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Keeps samples in a PostgreSQL database.
pub struct Postgresql {
    config: PostgresqlConfig,
    target: Target,
    shared: Arc<SharedState>,
}

impl ConfiguredHandler for Postgresql {
    type Config = PostgresqlConfig;
    type Handler = Self;
    type Error = BadTarget;

    fn configured(config: PostgresqlConfig) -> Result<Option<Self>, BadTarget> {
        if config.url.is_empty() {
            return Ok(None);
        }
        let target = Target::new(&config)?;
        if config.writer.len() > MAX_WRITER || config.writer.contains(char::is_control) {
            return Err(BadTarget::Writer(config.writer));
        }
        Ok(Some(Self { config, target, shared: Arc::default() }))
    }
}

impl Postgresql {
    /// Returns how many rows it has written, and how it is.
    pub fn report(&self) -> State {
        self.shared.lock().clone()
    }
}

impl Handler for Postgresql {
    fn name(&self) -> &'static str {
        "postgresql"
    }

    /// Writes the samples that the DAC receives. Samples that the logs have evicted are read from the archive. When it has to stop, it writes the
    /// remaining samples if the database accepts them at once.
    fn run(&self, context: Context) -> Result<(), oasis_handler::Failure> {
        let Context { dac, archive, stopping, .. } = context;
        let work = Work {
            registry: dac.registry.watch(),
            dac,
            archive,
            config: self.config.clone(),
            target: self.target.clone(),
            shared: self.shared.clone(),
            signal: Arc::default(),
            sources: BTreeMap::new(),
            starts: Starts::default(),
            rounds: Rounds::new(ROUND_BYTES),
            ended: stopping.watch(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| oasis_handler::Failure(format!("no runtime: {error}")))?;
        runtime.block_on(work.run());
        Ok(())
    }

    fn problem(&self) -> Option<String> {
        let state = self.shared.lock();
        (state.reach.condition == Condition::Failing).then(|| state.reach.detail.clone().unwrap_or_default())
    }

    fn warnings(&self) -> Vec<String> {
        self.shared.lock().warning().into_iter().collect()
    }

    fn state(&self) -> Value {
        json!(self.report())
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics {
            counters: &["rows", "known", "missing", "refused", "commits", "failures"],
            gauges: &["behind", "lag_ns"],
        }
    }
}

/// State of the thread.
struct Work {
    dac: Arc<Dac>,
    archive: Option<Arc<dyn StoredSamples>>,
    config: PostgresqlConfig,
    target: Target,
    shared: Arc<SharedState>,
    registry: watch::Receiver<u64>,
    signal: Arc<Signal>,
    sources: BTreeMap<TopicId, Source>,
    starts: Starts,
    rounds: Rounds,
    ended: watch::Receiver<bool>,
}

impl Work {
    async fn run(mut self) {
        loop {
            self.follow_instances(&HashMap::new());
            let last_call = last_call(self.ended.clone());
            let ended = tokio::select! {
                ended = self.session() => ended,
                // A database that hangs must not delay the shutdown of the DAC.
                () = last_call => return,
            };
            match ended {
                Ok(()) => return,
                Err(failure) => self.shared.note(Condition::Failing, Some(failure.to_string())),
            }
            self.measure();
            let mut ended = self.ended.clone();
            tokio::select! {
                _ = ended.wait_for(|&ended| ended) => return,
                () = tokio::time::sleep(RETRY_DELAY) => {}
            }
        }
    }

    /// Writes through one connection until it breaks, or the DAC shuts down.
    async fn session(&mut self) -> Result<(), Failure> {
        let writer = Writer { name: self.name().to_owned(), epoch: self.dac.epoch() };
        let connecting = Database::connect(&self.target, &self.config.schema, writer);
        let connecting = tokio::time::timeout(CONNECT_TIMEOUT, connecting);
        let mut database = connecting.await.map_err(|_| Failure::Timeout(CONNECT_TIMEOUT))??;
        // Samples that were read but not written are read again. Topics that were replaced are in no list any more.
        self.sources.retain(|_, source| source.instance.is_retired());
        let stopped = database.positions(&self.epochs()).await?;
        let pause = Duration::from_millis(self.config.commit_ms);
        loop {
            let is_last = *self.ended.borrow();
            self.follow_instances(&stopped);
            let has_more = self.round(&mut database).await?;
            self.shared.note(Condition::Storing, None);
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
                () = tokio::time::sleep(LAG_UPDATE_INTERVAL) => {}
            }
            tokio::time::sleep(pause).await;
        }
    }

    fn name(&self) -> &str {
        if self.config.writer.is_empty() { UNNAMED } else { &self.config.writer }
    }

    /// Returns the epochs whose positions are of this DAC, whatever its name was.
    fn epochs(&self) -> Vec<Epoch> {
        let stored = self.archive.as_ref().map(|archive| archive.history().epochs());
        let stored = stored.transpose().unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot read the archive for PostgreSQL");
            None
        });
        stored.unwrap_or_default().into_iter().chain([self.dac.epoch()]).collect()
    }

    fn follow_instances(&mut self, stopped: &HashMap<Names, Position>) {
        let instances = self.dac.registry.instances_to_follow(Follower::Database);
        self.remove_absent(&instances);
        for instance in instances {
            if self.sources.contains_key(&instance.topic) {
                continue;
            }
            // A retired topic is read to its end first.
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
                    // Offsets between the topics are of samples that another DAC has written: they came through a relay.
                    Some(Position { offset: at.offset.max(instance.log.start()), ..at })
                }
                None => None,
            };
            instance.follow(Follower::Database);
            // The source reads it to its end, also if it is not listed any more.
            instance.end_following(Follower::Database);
            let source = self.source(&instance, from, stopped);
            self.sources.insert(instance.topic, source);
        }
    }

    /// Removes retired sources that were read to their end, and names without an instance.
    fn remove_absent(&mut self, instances: &[Arc<Instance>]) {
        if self.sources.len().max(self.starts.len()) <= instances.len() {
            return;
        }
        let names = |instance: &Arc<Instance>| (clean(&instance.node), clean(&instance.name));
        let known: HashSet<_> = instances.iter().map(names).collect();
        // The position of a retired topic is still used by its successor.
        self.sources.retain(|_, source| !source.is_over() || known.contains(&names(&source.instance)));
        let being_read = self.sources.values().map(|source| names(&source.instance));
        self.starts.keep(&known.iter().cloned().chain(being_read).collect());
    }

    fn source(
        &mut self,
        instance: &Arc<Instance>,
        from: Option<Position>,
        stopped: &HashMap<Names, Position>,
    ) -> Source {
        let key = (clean(&instance.node), clean(&instance.name));
        let log = &instance.log;
        let start = Position { epoch: log.epoch(), offset: log.state().first_offset };
        let start = self.starts.of(key.clone(), start);
        let from = from.or(stopped.get(&key).copied()).or(Some(start));
        Source::new(instance.clone(), from, self.archive.as_ref(), self.signal.clone())
    }

    /// Writes some of the new samples. Returns whether there are more.
    async fn round(&mut self, database: &mut Database) -> Result<bool, Failure> {
        self.write_gaps(database).await?;
        let round = self.rounds.gather(&mut self.sources, self.archive.as_ref()).await;
        if round.positions.is_empty() {
            return Ok(false);
        }
        let written = match database.write(&round.loads, &round.positions).await {
            Ok(written) => written,
            Err(failure) => {
                for (topic, before) in round.before {
                    self.sources.get_mut(&topic).into_iter().for_each(|source| source.go_back(before));
                }
                return Err(failure);
            }
        };
        let refused: u64 = written.refusals.iter().map(|refusal| refusal.samples).sum();
        let mut state = self.shared.lock();
        state.rows += written.new;
        state.known += round.rows().saturating_sub(written.new + refused);
        state.missing += round.missing;
        state.commits += 1;
        drop(state);
        self.shared.refuse(round.refusals);
        self.shared.refuse(written.refusals);
        Ok(round.has_more)
    }

    /// Writes the causes of gaps that the ledgers have noticed.
    async fn write_gaps(&mut self, database: &mut Database) -> Result<(), Failure> {
        let mut gaps: Vec<GapRow> = Vec::new();
        let mut seen = Vec::new();
        for (topic, source) in &self.sources {
            let (new, listed) = if gaps.len() < MAX_GAPS { source.new_gaps() } else { break };
            if new.is_empty() {
                continue;
            }
            let (node, name) = (clean(&source.instance.node), clean(&source.instance.name));
            gaps.extend(new.into_iter().map(|gap| (node.clone(), name.clone(), gap)));
            seen.push((*topic, listed));
        }
        if let Err(failure) = in_time(database.put_gaps(&gaps)).await {
            failure.refusal_of_text()?;
        }
        for (topic, listed) in seen {
            if let Some(source) = self.sources.get_mut(&topic) {
                source.gaps_listed = listed;
            }
        }
        Ok(())
    }

    /// Updates the lag.
    fn measure(&self) {
        let behind = self.sources.values().map(Source::behind).sum();
        let oldest = self.sources.values().filter_map(Source::oldest).min();
        let mut state = self.shared.lock();
        state.behind = behind;
        state.lag_ns = oldest.map_or(0, |arrived| now().0.saturating_sub(arrived.0));
    }
}

/// Completes some time after the shutdown began.
async fn last_call(mut ended: watch::Receiver<bool>) {
    // Fails only if the handler is gone, but it waits for this thread.
    let _ = ended.wait_for(|&ended| ended).await;
    tokio::time::sleep(SHUTDOWN_TIMEOUT).await;
}
