//! The alarms of this DAC, and those of the DACs that it relays, as one list.
//!
//! An alarm of this DAC hides one of the same key of another. Positions in the stream of changes have a number for each of both.

use super::view::AlarmJson;
use crate::Api;
use oasis_alarms::{AlarmKey, Alarms, Filter, RelayedAlarms};
use oasis_http::{Problem, permissions::Caller};
use std::{fmt, str::FromStr, sync::Arc};
use tokio::sync::watch;

/// Alarms of this DAC, of others, or both.
#[derive(Debug, Clone)]
pub struct AllAlarms {
    pub own: Option<Arc<Alarms>>,
    pub relayed: Option<Arc<RelayedAlarms>>,
}

/// A part of the list.
#[derive(Debug)]
pub struct Page {
    pub at: AlarmPosition,
    pub alarms: Vec<AlarmJson>,
    pub next: Option<AlarmKey>,
}

/// A place in the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlarmPosition {
    own: u64,
    /// Revision at a DAC that relays others.
    relayed: Option<u64>,
}

/// A wake when any of them changes.
pub struct Watch {
    own: Option<watch::Receiver<u64>>,
    relayed: Option<watch::Receiver<u64>>,
}

impl AllAlarms {
    /// Returns the alarms of a DAC.
    pub fn of(api: &Api) -> Result<Self, Problem> {
        let (own, relayed) = (api.alarms.clone(), api.relayed_alarms.clone());
        if own.is_none() && !api.relays_alarms() {
            return Err(super::none());
        }
        Ok(Self { own, relayed })
    }

    /// Alarms that a caller may see, in the order of their keys.
    pub fn list(&self, filter: &Filter, caller: &Caller) -> Page {
        let sees = |key: &AlarmKey| super::sees(caller, key);
        let own = self.own.as_ref().map(|own| own.list_visible(filter, sees)).unwrap_or_default();
        let mut all: Vec<(AlarmKey, AlarmJson)> =
            own.alarms.into_iter().map(|alarm| (alarm.key.clone(), AlarmJson::new(alarm, caller))).collect();
        let mut page_relayed = None;
        let mut next = own.next;
        if let Some(relayed) = &self.relayed {
            let (alarms, list) = relayed.list(filter, |key| sees(key) && !self.has_own(key));
            page_relayed = Some(list.revision);
            let others = alarms.into_iter();
            all.extend(others.map(|alarm| (alarm.view.key.clone(), AlarmJson::relayed(alarm, caller))));
            all.sort_by(|(one, _), (other, _)| one.cmp(other));
            let most = if filter.most == 0 { usize::MAX } else { filter.most };
            let is_cut = all.len() > most || next.is_some() || list.next.is_some();
            all.truncate(most);
            next = all.last().filter(|_| is_cut).map(|(key, _)| key.clone());
        }
        let at = AlarmPosition { own: own.revision, relayed: page_relayed };
        Page { at, alarms: all.into_iter().map(|(_, alarm)| alarm).collect(), next }
    }

    fn has_own(&self, key: &AlarmKey) -> bool {
        self.own.as_ref().is_some_and(|own| own.has(key))
    }

    /// Changes after a place with the place after each, and where the next ones follow; none if some may be missing: list all again.
    pub fn changes(
        &self,
        since: AlarmPosition,
        caller: &Caller,
    ) -> Option<(Vec<(AlarmPosition, AlarmJson)>, AlarmPosition)> {
        let mut at = since;
        let mut all = Vec::new();
        if let Some(own) = &self.own {
            let changes = own.changes(since.own);
            if changes.is_incomplete {
                return None;
            }
            let changed =
                changes.alarms.into_iter().map(|alarm| (alarm.revision, alarm.key.clone(), Some(alarm)));
            let removed = changes.removed.into_iter().map(|(revision, key)| (revision, key, None));
            let mut found: Vec<_> =
                changed.chain(removed).filter(|(_, key, _)| super::sees(caller, key)).collect();
            found.sort_by_key(|(revision, ..)| *revision);
            for (revision, key, alarm) in found {
                at.own = revision;
                let other = self.relayed.as_ref().and_then(|relayed| relayed.get(&key));
                match (alarm, other) {
                    (Some(alarm), other) => {
                        // Readers drop what is older than they have: the revisions of others are greater.
                        all.extend(
                            other.map(|other| (since, AlarmJson::removed(key, other.view.revision, caller))),
                        );
                        all.push((at, AlarmJson::new(alarm, caller)));
                    }
                    (None, Some(other)) => all.push((at, AlarmJson::relayed(other, caller))),
                    (None, None) => all.push((at, AlarmJson::removed(key, revision, caller))),
                }
            }
            at.own = changes.revision;
        }
        if let (Some(relayed), Some(from)) = (&self.relayed, since.relayed) {
            let changes = relayed.changes(from);
            if changes.is_incomplete {
                return None;
            }
            let is_shown = |key: &AlarmKey| super::sees(caller, key) && !self.has_own(key);
            let changed = changes.alarms.into_iter().filter(|alarm| is_shown(&alarm.view.key));
            let changed = changed.map(|alarm| (alarm.view.revision, AlarmJson::relayed(alarm, caller)));
            let removed = changes.removed.into_iter().filter(|(_, key)| is_shown(key));
            let removed =
                removed.map(|(revision, key)| (revision, AlarmJson::removed(key, revision, caller)));
            let mut found: Vec<_> = changed.chain(removed).collect();
            found.sort_by_key(|(revision, _)| *revision);
            all.extend(
                found
                    .into_iter()
                    .map(|(revision, alarm)| (AlarmPosition { relayed: Some(revision), ..at }, alarm)),
            );
            at.relayed = Some(changes.revision);
        }
        Some((all, at))
    }

    /// Whether changes after a place are all known.
    pub fn knows(&self, place: AlarmPosition) -> bool {
        let own = self.own.as_ref().is_none_or(|own| !own.changes(place.own).is_incomplete);
        let relayed = match (&self.relayed, place.relayed) {
            (Some(relayed), Some(at)) => !relayed.changes(at).is_incomplete,
            (None, None) => true,
            _ => false,
        };
        own && relayed
    }

    pub fn watch(&self) -> Watch {
        Watch {
            own: self.own.as_ref().map(|own| own.watch()),
            relayed: self.relayed.as_ref().map(|relayed| relayed.watch()),
        }
    }
}

impl AlarmPosition {
    /// The newest revision, for people.
    pub fn revision(self) -> u64 {
        self.relayed.unwrap_or_default().max(self.own)
    }
}

impl fmt::Display for AlarmPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.relayed {
            None => write!(f, "{}", self.own),
            Some(relayed) => write!(f, "{}.{relayed}", self.own),
        }
    }
}

impl FromStr for AlarmPosition {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (own, relayed) = text.split_once('.').map_or((text, None), |(own, relayed)| (own, Some(relayed)));
        Ok(Self { own: own.parse()?, relayed: relayed.map(str::parse).transpose()? })
    }
}

impl Watch {
    /// Waits for a change. Returns false if there will be none.
    pub async fn changed(&mut self) -> bool {
        let next = async |of: &mut Option<watch::Receiver<u64>>| match of {
            Some(of) => of.changed().await.is_ok(),
            None => std::future::pending().await,
        };
        tokio::select! {
            changed = next(&mut self.own) => changed,
            changed = next(&mut self.relayed) => changed,
        }
    }
}
