//! A change of alarms under way: written to a transaction, and shown only once that is durable.

use crate::{
    Action, ActionError, AlarmKey, AlarmView, Checkpoint, CheckpointKey, CommitSummary, Conflict,
    DestinationFigures, EventKey, HandedAlarm, JournalEntry, JournalKind, Limits, MessageKind,
    NodeConnection, Outcome, RuleEvent, RuleFacts,
    action::ActionVerb,
    machine::Effects,
    memory::{Alarm, Memory},
    tables::{self, checkpoint, counter, home, journal, message},
};
use oasis_rules::{EventKind, Placeholder, Standing, displayed, fill, program::Severity};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

type Result<T> = rusqlite::Result<T>;

/// Most bytes of a text for people, after its placeholders are filled in.
const MESSAGE_BYTES: usize = 4_096;

/// Origin of a change, as far as messages report it.
#[derive(Debug, Clone, Copy)]
enum Origin {
    Event(EventKey),
    Other,
}

/// A change under way.
#[derive(Debug)]
pub struct Draft<'a> {
    on: &'a Connection,
    base: &'a Memory,
    limits: Limits,
    /// Now on the DAC's clock.
    now: u64,
    change: Change,
}

/// The state that readers see once it is durable.
#[derive(Debug, Default)]
pub struct Change {
    pub committed: CommitSummary,
    /// Alarms as they are now; none for those that are gone, with the revision of their end.
    alarms: BTreeMap<AlarmKey, (u64, Option<Alarm>)>,
    revision: u64,
    now: u64,
    journal: journal::Size,
    journal_removed: u64,
    checkpoints_bytes: u64,
    /// Nodes of which states of rules were written down.
    nodes: BTreeSet<String>,
    homes: BTreeMap<String, NodeConnection>,
    figures: BTreeMap<String, DestinationFigures>,
    is_late: bool,
}

impl Change {
    /// The nodes of which something has changed.
    pub fn nodes(&self) -> BTreeSet<String> {
        self.alarms.keys().map(|key| &key.node).chain(&self.nodes).chain(self.homes.keys()).cloned().collect()
    }

    /// Shows it.
    pub fn apply(self, memory: &mut Memory) {
        for (key, (revision, alarm)) in self.alarms {
            match alarm {
                Some(alarm) => memory.put(alarm),
                None => memory.remove(&key, revision),
            }
        }
        memory.revision = self.revision;
        memory.now = self.now.into();
        if self.is_late {
            memory.last_late = self.now;
        }
        memory.journal = self.journal;
        memory.journal_removed = self.journal_removed;
        memory.checkpoints_bytes = self.checkpoints_bytes;
        memory.figures.extend(self.figures);
        memory.homes.extend(self.homes);
        memory.bound_homes(home::MAX_NODES);
        memory.refused += self.committed.refused as u64;
    }
}

impl<'a> Draft<'a> {
    /// Begins a change in an open transaction.
    pub fn new(on: &'a Connection, base: &'a Memory, limits: Limits, now: u64) -> Self {
        let change = Change {
            revision: base.revision,
            now,
            journal: base.journal,
            journal_removed: base.journal_removed,
            checkpoints_bytes: base.checkpoints_bytes,
            ..Change::default()
        };
        Self { on, base, limits, now, change }
    }

    /// Ends the change: the caller commits the transaction, and shows what is returned.
    pub fn finish(mut self) -> Result<Change> {
        self.bound_journal()?;
        if self.change.revision != self.base.revision {
            counter::set(self.on, "revision", self.change.revision)?;
        }
        for (name, figures) in &mut self.change.figures {
            figures.oldest = message::oldest(self.on, name)?;
            message::put_figures(self.on, name, figures)?;
        }
        self.change.committed.revision = self.change.revision;
        Ok(self.change)
    }

