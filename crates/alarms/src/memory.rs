//! The alarms that readers see: all of them, as of the last commit.

use crate::{
    AlarmKey, AlarmList, AlarmView, Changes, DestinationFigures, Filter, MAX_COUNTED_RAISES, NodeConnection,
    RuleFacts,
    chatter::Chattering,
    machine::{Shelve, State},
    tables::journal::Size,
};
use oasis_rules::Standing;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    ops::Bound,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// An hour in nanoseconds.
const HOUR_NANOS: u64 = 3_600_000_000_000;
/// After late events, the time without further ones until destinations learn of those that still stand, in nanoseconds.
const LATE_EVENT_TIMEOUT_NANOS: u64 = 2_000_000_000;
/// Alarms that are gone, and remembered for readers of changes.
const MAX_REMOVED_ALARMS: usize = 10_000;

/// One alarm.
#[derive(Debug, Clone, PartialEq)]
pub struct Alarm {
    pub state: State,
    /// As shown; [`Alarm::show`] copies the state to it.
    pub view: AlarmView,
    /// When it was raised last, on the DAC's clock.
    pub raised_dac: Option<u64>,
    /// When its last raises were written, oldest first, at most [`MAX_COUNTED_RAISES`].
    pub raises: VecDeque<u64>,
    /// Whether it chatters.
    pub chatter: Chattering,
}

impl Alarm {
    pub fn new(key: AlarmKey) -> Self {
        Self {
            state: State::new(),
            view: AlarmView::new(key),
            raised_dac: None,
            raises: VecDeque::new(),
            chatter: Chattering::default(),
        }
    }

    /// Copies the state to what is shown.
    pub fn show(&mut self) {
        let State { standing, acknowledged, is_known, shelve, suppressed, out_of_service, is_told: _ } =
            self.state;
        let Shelve { timed, once } = shelve;
        let view = &mut self.view;
        (view.state, view.acknowledged, view.is_known) = (standing, acknowledged, is_known);
        (view.shelved_until, view.shelved_once) = (timed.map(|timed| timed.until), once);
        (view.suppressed, view.out_of_service) = (suppressed, out_of_service);
    }

    /// Notes a raise: when it was written, and the time of its sample.
    pub fn note_raise(&mut self, written: u64, time: u64) {
        if self.raises.len() == MAX_COUNTED_RAISES {
            self.raises.pop_front();
        }
        self.raises.push_back(written);
        self.chatter.note_raise(written, time);
    }

    /// As readers see it at a time.
    pub fn shown(&self, now: u64) -> AlarmView {
        let from = now.saturating_sub(HOUR_NANOS);
        let raised_last_hour = self.raises.iter().filter(|raised| **raised >= from).count() as u32;
        AlarmView { raised_last_hour, ..self.view.clone() }
    }
}

/// All of them, and what is known beside them.
#[derive(Debug, Default)]
pub struct Memory {
    pub rules: HashMap<String, RuleFacts>,
    pub alarms: BTreeMap<Arc<AlarmKey>, Alarm>,
    /// Each alarm by the revision of its last change, which no other one has.
    pub by_revision: BTreeMap<u64, Arc<AlarmKey>>,
    /// Alarms with a timed shelve.
    pub timed: BTreeSet<Arc<AlarmKey>>,
    /// Alarms that have chattered, with the time of the last raise that made them do so.
    pub chattering: BTreeMap<Arc<AlarmKey>, u64>,
    /// Alarms of late events, of which the destinations have yet to learn.
    pub untold: BTreeSet<Arc<AlarmKey>>,
    /// When the last late events were written down, on the DAC's clock.
    pub last_late: u64,
    /// Alarms that are gone, by the revision of their end.
    pub removed: VecDeque<(u64, Arc<AlarmKey>)>,
    /// Ends up to this revision may be forgotten.
    pub forgotten: u64,
    pub revision: u64,
    /// Atomic, so that time passes during reads.
    pub now: AtomicU64,
    /// Destinations of messages.
    pub destinations: Vec<String>,
    pub figures: BTreeMap<String, DestinationFigures>,
    /// Messages that are being sent, by destination: no newer state replaces them.
    pub under_way: BTreeMap<String, Vec<i64>>,
    pub journal: Size,
    pub journal_removed: u64,
    pub checkpoints_bytes: u64,
    /// The connection of each node under which its alarms are here.
    pub homes: BTreeMap<String, NodeConnection>,
    /// Events for which there was no room, since the start.
    pub refused: u64,
}

impl Memory {
    /// The newest time that was given, on the DAC's clock.
    pub fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Whether the destinations are to learn of late events: no further ones have come for a while, or the clock was set back.
    pub fn is_time_to_tell(&self, now: u64) -> bool {
        !self.untold.is_empty() && now.abs_diff(self.last_late) >= LATE_EVENT_TIMEOUT_NANOS
    }

