//! Storage of samples beyond the memory of this process: decides when samples are *safe*.

use crate::{Instance, Moment, registry::KeptOfReplaced};
use oasis_channel::{DacMessage, SafeReason, SafeWhen};
use oasis_wire::quantity::{Nanos, TopicId};
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fmt,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::watch;
use uuid::Uuid;

/// Without archive and copy samples are safe this long after they were received: a node keeps what a DAC that is killed and
/// started again would miss.
const HOLD_TIME: u64 = 10 * NANOS_PER_SECOND;
/// Interval of checks for safe samples, besides those after each commit of the archive.
const CHECK_INTERVAL: u64 = NANOS_PER_SECOND;
/// Samples received within this time become safe together.
const COALESCE_INTERVAL: u64 = NANOS_PER_SECOND;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Returns whether the archive stores an instance, by the names of node and instance.
pub type Stores = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// The DAC's archive and copy, as far as nodes depend on them.
pub struct Keeping {
    /// Absent if there is no archive, or if it was stopped. Locked to clone it.
    archive: RwLock<Option<Stores>>,
    /// Whether all samples are copied to another host.
    is_copied: AtomicBool,
    commits: watch::Sender<u64>,
}

impl fmt::Debug for Keeping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeping").field("safe_when", &self.safe_when()).finish_non_exhaustive()
    }
}

impl Default for Keeping {
    fn default() -> Self {
        Self { archive: RwLock::default(), is_copied: AtomicBool::new(false), commits: watch::Sender::new(0) }
    }
}

impl Keeping {
    /// Sets the archive, or that there is none. While one is set, nothing that it stores is safe before its commit.
    pub fn set_archive(&self, stores: Option<Stores>) {
        *self.archive.write().unwrap_or_else(PoisonError::into_inner) = stores;
        self.note_commit();
    }

    /// Sets whether samples are copied to another host. While they are, and no archive stores them, nothing is safe before it is copied.
    pub fn set_copied(&self, is_copied: bool) {
        self.is_copied.store(is_copied, Ordering::Relaxed);
        self.note_commit();
    }

    /// Wakes the sessions that wait: the archive has [stored](crate::Ledger::note_stored) more samples, or the copy has them.
    pub fn note_commit(&self) {
        self.commits.send_modify(|commits| *commits = commits.wrapping_add(1));
    }

    /// Returns what makes samples safe now.
    pub(crate) fn safe_when(&self) -> SafeWhen {
        match (self.archive().is_some(), self.is_copied()) {
            (true, _) => SafeWhen::Stored,
            (false, true) => SafeWhen::Copied,
            (false, false) => SafeWhen::Held,
        }
    }

    fn is_copied(&self) -> bool {
        self.is_copied.load(Ordering::Relaxed)
    }