    /// Takes a result of a rule. An event that the journal has is ignored.
    pub fn event(&mut self, event: RuleEvent) -> Result<()> {
        if journal::has(self.on, event.key)? {
            self.change.committed.duplicates += 1;
            return Ok(());
        }
        self.change.committed.events += 1;
        self.change.is_late |= event.late;
        let key =
            AlarmKey { rule: event.rule.clone(), node: event.node.clone(), instance: event.instance.clone() };
        let alarm = match event.standing {
            Some(_) => self.alarm_with_room(&key)?,
            None => None,
        };
        let Some(mut alarm) = alarm else {
            if event.standing.is_some() {
                self.change.committed.refused += 1;
            }
            return self.append(&self.entry_of(&event, event.standing));
        };
        let latches = event.standing == Some(Standing::Latched);
        let effects = alarm.state.on_event(event.kind, event.is_known, latches, event.late);
        self.note(&mut alarm, &event);
        self.append(&self.entry_of(&event, Some(alarm.state.standing)))?;
        self.follow(&mut alarm, effects, "the alarm cleared", Origin::Event(event.key))?;
        self.put(alarm)
    }

    /// Writes a checkpoint down. One that is too large is refused: the earlier one stays, from which the rule gives the same events again.
    pub fn checkpoint(&mut self, key: &CheckpointKey, checkpoint: &Checkpoint) -> Result<()> {
        let former = checkpoint::bytes(self.on, key)?;
        let bytes = checkpoint.state.len();
        let total = self.change.checkpoints_bytes.saturating_sub(former) + bytes as u64;
        if bytes > self.limits.checkpoint_bytes || total > self.limits.checkpoints_bytes {
            self.change.committed.refused_checkpoints += 1;
            return Ok(());
        }
        self.change.checkpoints_bytes = total;
        self.change.nodes.insert(key.node.clone());
        checkpoint::put(self.on, key, checkpoint)
    }

    /// Ends the shelves whose time is up.
    pub fn expire(&mut self) -> Result<()> {
        let keys: Vec<_> = self.base.timed.iter().cloned().collect();
        for key in keys {
            let Some(former) = self.alarm(&key) else { continue };
            let mut alarm = former.clone();
            let effects = alarm.state.on_time(self.now);
            if alarm.state == former.state {
                continue;
            }
            self.follow(&mut alarm, effects, "its time is up", Origin::Other)?;
            self.put(alarm)?;
        }
        Ok(())
    }

    /// Notifies the destinations of late events that still matter.
    pub fn notify_late(&mut self) -> Result<()> {
        let keys: Vec<_> = self.base.untold.iter().cloned().collect();
        for key in keys {
            let Some(mut alarm) = self.alarm(&key).filter(|alarm| alarm.state.is_untold()) else { continue };
            let effects = alarm.state.settle_late();
            self.follow(&mut alarm, effects, "", Origin::Other)?;
            self.put(alarm)?;
        }
        Ok(())
    }

    /// Does what an operator asks for.
    pub fn act(&mut self, action: Action) -> std::result::Result<(), ActionFailure> {
        let Action { key, verb, comment, principal, now: _ } = action;
        let known = self.alarm(&key);
        let mut alarm = match known {
            Some(alarm) => alarm,
            None if verb.needs_alarm() || !self.base.rules.contains_key(&key.rule) => {
                return Err(ActionError::Unknown(key).into());
            }
            None => self
                .alarm_with_room(&key)
                .map_err(ActionFailure::Sqlite)?
                .ok_or(ActionError::TooMany(self.limits.alarms))?,
        };
        let effects = alarm.state.on_action(verb, self.now)?;
        (alarm.view.comment, alarm.view.principal) = (comment.clone(), Some(principal.clone()));
        let entry = self.entry(&alarm, verb.kind());
        self.append(&JournalEntry { principal: Some(principal), comment, ..entry })?;
        self.follow(&mut alarm, effects, "", Origin::Other)?;
        Ok(self.put(alarm)?)
    }

    /// Ends an alarm whose rule is gone.
    pub fn remove(&mut self, key: &AlarmKey) -> Result<()> {
        let Some(mut alarm) = self.alarm(key) else { return Ok(()) };
        let effects = alarm.state.on_removal();
        alarm.state.standing = Standing::Normal;
        alarm.view.cause = Some("rule removed".into());
        let entry = self.entry(&alarm, JournalKind::RuleRemoved);
        self.append(&JournalEntry { cause: Some("rule removed".into()), ..entry })?;
        self.follow(&mut alarm, effects, "rule removed", Origin::Other)?;
        self.forget(key)
    }

    /// Notes under which connection the alarms of a node are here.
    pub fn settle_home(&mut self, node: &str, at: &NodeConnection) -> Result<()> {
        home::put(self.on, node, at)?;
        self.change.homes.insert(node.into(), *at);
        Ok(())
    }

