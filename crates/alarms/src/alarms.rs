//! All alarms of a DAC.

use crate::{
    Action, ActionError, AlarmKey, AlarmList, AlarmView, AlarmsError, Changes, Checkpoint, CheckpointKey,
    CommitSummary, Copies, Filter, JournalFilter, JournalPage, Limits, Message, OutboxFigures, Outcome,
    Round, RuleFacts, Statistics,
    action::ActionVerb,
    database::{self, Database},
    draft::{ActionFailure, Change, Draft},
    handover_log::HandoverLog,
    journal::MAX_PAGE_ENTRIES,
    memory::{Alarm, Memory},
    statistics,
    tables::{alarm, checkpoint, counter, home, journal, message},
};
use oasis_rules::Standing;
use oasis_wire::quantity::Nanos;
use rusqlite::Connection;
use std::{
    collections::HashMap,
    fs::File,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard},
};
use tokio::sync::watch;

/// Most checkpoints that are removed at once.
const MAX_REMOVED: usize = 10_000;

/// All alarms of a DAC, shared by the engine of rules, the API and the delivery of notifications. Each call that can fail blocks on the disk.
///
/// A change is written first and shown after that. Order of locks: `writer`, then `memory`, then `given`; `reader` alone.
#[derive(Debug)]
pub struct Alarms {
    limits: Limits,
    path: PathBuf,
    /// Whoever has it changes the alarms.
    writer: Mutex<Connection>,
    /// For what may take long, such as the journal.
    reader: Mutex<Connection>,
    memory: RwLock<Memory>,
    revision: watch::Sender<u64>,
    /// The handovers for other DACs.
    given: Mutex<HandoverLog>,
    copies: Copies,
    lock: Option<File>,
}

/// Unlocks for all copies of the descriptor: closing alone leaves the lock to a child that is between `fork` and `exec`.
impl Drop for Alarms {
    fn drop(&mut self) {
        let _ = self.lock.as_ref().map(File::unlock);
    }
}

impl Alarms {
    /// Opens or makes the database in a directory.
    ///
    /// # Errors
    /// If it cannot be opened, another process has it, it is damaged, or a later version wrote it.
    pub fn open(directory: &Path, limits: Limits) -> Result<Self, AlarmsError> {
        Self::of(database::open(directory)?, limits)
    }

