//! A node whose samples were taken elsewhere and come as batches: a device of a gateway.
//!
//! A [`ForwardedNode`] has spool, shipper and clock of a [`Node`](crate::Node), but no collector. A [`Session`] is one life of the device, and so
//! a run of the data channel. When a session follows another one, the batches of the earlier one are sent first, under its own
//! run, with its last counters: what the device took and never sent is declared as lost by a restart.

use crate::{
    announcement::Announcement,
    bell::Bell,
    byte_budget::ByteBudget,
    executed::Executed,
    file_spool::{Directory, Journal},
    node::{host_name, spawn},
    node_config::NodeConfig,
    node_error::NodeError,
    orders::{Order, OrderSender},
    outbox::{Outbox, OutboxState, Progress},
    replay,
    shipper::{Attempts, CommandHandling},
    spool::Spool,
    spooler,
};
use oasis_channel::{
    Connector, Failure, InstanceState, NodeIdentity, NodeMessage, Outcome, RegisteredInstance, ResumeSecret,
};
use oasis_wire::{command::Command, schema::ProbeType};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};
use uuid::Uuid;

pub use crate::spool::{Missing, NewBatch};

/// Most sessions of a device that wait for the DAC. Beyond it the oldest one that has ended is dropped.
const SESSIONS: usize = 16;
/// A session has at least this share of the spool, however much earlier ones have left in it.
const SMALLEST_SPOOL: usize = 1024 * 1024;
/// Consecutive refusals after which a session that has ended is dropped: it would block the ones after it.
const MAX_REFUSALS: u32 = 10;
/// Upper bound of an idle wait.
const MAX_IDLE_WAIT: Duration = Duration::from_secs(60);
/// Time in which a node that ends delivers sessions that have ended.
const LAST_SESSIONS: Duration = Duration::from_secs(3);

/// One life of a device.
#[derive(Debug, Clone)]
pub struct Session {
    /// Proves to a DAC who owns the run. A session that continues after the gateway's restart has the same secret.
    pub secret: ResumeSecret,
    /// Name and version of the device's program.
    pub software: String,
    /// Schemas.
    pub types: Vec<ProbeType>,
    /// The instances, in their present states.
    pub instances: Vec<RegisteredInstance>,
}

/// A command for the device, to be answered with [`ForwardedNode::answer`].
#[derive(Debug, Clone, PartialEq)]
pub struct ForwardedCommand {
    /// The DAC's number of it.
    pub id: u64,
    /// Under which it is executed at most once.
    pub uuid: Option<Uuid>,
    /// Index of the instance.
    pub instance: usize,
    /// Command to execute.
    pub command: Command,
}

/// The node of a device. Dropping it ends the connection and discards what is unsent, unless that is in a file.
#[derive(Debug)]
pub struct ForwardedNode {
    name: String,
    config: NodeConfig,
    directory: Option<Arc<Directory>>,
    shared: Arc<Shared>,
    orders: (OrderSender, mpsc::Receiver<Order>),
    executed: Executed,
    live: Arc<Run>,
    shipper: Option<JoinHandle<()>>,
}

/// One session on its way to the DAC.
#[derive(Debug)]
struct Run {
    announcement: Arc<Announcement>,
    outbox: Arc<Outbox>,
    /// Another session has begun.
    is_over: AtomicBool,
    spooler: Mutex<Option<JoinHandle<()>>>,
}

/// State that the node and its thread share.
#[derive(Debug, Default)]
struct Shared {
    runs: Mutex<Runs>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Runs {
    /// The oldest is being sent.
    queue: VecDeque<Arc<Run>>,
    closing: Option<Instant>,
}

impl ForwardedNode {
    /// Starts a node with its first session.
    ///
    /// # Errors
    /// If a name is refused, the spool directory cannot be used, or there can be no thread.
    pub fn start(
        name: &str,
        session: Session,
        config: NodeConfig,
        mut connector: Box<dyn Connector>,
    ) -> Result<Self, NodeError> {
        NodeError::check_node_name(name)?;
        session.instances.iter().try_for_each(|known| NodeError::check_name("instance", &known.name))?;
        let directory = match &config.spool_directory {
            Some(path) => Some(Arc::new(Directory::open(path, config.spool_directory_bytes)?)),
            None => None,
        };
        let live = Run::begin(name, session, &config, directory.as_ref(), config.spool_bytes)?;
        let shared = Arc::new(Shared::default());
        shared.runs().queue.push_back(live.clone());
        let orders = OrderSender::new(Bell::default());
        let shipper = {
            let (shared, live, directory) = (shared.clone(), live.clone(), directory.clone());
            let (config, orders) = (config.clone(), orders.0.clone());
            spawn("oasis-forwarder", move || {
                if let Some(directory) = &directory {
                    replay::all(&mut *connector, directory, &config, &live.outbox);
                }
                let budget = || ByteBudget::new(config.max_bytes_per_second);
                while let Some(run) = shared.next() {
                    run.send(&mut *connector, &orders, budget(), &shared);
                    shared.runs().queue.retain(|known| !Arc::ptr_eq(known, &run));
                    run.end();
                }
            })?
        };
        let executed = Executed::default();
        Ok(Self {
            name: name.into(),
            config,
            directory,
            shared,
            orders,
            executed,
            live,
            shipper: Some(shipper),
        })
    }

