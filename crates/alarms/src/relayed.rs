//! Alarms of other DACs, which this one relays: a copy of what their streams of events say. Sans-I/O.
//!
//! A [`RelayedAlarms`] has all of them; each upstream writes its own through an [`UpstreamAlarms`]. If several upstreams have an alarm, the one that stands is
//! shown, and of those the one that has passed the fewest DACs.

mod book;
mod wire;

pub use wire::AlarmHop;

use crate::{AlarmKey, AlarmList, AlarmView, Filter};
use book::{Book, KnownAlarm};
use oasis_wire::quantity::{Epoch, Nanos};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot, watch};
use wire::{WireAlarm, WirePage};

/// Most alarms of an upstream.
const MAX_UPSTREAM_ALARMS: usize = 20_000;
/// Most DACs on the way of an alarm.
const MAX_HOPS: usize = 8;
/// Questions that wait for an upstream; one more is refused.
const QUESTION_CAPACITY: usize = 64;
/// Most bytes of a text of an alarm.
const TEXT_BYTES: usize = 8 * 1024;

/// The alarms of all upstreams. Its lock is held for as long as one list takes, and no other is taken meanwhile.
#[derive(Debug)]
pub struct RelayedAlarms {
    book: Mutex<Book>,
    revision: watch::Sender<u64>,
}

/// An alarm of another DAC.
#[derive(Debug, Clone, PartialEq)]
pub struct RelayedAlarm {
    /// The alarm. Its revision is one of this copy.
    pub view: AlarmView,
    /// The DACs on the way, its home first.
    pub path: Arc<[AlarmHop]>,
}

/// Changes after a revision.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RelayedChanges {
    /// The revision up to which these are all changes.
    pub revision: u64,
    /// Alarms that changed, in the order of their last change.
    pub alarms: Vec<RelayedAlarm>,
    /// Alarms that are gone, with the revisions of their end.
    pub removed: Vec<(u64, AlarmKey)>,
    /// Whether some that are gone may be missing here: list all again.
    pub is_incomplete: bool,
}

/// A question to an upstream's HTTP API.
#[derive(Debug)]
pub struct AlarmQuestion {
    /// The request.
    pub ask: UpstreamRequest,
    /// Receiver of the answer. Dropped: the upstream is not connected.
    pub answer: oneshot::Sender<Result<serde_json::Value, UpstreamRefusal>>,
}

/// Receives an answer.
pub type UpstreamAnswer = oneshot::Receiver<Result<serde_json::Value, UpstreamRefusal>>;

/// A request to an upstream.
#[derive(Debug, Clone, PartialEq)]
pub enum UpstreamRequest {
    /// An action of an operator: the body of `POST /api/v1/alarms/actions`.
    Act(serde_json::Value),
    /// Entries of the journal: the query of `GET /api/v1/alarms/journal`.
    Journal(Vec<(String, String)>),
}

/// Why an upstream refuses, or does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamRefusal {
    /// The status of HTTP; none without an answer.
    pub status: Option<u16>,
    /// The code of the problem.
    pub code: String,
    /// Description of the problem.
    pub detail: String,
}

/// An upstream writes its alarms here. They are gone when it is dropped.
#[derive(Debug)]
pub struct UpstreamAlarms {
    of: Arc<RelayedAlarms>,
    number: u64,
    /// Pages of a list whose last one has not come.
    pages: Option<Vec<(AlarmKey, KnownAlarm)>>,
}

/// An event of an upstream that cannot be understood.
#[derive(Debug, thiserror::Error)]
#[error("the upstream sent alarms that are not understood: {0}")]
pub struct NotUnderstood(#[from] serde_json::Error);

impl RelayedAlarms {
    /// Without upstreams. Revisions begin at the time, so that those of an earlier life are not taken for its own.
    pub fn new(now: Nanos) -> Self {
        // Readers keep numbers of 53 bits.
        let first = now.0 / 1_000;
        Self { book: Mutex::new(Book::new(first)), revision: watch::Sender::new(first) }
    }

    /// Adds an upstream by its name. Questions to it are received.
    pub fn upstream(self: &Arc<Self>, name: &str) -> (UpstreamAlarms, mpsc::Receiver<AlarmQuestion>) {
        let (questions, asked) = mpsc::channel(QUESTION_CAPACITY);
        let number = self.lock().add(name, questions);
        (UpstreamAlarms { of: self.clone(), number, pages: None }, asked)
    }

    /// Alarms in the order of their keys, of those that a caller may see.
    pub fn list(
        &self,
        filter: &Filter,
        is_visible: impl Fn(&AlarmKey) -> bool,
    ) -> (Vec<RelayedAlarm>, AlarmList) {
        self.lock().list(filter, is_visible)
    }

    /// The alarm with a key.
    pub fn get(&self, key: &AlarmKey) -> Option<RelayedAlarm> {
        self.lock().get(key)
    }

    /// Alarms that changed after a revision, oldest change first.
    pub fn changes(&self, since: u64) -> RelayedChanges {
        self.lock().changes(since)
    }

    /// The revision, and a wake when it grows.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    /// Returns the number of raises since a time, of alarms that a caller may see, as far as this DAC has received
    /// them.
    pub fn raised_since(&self, since: Nanos, is_visible: impl Fn(&AlarmKey) -> bool) -> u64 {
        self.lock().raises.iter().filter(|(at, key)| *at >= since.0 && is_visible(key)).count() as u64
    }

    /// Forwards a request to the upstream that has an alarm.
    pub fn forward(&self, key: &AlarmKey, ask: UpstreamRequest) -> Option<UpstreamAnswer> {
        let to = self.lock().way_to(key)?;
        send(&to, ask)
    }

    /// Asks each upstream, by its name.
    pub fn forward_all(
        &self,
        ask: impl Fn(&str) -> Option<UpstreamRequest>,
    ) -> Vec<(String, Option<UpstreamAnswer>)> {
        let ways = self.lock().ways();
        ways.into_iter()
            .filter_map(|(name, to)| {
                let asked = send(&to, ask(&name)?);
                Some((name, asked))
            })
            .collect()
    }

    /// Whether any upstream has alarms, or may have: it was not asked yet.
    pub fn may_have(&self) -> bool {
        self.lock().may_have()
    }

    /// Upstreams that have more alarms than are kept, by name.
    pub fn incomplete(&self) -> Vec<String> {
        self.lock().incomplete()
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Book)) {
        let revision = {
            let mut book = self.lock();
            change(&mut book);
            book.revision
        };
        self.revision.send_if_modified(|known| std::mem::replace(known, revision) != revision);
    }
}