    /// Changes with each commit.
    pub(crate) fn commits(&self) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }

    fn archive(&self) -> Option<Stores> {
        self.archive.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns up to which sequence number samples are safe, and why, from what archive and copy have: up to which number all samples are kept or
/// declared lost, and whether some are lost. One of them suffices. If one has lost some, the other decides; what both have lost is given up
/// once both have said so. `None` if there are neither.
fn safe_by(stored: Option<(u64, bool)>, copied: Option<(u64, bool)>) -> Option<(u64, SafeReason)> {
    use SafeReason::{Copied, NotCopied, NotStored, Stored};
    Some(match (stored, copied) {
        (None, None) => return None,
        (Some((sequence, false)), None) => (sequence, Stored),
        (Some((sequence, true)), None) => (sequence, NotStored),
        (None, Some((sequence, false))) => (sequence, Copied),
        (None, Some((sequence, true))) => (sequence, NotCopied),
        (Some((stored, false)), Some((copied, false))) if copied > stored => (copied, Copied),
        (Some((sequence, false)), Some(_)) => (sequence, Stored),
        (Some((_, true)), Some((sequence, false))) => (sequence, Copied),
        (Some((stored, true)), Some((copied, true))) if copied < stored => (copied, NotCopied),
        (Some((stored, true)), Some((_, true))) => (stored, NotStored),
    })
}

/// Returns the progress of a topic, but no further than that of the topics that it has replaced.
fn no_further((sequence, has_loss): (u64, bool), before: Option<u64>) -> (u64, bool) {
    (before.map_or(sequence, |before| sequence.min(before)), has_loss)
}

/// The samples of one session that its node keeps.
#[derive(Debug, Default)]
pub struct UnsafeSamples {
    /// In order, so that equal events have equal messages.
    topics: BTreeMap<TopicId, Received>,
    /// Up to which number the node knows that the samples of a topic are safe.
    told: HashMap<TopicId, u64>,
    /// When the session looked last, by the steady clock.
    looked: Nanos,
}

/// Samples of one topic that are received and not safe.
#[derive(Debug, Default)]
struct Received {
    /// The last sequence number.
    last: u64,
    /// Times, by the steady clock, and the last sequence number received until shortly after each.
    times: VecDeque<(Nanos, u64)>,
}

impl Received {
    fn note(&mut self, sequence: u64, now: Nanos) {
        self.last = sequence;
        match self.times.back_mut() {
            Some((since, last)) if now.0.saturating_sub(since.0) < COALESCE_INTERVAL => *last = sequence,
            _ => self.times.push_back((now, sequence)),
        }
        // There are more than `held` can need: an archive decides, or no check was made.
        if self.times.len() as u64 > (HOLD_TIME + COALESCE_INTERVAL) / COALESCE_INTERVAL + 1 {
            self.times.pop_front();
        }
    }

    /// The last sequence number that was received long ago; 0 if none was.
    fn held(&mut self, now: Nanos) -> u64 {
        let is_old =
            |&(since, _): &(Nanos, u64)| now.0.saturating_sub(since.0) >= HOLD_TIME + COALESCE_INTERVAL;
        let count = self.times.partition_point(is_old);
        self.times.drain(..count).next_back().map_or(0, |(_, sequence)| sequence)
    }
}

impl UnsafeSamples {
    /// Notes that the samples of a topic are received up to a sequence number.
    pub fn note(&mut self, topic: TopicId, sequence: u64, now: Nanos) {
        if self.topics.is_empty() {
            self.looked = now;
        }
        self.topics.entry(topic).or_default().note(sequence, now);
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    /// Returns when to look again, by the steady clock.
    pub fn due(&self) -> Option<Nanos> {
        (!self.is_empty()).then_some(Nanos(self.looked.0.saturating_add(CHECK_INTERVAL)))
    }

    /// Removes the samples of a run that are safe now, and appends the messages that say so. Samples may be in topics that were replaced.
    pub(crate) fn report_safe(
        &mut self,
        keeping: &Keeping,
        instances: &HashMap<TopicId, Arc<Instance>>,
        replaced: &HashMap<Arc<str>, KeptOfReplaced>,
        run: Uuid,
        now: Moment,
        out: &mut Vec<DacMessage>,
    ) {
        self.looked = now.steady;
        let (archive, is_copied) = (keeping.archive(), keeping.is_copied());
        let mut safe: BTreeMap<SafeReason, Vec<(TopicId, u64)>> = BTreeMap::new();
        let told = &mut self.told;
        self.topics.retain(|&topic, received| {
            let Some(instance) = instances.get(&topic) else { return false };
            let told = told.entry(topic).or_default();
            let ledger = instance.ledger();
            if ledger.run() != Some(run) {
                return false;
            }
            let end = instance.log.next();
            let before = replaced.get(&instance.name);
            let stored = archive.as_ref().map(|stores| match stores(&instance.node, &instance.name) {
                true => no_further(ledger.stored(end, *told), before.map(|before| before.stored)),
                false => (received.last, true),
            });
            let copied =
                is_copied.then(|| no_further(ledger.copied(end, *told), before.map(|before| before.copied)));
            let (sequence, reason) =
                safe_by(stored, copied).unwrap_or_else(|| (received.held(now.steady), SafeReason::Held));
            if sequence > *told {
                *told = sequence;
                safe.entry(reason).or_default().push((topic, sequence));
            }
            sequence < received.last
        });
        out.extend(safe.into_iter().map(|(reason, topics)| DacMessage::Safe { reason, topics }));
    }
}
