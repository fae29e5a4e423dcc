//! The state shared by the node's threads: batches and messages to send, and the state of the connection.

use crate::{
    announcement::Announcement,
    cpu_time::CpuTime,
    file_spool::{Head, Journal},
    spool::{Missing, Spool},
};
use oasis_channel::{Counters, Drops, Failure, InstanceState, NodeMessage, Overhead};
use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Answers to commands that may queue. The DAC never has more commands pending at one node.
const MESSAGES: usize = 256;

/// Shared by the collector (adds), the shipper (removes) and its listener (acknowledges).
#[derive(Debug)]
pub struct Outbox {
    /// Guards all state; locked for moving a few pointers, never while encoding or writing.
    held: Mutex<OutboxState>,
    changed: Condvar,
    /// Processor time of the threads on both sides of it.
    pub cpu: CpuTime,
}

/// An instance's progress, written by the collector.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Samples taken.
    pub taken: u64,
    /// Samples after the last batch that no batch will contain, as far as that is known of all of them.
    pub missing: Missing,
    /// Rate, and whether it is enabled.
    pub state: InstanceState,
}

/// The contents.
#[derive(Debug)]
pub struct OutboxState {
    /// Batches.
    pub spool: Spool,
    /// Progress of each instance, written by the collector.
    pub progress: Vec<Progress>,
    /// The node's announcement, if instances were added after the start.
    grown: Option<Arc<Announcement>>,
    /// Number of instances whose topics of this connection are known.
    registered: usize,
    /// The announcement whose instances the DAC was asked to register, while it has not answered.
    asked: Option<Arc<Announcement>>,
    /// The last measured cost of the instrumentation.
    pub overhead: Option<Overhead>,
    /// Answers to commands.
    pub messages: VecDeque<NodeMessage>,
    /// The listener has found the connection closed.
    pub broken: bool,
    /// The DAC ends soon, and asks the node to leave.
    pub draining: bool,
    /// The node has left a DAC that drains: what that has received is acknowledged.
    pub has_drained: bool,
    /// The node is shutting down: send everything and stop.
    pub closing: bool,
    /// The shipper has ended.
    pub ended: bool,
    /// No batch will be added: the shipper ends when all are sent.
    pub is_finite: bool,
    /// The shipper has waited long enough for the last samples to become safe.
    pub has_waited: bool,
    /// Why the DAC that answered last, or what answered in its place, has refused the node. None once a DAC has taken it.
    pub refused: Option<Failure>,
    /// The node says goodbye over the last connection, or has said it: everything is sent, its counters too.
    pub has_left: bool,
    /// Whether a DAC has taken the node.
    pub was_taken: bool,
    /// The run of an earlier process that is being sent.
    pub replayed: Option<Arc<Outbox>>,
    /// DAC clock minus the clock of this host, in nanoseconds, as last estimated over any connection.
    pub clock_offset: Option<i64>,
    /// The samples have times of the DAC's clock: the node reports no offset.
    pub is_on_dac_time: bool,
}

impl OutboxState {
    /// Returns whether the shipper ends once everything is sent.
    pub fn is_ending(&self) -> bool {
        self.closing || self.is_finite
    }

    /// Returns whether there is nothing more to send, and nothing to wait for.
    pub fn is_sent(&self) -> bool {
        self.spool.is_finished() || (self.has_waited && self.spool.is_received())
    }

    /// Returns whether the node leaves its DAC, but does not end. One that ends has no other DAC to deliver to.
    pub fn is_leaving(&self) -> bool {
        self.draining && !self.closing
    }

    /// Makes room for an instance that was added after the start.
    pub fn grow(&mut self, announcement: Arc<Announcement>, progress: Progress) {
        self.progress.push(progress);
        self.spool.grow(self.progress.len());
        self.grown = Some(announcement);
    }

    /// Returns the announcement with the instances that were added after `first`.
    pub fn announced(&self, first: &Arc<Announcement>) -> Arc<Announcement> {
        self.grown.as_ref().unwrap_or(first).clone()
    }

    /// Returns the states of the instances.
    pub fn states(&self) -> impl Iterator<Item = InstanceState> {
        self.progress.iter().map(|progress| progress.state)
    }

    /// Notes that the DAC of this connection has registered this many instances.
    pub fn registered(&mut self, instances: usize) {
        (self.registered, self.asked) = (instances, None);
    }

    /// Returns whether instances were added that the DAC has not been asked to register.
    pub fn must_register(&self) -> bool {
        self.registered < self.progress.len() && self.asked.is_none()
    }

    /// Returns the message that asks the DAC to register instances that were added.
    pub fn registration(&mut self) -> Option<NodeMessage> {
        let grown = self.grown.clone().filter(|_| self.must_register())?;
        let message = grown.registration(self.registered, self.states());
        self.asked = Some(grown);
        Some(message)
    }

    /// Returns the announcement whose instances the DAC was asked to register, if it has not answered.
    pub fn asked_to_register(&self) -> Option<Arc<Announcement>> {
        self.asked.clone()
    }