    /// Forgets the connections that came first, if there are too many.
    pub fn bound_homes(&mut self) -> Result<()> {
        home::bound(self.on)
    }

    /// Takes an alarm over from another DAC. The destinations know what that one has told them.
    pub fn take_over(&mut self, handed: HandedAlarm, from: &str) -> Result<()> {
        let key = handed.view.key.clone();
        let alarm = match self.base.rules.contains_key(&key.rule) {
            true => self.alarm_with_room(&key)?,
            false => None,
        };
        let Some(mut alarm) = alarm else {
            self.change.committed.refused += 1;
            return Ok(());
        };
        handed.give_to(&mut alarm);
        (alarm.raises, alarm.chatter) = Default::default();
        if !alarm.state.is_idle() {
            let AlarmView { value, limit, unit, since, sequence, comment, principal, .. } =
                alarm.view.clone();
            let cause = Some(self.cut(&format!("taken over from DAC {from}")));
            let entry = self.entry(&alarm, JournalKind::TakenOver);
            let found = JournalEntry { value, limit, unit, since, sequence, ..entry };
            self.append(&JournalEntry { cause, comment, principal, ..found })?;
        }
        let effects = alarm.state.settle_late();
        self.follow(&mut alarm, effects, "", Origin::Other)?;
        self.put(alarm)
    }

    /// Ends an alarm whose node has gone to another DAC. `is_given`: that one has it, with all that operators did, and tells the destinations. Otherwise
    /// what an operator has silenced stays silenced here: the node may come back.
    pub fn leave(&mut self, key: &AlarmKey, home: &str, is_given: bool) -> Result<()> {
        let Some(mut alarm) = self.alarm(key) else { return Ok(()) };
        let is_standing = alarm.state.standing != Standing::Normal;
        let mut effects = alarm.state.on_departure();
        if is_given {
            effects = Effects::default();
        }
        if is_standing {
            let cause = self.cut(&format!("moved to DAC {home}"));
            alarm.view.cause = Some(cause.clone());
            let entry = self.entry(&alarm, JournalKind::Moved);
            self.append(&JournalEntry { cause: Some(cause), ..entry })?;
        }
        self.follow(&mut alarm, effects, "the node has moved", Origin::Other)?;
        match (alarm.state.is_silenced() && !is_given, is_standing) {
            (true, true) => self.put(alarm),
            (true, false) => Ok(()),
            (false, _) => self.forget(key),
        }
    }

    /// Removes the messages for a destination that does not exist any longer.
    pub fn forget_destination(&mut self, name: &str) -> Result<()> {
        let mut count = 0;
        let mut newest = None;
        while let Some((alarm, _)) = message::remove_least(self.on, name)? {
            (count, newest) = (count + 1, Some(alarm.key));
        }
        if let Some(key) = newest {
            let cause = format!("{name}: {count} messages, the destination is no longer configured");
            self.append_note(key, JournalKind::NotificationsDropped, cause)?;
        }
        message::forget(self.on, name)
    }

    /// Writes down how an attempt to deliver a message ended.
    pub fn settle(&mut self, id: i64, outcome: Outcome) -> Result<()> {
        let Some((destination, alarm, bytes)) = message::get(self.on, id)? else { return Ok(()) };
        let figures = self.figures(&destination);
        match outcome {
            Outcome::Delivered => {
                (figures.delivered, figures.last_error) = (figures.delivered + 1, None);
                self.settled(&destination, &alarm.key, (id, bytes))
            }
            Outcome::Retry { at, why } => {
                let why = self.cut(&why);
                let figures = self.figures(&destination);
                (figures.failed, figures.last_error) = (figures.failed + 1, Some(why.clone()));
                message::postpone(self.on, id, at.0, &why)
            }
            Outcome::GivenUp { why } => {
                let why = self.cut(&why);
                let figures = self.figures(&destination);
                (figures.given_up, figures.last_error) = (figures.given_up + 1, Some(why.clone()));
                figures.failed += 1;
                let cause = format!("{destination}: {why}");
                self.append_note(alarm.key.clone(), JournalKind::NotificationFailed, cause)?;
                self.settled(&destination, &alarm.key, (id, bytes))
            }
        }
    }