    /// Makes alarms that are gone when they are dropped, for a DAC that keeps nothing on a disk.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn in_memory(limits: Limits) -> Result<Self, AlarmsError> {
        Self::of(database::in_memory()?, limits)
    }

    fn of(database: Database, limits: Limits) -> Result<Self, AlarmsError> {
        let Database { path, writer, reader, lock } = database;
        let memory = load(&writer).map_err(|error| database::failure(&path, error))?;
        let revision = watch::Sender::new(memory.revision);
        let (writer, reader, mut memory) = (Mutex::new(writer), Mutex::new(reader), RwLock::new(memory));
        let mut given = HandoverLog::default();
        let nodes = memory.get_mut().unwrap_or_else(PoisonError::into_inner).homes.keys();
        nodes.for_each(|node| given.touch(node));
        let (given, copies) = (Mutex::new(given), Copies::default());
        Ok(Self { limits, path, writer, reader, memory, revision, given, copies, lock })
    }

    /// Says which alarm rules exist. The alarms of other rules end, with the cause "rule removed".
    /// Call [`Alarms::set_destinations`] before, so that destinations learn of that.
    ///
    /// # Errors
    /// If the database fails; then nothing has changed.
    pub fn set_rules(&self, rules: &[RuleFacts]) -> Result<(), AlarmsError> {
        let rules: HashMap<_, _> = rules.iter().map(|rule| (rule.name.clone(), rule.clone())).collect();
        let now = self.memory().now();
        self.change(now, |draft, memory| {
            let gone = memory.alarms.keys().filter(|key| !rules.contains_key(&key.rule));
            gone.cloned().try_for_each(|key| draft.remove(&key))
        })?;
        self.memory.write().unwrap_or_else(PoisonError::into_inner).rules = rules;
        Ok(())
    }

    /// Alarms that have gone to another DAC: `home` returns its name. Those that are normal and silenced by an operator stay.
    pub fn moved<'a>(&self, home: impl Fn(&AlarmKey) -> Option<&'a str>) -> Vec<(AlarmKey, &'a str)> {
        moved(&self.memory(), home)
    }

    /// Ends the alarms that [`Alarms::moved`] returns. Their journal says so. Those of nodes that another DAC has taken are gone without a message; of the
    /// others, what operators have silenced stays silenced.
    ///
    /// # Errors
    /// If the database fails; then nothing has changed.
    pub fn end_moved<'a>(
        &self,
        now: Nanos,
        home: impl Fn(&AlarmKey) -> Option<&'a str>,
    ) -> Result<(), AlarmsError> {
        self.change(now.0, |draft, memory| {
            let ending = memory.alarms.keys().filter_map(|key| Some((key, home(key)?)));
            let ending: Vec<_> = ending.map(|(key, home)| (AlarmKey::clone(key), home)).collect();
            let is_given = |node: &str| self.given().state_of(node).is_some_and(|(is_given, _)| is_given);
            ending.iter().try_for_each(|(key, home)| draft.leave(key, home, is_given(&key.node)))
        })?;
        Ok(())
    }

    /// Says which destinations exist: messages are written for these. Messages for others are dropped.
    ///
    /// # Errors
    /// If the database fails; then nothing has changed.
    pub fn set_destinations(&self, destinations: &[String]) -> Result<(), AlarmsError> {
        let is_gone = |name: &&String| !destinations.contains(name);
        let gone: Vec<_> = self.memory().figures.keys().filter(is_gone).cloned().collect();
        let now = self.memory().now();
        self.change(now, |draft, _| gone.iter().try_for_each(|name| draft.forget_destination(name)))?;
        let mut memory = self.memory.write().unwrap_or_else(PoisonError::into_inner);
        memory.destinations = destinations.to_vec();
        memory.figures.retain(|name, _| !gone.contains(name));
        memory.under_way.retain(|name, _| !gone.contains(name));
        for name in destinations {
            memory.figures.entry(name.clone()).or_default();
        }
        Ok(())
    }

    /// Makes a round durable and then shows it.
    ///
    /// # Errors
    /// If the database fails: then nothing of the round has happened, and it can be committed again.
    pub fn commit(&self, round: Round) -> Result<CommitSummary, AlarmsError> {
        let Round { now, events, checkpoints } = round;
        if events.is_empty() && checkpoints.is_empty() {
            return self
                .tick(now)
                .map(|()| CommitSummary { revision: self.memory().revision, ..CommitSummary::default() });
        }
        let is_time = self.memory().is_time_to_tell(now.0) && events.iter().all(|event| !event.late);
        self.change(now.0, |draft, _| {
            draft.expire()?;
            if is_time {
                draft.notify_late()?;
            }
            events.into_iter().try_for_each(|event| draft.event(event))?;
            checkpoints.iter().try_for_each(|(key, checkpoint)| draft.checkpoint(key, checkpoint))
        })
    }

    /// Lets time pass: timed shelves end, and destinations learn of what is left of late events. Writes only then.
    ///
    /// # Errors
    /// If the database fails.
    pub fn tick(&self, now: Nanos) -> Result<(), AlarmsError> {
        let (is_over, is_time) = {
            let memory = self.memory();
            (memory.pass_time(now.0), memory.is_time_to_tell(now.0))
        };
        if is_over || is_time {
            self.change(now.0, |draft, _| {
                draft.expire()?;
                if is_time { draft.notify_late() } else { Ok(()) }
            })?;
        }
        Ok(())
    }

    /// The newest checkpoint with a key.
    ///
    /// # Errors
    /// If the database fails.
    pub fn checkpoint(&self, key: &CheckpointKey) -> Result<Option<Checkpoint>, AlarmsError> {
        checkpoint::get(&self.writer(), key).map_err(|error| self.failure(error))
    }

    /// Removes checkpoints that are not needed, at most 10,000 of them, if all take more than half of their room
    /// ([`Limits`](crate::Limits)).
    ///
    /// # Errors
    /// If the database fails; then nothing has changed.
    pub fn retain_checkpoints(&self, keep: impl Fn(&CheckpointKey) -> bool) -> Result<(), AlarmsError> {
        if self.memory().checkpoints_bytes <= self.limits.checkpoints_bytes / 2 {
            return Ok(());
        }
        let mut writer = self.writer();
        let mut remove = || {
            let transaction = writer.transaction()?;
            let gone = checkpoint::keys(&transaction, |key| !keep(key), MAX_REMOVED)?;
            gone.iter().try_for_each(|key| checkpoint::remove(&transaction, key))?;
            let total = checkpoint::total(&transaction)?;
            transaction.commit().map(|()| total)
        };
        let total = remove().map_err(|error| self.failure(error))?;
        self.memory.write().unwrap_or_else(PoisonError::into_inner).checkpoints_bytes = total;
        Ok(())
    }

    /// Does what an operator asks for.
    ///
    /// An alarm that was never raised can be silenced too, if its rule exists; the caller checks that its instance does.
    ///
    /// # Errors
    /// If the alarm is unknown or its state does not allow the action, or the database fails. Then nothing has changed.
    pub fn act(&self, action: Action) -> Result<AlarmView, ActionError> {
        self.check(&action)?;
        let (key, now) = (action.key.clone(), action.now);
        let changed = self.change_or(now.0, |draft, _| {
            draft.expire()?;
            draft.act(action)
        });
        changed.map_err(|failure| match failure {
            ActionFailure::Refused(error) => error,
            ActionFailure::Sqlite(error) => self.failure(error).into(),
        })?;
        let memory = self.memory();
        let alarm = memory.alarms.get(&key).ok_or(ActionError::Unknown(key))?;
        Ok(alarm.shown(memory.now()))
    }

    /// The alarm with a key.
    pub fn get(&self, key: &AlarmKey) -> Option<AlarmView> {
        let memory = self.memory();
        Some(memory.alarms.get(key)?.shown(memory.now()))
    }

    /// Whether there is such an alarm.
    pub fn has(&self, key: &AlarmKey) -> bool {
        self.memory().alarms.contains_key(key)
    }

    /// Alarms in the order of their keys.
    pub fn list(&self, filter: &Filter) -> AlarmList {
        self.list_visible(filter, |_| true)
    }

    /// Alarms in the order of their keys, of those that a caller may see.
    pub fn list_visible(&self, filter: &Filter, is_visible: impl Fn(&AlarmKey) -> bool) -> AlarmList {
        self.memory().list(filter, is_visible)
    }

    /// Entries of the journal, newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub fn journal(&self, filter: &JournalFilter) -> Result<JournalPage, AlarmsError> {
        self.journal_visible(filter, |_, _| true)
    }

    /// Entries of the journal, newest first, of instances (node and name) that a caller may see. If many entries are invisible, a page has fewer than
    /// were asked for, and others follow.
    ///
    /// # Errors
    /// If the database fails.
    pub fn journal_visible(
        &self,
        filter: &JournalFilter,
        is_visible: impl Fn(&str, &str) -> bool,
    ) -> Result<JournalPage, AlarmsError> {
        let most = if filter.most == 0 { MAX_PAGE_ENTRIES } else { filter.most.min(MAX_PAGE_ENTRIES) };
        journal::find(&self.reader(), filter, most, is_visible).map_err(|error| self.failure(error))
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
        now: Nanos,
        is_visible: impl Fn(&AlarmKey) -> bool,
    ) -> Result<Statistics, AlarmsError> {
        let raises = journal::raises(&self.reader(), now.0).map_err(|error| self.failure(error))?;
        Ok(statistics::compute(&self.memory(), raises, is_visible))
    }

    /// The revision, and a wake when it grows: an alarm has changed, and with it perhaps the messages.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    /// Alarms that changed after a revision, oldest change first, at most [`Limits::changes`].
    pub fn changes(&self, since: u64) -> Changes {
        self.memory().changes(since, self.limits.changes.max(1))
    }

    /// Messages to deliver now. Those of one destination come by severity and then by age, and a message that waits for its retry holds up all others of its
    /// destination. A state that waits for more than two seconds, or that its destination has not accepted, is left out if its alarm has a newer one. Each
    /// destination gets an equal share of `most`.
    ///
    /// # Errors
    /// If the database fails.
    pub fn due(&self, now: Nanos, most: usize) -> Result<Vec<Message>, AlarmsError> {
        let destinations = self.memory().destinations.clone();
        let share = most.div_ceil(destinations.len().max(1));
        let mut due = Vec::new();
        for destination in &destinations {
            due.extend(self.due_for(destination, now, share.min(most - due.len()))?);
        }
        Ok(due)
    }

    /// The messages of [`Alarms::due`] for one destination.
    ///
    /// # Errors
    /// If the database fails.
    pub fn due_for(&self, destination: &str, now: Nanos, most: usize) -> Result<Vec<Message>, AlarmsError> {
        message::due(&self.writer(), destination, now.0, most).map_err(|error| self.failure(error))
    }

    /// Marks messages as being sent: until the next call for the same destination no newer state replaces them. Returns whether all of them still wait;
    /// otherwise none is marked.
    ///
    /// # Errors
    /// If the database fails.
    pub fn begin_sending(&self, destination: &str, ids: &[i64]) -> Result<bool, AlarmsError> {
        // Whoever has the writer replaces messages.
        let writer = self.writer();
        for id in ids {
            if !message::has(&writer, *id).map_err(|error| self.failure(error))? {
                return Ok(false);
            }
        }
        let mut memory = self.memory.write().unwrap_or_else(PoisonError::into_inner);
        memory.under_way.insert(destination.into(), ids.to_vec());
        Ok(true)
    }

    /// Writes down how an attempt to deliver a message ended. One that is delivered or given up settles the older ones about the same alarm too: they count as
    /// coalesced. A message that is gone already is ignored.
    ///
    /// # Errors
    /// If the database fails: then the message is due again.
    pub fn settle(&self, id: i64, outcome: Outcome) -> Result<(), AlarmsError> {
        let now = self.memory().now();
        self.change(now, |draft, _| draft.settle(id, outcome)).map(|_| ())
    }

    /// Counts of messages.
    pub fn outbox_figures(&self) -> OutboxFigures {
        OutboxFigures { destinations: self.memory().figures.clone() }
    }

    fn check(&self, action: &Action) -> Result<(), ActionError> {
        if action.comment.as_ref().is_some_and(|comment| comment.len() > self.limits.comment_bytes) {
            return Err(ActionError::Comment(self.limits.comment_bytes));
        }
        match action.verb {
            ActionVerb::Shelve { seconds: None, once: false } => Err(ActionError::Endless),
            ActionVerb::Shelve { seconds: Some(seconds), .. }
                if seconds == 0 || seconds > self.limits.shelve_seconds =>
            {
                Err(ActionError::Seconds(self.limits.shelve_seconds))
            }
            _ => Ok(()),
        }
    }

    /// Makes changes durable, all or none, and then shows them.
    pub(crate) fn change(
        &self,
        now: u64,
        change: impl FnOnce(&mut Draft<'_>, &Memory) -> rusqlite::Result<()>,
    ) -> Result<CommitSummary, AlarmsError> {
        self.change_or(now, change).map_err(|error| self.failure(error))
    }

    fn change_or<E: From<rusqlite::Error>>(
        &self,
        now: u64,
        change: impl FnOnce(&mut Draft<'_>, &Memory) -> Result<(), E>,
    ) -> Result<CommitSummary, E> {
        let mut writer = self.writer();
        let changed: Change = {
            // Only the owner of the writer changes it.
            let memory = self.memory();
            let transaction = writer.transaction()?;
            let mut draft = Draft::new(&transaction, &memory, self.limits, now);
            change(&mut draft, &memory)?;
            let changed = draft.finish()?;
            transaction.commit()?;
            changed
        };
        let (committed, nodes) = (changed.committed, changed.nodes());
        changed.apply(&mut self.memory.write().unwrap_or_else(PoisonError::into_inner));
        let mut given = self.given();
        nodes.iter().for_each(|node| given.touch(node));
        drop(given);
        self.revision.send_if_modified(|revision| {
            std::mem::replace(revision, committed.revision) != committed.revision
        });
        Ok(committed)
    }

    fn failure(&self, error: rusqlite::Error) -> AlarmsError {
        database::failure(&self.path, error)
    }

    /// Copies of what other DACs have.
    pub fn copies(&self) -> &Copies {
        &self.copies
    }

    /// A panic while it was held has rolled its transaction back.
    fn writer(&self) -> MutexGuard<'_, Connection> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reader(&self) -> MutexGuard<'_, Connection> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn given(&self) -> MutexGuard<'_, HandoverLog> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn on_reader<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, AlarmsError> {
        ask(&self.reader()).map_err(|error| self.failure(error))
    }

    pub(crate) fn memory(&self) -> RwLockReadGuard<'_, Memory> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn moved<'a>(memory: &Memory, home: impl Fn(&AlarmKey) -> Option<&'a str>) -> Vec<(AlarmKey, &'a str)> {
    let stays = |alarm: &Alarm| alarm.state.standing == Standing::Normal && alarm.state.is_silenced();
    let ending = memory.alarms.iter().filter(|(_, alarm)| !stays(alarm));
    ending.filter_map(|(key, _)| Some((AlarmKey::clone(key), home(key)?))).collect()
}

/// Reads all alarms and counts.
fn load(on: &Connection) -> rusqlite::Result<Memory> {
    let mut memory = Memory::default();
    for alarm in alarm::all(on)? {
        memory.put(alarm);
    }
    let now = journal::newest(on)?;
    memory.now = now.into();
    for (key, written, time) in journal::raised_since(on, now.saturating_sub(3_600_000_000_000))? {
        if let Some(alarm) = memory.alarms.get_mut(&key) {
            alarm.note_raise(written, time);
        }
    }
    let chattered =
        memory.alarms.iter().filter_map(|(key, alarm)| Some((key.clone(), alarm.chatter.last()?)));
    memory.chattering = chattered.collect();
    memory.revision = counter::get(on, "revision")?;
    // A reader from before the restart may have missed an end.
    memory.forgotten = memory.revision;
    memory.figures = message::figures(on)?;
    memory.journal = journal::size(on)?;
    memory.journal_removed = counter::get(on, "journal_removed")?;
    memory.checkpoints_bytes = checkpoint::total(on)?;
    memory.homes = home::all(on)?;
    Ok(memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{At, EventIdentity, EventKey, RuleEvent};
    use oasis_rules::EventKind;

    fn raised(sequence: u64) -> Round {
        let (rule, node, instance, kind) = ("Hot", "plant", "pump", EventKind::Raised);
        let at = At::Sequence(sequence);
        let key = EventKey::new(EventIdentity { rule, node, instance, run: None, at, kind, index: 0 });
        let event = RuleEvent::new(key, rule, (node, instance), kind);
        let event = RuleEvent { standing: Some(Standing::Active), cause: Some("x".repeat(900)), ..event };
        Round { now: Nanos(sequence), events: vec![event], checkpoints: vec![] }
    }

    #[test]
    fn a_full_disk_changes_nothing_and_room_is_enough_to_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let alarms = Alarms::open(folder.path(), Limits::default()).unwrap();
        alarms.set_destinations(&["mail".into()]).unwrap();
        alarms.commit(raised(1)).unwrap();
        let pages: i64 = alarms.writer().pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        // A disk that is full within a round or two.
        alarms.writer().pragma_update(None, "max_page_count", pages + 1).unwrap();
        let (sequence, error) =
            (2..50).find_map(|sequence| Some((sequence, alarms.commit(raised(sequence)).err()?))).unwrap();
        assert!(error.is_disk_full(), "{error}");
        let before = alarms.list(&Filter::default());
        assert_eq!(before.alarms[0].revision, sequence - 1);
        assert!(alarms.commit(raised(sequence)).is_err());
        assert_eq!((alarms.list(&Filter::default()), *alarms.watch().borrow()), (before, sequence - 1));
        let figures = alarms.outbox_figures().destinations["mail"].clone();
        assert_eq!((figures.waiting, figures.coalesced), (1, sequence - 2));

        alarms.writer().pragma_update(None, "max_page_count", 100_000).unwrap();
        assert_eq!(alarms.commit(raised(sequence)).unwrap().events, 1);
        assert_eq!(alarms.list(&Filter::default()).revision, sequence);
    }
}
