//! The command bus: sends a command from a client to a probe and returns its outcome.

use crate::{
    instance::Instance,
    registry::Registry,
    request::{CommandError, ForwardedCommand, NamedRequest, TIMEOUT},
    settings::{KeptSetting, SettingValue, SettingsError, setting_of},
};
use oasis_channel::{DacMessage, Failure, InstanceState, Outcome};
use oasis_wire::{
    command::{Command, SettingName},
    probe_kind::ProbeKind,
    quantity::{DemandRange, Nanos},
};
use serde::Serialize;
use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

/// Timeout of an answer through another DAC, which waits for its node itself.
const FORWARD_TIMEOUT: Duration = Duration::from_secs(6);
/// Time in which a relay learns where a node has moved to.
const MOVE_TIMEOUT: Duration = Duration::from_secs(2);
/// Entries kept in the journal.
const MAX_JOURNAL_ENTRIES: usize = 1_000;

/// Journal entry of a command.
#[derive(Debug, Clone, Serialize)]
pub struct JournalEntry {
    /// Its number.
    pub id: u64,
    /// Names it on its whole way, through relays too.
    pub uuid: Uuid,
    /// When it was sent.
    pub time: Nanos,
    /// Sender of the command: the door and the peer's address.
    pub who: String,
    /// Node name.
    pub node: String,
    /// Instance name.
    pub instance: String,
    /// The request.
    #[serde(flatten)]
    pub command: Command,
    /// `pending`, `done` or the code of the failure.
    pub outcome: String,
}

/// Author of a command.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    /// For the journal: with the door and the peer's address.
    pub who: &'a str,
    /// For settings that are kept: without these.
    pub name: &'a str,
}

impl<'a> From<&'a str> for Author<'a> {
    fn from(who: &'a str) -> Self {
        Self { who, name: who }
    }
}

/// Pending commands, and a journal of the last ones.
#[derive(Debug, Default)]
pub struct CommandBus {
    /// Guards all state; locked for bookkeeping only.
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
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
    /// Executes a client's request. Setting a rate ends demand until a client enables it again. The author goes into the
    /// journal. What is to be kept is kept once the node has done it.
    ///
    /// If the node of a relayed instance has moved, the request goes to its new DAC, once. It has the same UUID there.
    ///
    /// # Errors
    /// [`CommandError`] says why it failed; demand is then unchanged.
    pub async fn execute(
        &self,
        registry: &Registry,
        target: (&str, &str),
        request: impl Into<NamedRequest>,
        author: impl Into<Author<'_>>,
        now: Nanos,
    ) -> Result<InstanceState, CommandError> {
        let (request, author) = (request.into(), author.into());
        if request.keep && setting_of(&request.request).is_none() {
            let message = "only rate, demand, enable, disable and deadband can be kept";
            return Err(CommandError::Refused(Failure::new("not_a_setting", message)));
        }
        let Some(relay) = registry.forwards_to(target.0) else {
            return self.execute_and_keep(registry, target, request, author, now).await;
        };
        let who = author.who;
        let changes = registry.watch();
        let first = self.forward(registry, relay.clone(), target, request.clone(), who, now).await;
        if !matches!(first, Err(CommandError::NodeMoved(_))) {
            return first;
        }
        let moved = tokio::time::timeout(MOVE_TIMEOUT, other_way(registry, target.0, relay, changes)).await;
        match moved {
            Err(_) => first,
            Ok(None) => self.execute_and_keep(registry, target, request, author, now).await,
            Ok(Some(relay)) => self.forward(registry, Some(relay), target, request, who, now).await,
        }
    }

    /// Executes a request for a node that is not relayed, and keeps it if that is wanted.
    async fn execute_and_keep(
        &self,
        registry: &Registry,
        target: (&str, &str),
        request: NamedRequest,
        author: Author<'_>,
        now: Nanos,
    ) -> Result<InstanceState, CommandError> {
        if let Command::Reset { setting } = &request.request {
            return self.reset(registry, target, (request.uuid, setting.as_ref()), author.who, now).await;
        }
        let wanted = setting_of(&request.request);
        let keep = request.keep;
        let state = self.execute_here(registry, target, request, author.who, now).await?;
        let Some((name, value)) = wanted else { return Ok(state) };
        let instance = find(registry, target)?;
        if let (SettingName::Deadband(metric), Some(SettingValue::Deadband(deadband))) = (&name, value) {
            instance.program().note_deadband(metric, deadband);
            registry.instance_changed(&instance);
        }
        // A rate that follows its readers no more stays what it is.
        let value = value.or(state.hertz.map(SettingValue::Hertz));
        if let Some(value) = value.filter(|_| keep) {
            let (by, applied) = (author.name.to_owned(), instance.ledger().run());
            let kept = KeptSetting { value, by, at: now, applied, problem: None };
            keep_setting(registry, &instance, name, kept).await?;
        }
        Ok(state)
    }

