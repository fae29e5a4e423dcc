//! The command bus: from whoever watches to the probe, and what became of it.

use crate::{instance::Instance, registry::Registry};
use oasis_channel::{Command, DacMessage, Failure, InstanceState, Outcome, ProbeKind};
use oasis_wire::quantity::{DemandRange, Hertz, Nanos};
use serde::{Deserialize, Serialize};
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::oneshot;

/// How long a node may take.
pub const TIMEOUT: Duration = Duration::from_secs(5);
/// Commands remembered.
const JOURNAL: usize = 1_000;

/// Why a command was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No such instance.
    #[error("node {node:?} has no instance {instance:?}")]
    UnknownInstance {
        /// As asked for.
        node: String,
        /// As asked for.
        instance: String,
    },
    /// The node is not connected, or went away before it answered.
    #[error("node {0:?} is not connected")]
    NodeOffline(String),
    /// The node's queue of commands is full.
    #[error("node {0:?} has too many commands waiting: try again")]
    Busy(String),
    /// The node said no.
    #[error("{}", .0.message)]
    Refused(Failure),
    /// No answer in time. It may still be done.
    #[error("node {0:?} did not answer within {limit} s", limit = TIMEOUT.as_secs())]
    Timeout(String),
}

impl CommandError {
    /// One word for programs.
    pub fn code(&self) -> &str {
        match self {
            Self::UnknownInstance { .. } => "unknown_instance",
            Self::NodeOffline(_) => "node_offline",
            Self::Busy(_) => "busy",
            Self::Refused(_) => "refused",
            Self::Timeout(_) => "timeout",
        }
    }
}

/// What a tool asks of a probe instance: a command for its node, or demand, which the DAC sees to itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Wish {
    /// Sample at this rate from now on, whoever reads.
    Hertz {
        /// The rate.
        hertz: Hertz,
    },
    /// Take samples.
    Enable,
    /// Take no samples.
    Disable,
    /// Take one sample at once, whatever the rate.
    SampleNow,
    /// Send what the probe's flight recorder holds, and what comes for a while.
    Trigger,
    /// Of a probe on change: keep a sample if this metric has moved by more than this.
    Deadband {
        /// Metric name.
        metric: String,
        /// In the metric's unit, 0 or more; absent if any change counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadband: Option<f64>,
    },
    /// Sample as often as those who read ask for, within this range.
    Demand(DemandRange),
    /// Keep the rate there is, whoever reads.
    DemandOff,
}

impl From<Command> for Wish {
    fn from(command: Command) -> Self {
        match command {
            Command::Hertz { hertz } => Self::Hertz { hertz },
            Command::Enable => Self::Enable,
            Command::Disable => Self::Disable,
            Command::SampleNow => Self::SampleNow,
            Command::Trigger => Self::Trigger,
            Command::Deadband { metric, deadband } => Self::Deadband { metric, deadband },
        }
    }
}

/// A command, written down.
#[derive(Debug, Clone, Serialize)]
pub struct JournalEntry {
    /// Its number.
    pub id: u64,
    /// When it was sent.
    pub time: Nanos,
    /// Who sent it: the door and the peer's address.
    pub who: String,
    /// Node name.
    pub node: String,
    /// Instance name.
    pub instance: String,
    /// What was asked.
    #[serde(flatten)]
    pub command: Wish,
    /// `pending`, `done` or the code of the failure.
    pub outcome: String,
}

/// Commands under way and the last ones that ended.
#[derive(Debug, Default)]
pub struct CommandBus {
    /// Guards all of it; held for bookkeeping only.
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    last_id: u64,
    pending: HashMap<u64, Pending>,
    journal: VecDeque<JournalEntry>,
}

#[derive(Debug)]
struct Pending {
    instance: Arc<Instance>,
    session: u64,
    answer: oneshot::Sender<Outcome>,
}

impl CommandBus {
    /// Does what a tool asks. A rate that is asked for by name ends demand, until somebody asks for that again. `who` goes into the journal.
    ///
    /// # Errors
    /// [`CommandError`] says why it was not done; demand is then as it was.
    pub async fn fulfil(
        &self,
        registry: &Registry,
        target: (&str, &str),
        wish: Wish,
        who: &str,
        now: Nanos,
    ) -> Result<InstanceState, CommandError> {
        let command = match wish {
            Wish::Hertz { hertz } => {
                let found = registry.find(target.0, target.1);
                // First, so that nobody sets another rate behind this one.
                let range = found.as_ref().and_then(|instance| instance.demand.follow(None));
                let sent = self.send(registry, target, Command::Hertz { hertz }, who, now).await;
                if let (Some(instance), Some(range)) = (found, range) {
                    if sent.is_err() && instance.demand.followed().is_none() {
                        instance.demand.follow(Some(range));
                    }
                    registry.touch();
                }
                return sent;
            }
            Wish::Demand(range) => return self.follow(registry, target, Some(range), who, now),
            Wish::DemandOff => return self.follow(registry, target, None, who, now),
            Wish::Enable => Command::Enable,
            Wish::Disable => Command::Disable,
            Wish::SampleNow => Command::SampleNow,
            Wish::Trigger => Command::Trigger,
            Wish::Deadband { metric, deadband } => {
                let instance = found(registry, target)?;
                has_metric(&instance, &metric)?;
                Command::Deadband { metric, deadband }
            }
        };
        self.send(registry, target, command, who, now).await
    }

