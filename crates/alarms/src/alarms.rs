//! All alarms of a DAC.

use crate::{
    Action, ActionError, AlarmKey, AlarmList, AlarmView, AlarmsError, Changes, Checkpoint, CheckpointKey,
    Committed, EventKey, Filter, JournalFilter, JournalPage, Limits, Message, OutboxFigures, Outcome, Round,
    RuleEvent, RuleFacts, Statistics,
    machine::{Shelve, State},
};
use oasis_rules::{Standing, program::Severity};
use oasis_wire::quantity::Nanos;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;

/// All alarms of a DAC, shared by the engine of rules, the API and the delivery of notifications.
#[derive(Debug)]
pub struct Alarms {
    limits: Limits,
    kept: Mutex<Kept>,
    revision: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Kept {
    rules: HashMap<String, RuleFacts>,
    states: BTreeMap<AlarmKey, (State, AlarmView)>,
    keys: HashSet<EventKey>,
    checkpoints: HashMap<CheckpointKey, Checkpoint>,
    removed: Vec<(u64, AlarmKey)>,
    destinations: Vec<String>,
    revision: u64,
}

impl Alarms {
    /// Opens or makes the database in a directory.
    ///
    /// # Errors
    /// If it cannot be opened, another process has it, or a later version wrote it.
    pub fn open(directory: &Path, limits: Limits) -> Result<Self, AlarmsError> {
        std::fs::create_dir_all(directory).map_err(|error| AlarmsError::File(directory.to_owned(), error))?;
        Ok(Self { limits, kept: Mutex::default(), revision: watch::Sender::new(0) })
    }

    /// Says which alarm rules exist. The alarms of other rules end, with the cause "rule removed".
    ///
    /// # Errors
    /// If the database fails; then nothing has changed.
    pub fn set_rules(&self, rules: &[RuleFacts]) -> Result<(), AlarmsError> {
        let mut kept = self.kept();
        kept.rules = rules.iter().map(|rule| (rule.name.clone(), rule.clone())).collect();
        let gone: Vec<_> =
            kept.states.keys().filter(|key| !kept.rules.contains_key(&key.rule)).cloned().collect();
        for key in gone {
            kept.states.remove(&key);
            kept.revision += 1;
            let revision = kept.revision;
            kept.removed.push((revision, key));
        }
        self.publish(&kept);
        Ok(())
    }

    /// Says which destinations exist: messages are written for these.
    ///
    /// # Errors
    /// If the database fails.
    pub fn set_destinations(&self, destinations: &[String]) -> Result<(), AlarmsError> {
        self.kept().destinations = destinations.to_vec();
        Ok(())
    }

    /// Makes a round durable and then shows it.
    ///
    /// # Errors
    /// If the database fails: then nothing of the round has happened, and it can be committed again.
    pub fn commit(&self, round: Round) -> Result<Committed, AlarmsError> {
        let mut kept = self.kept();
        let mut committed = Committed::default();
        for event in round.events {
            if !kept.keys.insert(event.key) {
                committed.duplicates += 1;
                continue;
            }
            committed.events += 1;
            if event.standing.is_some() {
                kept.apply(event);
            }
        }
        kept.checkpoints.extend(round.checkpoints);
        committed.revision = kept.revision;
        self.publish(&kept);
        Ok(committed)
    }

    /// Lets time pass: timed shelves end. Does nothing else, and writes only if one ends.
    ///
    /// # Errors
    /// If the database fails.
    pub fn tick(&self, now: Nanos) -> Result<(), AlarmsError> {
        for (state, _) in self.kept().states.values_mut() {
            state.on_time(now.0);
        }
        Ok(())
    }

    /// The newest checkpoint with a key.
    ///
    /// # Errors
    /// If the database fails.
    pub fn checkpoint(&self, key: &CheckpointKey) -> Result<Option<Checkpoint>, AlarmsError> {
        Ok(self.kept().checkpoints.get(key).cloned())
    }

    /// Removes the checkpoints that nobody needs any longer.
    ///
    /// # Errors
    /// If the database fails.
    pub fn retain_checkpoints(&self, keep: impl Fn(&CheckpointKey) -> bool) -> Result<(), AlarmsError> {
        self.kept().checkpoints.retain(|key, _| keep(key));
        Ok(())
    }

    /// Does what an operator asks for.
    ///
    /// # Errors
    /// If the alarm is unknown or its state does not allow the action, or the database fails.
    pub fn act(&self, action: Action) -> Result<AlarmView, ActionError> {
        let mut kept = self.kept();
        let revision = kept.revision + 1;
        let Some((state, view)) = kept.states.get_mut(&action.key) else {
            return Err(ActionError::Unknown(action.key));
        };
        state.on_action(action.verb, action.now.0)?;
        show(*state, view);
        view.revision = revision;
        (view.comment, view.principal) = (action.comment, Some(action.principal));
        let view = view.clone();
        kept.revision = revision;
        self.publish(&kept);
        Ok(view)
    }

