//! The network: connections that deliver bytes in order after a while, break, stall, or fall silent; and datagrams.

use crate::plan::Plan;
use std::collections::BTreeMap;

/// Number of a connection.
pub type ConnectionId = u64;

/// An end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The node's, or a liar's.
    Node,
    /// The DAC's.
    Dac,
}

/// A connection.
#[derive(Debug)]
struct Connection {
    node: usize,
    /// Whether it is of another host that only claims to be the node.
    is_beside: bool,
    is_cut: bool,
    /// When the last bytes to node and DAC arrive.
    arrivals: [u64; 2],
}

/// Event that the network delivers at a time.
#[derive(Debug)]
pub enum Delivery {
    /// Bytes of a stream.
    Bytes(ConnectionId, Side, Vec<u8>),
    /// The stream ends.
    End(ConnectionId, Side),
    /// A datagram to the DAC.
    Datagram(ConnectionId, Vec<u8>),
}

/// The network.
#[derive(Debug)]
pub struct Network {
    connections: BTreeMap<ConnectionId, Connection>,
    last: ConnectionId,
    random: fastrand::Rng,
    delay: (u64, u64),
    lost: u8,
    /// Until when nothing passes to and from each node.
    partitions: Vec<u64>,
}

impl Network {
    /// Creates the network of a plan.
    pub fn new(plan: &Plan, random: fastrand::Rng) -> Self {
        let partitions = vec![0; plan.nodes.len()];
        Self { connections: BTreeMap::new(), last: 0, random, delay: plan.delay, lost: plan.lost, partitions }
    }

    /// Opens a connection of a node.
    pub fn open(&mut self, node: usize) -> ConnectionId {
        self.open_as(node, false)
    }

    /// Opens a connection of a host that claims to be a node.
    pub fn open_beside(&mut self, node: usize) -> ConnectionId {
        self.open_as(node, true)
    }

    fn open_as(&mut self, node: usize, is_beside: bool) -> ConnectionId {
        self.last += 1;
        self.connections.insert(self.last, Connection { node, is_beside, is_cut: false, arrivals: [0; 2] });
        self.last
    }

    /// Lets nothing pass to and from a node until a time.
    pub fn partition(&mut self, node: usize, until: u64) {
        self.partitions[node] = self.partitions[node].max(until);
    }

    /// Ends all partitions, and loses no datagrams any more.
    pub fn heal(&mut self, now: u64) {
        self.partitions.iter_mut().for_each(|until| *until = now.min(*until));
        self.lost = 0;
    }

    /// Returns whether a node can reach the DAC.
    pub fn passes(&self, node: usize, now: u64) -> bool {
        self.partitions[node] <= now
    }

    fn delay(&mut self) -> u64 {
        self.random.u64(self.delay.0..=self.delay.1)
    }

    /// When something that is sent now arrives, after all that was sent before.
    fn arrival(&mut self, id: ConnectionId, to: Side, now: u64) -> Option<u64> {
        let delay = self.delay();
        let connection = self.connections.get_mut(&id).filter(|connection| !connection.is_cut)?;
        let partition = if connection.is_beside { 0 } else { self.partitions[connection.node] };
        let earliest = now.max(partition) + delay;
        let arrival = &mut connection.arrivals[to as usize];
        *arrival = earliest.max(*arrival + 1);
        Some(*arrival)
    }

    /// Sends bytes, in pieces of any size.
    pub fn send(&mut self, id: ConnectionId, to: Side, mut bytes: &[u8], now: u64) -> Vec<(u64, Delivery)> {
        let mut deliveries = Vec::new();
        while !bytes.is_empty() {
            let length =
                if self.random.u8(0..3) == 0 { self.random.usize(1..=bytes.len()) } else { bytes.len() };
            let (piece, rest) = bytes.split_at(length);
            let Some(at) = self.arrival(id, to, now) else { break };
            deliveries.push((at, Delivery::Bytes(id, to, piece.to_vec())));
            bytes = rest;
        }
        deliveries
    }

    /// Sends a datagram: it may be lost, arrive late, or twice.
    pub fn datagram(&mut self, id: ConnectionId, bytes: &[u8], now: u64) -> Vec<(u64, Delivery)> {
        let node = self.connections.get(&id).map(|connection| connection.node);
        if node.is_none_or(|node| !self.passes(node, now)) || self.random.u8(0..100) < self.lost {
            return Vec::new();
        }
        let copies = if self.random.u8(0..20) == 0 { 2 } else { 1 };
        let mut deliveries = Vec::new();
        for _ in 0..copies {
            let late = if self.random.u8(0..10) == 0 { self.random.u64(0..400_000_000) } else { 0 };
            deliveries.push((now + self.delay() + late, Delivery::Datagram(id, bytes.to_vec())));
        }
        deliveries
    }

    /// One end closes: the other one sees that after everything sent before.
    pub fn close(&mut self, id: ConnectionId, from: Side, now: u64) -> Option<(u64, Delivery)> {
        let to = if from == Side::Node { Side::Dac } else { Side::Node };
        let at = self.arrival(id, to, now)?;
        Some((at, Delivery::End(id, to)))
    }

    /// The connection breaks: what is under way is lost. Each end notices at once, later, or never.
    pub fn cut(&mut self, id: ConnectionId, now: u64) -> Vec<(u64, Delivery)> {
        let Some(connection) = self.connections.get_mut(&id).filter(|connection| !connection.is_cut) else {
            return Vec::new();
        };
        connection.is_cut = true;
        let mut deliveries = Vec::new();
        for side in [Side::Node, Side::Dac] {
            match self.random.u8(0..4) {
                0 => {}
                1 => deliveries.push((now + self.random.u64(0..2_000_000_000), Delivery::End(id, side))),
                _ => deliveries.push((now + self.delay(), Delivery::End(id, side))),
            }
        }
        deliveries
    }

    /// Breaks all connections of a node, or all.
    pub fn cut_all(&mut self, node: Option<usize>, now: u64) -> Vec<(u64, Delivery)> {
        let of_node = |connection: &Connection| {
            node.is_none_or(|node| connection.node == node && !connection.is_beside)
        };
        let which: Vec<_> = self
            .connections
            .iter()
            .filter(|(_, connection)| of_node(connection))
            .map(|(id, _)| *id)
            .collect();
        which.into_iter().flat_map(|id| self.cut(id, now)).collect()
    }

    /// Returns whether what was sent still arrives.
    pub fn is_open(&self, id: ConnectionId) -> bool {
        self.connections.get(&id).is_some_and(|connection| !connection.is_cut)
    }
}
