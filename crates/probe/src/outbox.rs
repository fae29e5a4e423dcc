//! What lies between the node's threads: batches and messages to send, the state of the connection.

use crate::{cpu_time::CpuTime, spool::Spool};
use oasis_channel::{Counters, InstanceState, NodeMessage, Overhead};
use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Answers to commands that may wait. The DAC never has more commands under way with one node.
const MESSAGES: usize = 256;

/// Shared by the collector (puts in), the shipper (takes out) and its listener (acknowledges).
#[derive(Debug)]
pub struct Outbox {
    /// Guards everything below; held for moving a few pointers, never while encoding or writing.
    held: Mutex<Held>,
    changed: Condvar,
    /// What the threads on both sides of it use of the processor.
    pub cpu: CpuTime,
}

/// What the collector says of an instance.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Samples taken.
    pub taken: u64,
    /// Rate and whether it runs.
    pub state: InstanceState,
}

/// The contents.
#[derive(Debug)]
pub struct Held {
    /// Batches.
    pub spool: Spool,
    /// Per instance, what the collector says of it.
    pub progress: Vec<Progress>,
    /// What the instrumentation cost when the collector looked last.
    pub overhead: Option<Overhead>,
    /// Answers to commands.
    pub messages: VecDeque<NodeMessage>,
    /// The listener found the connection ended.
    pub broken: bool,
    /// The node is ending: send what is there and stop.
    pub closing: bool,
    /// The shipper has ended.
    pub ended: bool,
    /// Nothing will be added: the shipper is done when all is delivered.
    pub is_finite: bool,
    /// What an earlier run left and is being sent now.
    pub replayed: Option<Arc<Outbox>>,
}

impl Held {
    /// The ledger's view of this node: what it took, and what it dropped ahead of the last batch that was sent.
    pub fn counters(&self) -> Vec<Counters> {
        let entry = |(instance, progress): (usize, &Progress)| {
            let topic = self.spool.topic(instance)?;
            let sent = self.spool.sent(instance);
            Some(Counters { topic, taken: progress.taken, sent: sent.sequence, dropped: sent.dropped })
        };
        self.progress.iter().enumerate().filter_map(entry).collect()
    }
}

impl Outbox {
    /// An outbox for instances in these states.
    pub fn new(spool: Spool, progress: Vec<Progress>) -> Arc<Self> {
        Self::holding(spool, progress, false)
    }

    /// An outbox that nothing will be added to.
    pub fn finite(spool: Spool, progress: Vec<Progress>) -> Arc<Self> {
        Self::holding(spool, progress, true)
    }

    fn holding(spool: Spool, progress: Vec<Progress>, is_finite: bool) -> Arc<Self> {
        let held = Held {
            spool,
            progress,
            overhead: None,
            messages: VecDeque::new(),
            broken: false,
            closing: false,
            ended: false,
            is_finite,
            replayed: None,
        };
        Arc::new(Self { held: Mutex::new(held), changed: Condvar::new(), cpu: CpuTime::default() })
    }

    /// The node is ending.
    pub fn close(&self) {
        let replayed = self.with(|held| {
            held.closing = true;
            held.replayed.clone()
        });
        if let Some(replayed) = replayed {
            replayed.with(|held| held.closing = true);
        }
    }

    /// Looks or changes, and wakes whoever waits.
    pub fn with<T>(&self, change: impl FnOnce(&mut Held) -> T) -> T {
        let result = change(&mut self.held());
        self.changed.notify_all();
        result
    }

    /// Adds an answer.
    pub fn say(&self, message: NodeMessage) {
        self.with(|held| {
            if held.messages.len() < MESSAGES {
                held.messages.push_back(message);
            }
        });
    }

    /// Waits at most `timeout` until `ready`, and says whether it is.
    pub fn wait(&self, timeout: Duration, ready: impl Fn(&Held) -> bool) -> (MutexGuard<'_, Held>, bool) {
        let (held, waited) = self
            .changed
            .wait_timeout_while(self.held(), timeout, |held| !ready(held))
            .unwrap_or_else(PoisonError::into_inner);
        (held, !waited.timed_out())
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