    /// Begins another session of the device. The present one ends: its instances have taken samples up to [`ForwardedNode::taken`].
    ///
    /// # Errors
    /// If a name is refused, or there can be no thread.
    pub fn renew(&mut self, session: Session) -> Result<(), NodeError> {
        session.instances.iter().try_for_each(|known| NodeError::check_name("instance", &known.name))?;
        let mut runs = self.shared.runs();
        let waiting: usize = runs.queue.iter().map(|run| run.bytes()).sum();
        let room = self.config.spool_bytes.saturating_sub(waiting).max(SMALLEST_SPOOL);
        let next = Run::begin(&self.name, session, &self.config, self.directory.as_ref(), room)?;
        let offset = self.live.outbox.with(|held| {
            (held.is_finite, held.has_left) = (true, false);
            held.clock_offset
        });
        next.outbox.with(|held| held.clock_offset = offset);
        self.live.is_over.store(true, Ordering::Relaxed);
        // The second wake-up lets the thread see the mark.
        self.live.outbox.with(|_| ());
        runs.queue.push_back(next.clone());
        // The first one is being sent.
        if runs.queue.len() > SESSIONS
            && let Some(dropped) = runs.queue.remove(1)
        {
            let taken: u64 = dropped.outbox.with(|held| held.progress.iter().map(|known| known.taken).sum());
            tracing::error!(node = %self.name, run = %dropped.announcement.identity.run, samples = taken,
                "device has restarted too often while the DAC was away: the samples of an earlier session are lost");
            dropped.end();
        }
        drop(runs);
        self.shared.changed.notify_all();
        self.executed = Executed::default();
        self.live = next;
        Ok(())
    }

    /// Adds a batch of the present session. Its topic and its drops are written when it is sent.
    pub fn push(&self, batch: NewBatch) {
        let last = batch.first_sequence.saturating_add(u64::from(batch.count).saturating_sub(1));
        self.live.outbox.with(|held| {
            if let Some(progress) = held.progress.get_mut(batch.instance) {
                progress.taken = progress.taken.max(last);
                progress.missing = Missing::default();
                held.spool.push(batch);
            }
        });
    }

    /// Notes that an instance has taken samples up to this number. `missing` are those after its last batch, if it is known that no batch will
    /// contain any of them; otherwise none.
    pub fn taken(&self, instance: usize, taken: u64, missing: Missing) {
        self.live.outbox.with(|held| {
            let Some(progress) = held.progress.get_mut(instance) else { return };
            if taken >= progress.taken {
                progress.missing = missing;
            }
            if taken > progress.taken {
                progress.taken = taken;
                // A node that has left connects once more: the DAC must learn of these samples.
                held.has_left = false;
            }
        });
    }

    /// Notes the state of an instance.
    pub fn state(&self, instance: usize, state: InstanceState) {
        self.live.outbox.with(|held| {
            if let Some(progress) = held.progress.get_mut(instance) {
                progress.state = state;
            }
        });
    }

    /// Notes whether the device is there. The node of one that is away says goodbye to the DAC once everything is sent.
    pub fn set_present(&self, is_present: bool) {
        self.live.outbox.with(|held| held.is_finite = !is_present);
    }

    /// Returns DAC clock minus the clock of this host in nanoseconds, as last estimated; none before a DAC has answered.
    pub fn clock_offset(&self) -> Option<i64> {
        self.live.outbox.with(|held| held.clock_offset)
    }

    /// Returns the next command for the device. Answers by itself those that need no device.
    pub fn next_command(&mut self) -> Option<ForwardedCommand> {
        loop {
            let Order::Command { id, uuid, instance, command } = self.orders.1.try_recv().ok()? else {
                continue;
            };
            let instances = &self.live.announcement.instances;
            let Some(index) = instances.iter().position(|known| known.name == instance) else {
                let message = format!("this device has no instance {instance:?}");
                self.send_result(id, Outcome::Failed(Failure::new("unknown_instance", message)));
                continue;
            };
            if let Some(outcome) = uuid.and_then(|uuid| self.executed.outcome(uuid, index, &command)) {
                tracing::info!(node = %self.name, instance, %command, "command repeated: not executed again");
                self.send_result(id, outcome);
                continue;
            }
            return Some(ForwardedCommand { id, uuid, instance: index, command });
        }
    }