    /// Forgets what is kept of an instance, and sets what its program has declared. A node that is not connected begins its next run with
    /// that by itself. Names that are kept but not registered any more can be forgotten too.
    async fn reset(
        &self,
        registry: &Registry,
        (node, name): (&str, &str),
        (uuid, setting): (Uuid, Option<&SettingName>),
        who: &str,
        now: Nanos,
    ) -> Result<InstanceState, CommandError> {
        let is_kept = registry.settings.of_node(node).is_some_and(|of| {
            let kept = of.instances.get(name).map(|of| &of.kept);
            kept.is_some_and(|kept| setting.map_or(!kept.is_empty(), |setting| kept.contains_key(setting)))
        });
        let instance = match find(registry, (node, name)) {
            Ok(instance) => instance,
            Err(_) if is_kept => {
                forget_settings(registry, (node, name), setting).await?;
                return Ok(InstanceState { hertz: None, enabled: true, recorder: None });
            }
            Err(error) => return Err(error),
        };
        if let Some(SettingName::Deadband(metric)) = setting.filter(|_| !is_kept) {
            has_metric(&instance, metric)?;
        }
        let request = Command::Reset { setting: setting.cloned() };
        let id = self.add_entry(&instance, NamedRequest { uuid, keep: false, request }, who, now);
        let done = self.reset_instance(registry, &instance, setting, who, now).await;
        self.finish(id, done.as_ref().map_or_else(|error| error.code().to_owned(), |()| "done".to_owned()));
        done.map(|()| instance.state())
    }

    async fn reset_instance(
        &self,
        registry: &Registry,
        instance: &Arc<Instance>,
        setting: Option<&SettingName>,
        who: &str,
        now: Nanos,
    ) -> Result<(), CommandError> {
        let target = (&*instance.node, &*instance.name);
        // Before it is forgotten: what is kept may be the only trace of a change.
        let mut changed = registry.shown(instance).settings;
        changed.retain(|state| setting.is_none_or(|wanted| *wanted == state.setting));
        forget_settings(registry, target, setting).await?;
        registry.instance_changed(instance);
        if registry.link(target.0).is_none() {
            return Ok(());
        }
        for state in changed {
            let Some(program) = state.program.filter(|program| state.value != Some(*program)) else {
                continue;
            };
            let request = NamedRequest::from(program.command(&state.setting));
            self.execute_here(registry, target, request, who, now).await?;
            if let (SettingName::Deadband(metric), SettingValue::Deadband(deadband)) =
                (&state.setting, program)
            {
                instance.program().note_deadband(metric, deadband);
            }
        }
        registry.instance_changed(instance);
        Ok(())
    }

    /// Executes a request for a node that is not relayed.
    async fn execute_here(
        &self,
        registry: &Registry,
        target: (&str, &str),
        NamedRequest { uuid, request, .. }: NamedRequest,
        who: &str,
        now: Nanos,
    ) -> Result<InstanceState, CommandError> {
        let command = match request {
            Command::Hertz { hertz } => {
                let found = registry.find(target.0, target.1);
                // Before the command, so that demand sets no other rate after it.
                let range = found.as_ref().and_then(|instance| instance.demand.set_range(None));
                let sent = self.send(registry, target, (uuid, Command::Hertz { hertz }), who, now).await;
                if let (Some(instance), Some(range)) = (found, range) {
                    if sent.is_err() && instance.demand.state().is_none() {
                        instance.demand.set_range(Some(range));
                    }
                    registry.instance_changed(&instance);
                }
                return sent;
            }
            Command::Demand(range) => {
                return self.set_demand(registry, target, (uuid, Some(range)), who, now);
            }
            Command::DemandOff => return self.set_demand(registry, target, (uuid, None), who, now),
            Command::Enable | Command::Disable | Command::SampleNow | Command::Trigger => request,
            // A reset consists of other requests.
            Command::Reset { .. } => return find(registry, target).map(|instance| instance.state()),
            Command::Deadband { metric, deadband } => {
                let instance = find(registry, target)?;
                has_metric(&instance, &metric)?;
                Command::Deadband { metric, deadband }
            }
        };
        self.send(registry, target, (uuid, command), who, now).await
    }

