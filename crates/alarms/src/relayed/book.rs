//! The alarms of all upstreams, and those that are shown.

use super::{AlarmHop, AlarmQuestion, RelayedAlarm, RelayedChanges};
use crate::{AlarmKey, AlarmList, AlarmView, Filter};
use oasis_rules::Standing;
use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    sync::Arc,
};
use tokio::sync::mpsc;

/// Alarms that are gone, and remembered for readers of changes.
const MAX_REMOVED_ALARMS: usize = 10_000;
/// Changes that are given at once.
const MAX_PAGE_CHANGES: usize = 1_000;
/// Raises that are remembered for the figures.
const MAX_COUNTED_RAISES: usize = 50_000;

/// An alarm of an upstream.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownAlarm {
    pub view: AlarmView,
    pub path: Arc<[AlarmHop]>,
}

#[derive(Debug)]
struct Upstream {
    name: String,
    is_connected: bool,
    is_full: bool,
    /// Whether its list was taken: what came with the first one was raised before.
    is_listed: bool,
    /// Whether it has said that it keeps none.
    has_none: bool,
    alarms: BTreeMap<Arc<AlarmKey>, KnownAlarm>,
    questions: mpsc::Sender<AlarmQuestion>,
}

/// Which upstream shows an alarm, and since which revision.
#[derive(Debug, Clone, Copy)]
struct ShownAlarm {
    upstream: u64,
    revision: u64,
}

#[derive(Debug)]
pub struct Book {
    pub revision: u64,
    upstreams: BTreeMap<u64, Upstream>,
    next: u64,
    shown: BTreeMap<Arc<AlarmKey>, ShownAlarm>,
    by_revision: BTreeMap<u64, Arc<AlarmKey>>,
    removed: VecDeque<(u64, Arc<AlarmKey>)>,
    /// Ends up to this revision may be forgotten.
    forgotten: u64,
    /// When alarms were raised, oldest first.
    pub raises: VecDeque<(u64, Arc<AlarmKey>)>,
}

impl Book {
    pub fn new(first: u64) -> Self {
        Self {
            revision: first,
            upstreams: BTreeMap::new(),
            next: 0,
            shown: BTreeMap::new(),
            by_revision: BTreeMap::new(),
            removed: VecDeque::new(),
            forgotten: first,
            raises: VecDeque::new(),
        }
    }

    pub fn add(&mut self, name: &str, questions: mpsc::Sender<AlarmQuestion>) -> u64 {
        self.next += 1;
        let (name, alarms) = (name.to_owned(), BTreeMap::new());
        let upstream = Upstream {
            name,
            is_connected: false,
            is_full: false,
            is_listed: false,
            has_none: false,
            alarms,
            questions,
        };
        self.upstreams.insert(self.next, upstream);
        self.next
    }

    pub fn remove(&mut self, number: u64) {
        let Some(upstream) = self.upstreams.remove(&number) else { return };
        upstream.alarms.into_keys().for_each(|key| self.show(&key));
    }

    pub fn set_connected(&mut self, number: u64, is_connected: bool) {
        let Some(upstream) = self.upstreams.get_mut(&number) else { return };
        if std::mem::replace(&mut upstream.is_connected, is_connected) == is_connected {
            return;
        }
        let keys: Vec<_> = upstream.alarms.keys().cloned().collect();
        keys.iter().for_each(|key| self.show(key));
    }

    /// Takes all alarms of an upstream.
    pub fn replace(&mut self, number: u64, all: Vec<(AlarmKey, KnownAlarm)>, most: usize, now: u64) {
        let Some(upstream) = self.upstreams.get_mut(&number) else { return };
        let is_full = all.len() > most;
        let all: BTreeMap<AlarmKey, KnownAlarm> = all.into_iter().take(most).collect();
        let gone: Vec<_> = upstream.alarms.keys().filter(|key| !all.contains_key(&***key)).cloned().collect();
        for key in gone {
            self.put(number, AlarmKey::clone(&key), None, most, now);
        }
        for (key, known) in all {
            self.put(number, key, Some(known), most, now);
        }
        if let Some(upstream) = self.upstreams.get_mut(&number) {
            (upstream.is_full, upstream.is_listed, upstream.has_none) = (is_full, true, false);
        }
    }

    /// Notes that an upstream keeps no alarms.
    pub fn set_none(&mut self, number: u64) {
        if let Some(upstream) = self.upstreams.get_mut(&number) {
            upstream.has_none = true;
        }
    }

    /// Whether any upstream has alarms, or may have.
    pub fn may_have(&self) -> bool {
        self.upstreams.is_empty() || self.upstreams.values().any(|upstream| !upstream.has_none)
    }

