//! Subscription of a client to a fleet, and the time of its shard's next poll.

use crate::fleet::{Fleet, FleetReader};
use std::{sync::Arc, time::Instant};

/// A fleet that a client reads.
#[derive(Debug)]
pub struct FleetSubscription {
    pub fleet: Arc<Fleet>,
    pub reader: FleetReader,
    /// When it may have its next message.
    pub due: Instant,
}

impl FleetSubscription {
    /// Begins again, with other rights.
    pub fn begin_again(&mut self) {
        self.reader = FleetReader::default();
    }
}

/// Time at which the shard polls its fleets.
#[derive(Debug, Default)]
pub struct FleetClock {
    /// Whether any client reads one.
    pub is_due: bool,
    pub next: Option<Instant>,
    /// Counts turns, so that each begins with another client.
    turn: usize,
}

impl FleetClock {
    /// Returns when there is something to do.
    pub fn due(&self) -> Option<Instant> {
        self.is_due.then(|| self.next.unwrap_or_else(Instant::now))
    }

    /// Has the shard look now.
    pub fn wake(&mut self) {
        (self.is_due, self.next) = (true, None);
    }

    /// Returns the client, of `clients`, with which this turn begins.
    pub fn take_turn(&mut self, clients: usize) -> usize {
        self.turn = self.turn.wrapping_add(1);
        self.turn % clients.max(1)
    }
}