    /// Sends a request to the DAC that a relayed node is connected to.
    async fn forward(
        &self,
        registry: &Registry,
        relay: Option<mpsc::Sender<ForwardedCommand>>,
        (node, name): (&str, &str),
        request: NamedRequest,
        who: &str,
        now: Nanos,
    ) -> Result<InstanceState, CommandError> {
        let instance = find(registry, (node, name))?;
        let offline = || CommandError::NodeOffline(node.into());
        let id = self.add_entry(&instance, request.clone(), who, now);
        let (answer, answered) = oneshot::channel();
        let command = ForwardedCommand { node: node.into(), instance: name.into(), request, answer };
        let sent = relay.ok_or_else(offline).and_then(|relay| {
            relay.try_send(command).map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => CommandError::Busy(node.into()),
                mpsc::error::TrySendError::Closed(_) => offline(),
            })
        });
        let result = match sent {
            Err(error) => Err(error),
            Ok(()) => match tokio::time::timeout(FORWARD_TIMEOUT, answered).await {
                Err(_) => Err(CommandError::Timeout(node.into())),
                Ok(Err(_)) => Err(CommandError::Unknown(node.into())),
                Ok(Ok(result)) => result,
            },
        };
        if let Ok(state) = &result {
            registry.update_state(&instance, *state);
        }
        self.finish(id, result.as_ref().map_or_else(|error| error.code().to_owned(), |_| "done".to_owned()));
        result
    }

    /// Sets or ends demand.
    fn set_demand(
        &self,
        registry: &Registry,
        (node, name): (&str, &str),
        (uuid, range): (Uuid, Option<DemandRange>),
        who: &str,
        now: Nanos,
    ) -> Result<InstanceState, CommandError> {
        let instance = find(registry, (node, name))?;
        let request = range.map_or(Command::DemandOff, Command::Demand);
        let id = self.add_entry(&instance, NamedRequest { uuid, keep: false, request }, who, now);
        if instance.kind != ProbeKind::Periodic {
            let message = format!("{name:?} is not a periodic probe: it cannot follow demand");
            let refused = CommandError::Refused(Failure::new("not_periodic", message));
            self.finish(id, refused.code().to_owned());
            return Err(refused);
        }
        instance.demand.set_range(range);
        registry.instance_changed(&instance);
        self.finish(id, "done".to_owned());
        Ok(instance.state())
    }

    /// Sends a command under its UUID, and waits for the node's answer. `who` goes into the journal.
    pub async fn send(
        &self,
        registry: &Registry,
        (node, instance): (&str, &str),
        (uuid, command): (Uuid, Command),
        who: &str,
        now: Nanos,
    ) -> Result<InstanceState, CommandError> {
        let found = find(registry, (node, instance))?;
        let offline = || match registry.has_moved(node) {
            true => CommandError::NodeMoved(node.into()),
            false => CommandError::NodeOffline(node.into()),
        };
        let link = registry.link(node);
        let (answer, answered) = oneshot::channel();
        let request = NamedRequest { uuid, keep: false, request: command.clone() };
        let id = self.add_entry(&found, request, who, now);
        let result = match link {
            None => Err(offline()),
            Some(link) => {
                self.lock().pending.insert(id, Pending { instance: found, session: link.session, answer });
                let message =
                    DacMessage::Command { id, uuid: Some(uuid), instance: instance.into(), command };
                match link.outbound.try_send(message) {
                    Err(tokio::sync::mpsc::error::TrySendError::Full(_)) => {
                        Err(CommandError::Busy(node.into()))
                    }
                    Err(tokio::sync::mpsc::error::TrySendError::Closed(_)) => Err(offline()),
                    Ok(()) => match tokio::time::timeout(TIMEOUT, answered).await {
                        Err(_) => Err(CommandError::Timeout(node.into())),
                        Ok(Err(_)) => Err(CommandError::Unknown(node.into())),
                        Ok(Ok(Outcome::Done(state))) => Ok(state),
                        Ok(Ok(Outcome::Failed(failure))) => Err(CommandError::Refused(failure)),
                    },
                }
            }
        };
        self.finish(id, result.as_ref().map_or_else(|error| error.code().to_owned(), |_| "done".to_owned()));
        result
    }

    /// Returns the last commands, oldest first.
    pub fn journal(&self) -> Vec<JournalEntry> {
        self.lock().journal.iter().cloned().collect()
    }

    /// Puts commands of an earlier run of the DAC before those of this one, as far as there is room. They are oldest first, and have the number 0.
    pub fn restore(&self, earlier: Vec<JournalEntry>) {
        let mut inner = self.lock();
        let room = MAX_JOURNAL_ENTRIES.saturating_sub(inner.journal.len());
        let known: HashSet<Uuid> = inner.journal.iter().map(|entry| entry.uuid).collect();
        // The audit log may already have the first commands of this run.
        for entry in earlier.into_iter().rev().filter(|entry| !known.contains(&entry.uuid)).take(room) {
            inner.journal.push_front(entry);
        }
    }

    /// Removes the commands to a node, or to one instance of it, from the journal.
    pub fn forget(&self, node: &str, instance: Option<&str>) {
        let is_of_it = |entry: &JournalEntry| {
            entry.node == node && instance.is_none_or(|instance| entry.instance == instance)
        };
        self.lock().journal.retain(|entry| !is_of_it(entry));
    }

    /// Handles a node's answer. Ignores it if no caller waits for it any more.
    pub(crate) fn answered(&self, registry: &Registry, id: u64, session: u64, outcome: Outcome) {
        let pending = {
            let mut inner = self.lock();
            // A node must not answer another node's command.
            if inner.pending.get(&id).is_none_or(|pending| pending.session != session) {
                return;
            }
            inner.pending.remove(&id)
        };
        let Some(pending) = pending else { return };
        // Before the caller receives the answer, because it may read the state at once.
        if let Outcome::Done(state) = &outcome {
            registry.update_state(&pending.instance, *state);
        }
        // Fails only if the caller is gone.
        let _ = pending.answer.send(outcome);
    }

    /// Handles the end of a session: its callers learn at once that no answer will come.
    pub(crate) fn session_ended(&self, session: u64) {
        self.lock().pending.retain(|_, pending| pending.session != session);
    }

    fn add_entry(&self, instance: &Instance, named: NamedRequest, who: &str, time: Nanos) -> u64 {
        let mut inner = self.lock();
        inner.last_id += 1;
        let id = inner.last_id;
        if inner.journal.len() == MAX_JOURNAL_ENTRIES {
            inner.journal.pop_front();
        }
        inner.journal.push_back(JournalEntry {
            id,
            uuid: named.uuid,
            time,
            who: who.into(),
            node: instance.node.as_ref().into(),
            instance: instance.name.as_ref().into(),
            command: named.request,
            outcome: "pending".into(),
        });
        id
    }

    fn finish(&self, id: u64, outcome: String) {
        let mut inner = self.lock();
        inner.pending.remove(&id);
        if let Some(entry) = inner.journal.iter_mut().rev().find(|entry| entry.id == id) {
            entry.outcome = outcome;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a setting on a thread that may block.
async fn keep_setting(
    registry: &Registry,
    instance: &Arc<Instance>,
    name: SettingName,
    kept: KeptSetting,
) -> Result<(), CommandError> {
    let (settings, of) = (registry.settings.clone(), instance.clone());
    let keep = move || settings.keep((&of.node, &of.name), name, kept);
    written(
        tokio::task::spawn_blocking(keep).await,
        "the node has done it, but it is not kept for its next runs",
    )?;
    registry.instance_changed(instance);
    Ok(())
}

/// Forgets settings on a thread that may block.
async fn forget_settings(
    registry: &Registry,
    (node, instance): (&str, &str),
    setting: Option<&SettingName>,
) -> Result<(), CommandError> {
    let settings = registry.settings.clone();
    let (node, instance, setting) = (node.to_owned(), instance.to_owned(), setting.cloned());
    let forget = move || settings.reset((&node, &instance), setting.as_ref());
    written(tokio::task::spawn_blocking(forget).await, "what is kept cannot be forgotten")
}

fn written(
    done: Result<Result<(), SettingsError>, tokio::task::JoinError>,
    failure: &str,
) -> Result<(), CommandError> {
    let done = done.map_err(|error| error.to_string());
    let done = done.and_then(|done| done.map_err(|error| error.to_string()));
    done.map_err(|error| CommandError::NotKept(format!("{failure}: {error}")))
}

/// Checked first, so that the journal contains only existing names.
fn has_metric(instance: &Instance, metric: &str) -> Result<(), CommandError> {
    if instance.probe_type.metrics.iter().any(|known| known.name == metric) {
        return Ok(());
    }
    let known: Vec<_> = instance.probe_type.metrics.iter().map(|known| known.name.as_str()).collect();
    let message = format!("{:?} has no metric {metric:?}: it has {}", instance.name, known.join(", "));
    Err(CommandError::Refused(Failure::new("deadband_invalid", message)))
}

/// Waits until a node that has moved is reached in another way than through `relay`: through the returned relay, or here.
async fn other_way(
    registry: &Registry,
    node: &str,
    relay: Option<mpsc::Sender<ForwardedCommand>>,
    mut changes: watch::Receiver<u64>,
) -> Option<mpsc::Sender<ForwardedCommand>> {
    loop {
        match registry.forwards_to(node) {
            None => return None,
            Some(Some(other)) if relay.as_ref().is_none_or(|relay| !relay.same_channel(&other)) => {
                return Some(other);
            }
            Some(_) => {}
        }
        if changes.changed().await.is_err() {
            return None;
        }
    }
}

fn find(registry: &Registry, (node, instance): (&str, &str)) -> Result<Arc<Instance>, CommandError> {
    let unknown = || CommandError::UnknownInstance { node: node.into(), instance: instance.into() };
    registry.find(node, instance).ok_or_else(unknown)
}
