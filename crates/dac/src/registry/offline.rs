//! The offline nodes in the order in which they are evicted, so that a flood of nodes does not scan all others.

use crate::{listener::counted, node::Node};
use oasis_wire::quantity::Nanos;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

/// Names, the first that left first.
type ByTime = BTreeSet<(Nanos, String)>;

/// Names of offline nodes by when they left.
#[derive(Debug, Default)]
pub struct Offline {
    /// Nodes that connected and never sent a sample.
    silent: ByTime,
    /// The others by address. Nodes known only from the archive count as one address.
    others: BTreeMap<Option<IpAddr>, ByTime>,
}

impl Offline {
    /// Adds a node that has left, or that is known from the archive.
    pub fn add(&mut self, node: &Node, has_sent: bool) {
        let is_silent = !has_sent && !node.is_remembered;
        let nodes = if is_silent { &mut self.silent } else { self.others.entry(address(node)).or_default() };
        nodes.insert(key(node));
    }

    /// Removes a node that is back, or evicted.
    pub fn remove(&mut self, node: &Node) {
        let key = key(node);
        if self.silent.remove(&key) {
            return;
        }
        let address = address(node);
        if let Some(nodes) = self.others.get_mut(&address) {
            nodes.remove(&key);
            if nodes.is_empty() {
                self.others.remove(&address);
            }
        }
    }

    /// Returns the node that left first, of those that never sent a sample.
    pub fn first_silent(&self) -> Option<String> {
        self.silent.first().map(|(_, name)| name.clone())
    }

    /// Returns the node that left first, of the address that has most of the others.
    pub fn first_of_most(&self) -> Option<String> {
        self.most()?.1.first().map(|(_, name)| name.clone())
    }

    /// Returns whether most of the others are known only from the archive.
    pub fn are_most_remembered(&self) -> bool {
        self.most().is_some_and(|(address, _)| address.is_none())
    }

    fn most(&self) -> Option<(&Option<IpAddr>, &ByTime)> {
        self.others.iter().max_by_key(|(_, nodes)| nodes.len())
    }
}

fn key(node: &Node) -> (Nanos, String) {
    (node.since, node.identity.name.clone())
}

fn address(node: &Node) -> Option<IpAddr> {
    node.address.map(counted)
}