    /// A message waits no longer, and with it older states of its alarm.
    fn settled(&mut self, destination: &str, of: &AlarmKey, (id, bytes): (i64, u64)) -> Result<()> {
        self.remove_message(destination, id, bytes)?;
        for older in message::waiting(self.on, destination, of)?.into_iter().filter(|older| older.id < id) {
            self.remove_message(destination, older.id, older.bytes)?;
            self.figures(destination).coalesced += 1;
        }
        Ok(())
    }

    fn remove_message(&mut self, destination: &str, id: i64, bytes: u64) -> Result<()> {
        let figures = self.figures(destination);
        (figures.waiting, figures.bytes) =
            (figures.waiting.saturating_sub(1), figures.bytes.saturating_sub(bytes));
        message::remove(self.on, id)
    }

    /// Removes the messages about an alarm that a new one replaces: a raise replaces all that are not being sent, and a clear replaces a clear. A raise
    /// before a clear stays, for a destination that does not lag.
    fn replace(
        &mut self,
        destination: &str,
        of: &AlarmKey,
        kind: MessageKind,
    ) -> Result<message::ReplacedMessage> {
        let base = self.base;
        let under_way = base.under_way.get(destination).map_or(&[][..], Vec::as_slice);
        let mut replaced = message::ReplacedMessage::default();
        let waiting = message::waiting(self.on, destination, of)?;
        for older in waiting.into_iter().filter(|older| !under_way.contains(&older.id)) {
            let since =
                replaced.waiting_since.map_or(older.waiting_since, |since| since.min(older.waiting_since));
            replaced.waiting_since = Some(since);
            replaced.due = replaced.due.max(older.due);
            if kind == MessageKind::Raised || older.kind == MessageKind::Cleared {
                self.remove_message(destination, older.id, older.bytes)?;
                replaced.count += older.coalesced + 1;
                self.figures(destination).coalesced += 1;
            }
        }
        Ok(replaced)
    }

    /// The counts of a destination, to be changed.
    pub fn figures(&mut self, name: &str) -> &mut DestinationFigures {
        let base = self.base;
        let figures = self.change.figures.entry(name.to_owned());
        figures.or_insert_with(|| base.figures.get(name).cloned().unwrap_or_default())
    }

    fn alarm(&self, key: &AlarmKey) -> Option<Alarm> {
        match self.change.alarms.get(key) {
            Some((_, alarm)) => alarm.clone(),
            None => self.base.alarms.get(key).cloned(),
        }
    }

    /// The alarm, or a new one if there is room or an idle one makes room.
    fn alarm_with_room(&mut self, key: &AlarmKey) -> Result<Option<Alarm>> {
        if let Some(alarm) = self.alarm(key) {
            return Ok(Some(alarm));
        }
        let is_new = |key: &AlarmKey| !self.base.alarms.contains_key(key);
        let added = self.change.alarms.iter().filter(|(key, (_, alarm))| alarm.is_some() && is_new(key));
        let gone = self.change.alarms.iter().filter(|(key, (_, alarm))| alarm.is_none() && !is_new(key));
        let count = self.base.alarms.len() + added.count() - gone.count();
        if count >= self.limits.alarms {
            let changed = &self.change.alarms;
            let Some(idle) = self.base.least_needed(|key| changed.contains_key(key)) else {
                return Ok(None);
            };
            self.forget(&idle)?;
        }
        Ok(Some(Alarm::new(key.clone())))
    }

    /// Notes what an event says about its alarm.
    fn note(&self, alarm: &mut Alarm, event: &RuleEvent) {
        let facts = self.base.rules.get(&event.rule);
        let view = &mut alarm.view;
        let severity = event.severity.or(facts.map(|facts| facts.severity));
        view.severity = severity.unwrap_or(Severity::Medium);
        (view.value, view.limit, view.unit) = (event.value, event.limit, event.unit.clone());
        (view.sequence, view.cause) = (event.sequence, event.cause.as_deref().map(|cause| self.cut(cause)));
        match event.kind {
            EventKind::Raised => {
                (view.raised, view.since) = (Some(event.time), event.since.or(Some(event.time)));
                view.message = facts.and_then(|facts| message_of(facts, event));
                if !alarm.state.is_silenced() {
                    // They are about an earlier raise.
                    (view.comment, view.principal) = (None, None);
                }
                alarm.raised_dac = Some(event.dac_time);
                alarm.note_raise(self.now, event.time);
            }
            EventKind::Cleared => view.cleared = Some(event.time),
            _ => {}
        }
    }