    /// Returns whether there is a batch to send to this DAC now. Batches of an instance without a topic wait, and those after them.
    pub fn has_next(&self) -> bool {
        !self.is_leaving()
            && self.registered == self.progress.len()
            && (self.spool.has_unsent() || self.spool.has_ahead())
    }

    /// Returns the counters of this node for the ledger: samples taken, and samples dropped before and after the last sent batch.
    pub fn counters(&self) -> Vec<Counters> {
        let entry = |(instance, progress): (usize, &Progress)| {
            let topic = self.spool.topic(instance)?;
            let sent = self.spool.sent(instance);
            let (taken, missing) = (progress.taken, Drops::from(progress.missing));
            // Batches may wait in the spool, or be lost there: it is not known yet what follows the last one sent.
            let is_all = sent.sequence.checked_add(missing.total()) == Some(taken);
            let after_sent = if is_all { missing } else { Drops::default() };
            Some(Counters { topic, taken, sent: sent.sequence, dropped: sent.dropped, after_sent })
        };
        self.progress.iter().enumerate().filter_map(entry).collect()
    }
}

impl Outbox {
    /// Creates an outbox for instances in these states.
    pub fn new(spool: Spool, progress: Vec<Progress>) -> Arc<Self> {
        Self::holding(spool, progress, false)
    }

    /// Creates the outbox of a run that an earlier process has left in files. No batch will be added to it.
    pub fn for_earlier_run(journal: &Journal, spool_bytes: usize) -> Arc<Self> {
        let Head { announcement, taken, released } = journal.head();
        let states = announcement.instances.iter().map(|instance| instance.state);
        let of = |(&taken, state)| Progress { taken, missing: Missing::default(), state };
        let progress = taken.iter().zip(states).map(of).collect();
        Self::holding(Spool::for_earlier_run(spool_bytes, released), progress, true)
    }

    fn holding(spool: Spool, progress: Vec<Progress>, is_finite: bool) -> Arc<Self> {
        let held = OutboxState {
            spool,
            registered: progress.len(),
            progress,
            grown: None,
            asked: None,
            overhead: None,
            messages: VecDeque::new(),
            broken: false,
            draining: false,
            has_drained: false,
            closing: false,
            ended: false,
            is_finite,
            has_waited: false,
            refused: None,
            has_left: false,
            was_taken: false,
            replayed: None,
            clock_offset: None,
            is_on_dac_time: false,
        };
        Arc::new(Self { held: Mutex::new(held), changed: Condvar::new(), cpu: CpuTime::default() })
    }

    /// Starts the shutdown of the node.
    pub fn close(&self) {
        let replayed = self.with(|held| {
            held.closing = true;
            held.replayed.clone()
        });
        if let Some(replayed) = replayed {
            replayed.with(|held| held.closing = true);
        }
    }

    /// Accesses the contents, and wakes waiting threads.
    pub fn with<T>(&self, change: impl FnOnce(&mut OutboxState) -> T) -> T {
        let result = change(&mut self.held());
        self.changed.notify_all();
        result
    }

    /// Adds an answer.
    pub fn push(&self, message: NodeMessage) {
        self.with(|held| {
            if held.messages.len() < MESSAGES {
                held.messages.push_back(message);
            }
        });
    }

    /// Waits at most `timeout` until `ready`. Returns whether it is.
    pub fn wait(
        &self,
        timeout: Duration,
        ready: impl Fn(&OutboxState) -> bool,
    ) -> (MutexGuard<'_, OutboxState>, bool) {
        let deadline = Instant::now() + timeout;
        let mut held = self.held();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let is_ready = ready(&held);
            if is_ready || left.is_zero() {
                return (held, is_ready);
            }
            held = self
                .changed
                .wait_timeout(held, left)
                .map_or_else(|poison| self.mend(poison).0, |woken| woken.0);
        }
    }

    fn held(&self) -> MutexGuard<'_, OutboxState> {
        self.held.lock().unwrap_or_else(|poison| self.mend(poison))
    }

    /// Removes the poison of the lock: a thread has panicked while it held it. Each statement leaves the state consistent.
    fn mend<T>(&self, poison: PoisonError<T>) -> T {
        self.held.clear_poison();
        poison.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        thread,
    };

    #[test]
    fn a_thread_that_panics_under_the_lock_ends_no_wait() {
        let outbox = Outbox::new(Spool::new(0, 0), Vec::new());
        let panicked = catch_unwind(AssertUnwindSafe(|| outbox.with(|_| panic!("planted"))));
        assert!(panicked.is_err());
        let waiting = {
            let outbox = outbox.clone();
            thread::spawn(move || outbox.wait(Duration::from_secs(60), |held| held.closing).1)
        };
        // Wakes the waiting thread without what it waits for.
        outbox.with(|_| ());
        outbox.close();
        assert!(waiting.join().unwrap(), "it has waited for the end");
        let (_held, is_ready) = outbox.wait(Duration::from_millis(1), |held| held.broken);
        assert!(!is_ready);
    }
}