    /// Lets time pass. Returns whether that changes an alarm.
    pub fn pass_time(&self, now: u64) -> bool {
        self.now.store(now, Ordering::Relaxed);
        self.timed.iter().filter_map(|key| self.alarms.get(key)).any(|alarm| {
            let mut state = alarm.state;
            state.on_time(now);
            state != alarm.state
        })
    }

    /// Shows an alarm as it is now.
    pub fn put(&mut self, alarm: Alarm) {
        let key = match self.alarms.get_key_value(&alarm.view.key) {
            Some((key, former)) => {
                self.by_revision.remove(&former.view.revision);
                key.clone()
            }
            None => Arc::new(alarm.view.key.clone()),
        };
        self.by_revision.insert(alarm.view.revision, key.clone());
        if alarm.state.shelve.timed.is_some() {
            self.timed.insert(key.clone());
        } else {
            self.timed.remove(&key);
        }
        if alarm.state.is_untold() {
            self.untold.insert(key.clone());
        } else {
            self.untold.remove(&key);
        }
        match alarm.chatter.last() {
            Some(at) => self.chattering.insert(key.clone(), at),
            None => self.chattering.remove(&key),
        };
        self.alarms.insert(key, alarm);
    }

    /// Forgets the connections that came first, until there are no more than that.
    pub fn bound_homes(&mut self, most: usize) {
        while self.homes.len() > most {
            let first = self.homes.iter().min_by_key(|(_, home)| home.since).map(|(node, _)| node.clone());
            let Some(first) = first else { return };
            self.homes.remove(&first);
        }
    }

    /// An alarm is gone.
    pub fn remove(&mut self, key: &AlarmKey, revision: u64) {
        let Some((key, former)) = self.alarms.remove_entry(key) else { return };
        self.by_revision.remove(&former.view.revision);
        self.timed.remove(&key);
        self.untold.remove(&key);
        self.chattering.remove(&key);
        if self.removed.len() == MAX_REMOVED_ALARMS
            && let Some((revision, _)) = self.removed.pop_front()
        {
            self.forgotten = revision;
        }
        self.removed.push_back((revision, key));
    }

    /// Returns an idle alarm that changed long ago, to make room. Checks some of the oldest.
    pub fn least_needed(&self, is_changed: impl Fn(&AlarmKey) -> bool) -> Option<AlarmKey> {
        let oldest = self.by_revision.values().take(1_000);
        let mut idle = oldest.filter(|key| self.alarms.get(*key).is_some_and(|alarm| alarm.state.is_idle()));
        idle.find(|key| !is_changed(key)).map(|key| AlarmKey::clone(key))
    }

    /// See [`Alarms::list_visible`](crate::Alarms::list_visible).
    pub fn list(&self, filter: &Filter, is_visible: impl Fn(&AlarmKey) -> bool) -> AlarmList {
        let from = filter.after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let all = self.alarms.range::<AlarmKey, _>((from, Bound::Unbounded)).map(|(_, alarm)| alarm);
        let mut found = all.filter(|alarm| filter.matches(&alarm.view) && is_visible(&alarm.view.key));
        let most = if filter.most == 0 { usize::MAX } else { filter.most };
        let alarms: Vec<_> = found.by_ref().take(most).map(|alarm| alarm.shown(self.now())).collect();
        let next = found.next().and(alarms.last()).map(|last| last.key.clone());
        AlarmList { revision: self.revision, alarms, next }
    }

    /// See [`Alarms::changes`](crate::Alarms::changes).
    pub fn changes(&self, since: u64, most: usize) -> Changes {
        let keys: Vec<_> = self.by_revision.range(since.saturating_add(1)..).take(most + 1).collect();
        let revision = match keys.get(most) {
            Some((next, _)) => **next - 1,
            None => self.revision,
        };
        let changed = keys.iter().take(most).filter_map(|(_, key)| self.alarms.get(*key));
        let alarms = changed.map(|alarm| alarm.shown(self.now())).collect();
        let removed = self.removed.iter().filter(|(at, _)| (since.saturating_add(1)..=revision).contains(at));
        let removed = removed.map(|(at, key)| (*at, AlarmKey::clone(key))).collect();
        Changes { revision, alarms, removed, is_incomplete: since < self.forgotten || since > self.revision }
    }

    /// Alarms that an operator must see, longest first, with since when.
    pub fn longest_standing(
        &self,
        most: usize,
        is_visible: impl Fn(&AlarmKey) -> bool,
    ) -> Vec<(AlarmKey, u64)> {
        let standing = self.alarms.values().filter(|alarm| alarm.state.standing != Standing::Normal);
        let seen = standing.filter(|alarm| is_visible(&alarm.view.key));
        let mut found: Vec<_> = seen.filter_map(|alarm| Some((alarm.raised_dac?, &alarm.view.key))).collect();
        found.sort();
        found.into_iter().take(most).map(|(since, key)| (key.clone(), since)).collect()
    }
}