    /// Takes an alarm of an upstream, or that it is gone.
    pub fn put(&mut self, number: u64, key: AlarmKey, known: Option<KnownAlarm>, most: usize, now: u64) {
        let Some(upstream) = self.upstreams.get_mut(&number) else { return };
        let before = upstream.alarms.get(&key);
        if before == known.as_ref() {
            return;
        }
        let key = match upstream.alarms.get_key_value(&key) {
            Some((key, _)) => key.clone(),
            None if upstream.alarms.len() >= most => {
                upstream.is_full = true;
                return;
            }
            None => Arc::new(key),
        };
        let is_raised = match (before, &known) {
            (Some(before), Some(known)) => known.view.raised > before.view.raised,
            (None, Some(known)) => known.view.state == Standing::Active && upstream.is_listed,
            (_, None) => false,
        };
        match known {
            Some(known) => drop(upstream.alarms.insert(key.clone(), known)),
            None => drop(upstream.alarms.remove(&key)),
        }
        if is_raised {
            if self.raises.len() == MAX_COUNTED_RAISES {
                self.raises.pop_front();
            }
            self.raises.push_back((now, key.clone()));
        }
        self.show(&key);
    }

    /// Finds out which upstream shows an alarm now, and notes a change.
    fn show(&mut self, key: &Arc<AlarmKey>) {
        let best = self.upstreams.iter().filter_map(|(number, upstream)| {
            let known = upstream.alarms.get(key)?;
            let rank = (!upstream.is_connected, known.view.state == Standing::Normal, known.path.len());
            Some((rank, *number))
        });
        let best = best.min().map(|(_, number)| number);
        self.revision += 1;
        let revision = self.revision;
        let before = match best {
            Some(upstream) => {
                self.by_revision.insert(revision, key.clone());
                self.shown.insert(key.clone(), ShownAlarm { upstream, revision })
            }
            None => {
                let before = self.shown.remove(key);
                if before.is_some() {
                    self.note_end(revision, key);
                }
                before
            }
        };
        if let Some(before) = before {
            self.by_revision.remove(&before.revision);
        }
    }

    fn note_end(&mut self, revision: u64, key: &Arc<AlarmKey>) {
        if self.removed.len() == MAX_REMOVED_ALARMS
            && let Some((revision, _)) = self.removed.pop_front()
        {
            self.forgotten = revision;
        }
        self.removed.push_back((revision, key.clone()));
    }

    pub fn get(&self, key: &AlarmKey) -> Option<RelayedAlarm> {
        let ShownAlarm { upstream, revision } = *self.shown.get(key)?;
        let upstream = self.upstreams.get(&upstream)?;
        let KnownAlarm { mut view, path } = upstream.alarms.get(key)?.clone();
        view.revision = revision;
        if !upstream.is_connected {
            view.is_known = false;
            view.cause = Some(format!("{} is not relayed", upstream.name));
        }
        Some(RelayedAlarm { view, path })
    }

    /// The alarms, and as a list without them the revision and the next key.
    pub fn list(
        &self,
        filter: &Filter,
        is_visible: impl Fn(&AlarmKey) -> bool,
    ) -> (Vec<RelayedAlarm>, AlarmList) {
        let from = filter.after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let all = self.shown.range::<AlarmKey, _>((from, Bound::Unbounded)).map(|(key, _)| key);
        let seen = all.filter(|key| is_visible(key)).filter_map(|key| self.get(key));
        let mut found = seen.filter(|alarm| filter.matches(&alarm.view));
        let most = if filter.most == 0 { usize::MAX } else { filter.most };
        let alarms: Vec<_> = found.by_ref().take(most).collect();
        let next = found.next().and(alarms.last()).map(|last| last.view.key.clone());
        (alarms, AlarmList { revision: self.revision, alarms: Vec::new(), next })
    }

    pub fn changes(&self, since: u64) -> RelayedChanges {
        let keys: Vec<_> =
            self.by_revision.range(since.saturating_add(1)..).take(MAX_PAGE_CHANGES + 1).collect();
        let revision = match keys.get(MAX_PAGE_CHANGES) {
            Some((next, _)) => **next - 1,
            None => self.revision,
        };
        let alarms = keys.iter().take(MAX_PAGE_CHANGES).filter_map(|(_, key)| self.get(key)).collect();
        let removed = self.removed.iter().filter(|(at, _)| (since.saturating_add(1)..=revision).contains(at));
        let removed = removed.map(|(at, key)| (*at, AlarmKey::clone(key))).collect();
        let is_incomplete = since < self.forgotten || since > self.revision;
        RelayedChanges { revision, alarms, removed, is_incomplete }
    }

    pub fn way_to(&self, key: &AlarmKey) -> Option<mpsc::Sender<AlarmQuestion>> {
        let upstream = self.upstreams.get(&self.shown.get(key)?.upstream)?;
        upstream.is_connected.then(|| upstream.questions.clone())
    }

    pub fn ways(&self) -> Vec<(String, mpsc::Sender<AlarmQuestion>)> {
        let way = |upstream: &Upstream| (upstream.name.clone(), upstream.questions.clone());
        self.upstreams.values().map(way).collect()
    }

    pub fn incomplete(&self) -> Vec<String> {
        let full = self.upstreams.values().filter(|upstream| upstream.is_full);
        full.map(|upstream| upstream.name.clone()).collect()
    }
}
