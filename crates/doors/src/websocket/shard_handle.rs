//! Handle of a shard: its inbox and its load.

use super::{
    balance::Load,
    inbox::{Event, Inbox, IncomingConnection},
};
use oasis_dac::ShardMeter;
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
};

/// Handle of a shard. After a panic it has another inbox: events for the connections that it had then are obsolete.
#[derive(Debug)]
pub struct ShardHandle {
    /// The shard's number.
    pub number: usize,
    /// The shard's counters.
    pub meter: Arc<ShardMeter>,
    inbox: Mutex<Arc<Inbox>>,
    is_ending: AtomicBool,
    is_leaving: AtomicBool,
    /// Load of the last second, in thousandths of a core.
    cpu: AtomicU32,
    /// Connections that it was sent since.
    taken: AtomicUsize,
}

impl ShardHandle {
    /// Creates the handle of a shard with this inbox.
    pub fn new(number: usize, meter: Arc<ShardMeter>, inbox: Arc<Inbox>) -> Self {
        Self {
            number,
            meter,
            inbox: Mutex::new(inbox),
            is_ending: AtomicBool::new(false),
            is_leaving: AtomicBool::new(false),
            cpu: AtomicU32::new(0),
            taken: AtomicUsize::new(0),
        }
    }

    /// Sends the shard a connection, unless the shard has ended.
    ///
    /// # Errors
    /// Gives the connection back.
    pub fn board(&self, passenger: IncomingConnection) -> Result<(), IncomingConnection> {
        let seat = self.meter.seat();
        self.taken.fetch_add(1, Ordering::Relaxed);
        self.inbox().board(passenger, seat)
    }

    /// Asks the shard to give connections to the others.
    pub fn shed(&self, count: usize) {
        if count > 0 {
            self.inbox().post(Event::Shed(count));
        }
    }

    /// Asks the shard to hand over all its connections and to end.
    pub fn leave(&self) {
        // The flag is set before the event: a shard that starts again meanwhile checks it.
        self.is_leaving.store(true, Ordering::SeqCst);
        self.meter.leave();
        self.inbox().post(Event::Leave);
    }

    /// Whether the shard hands over its connections.
    pub fn is_leaving(&self) -> bool {
        self.is_leaving.load(Ordering::SeqCst)
    }

    /// Notifies the shard that the DAC shuts down.
    pub fn end(&self) {
        // Before the event, as above.
        self.is_ending.store(true, Ordering::SeqCst);
        self.inbox().post(Event::End);
    }

    /// Sets the inbox of the shard that has taken the place of one that panicked. Connections on their way come to it.
    pub fn move_to(&self, inbox: &Arc<Inbox>) {
        let mut present = self.inbox();
        for event in present.close() {
            if let Event::Board(..) = event {
                inbox.post(event);
            }
        }
        *present = inbox.clone();
        if self.is_leaving() {
            inbox.post(Event::Leave);
        }
        if self.is_ending.load(Ordering::SeqCst) {
            inbox.post(Event::End);
        }
    }

    /// The present load.
    pub fn load(&self) -> Load {
        Load {
            cpu: self.cpu.load(Ordering::Relaxed),
            connections: self.meter.figures().connections,
            taken: self.taken.load(Ordering::Relaxed),
        }
    }

    /// Sets the processor time of the last second, in thousandths of a core.
    pub fn measured(&self, cpu: u32) {
        self.cpu.store(cpu, Ordering::Relaxed);
        self.taken.store(0, Ordering::Relaxed);
    }

    /// The shard's present inbox.
    pub fn inbox(&self) -> MutexGuard<'_, Arc<Inbox>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
