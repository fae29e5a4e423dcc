//! The handler's thread: follows the instances, sends their samples, and retries.

use super::{
    publisher::{Published, Publisher},
    state::{Condition, SharedState},
    topic::{NotCopied, Topic},
};
use crate::{Connection, Limits, NatsConfig, NatsError, Schemas, Target, create_schemas, create_streams};
use futures_util::FutureExt;
use oasis_dac::{Dac, Follower, Signal};
use oasis_handler::{Context, Failure};
use oasis_wire::{loss::Cause, quantity::TopicId};
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};
use tokio::{sync::watch, time::Instant};

/// Pause before it retries to connect.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Interval at which ledgers and lag are polled while nothing happens.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Longest time that a question to a server that hangs delays acknowledgements and the shutdown.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout of the last messages at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Copies until it has to stop.
pub fn run(
    config: &NatsConfig,
    target: &Target,
    shared: &Arc<SharedState>,
    context: Context,
) -> Result<(), Failure> {
    // The copy stays registered while NATS is unreachable, and while the thread restarts: until the operator stops it,
    // samples wait for it.
    context.dac.keeping.set_copied(true);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure(format!("no runtime: {error}")))?;
    let mut ended = context.stopping.watch();
    runtime.block_on(async {
        let connected = tokio::select! {
            connected = connect(config, target, shared) => connected,
            _ = ended.wait_for(|&ended| ended) => return,
        };
        Work::new(config, context.dac.clone(), shared.clone(), connected, ended.clone()).run().await;
    });
    context.dac.keeping.set_copied(false);
    Ok(())
}