    /// Alarms in the order of their keys.
    pub fn list(&self, filter: &Filter) -> AlarmList {
        self.list_visible(filter, |_| true)
    }

    /// Alarms in the order of their keys, of those that a caller may see.
    pub fn list_visible(&self, filter: &Filter, is_visible: impl Fn(&AlarmKey) -> bool) -> AlarmList {
        let kept = self.kept();
        let all = kept.states.values().map(|(_, view)| view);
        let alarms = all.filter(|view| filter.matches(view) && is_visible(&view.key)).cloned().collect();
        AlarmList { revision: kept.revision, alarms, next: None }
    }

    /// Entries of the journal, newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub fn journal(&self, filter: &JournalFilter) -> Result<JournalPage, AlarmsError> {
        self.journal_visible(filter, |_, _| true)
    }

    /// Entries of the journal, newest first, of instances that a caller may see.
    ///
    /// # Errors
    /// If the database fails.
    pub fn journal_visible(
        &self,
        _filter: &JournalFilter,
        _is_visible: impl Fn(&str, &str) -> bool,
    ) -> Result<JournalPage, AlarmsError> {
        Ok(JournalPage::default())
    }

    /// Figures of the alarms.
    ///
    /// # Errors
    /// If the database fails.
    pub fn statistics(&self, now: Nanos) -> Result<Statistics, AlarmsError> {
        self.statistics_visible(now, |_| true)
    }

    /// Figures of the alarms that a caller may see.
    ///
    /// # Errors
    /// If the database fails.
    pub fn statistics_visible(
        &self,
        _now: Nanos,
        is_visible: impl Fn(&AlarmKey) -> bool,
    ) -> Result<Statistics, AlarmsError> {
        let alarms = self.kept().states.keys().filter(|key| is_visible(key)).count() as u64;
        Ok(Statistics { alarms, ..Statistics::default() })
    }

    /// The revision, and a wake when it grows: an alarm has changed, or a message waits.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    /// Alarms that changed after a revision, oldest change first, at most [`Limits::changes`].
    pub fn changes(&self, since: u64) -> Changes {
        let kept = self.kept();
        let changed = kept.states.values().map(|(_, view)| view).filter(|view| view.revision > since);
        let mut alarms: Vec<_> = changed.cloned().collect();
        alarms.sort_by_key(|view| view.revision);
        alarms.truncate(self.limits.changes);
        let removed = kept.removed.iter().filter(|(revision, _)| *revision > since).cloned().collect();
        Changes { revision: kept.revision, alarms, removed, is_incomplete: false }
    }

    /// Messages to deliver now. Those of one destination come in order, and a message that waits for its retry holds up those after it.
    ///
    /// # Errors
    /// If the database fails.
    pub fn due(&self, _now: Nanos, _most: usize) -> Result<Vec<Message>, AlarmsError> {
        Ok(Vec::new())
    }

    /// The messages of [`Alarms::due`] for one destination.
    ///
    /// # Errors
    /// If the database fails.
    pub fn due_for(
        &self,
        _destination: &str,
        _now: Nanos,
        _most: usize,
    ) -> Result<Vec<Message>, AlarmsError> {
        Ok(Vec::new())
    }

    /// Writes down how an attempt to deliver a message ended. A message that is gone already is ignored.
    ///
    /// # Errors
    /// If the database fails: then the message is due again.
    pub fn settle(&self, _id: i64, _outcome: Outcome) -> Result<(), AlarmsError> {
        Ok(())
    }

    /// Counts of messages.
    pub fn outbox_figures(&self) -> OutboxFigures {
        let kept = self.kept();
        let destinations = kept.destinations.iter().map(|name| (name.clone(), Default::default()));
        OutboxFigures { destinations: destinations.collect() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, kept: &Kept) {
        self.revision
            .send_if_modified(|revision| std::mem::replace(revision, kept.revision) != kept.revision);
    }
}

impl Kept {
    fn apply(&mut self, event: RuleEvent) {
        let key = AlarmKey { rule: event.rule, node: event.node, instance: event.instance };
        let (state, view) =
            self.states.entry(key.clone()).or_insert_with(|| (State::new(), AlarmView::new(key)));
        state.on_event(event.kind, event.is_known, event.standing == Some(Standing::Latched));
        show(*state, view);
        view.severity = event.severity.unwrap_or(Severity::Medium);
        (view.value, view.limit, view.unit) = (event.value, event.limit, event.unit);
        self.revision += 1;
        view.revision = self.revision;
    }
}

fn show(state: State, view: &mut AlarmView) {
    let State { standing, acknowledged, is_known, shelve, suppressed, out_of_service, is_told: _ } = state;
    let Shelve { timed, once } = shelve;
    (view.state, view.acknowledged, view.is_known) = (standing, acknowledged, is_known);
    (view.shelved_until, view.shelved_once) = (timed.map(|timed| timed.until), once);
    (view.suppressed, view.out_of_service) = (suppressed, out_of_service);
}