fn send(to: &mpsc::Sender<AlarmQuestion>, ask: UpstreamRequest) -> Option<UpstreamAnswer> {
    let (answer, answered) = oneshot::channel();
    to.try_send(AlarmQuestion { ask, answer }).ok()?;
    Some(answered)
}

impl RelayedAlarm {
    /// The alarm as its DAC has answered to an action.
    ///
    /// # Errors
    /// If that is none.
    pub fn answered(self, answer: serde_json::Value) -> Result<Self, NotUnderstood> {
        let alarm: WireAlarm = serde_json::from_value(answer)?;
        let view = AlarmView { revision: self.view.revision, ..alarm.view() };
        Ok(Self { view, ..self })
    }
}

impl UpstreamAlarms {
    /// Takes an event of the upstream's stream, `alarms` or `alarm`. `last` is the upstream itself, `own` the life of this DAC: alarms that have been here are left
    /// out. Returns whether its id may be used to resume: not before the last page of a list.
    ///
    /// # Errors
    /// If it is none.
    pub fn take(
        &mut self,
        event: &str,
        data: &str,
        (last, own): (&AlarmHop, Epoch),
        now: Nanos,
    ) -> Result<bool, NotUnderstood> {
        match event {
            "alarms" => {
                let page: WirePage = serde_json::from_str(data)?;
                let pages = self.pages.get_or_insert_default();
                let known = page.alarms.into_iter().filter_map(|alarm| known(alarm, last, own));
                let room = MAX_UPSTREAM_ALARMS.saturating_add(1).saturating_sub(pages.len());
                pages.extend(known.filter_map(|(key, known)| Some((key, known?))).take(room));
                if page.next.is_some() {
                    return Ok(false);
                }
                let all = self.pages.take().unwrap_or_default();
                self.of.change(|book| book.replace(self.number, all, MAX_UPSTREAM_ALARMS, now.0));
            }
            "alarm" => {
                let alarm: WireAlarm = serde_json::from_str(data)?;
                if let Some((key, known)) = known(alarm, last, own) {
                    self.of.change(|book| book.put(self.number, key, known, MAX_UPSTREAM_ALARMS, now.0));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A stream begins: pages of one before are of no use.
    pub fn begin(&mut self) {
        self.pages = None;
    }

    /// The upstream answers, or does not: then its alarms are unknown.
    pub fn set_connected(&mut self, is_connected: bool) {
        self.of.change(|book| book.set_connected(self.number, is_connected));
    }

    /// The upstream has no alarms.
    pub fn clear(&mut self, now: Nanos) {
        self.of.change(|book| book.replace(self.number, Vec::new(), MAX_UPSTREAM_ALARMS, now.0));
        self.of.change(|book| book.set_none(self.number));
    }
}

impl Drop for UpstreamAlarms {
    fn drop(&mut self) {
        self.of.change(|book| book.remove(self.number));
    }
}

/// An alarm of an upstream as it is kept; none inside if it is gone, and none at all if it has been here, or comes too far.
fn known(mut alarm: WireAlarm, last: &AlarmHop, own: Epoch) -> Option<(AlarmKey, Option<KnownAlarm>)> {
    let (removed, mut path) = (alarm.removed, std::mem::take(&mut alarm.path));
    let is_gone = removed || path.len() >= MAX_HOPS || path.iter().any(|hop| hop.epoch == own);
    path.push(last.clone());
    let view = alarm.view();
    let texts = [&view.key.rule, &view.key.node, &view.key.instance].into_iter();
    let more = [&view.message, &view.unit, &view.cause, &view.comment, &view.principal].into_iter().flatten();
    let names = path.iter().map(|hop| &hop.dac);
    if texts.chain(more).chain(names).any(|text| text.len() > TEXT_BYTES) {
        return None;
    }
    Some((view.key.clone(), (!is_gone).then(|| KnownAlarm { view, path: path.into() })))
}
