//! Nodes of other DACs in the registry. Of two DACs that know a run of a node, the one has it that it connected to last, by the number of
//! the connection. Of two runs, or without numbers, the one wins that is connected, and then the one that came last; a node that is
//! connected here wins over any that is relayed.

use super::{Inner, Names, Registry, changes::Entry};
use crate::{
    instance::Instance,
    node::Node,
    relayed::{Hop, RelayError, Ways},
    request::ForwardedCommand,
};
use oasis_channel::{Failure, RegisteredInstance};
use oasis_wire::{quantity::Nanos, schema::ProbeType};
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::mpsc;
use uuid::Uuid;

/// The DAC that a node is connected to, or was last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeHome {
    /// This one.
    Here,
    /// Another one, whose nodes come here. What is known of its clock is left out.
    Relayed(Hop),
    /// Another one, of which nothing comes here.
    Unreachable,
}

impl Registry {
    /// Returns the home of a node; none if the node is not known.
    pub fn home_of(&self, node: &str) -> Option<NodeHome> {
        let inner = self.lock();
        let known = inner.nodes.get(node)?;
        Some(match known.path().first() {
            Some(hop) => NodeHome::Relayed(Hop { clock_offset_ns: None, round_trip_ns: None, ..hop.clone() }),
            None if known.is_elsewhere() => NodeHome::Unreachable,
            None => NodeHome::Here,
        })
    }

    /// Lists a relayed node, or changes it.
    pub(crate) fn relay_node(&self, mut node: Node) -> Result<(), RelayError> {
        let name = node.identity.name.clone();
        let mut inner = self.lock();
        if let Some(known) = inner.nodes.get(&name) {
            let (standing, relayed) = (known.standing(), node.standing());
            if !standing.yields_to(&relayed) {
                return Err(RelayError::Elsewhere(name));
            }
            node.attach = standing.attach_of(&relayed);
            if known.relayed.is_some() {
                node.keep_statistics_of(known);
            } else {
                let claims = known.claims();
                inner.note_unlisted(&name, claims);
            }
        } else if inner.nodes.len() >= self.max_nodes && !inner.evict_oldest_node() {
            let message = format!("this DAC knows {} nodes (channel.max_nodes)", self.max_nodes);
            return Err(RelayError::Refused(Failure::new("too_many_nodes", message)));
        }
        inner.add_node(node);
        drop(inner);
        self.notify_watchers();
        Ok(())
    }

    /// Returns the nodes that are connected to other DACs, as far as this DAC knows, with the name of each DAC.
    pub fn homes_elsewhere(&self) -> BTreeMap<String, String> {
        let inner = self.lock();
        let home = |node: &Node| Some((node.identity.name.clone(), node.home_elsewhere()?.to_owned()));
        inner.nodes.values().filter_map(home).collect()
    }

    /// Returns whether this upstream lists the node.
    pub(crate) fn relays(&self, upstream: u64, name: &str) -> bool {
        self.lock().relays(upstream, name)
    }

    /// Returns who takes commands for a relayed node that is online.
    pub(crate) fn forwards_to(&self, name: &str) -> Option<Option<mpsc::Sender<ForwardedCommand>>> {
        let inner = self.lock();
        let relayed = inner.nodes.get(name)?.relayed.as_ref()?;
        Some(relayed.is_online.then(|| relayed.commands.clone()))
    }

    /// Lists a relayed instance, or changes it.
    pub(crate) fn relay_instance(
        &self,
        (upstream, node): (u64, &str),
        announced: RegisteredInstance,
        probe_type: &Arc<ProbeType>,
        run: Option<Uuid>,
        ways: &Ways,
    ) -> Result<Arc<Instance>, RelayError> {
        let mut inner = self.lock();
        if !inner.relays(upstream, node) {
            return Err(RelayError::Elsewhere(node.into()));
        }
        let key: Names = (node.into(), announced.name.as_str().into());
        let known = inner.by_name.get(&key).and_then(|topic| inner.instances.get(topic)).cloned();
        let (range, state) = (announced.demand, announced.state);
        let instance = match known {
            Some(known)
                if known.is_relayed() && known.probe_type == *probe_type && known.kind == announced.kind =>
            {
                known
            }
            known => {
                let awaited = known.clone().filter(|old| old.is_awaited());
                if let Some(old) = &known {
                    // First: a session of the node that still reads must not append what is not remembered.
                    inner.remove(old);
                    if !old.is_relayed() {
                        // The node may come back, and send again what this DAC has.
                        inner.keep_runs(old);
                    }
                }
                let start = known.map_or(inner.first_offset, |old| old.log.next());
                let last = inner.stored.get(&key).and_then(|runs| runs.last()).copied();
                let added = self.add(&mut inner, key, announced, probe_type, start);
                let added = added.map_err(RelayError::Refused)?;
                awaited.iter().for_each(|old| added.continue_after(old, last.as_ref()));
                added
            }
        };
        let has_changed = instance.set_state(state) | (instance.ledger().run() != run);
        instance.ledger().relay_run(run);
        instance.demand.set_range(range);
        instance.relay_by(ways);
        if has_changed {
            inner.changes.change((&*instance).into());
        }
        drop(inner);
        self.notify_watchers();
        Ok(instance)
    }

    /// Removes a relayed instance, or a relayed node with all of them.
    pub(crate) fn end_relay_of(&self, upstream: u64, node: &str, instance: Option<&str>) {
        let mut inner = self.lock();
        if !inner.relays(upstream, node) {
            return;
        }
        let is_own = |known: &&Arc<Instance>| {
            !known.is_relayed() && instance.is_none_or(|wanted| wanted == &*known.name)
        };
        // The upstream has not listed these yet, or not again: what this DAC has of them stays known.
        let own: Vec<_> = inner.instances_of(node).filter(is_own).cloned().collect();
        inner.forget(node, instance);
        for instance in &own {
            inner.keep_runs(instance);
        }
        drop(inner);
        self.notify_watchers();
    }

    /// Marks the nodes of an upstream as offline.
    pub(crate) fn lose_upstream(&self, upstream: u64, now: Nanos) {
        let mut inner = self.lock();
        let of_it = |node: &&mut Node| {
            node.relayed.as_ref().is_some_and(|relayed| relayed.upstream == upstream && relayed.is_online)
        };
        let lost: Vec<Node> = inner
            .nodes
            .values_mut()
            .filter(of_it)
            .map(|node| {
                node.relayed.iter_mut().for_each(|relayed| relayed.is_online = false);
                node.since = now;
                node.clone()
            })
            .collect();
        for node in &lost {
            inner.offline.add(node, true);
            inner.changes.change(Entry::Node(node.identity.name.as_str().into()));
        }
        drop(inner);
        if !lost.is_empty() {
            self.notify_watchers();
        }
    }
}

impl Inner {
    fn relays(&self, upstream: u64, name: &str) -> bool {
        let relayed = self.nodes.get(name).and_then(|node| node.relayed.as_ref());
        relayed.is_some_and(|relayed| relayed.upstream == upstream)
    }
}
