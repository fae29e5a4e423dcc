//! State that all hosts share: the clock, the network, the queue of events, and the truth about samples.

use crate::{
    network::{ConnectionId, Delivery, Network, Side},
    oracle::Oracle,
    plan::{Fault, Plan},
    planted::Planted,
    system::NANOS_PER_SECOND,
    trace::Trace,
};
use oasis_wire::quantity::TopicId;
use std::{cmp::Reverse, collections::BinaryHeap};

/// Longest that a process is away.
pub const AWAY: u64 = 5 * NANOS_PER_SECOND;

/// Next step of a process of a node.
#[derive(Debug)]
pub enum NodeEvent {
    /// A probe takes a sample.
    Sample(usize),
    /// The collector looks for batches that are due.
    Flush,
    /// The spooler looks for work.
    Spool,
    /// The shipper connects.
    Connect,
    /// The shipper looks for something to send over this connection.
    Ship(ConnectionId),
}

/// Next step of a process of the DAC.
#[derive(Debug)]
pub enum DacEvent {
    /// The archive stores what was received.
    Store,
    /// The archive's maintenance.
    Maintain,
    /// Sessions check their deadlines.
    CheckDeadlines,
    /// Planted: a session handles a frame that it has acknowledged.
    TakeLate(ConnectionId),
    /// Planted: the topic log gets a batch that the ledger has counted.
    AppendLate(ConnectionId, TopicId, Vec<u8>),
}

/// Event at a time.
#[derive(Debug)]
pub enum Event {
    /// At a node, if its process is still this one.
    Node(usize, u64, NodeEvent),
    /// At the DAC, if its process is still this one.
    Dac(u64, DacEvent),
    /// On the network.
    Delivery(Delivery),
    /// A fault begins.
    Fault(Fault),
    /// A disk works again.
    Repair(usize),
    /// The crash that a host is armed for happens now at the latest.
    Crash(usize),
    /// A node starts.
    StartNode(usize),
    /// The DAC starts.
    StartDac,
    /// A liar says more, or leaves.
    Liar(usize),
}

/// An event, when it happens, and its number.
#[derive(Debug)]
pub(crate) struct Scheduled(pub u64, pub u64, pub Event);

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        (self.0, self.1) == (other.0, other.1)
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

/// State that all hosts share.
#[derive(Debug)]
pub struct Shared {
    /// Nanoseconds since the simulation began.
    pub now: u64,
    /// All decisions after the plan.
    pub random: fastrand::Rng,
    /// The network.
    pub network: Network,
    /// Trace of the events.
    pub trace: Trace,
    /// Truth about all samples.
    pub oracle: Oracle,
    /// The planted bug.
    pub planted: Option<Planted>,
    /// The plan.
    pub plan: Plan,
    /// Whether the DAC accepts connections.
    pub is_dac_up: bool,
    /// Whether probes still take samples.
    pub is_sampling: bool,
    /// Whether processes that end are not started again.
    pub is_over: bool,
    /// Connections that the DAC has to accept.
    pub opened: Vec<ConnectionId>,
    /// Violations found during the run.
    pub findings: Vec<String>,
    /// Events to come.
    pub(crate) queue: BinaryHeap<Reverse<Scheduled>>,
    /// Number of events so far.
    pub(crate) order: u64,
}

impl Shared {
    /// Schedules an event.
    pub fn at(&mut self, time: u64, event: Event) {
        self.order += 1;
        self.queue.push(Reverse(Scheduled(time.max(self.now), self.order, event)));
    }

    /// Schedules an event after a delay.
    pub fn after(&mut self, delay: u64, event: Event) {
        self.at(self.now + delay, event);
    }

    /// Schedules deliveries.
    pub fn deliver(&mut self, deliveries: impl IntoIterator<Item = (u64, Delivery)>) {
        for (time, delivery) in deliveries {
            self.at(time, Event::Delivery(delivery));
        }
    }

    /// Sends bytes.
    pub fn send(&mut self, id: ConnectionId, to: Side, bytes: &[u8]) {
        let deliveries = self.network.send(id, to, bytes, self.now);
        self.deliver(deliveries);
    }

    /// Closes an end of a connection.
    pub fn close(&mut self, id: ConnectionId, from: Side) {
        let delivery = self.network.close(id, from, self.now);
        self.deliver(delivery);
    }

    /// Notes an event in the trace.
    pub fn note(&mut self, event: impl AsRef<str>) {
        self.trace.note(self.now, event.as_ref());
    }
}