    /// Writes down what follows from a change of an alarm.
    fn follow(&mut self, alarm: &mut Alarm, effects: Effects, why: &str, origin: Origin) -> Result<()> {
        alarm.show();
        if effects.is_unshelved {
            let entry = self.entry(alarm, JournalKind::Unshelved);
            self.append(&JournalEntry { cause: Some(why.into()), ..entry })?;
        }
        match effects.message {
            Some(kind) => self.notify(alarm, kind, origin),
            None => Ok(()),
        }
    }

    /// Writes a message for each destination of the alarm's rule.
    fn notify(&mut self, alarm: &Alarm, kind: MessageKind, origin: Origin) -> Result<()> {
        let chosen = self.base.rules.get(&alarm.view.key.rule).and_then(|facts| facts.notify.as_ref());
        let is_chosen = |name: &&String| chosen.is_none_or(|chosen| chosen.contains(name));
        let destinations: Vec<_> = self.base.destinations.iter().filter(is_chosen).collect();
        if destinations.is_empty() {
            return Ok(());
        }
        let key = match origin {
            Origin::Event(key) => key.message(kind.name()),
            // The revision is new, and the time keeps it apart from that of a database that was removed.
            Origin::Other => {
                let AlarmKey { rule, node, instance } = &alarm.view.key;
                let change = format!("{}/{}/{rule}/{node}/{instance}", self.now, self.change.revision + 1);
                EventKey(Uuid::nil()).message(&format!("{}/{change}", kind.name()))
            }
        };
        let (of, severity, written) = (&alarm.view.key, alarm.view.severity, self.now);
        let alarm = serde_json::to_string(&alarm.shown(self.now))
            .map_err(|error| tables::invalid(error.to_string()))?;
        for destination in destinations {
            let replaced = self.replace(destination, of, kind)?;
            let new = message::NewMessage {
                key,
                destination,
                kind,
                of,
                severity,
                alarm: &alarm,
                written,
                replaced,
            };
            let bytes = message::append(self.on, &new)?;
            self.change.committed.messages += 1;
            let figures = self.figures(destination);
            (figures.waiting, figures.bytes) = (figures.waiting + 1, figures.bytes + bytes);
            self.bound_messages(destination)?;
        }
        Ok(())
    }

    /// Drops the least severe messages for a destination, the oldest first, until the others have room.
    fn bound_messages(&mut self, destination: &str) -> Result<()> {
        let (most, most_bytes) = (self.limits.waiting_messages, self.limits.waiting_bytes);
        let (mut dropped, mut newest) = (0_u64, None);
        while self.figures(destination).waiting > most || self.figures(destination).bytes > most_bytes {
            let Some((alarm, bytes)) = message::remove_least(self.on, destination)? else { break };
            let figures = self.figures(destination);
            (figures.waiting, figures.bytes) = (figures.waiting - 1, figures.bytes.saturating_sub(bytes));
            figures.dropped += 1;
            (dropped, newest) = (dropped + 1, Some(alarm.key));
        }
        let Some(key) = newest else { return Ok(()) };
        let cause = format!("{destination}: {dropped} messages, too many waited");
        self.append_note(key, JournalKind::NotificationsDropped, cause)
    }

    /// Writes an alarm down with the next revision.
    fn put(&mut self, mut alarm: Alarm) -> Result<()> {
        self.change.revision += 1;
        alarm.view.revision = self.change.revision;
        alarm.show();
        tables::alarm::put(self.on, &alarm)?;
        self.change.alarms.insert(alarm.view.key.clone(), (self.change.revision, Some(alarm)));
        Ok(())
    }

    fn forget(&mut self, key: &AlarmKey) -> Result<()> {
        self.change.revision += 1;
        tables::alarm::remove(self.on, key)?;
        self.change.alarms.insert(key.clone(), (self.change.revision, None));
        Ok(())
    }

    fn append(&mut self, entry: &JournalEntry) -> Result<()> {
        let bytes = journal::append(self.on, entry)?;
        self.change.journal.entries += 1;
        self.change.journal.bytes += bytes;
        Ok(())
    }

    fn append_note(&mut self, key: AlarmKey, kind: JournalKind, cause: String) -> Result<()> {
        let cause = Some(self.cut(&cause));
        let entry = self.entry(&Alarm::new(key), kind);
        self.append(&JournalEntry { cause, state: None, severity: None, ..entry })
    }