    /// Answers a command.
    pub fn answer(&mut self, command: ForwardedCommand, outcome: Outcome) {
        self.send_result(command.id, outcome.clone());
        if let Outcome::Done(state) = outcome {
            self.state(command.instance, state);
            if let Some(uuid) = command.uuid {
                self.executed.remember(uuid, command.instance, command.command, state);
            }
        }
    }

    fn send_result(&self, id: u64, outcome: Outcome) {
        self.live.outbox.push(NodeMessage::Result { id, outcome });
    }

    /// Returns whether everything was sent and the node has left the DAC, as one of a device that is away does.
    pub fn has_left(&self) -> bool {
        self.live.outbox.with(|held| held.is_finite && held.has_left)
    }

    /// Sends what is left, waiting a few seconds at most.
    pub fn shutdown(mut self) {
        self.close();
        if let Some(shipper) = self.shipper.take() {
            let _ = shipper.join();
        }
    }

    fn close(&self) {
        let mut runs = self.shared.runs();
        runs.closing.get_or_insert_with(Instant::now);
        runs.queue.iter().for_each(|run| run.outbox.close());
        drop(runs);
        self.shared.changed.notify_all();
    }
}

impl Drop for ForwardedNode {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next session; none once the node ends and all are sent.
    fn next(&self) -> Option<Arc<Run>> {
        let mut runs = self.runs();
        loop {
            if let Some(run) = runs.queue.front() {
                return Some(run.clone());
            }
            if runs.closing.is_some() {
                return None;
            }
            runs = self.changed.wait(runs).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns whether the node ends, and the time for sessions that have ended is over.
    fn is_late(&self) -> bool {
        self.runs().closing.is_some_and(|since| since.elapsed() >= LAST_SESSIONS)
    }
}

impl Run {
    fn begin(
        name: &str,
        session: Session,
        config: &NodeConfig,
        directory: Option<&Arc<Directory>>,
        spool_bytes: usize,
    ) -> Result<Arc<Self>, NodeError> {
        let Session { secret, software, types, instances } = session;
        let derived = || Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("oasis device {name}").as_bytes());
        let identity = NodeIdentity {
            name: name.into(),
            uuid: config.uuid.unwrap_or_else(derived),
            run: secret.run(),
            host: host_name(),
            software,
            // A device has no processes.
            pid: 0,
        };
        let progress: Vec<_> = instances
            .iter()
            .map(|known| Progress { taken: 0, missing: Missing::default(), state: known.state })
            .collect();
        let announcement = Arc::new(Announcement { identity, secret: Some(secret), types, instances });
        let spool = match directory {
            Some(_) => Spool::before_a_file(spool_bytes, progress.len()),
            None => Spool::new(spool_bytes, progress.len()),
        };
        let outbox = Outbox::new(spool.for_link(config.max_bytes_per_second), progress);
        outbox.with(|held| held.is_on_dac_time = true);
        let spooler = match directory {
            Some(directory) => {
                let journal = Journal::begin(directory.clone(), announcement.clone());
                let outbox = outbox.clone();
                Some(spawn("oasis-spooler", move || spooler::run(&outbox, journal))?)
            }
            None => None,
        };
        Ok(Arc::new(Self {
            announcement,
            outbox,
            is_over: AtomicBool::new(false),
            spooler: Mutex::new(spooler),
        }))
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> usize {
        self.outbox.with(|held| held.spool.bytes())
    }

    /// Sends until the session is over and sent, or the node ends.
    fn send(&self, connector: &mut dyn Connector, orders: &OrderSender, budget: ByteBudget, shared: &Shared) {
        let mut attempts = Attempts::new(budget);
        loop {
            // The node of a device that is away, and has nothing to send, does not connect.
            let has_cause = |held: &OutboxState| {
                held.closing || self.is_over() || !held.is_finite || !held.has_left || !held.is_sent()
            };
            drop(self.outbox.wait(MAX_IDLE_WAIT, has_cause));
            let (is_over, closing) = (self.is_over(), self.outbox.with(|held| held.closing));
            let is_told = self.outbox.with(|held| held.is_finite && held.has_left && held.is_sent());
            if (is_told && (is_over || closing)) || (is_over && shared.is_late()) {
                return;
            }
            if is_told {
                continue;
            }
            let handling = match is_over {
                true => CommandHandling::Refuse,
                false => CommandHandling::Pass(orders.clone()),
            };
            attempts.once(connector, &self.announcement, &handling, &self.outbox);
            if is_over && attempts.refusals >= MAX_REFUSALS {
                tracing::error!(node = %self.announcement.identity.name, run = %self.announcement.identity.run,
                    "DAC refuses an earlier session of a device: its samples are lost, unless they are in a spool directory");
                return;
            }
            if attempts.pause(&self.outbox) {
                return;
            }
        }
    }

    /// Ends the thread of the file. It removes the run if nothing of it can be lost any more.
    fn end(&self) {
        self.outbox.with(|held| held.ended = true);
        let spooler = self.spooler.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(spooler) = spooler {
            let _ = spooler.join();
        }
    }
}
