//! Who keeps samples when the memory of this process is gone: decides when samples are *safe*.

use crate::{Instance, Moment};
use oasis_channel::{DacMessage, SafeReason, SafeWhen};
use oasis_wire::quantity::{Nanos, TopicId};
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fmt,
    sync::{Arc, PoisonError, RwLock},
};
use tokio::sync::watch;
use uuid::Uuid;

/// Without an archive samples are safe this long after they were received: a node keeps what a DAC that is killed and
/// started again would miss.
const HELD: u64 = 10 * SECOND;
/// Interval between looks at what is safe, besides those after each commit of the archive.
const LOOK: u64 = SECOND;
/// Samples received within this time become safe together.
const TOGETHER: u64 = SECOND;
const SECOND: u64 = 1_000_000_000;

/// Returns whether the archive stores an instance, by the names of node and instance.
pub type Stores = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// The DAC's archive, as far as nodes depend on it.
pub struct Keeping {
    /// Absent if there is no archive, or if it was stopped. Locked to clone it.
    archive: RwLock<Option<Stores>>,
    commits: watch::Sender<u64>,
}

impl fmt::Debug for Keeping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeping").field("safe_when", &self.safe_when()).finish_non_exhaustive()
    }
}

impl Default for Keeping {
    fn default() -> Self {
        Self { archive: RwLock::default(), commits: watch::Sender::new(0) }
    }
}

impl Keeping {
    /// Sets the archive, or that there is none. While one is set, nothing that it stores is safe before its commit.
    pub fn set_archive(&self, stores: Option<Stores>) {
        *self.archive.write().unwrap_or_else(PoisonError::into_inner) = stores;
        self.note_commit();
    }

    /// Wakes the sessions that wait: the archive has [stored](crate::Ledger::note_stored) more samples.
    pub fn note_commit(&self) {
        self.commits.send_modify(|commits| *commits = commits.wrapping_add(1));
    }

    /// Returns what makes samples safe now.
    pub(crate) fn safe_when(&self) -> SafeWhen {
        if self.archive().is_some() { SafeWhen::Stored } else { SafeWhen::Held }
    }

    /// Changes with each commit.
    pub(crate) fn commits(&self) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }

    fn archive(&self) -> Option<Stores> {
        self.archive.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
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
            Some((since, last)) if now.0.saturating_sub(since.0) < TOGETHER => *last = sequence,
            _ => self.times.push_back((now, sequence)),
        }
        // More than all that `held` asks for: an archive decides, or nobody has looked.
        if self.times.len() as u64 > (HELD + TOGETHER) / TOGETHER + 1 {
            self.times.pop_front();
        }
    }

    /// The last sequence number that was received long ago; 0 if none was.
    fn held(&mut self, now: Nanos) -> u64 {
        let is_old = |&(since, _): &(Nanos, u64)| now.0.saturating_sub(since.0) >= HELD + TOGETHER;
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
        (!self.is_empty()).then_some(Nanos(self.looked.0.saturating_add(LOOK)))
    }

    /// Removes the samples of a run that are safe now, and appends the messages that say so.
    pub fn tell(
        &mut self,
        keeping: &Keeping,
        instances: &HashMap<TopicId, Arc<Instance>>,
        run: Uuid,
        now: Moment,
        out: &mut Vec<DacMessage>,
    ) {
        self.looked = now.steady;
        let archive = keeping.archive();
        let mut safe: BTreeMap<SafeReason, Vec<(TopicId, u64)>> = BTreeMap::new();
        let told = &mut self.told;
        self.topics.retain(|&topic, received| {
            let Some(instance) = instances.get(&topic) else { return false };
            let told = told.entry(topic).or_default();
            let ledger = instance.ledger();
            if ledger.run() != Some(run) {
                return false;
            }
            let (sequence, reason) = match &archive {
                Some(stores) if stores(&instance.node, &instance.name) => {
                    let (sequence, has_loss) = ledger.stored(instance.log.next(), *told);
                    (sequence, if has_loss { SafeReason::NotStored } else { SafeReason::Stored })
                }
                Some(_) => (received.last, SafeReason::NotStored),
                None => (received.held(now.steady), SafeReason::Held),
            };
            if sequence > *told {
                *told = sequence;
                safe.entry(reason).or_default().push((topic, sequence));
            }
            sequence < received.last
        });
        out.extend(safe.into_iter().map(|(reason, topics)| DacMessage::Safe { reason, topics }));
    }
}