    fn bound_journal(&mut self) -> Result<()> {
        let (most, most_bytes) = (self.limits.journal_entries, self.limits.journal_bytes);
        let former = self.change.journal_removed;
        while self.change.journal.entries > most || self.change.journal.bytes > most_bytes {
            let Some(bytes) = journal::remove_oldest(self.on)? else { break };
            let size = &mut self.change.journal;
            (size.entries, size.bytes) = (size.entries - 1, size.bytes.saturating_sub(bytes));
            self.change.journal_removed += 1;
        }
        if self.change.journal_removed == former {
            return Ok(());
        }
        counter::set(self.on, "journal_removed", self.change.journal_removed)
    }

    /// An entry about something that happened now.
    fn entry(&self, alarm: &Alarm, kind: JournalKind) -> JournalEntry {
        let AlarmKey { rule, node, instance } = alarm.view.key.clone();
        JournalEntry {
            id: 0,
            key: None,
            time: self.now,
            dac_time: self.now,
            written: self.now,
            rule,
            node,
            instance,
            kind,
            state: Some(alarm.state.standing),
            severity: Some(alarm.view.severity),
            is_known: alarm.state.is_known,
            value: None,
            limit: None,
            unit: None,
            sequence: None,
            since: None,
            missing: None,
            cause: None,
            late: false,
            principal: None,
            comment: None,
        }
    }

    fn entry_of(&self, event: &RuleEvent, state: Option<Standing>) -> JournalEntry {
        JournalEntry {
            id: 0,
            key: Some(event.key),
            time: event.time,
            dac_time: event.dac_time,
            written: self.now,
            rule: event.rule.clone(),
            node: event.node.clone(),
            instance: event.instance.clone(),
            kind: event.kind.into(),
            state,
            severity: event.severity,
            is_known: event.is_known,
            value: event.value,
            limit: event.limit,
            unit: event.unit.clone(),
            sequence: event.sequence,
            since: event.since,
            missing: event.missing,
            cause: event.cause.as_deref().map(|cause| self.cut(cause)),
            late: event.late,
            principal: None,
            comment: None,
        }
    }

    fn cut(&self, text: &str) -> String {
        cut(text, self.limits.comment_bytes).to_owned()
    }
}

/// Why an action fails: on the caller's side, or in the database.
#[derive(Debug)]
pub enum ActionFailure {
    Refused(ActionError),
    Sqlite(rusqlite::Error),
}

impl From<ActionError> for ActionFailure {
    fn from(error: ActionError) -> Self {
        Self::Refused(error)
    }
}

impl From<Conflict> for ActionFailure {
    fn from(conflict: Conflict) -> Self {
        Self::Refused(conflict.into())
    }
}

impl From<rusqlite::Error> for ActionFailure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl ActionVerb {
    /// Whether it has no sense for an alarm that was never raised.
    fn needs_alarm(self) -> bool {
        matches!(self, Self::Acknowledge | Self::Unshelve | Self::Unsuppress | Self::InService)
    }

    /// Returns its kind in the journal.
    fn kind(self) -> JournalKind {
        match self {
            Self::Acknowledge => JournalKind::Acknowledged,
            Self::Shelve { .. } => JournalKind::Shelved,
            Self::Unshelve => JournalKind::Unshelved,
            Self::Suppress => JournalKind::Suppressed,
            Self::Unsuppress => JournalKind::Unsuppressed,
            Self::OutOfService => JournalKind::OutOfService,
            Self::InService => JournalKind::InService,
        }
    }
}

/// Returns the beginning of a text, at most `most` bytes in whole characters.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// The text for people, with its placeholders filled in.
fn message_of(facts: &RuleFacts, event: &RuleEvent) -> Option<String> {
    let number = |value: Option<f64>| Some(displayed(value?, event.unit.as_deref()));
    let value = |of| match of {
        Placeholder::Rule => Some(event.rule.clone()),
        Placeholder::Node => Some(event.node.clone()),
        Placeholder::Instance => Some(event.instance.clone()),
        Placeholder::Value => number(event.value),
        Placeholder::Limit => number(event.limit),
        Placeholder::Since => Some(oasis_wire::time::format(event.since.unwrap_or(event.time))),
    };
    let text = fill(facts.message.as_deref()?, value);
    Some(cut(&text, MESSAGE_BYTES).to_owned())
}