/// Connects, and creates what is missing there.
async fn connect(config: &NatsConfig, target: &Target, shared: &SharedState) -> (Connection, Schemas) {
    loop {
        let prepared = async {
            let connection = Connection::open(target, "oasis-dac").await?;
            let schemas = prepare(&connection, config).await?;
            Ok::<_, NatsError>((connection, schemas))
        };
        match prepared.await {
            Ok(connected) => return connected,
            Err(error) => shared.note(Condition::Failing, Some(error.to_string())),
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
}

async fn prepare(connection: &Connection, config: &NatsConfig) -> Result<Schemas, NatsError> {
    let limits = Limits::of(config);
    create_streams(connection, limits).await?;
    create_schemas(connection, limits).await
}

async fn in_time<T>(question: impl Future<Output = Result<T, NatsError>>) -> Result<T, NatsError> {
    let answer = tokio::time::timeout(REQUEST_TIMEOUT, question).await;
    answer.unwrap_or_else(|_| Err(NatsError(format!("no answer within {} s", REQUEST_TIMEOUT.as_secs()))))
}

/// State of the thread.
struct Work {
    config: NatsConfig,
    dac: Arc<Dac>,
    shared: Arc<SharedState>,
    connection: Connection,
    schemas: Schemas,
    publisher: Publisher,
    registry: watch::Receiver<u64>,
    signal: Arc<Signal>,
    topics: BTreeMap<TopicId, Topic>,
    /// The topic that the last round ended with: the next one begins after it.
    last: Option<TopicId>,
    ended: watch::Receiver<bool>,
}

impl Work {
    fn new(
        config: &NatsConfig,
        dac: Arc<Dac>,
        shared: Arc<SharedState>,
        (connection, schemas): (Connection, Schemas),
        ended: watch::Receiver<bool>,
    ) -> Self {
        Self {
            config: config.clone(),
            registry: dac.registry.watch(),
            dac,
            publisher: Publisher::new(connection.clone(), shared.clone()),
            shared,
            connection,
            schemas,
            signal: Arc::default(),
            topics: BTreeMap::new(),
            last: None,
            ended,
        }
    }

    async fn run(mut self) {
        let mut look = tokio::time::interval(POLL_INTERVAL);
        let mut deadline = None;
        self.shared.note(Condition::Copying, None);
        self.follow_instances();
        loop {
            self.store_schemas().await;
            let has_more = self.round();
            self.measure();
            if *self.ended.borrow() {
                let deadline = *deadline.get_or_insert_with(|| Instant::now() + SHUTDOWN_TIMEOUT);
                let is_done = !has_more && self.publisher.in_flight().0 == 0;
                if is_done || Instant::now() >= deadline {
                    return;
                }
            }
            let signal = self.signal.clone();
            let is_ending = deadline.is_some();
            tokio::select! {
                published = self.publisher.next() => {
                    self.note(published);
                    // Take all that have come: a round visits each topic.
                    while let Some(published) = self.publisher.next().now_or_never() {
                        self.note(published);
                    }
                }
                () = signal.raised(), if self.publisher.has_room() => {}
                _ = self.registry.changed() => self.follow_instances(),
                _ = self.ended.changed(), if !is_ending => {}
                _ = look.tick() => {
                    self.follow_instances();
                    self.check_connection().await;
                }
            }
        }
    }

    fn follow_instances(&mut self) {
        let instances = self.dac.registry.instances_to_follow(Follower::Copy);
        self.topics.retain(|_, topic| {
            let is_over = topic.is_over();
            if is_over {
                topic.instance.end_following(Follower::Copy);
            }
            !is_over
        });
        // A topic that was replaced is copied to its end first: the node forgets what comes before a copied sample.
        let names = |topic: &Topic| (topic.instance.node.clone(), topic.instance.name.clone());
        let replaced = self.topics.values().filter(|topic| topic.instance.is_retired()).map(names);
        let mut replaced: HashSet<_> = replaced.collect();
        for instance in instances {
            let is_known = self.topics.contains_key(&instance.topic);
            let names = (instance.node.clone(), instance.name.clone());
            if !is_known && !replaced.contains(&names) {
                instance.follow(Follower::Copy);
                if instance.is_retired() {
                    replaced.insert(names);
                }
                self.topics.insert(instance.topic, Topic::new(instance, self.signal.clone()));
            }
        }
    }

    /// Stores the schemas of new topics. A topic without a stored schema waits.
    async fn store_schemas(&mut self) {
        let max_message = self.publisher.max_message();
        for topic in self.topics.values_mut().filter(|topic| !topic.has_schema) {
            // A schema contains only text, numbers and lists, so JSON cannot fail.
            let json = serde_json::to_vec(&*topic.instance.probe_type).unwrap_or_default();
            if json.len() > max_message {
                (topic.has_schema, topic.is_refused) = (true, true);
                continue;
            }
            let stored = self.schemas.put(&topic.schema, json);
            match in_time(stored).await {
                Ok(()) => topic.has_schema = true,
                Err(error) => {
                    self.shared.note(Condition::Failing, Some(error.to_string()));
                    return;
                }
            }
        }
    }

    /// Sends what there is, within the bounds. Returns whether there is more.
    fn round(&mut self) -> bool {
        let (mut messages, mut lost) = (Vec::new(), Vec::new());
        let max_message = self.publisher.max_message();
        let is_after = |topic: &TopicId| self.last.is_none_or(|last| *topic > last);
        let (mut turn, first): (Vec<_>, Vec<_>) = self.topics.keys().copied().partition(is_after);
        turn.extend(first);
        let mut has_more = false;
        for number in turn {
            let Some(topic) = self.topics.get_mut(&number).filter(|topic| topic.has_schema) else {
                has_more = true;
                continue;
            };
            while self.publisher.has_room() && topic.read(max_message, &mut messages, &mut lost) {
                messages.drain(..).for_each(|message| self.publisher.send(message));
                self.last = Some(number);
            }
            messages.drain(..).for_each(|message| self.publisher.send(message));
            has_more |= topic.behind() > 0;
            if !self.publisher.has_room() {
                break;
            }
        }
        for NotCopied { cause, samples, detail } in lost.drain(..) {
            self.shared.lose(cause, samples, detail);
        }
        has_more
    }

    /// Notes what became of a message.
    fn note(&mut self, Published { place: (topic, number), refused, .. }: Published) {
        let Some(of) = self.topics.get_mut(&topic) else { return };
        let copied = match refused {
            None => of.acknowledge(number),
            Some(why) => {
                let mut messages = Vec::new();
                let (copied, lost) = of.refuse(number, &mut messages);
                messages.into_iter().for_each(|message| self.publisher.send(message));
                self.shared.lose(Cause::CopyRefused, lost, why);
                copied
            }
        };
        self.dac.keeping.note_commit();
        let mut state = self.shared.lock();
        state.copied += copied;
        state.messages += 1;
        let was_failing = state.reach.condition == Condition::Failing;
        drop(state);
        if was_failing {
            self.shared.note(Condition::Copying, None);
        }
    }

    /// Looks after the connection. Streams may have been removed.
    async fn check_connection(&mut self) {
        let is_failing = self.shared.lock().reach.condition == Condition::Failing;
        if !is_failing {
            return;
        }
        match in_time(prepare(&self.connection, &self.config)).await {
            Ok(schemas) => {
                self.schemas = schemas;
                if self.publisher.in_flight().0 == 0 {
                    self.shared.note(Condition::Copying, None);
                }
            }
            Err(error) => self.shared.note(Condition::Failing, Some(error.to_string())),
        }
    }

    /// Updates the figures.
    fn measure(&self) {
        let behind = self.topics.values().map(Topic::behind).sum();
        let (messages, bytes) = self.publisher.in_flight();
        let mut state = self.shared.lock();
        (state.in_flight, state.in_flight_bytes, state.behind) = (messages, bytes, behind);
        state.disconnects = self.connection.state.disconnects();
    }
}