    /// Gives demand a say, or takes it away.
    fn follow(
        &self,
        registry: &Registry,
        (node, name): (&str, &str),
        range: Option<DemandRange>,
        who: &str,
        now: Nanos,
    ) -> Result<InstanceState, CommandError> {
        let instance = found(registry, (node, name))?;
        let id = self.write_down(&instance, range.map_or(Wish::DemandOff, Wish::Demand), who, now);
        if instance.kind != ProbeKind::Periodic {
            let message = format!("{name:?} is not sampled for its readers: its rate is not theirs to set");
            let refused = CommandError::Refused(Failure::new("not_periodic", message));
            self.ended(id, refused.code().to_owned());
            return Err(refused);
        }
        instance.demand.follow(range);
        registry.touch();
        self.ended(id, "done".to_owned());
        Ok(instance.state())
    }

    /// Sends a command and waits for the node's answer. `who` goes into the journal.
    pub async fn send(
        &self,
        registry: &Registry,
        (node, instance): (&str, &str),
        command: Command,
        who: &str,
        now: Nanos,
    ) -> Result<InstanceState, CommandError> {
        let found = found(registry, (node, instance))?;
        let offline = || CommandError::NodeOffline(node.into());
        let link = registry.link(node);
        let (answer, answered) = oneshot::channel();
        let id = self.write_down(&found, command.clone().into(), who, now);
        let result = match link {
            None => Err(offline()),
            Some(link) => {
                self.held().pending.insert(id, Pending { instance: found, session: link.session, answer });
                let message = DacMessage::Command { id, instance: instance.into(), command };
                match link.outbound.try_send(message) {
                    Err(tokio::sync::mpsc::error::TrySendError::Full(_)) => {
                        Err(CommandError::Busy(node.into()))
                    }
                    Err(tokio::sync::mpsc::error::TrySendError::Closed(_)) => Err(offline()),
                    Ok(()) => match tokio::time::timeout(TIMEOUT, answered).await {
                        Err(_) => Err(CommandError::Timeout(node.into())),
                        Ok(Err(_)) => Err(offline()),
                        Ok(Ok(Outcome::Done(state))) => Ok(state),
                        Ok(Ok(Outcome::Failed(failure))) => Err(CommandError::Refused(failure)),
                    },
                }
            }
        };
        self.ended(id, result.as_ref().map_or_else(|error| error.code().to_owned(), |_| "done".to_owned()));
        result
    }

    /// The last commands, oldest first.
    pub fn journal(&self) -> Vec<JournalEntry> {
        self.held().journal.iter().cloned().collect()
    }

    /// A node has answered. Nothing happens if nobody asked, or no longer waits.
    pub(crate) fn answered(&self, registry: &Registry, id: u64, session: u64, outcome: Outcome) {
        let pending = {
            let mut held = self.held();
            // Another node's number is none of its business.
            if held.pending.get(&id).is_none_or(|pending| pending.session != session) {
                return;
            }
            held.pending.remove(&id)
        };
        let Some(pending) = pending else { return };
        // Before the caller hears of it, who may look at once.
        if let Outcome::Done(state) = &outcome {
            registry.changed(&pending.instance, *state);
        }
        // A caller that has gone away needs no answer.
        let _ = pending.answer.send(outcome);
    }

    /// A session has ended: its callers hear at once that the node is offline.
    pub(crate) fn session_ended(&self, session: u64) {
        self.held().pending.retain(|_, pending| pending.session != session);
    }

    fn write_down(&self, instance: &Instance, command: Wish, who: &str, time: Nanos) -> u64 {
        let mut held = self.held();
        held.last_id += 1;
        let id = held.last_id;
        if held.journal.len() == JOURNAL {
            held.journal.pop_front();
        }
        held.journal.push_back(JournalEntry {
            id,
            time,
            who: who.into(),
            node: instance.node.as_ref().into(),
            instance: instance.name.as_ref().into(),
            command,
            outcome: "pending".into(),
        });
        id
    }

    fn ended(&self, id: u64, outcome: String) {
        let mut held = self.held();
        held.pending.remove(&id);
        if let Some(entry) = held.journal.iter_mut().rev().find(|entry| entry.id == id) {
            entry.outcome = outcome;
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// First, so that what is written down is a name that there is.
fn has_metric(instance: &Instance, metric: &str) -> Result<(), CommandError> {
    if instance.probe_type.metrics.iter().any(|known| known.name == metric) {
        return Ok(());
    }
    let known: Vec<_> = instance.probe_type.metrics.iter().map(|known| known.name.as_str()).collect();
    let message = format!("{:?} has no metric {metric:?}: it has {}", instance.name, known.join(", "));
    Err(CommandError::Refused(Failure::new("deadband_invalid", message)))
}

fn found(registry: &Registry, (node, instance): (&str, &str)) -> Result<Arc<Instance>, CommandError> {
    let unknown = || CommandError::UnknownInstance { node: node.into(), instance: instance.into() };
    registry.find(node, instance).ok_or_else(unknown)
}
