//! Forgets nodes and instances for good: unlike evicted ones, nothing of them is remembered.

use super::{Inner, Registry, changes::Entry};
use oasis_wire::quantity::TopicId;

/// A node cannot be forgotten while it is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the node is connected: stop it first, so that it sends nothing more")]
pub struct StillConnected;

impl Registry {
    /// Forgets a node with its instances, or one instance of it. Returns the topics that are gone; their readers are unsubscribed.
    ///
    /// # Errors
    /// If the node is connected.
    pub fn forget(&self, node: &str, instance: Option<&str>) -> Result<Vec<TopicId>, StillConnected> {
        let mut inner = self.lock();
        if inner.nodes.get(node).is_some_and(|known| known.is_online()) {
            return Err(StillConnected);
        }
        let topics = inner.forget(node, instance);
        inner
            .stored
            .retain(|(of, name), _| &**of != node || instance.is_some_and(|wanted| wanted != &**name));
        if instance.is_none() {
            inner.unlisted.remove(node);
        }
        drop(inner);
        self.notify_watchers();
        Ok(topics)
    }
}

impl Inner {
    /// Removes a node or an instance from the list. What this DAC has stored of their runs is not forgotten.
    pub(super) fn forget(&mut self, node: &str, instance: Option<&str>) -> Vec<TopicId> {
        let covers = |name: &str| instance.is_none_or(|wanted| wanted == name);
        let its: Vec<_> = self.instances_of(node).filter(|known| covers(&known.name)).cloned().collect();
        for instance in &its {
            self.by_name.remove(&(instance.node.clone(), instance.name.clone()));
            self.remove(instance);
            // An offset must not identify two different samples, even if the node comes back.
            self.first_offset = self.first_offset.max(instance.log.next());
        }
        if instance.is_none()
            && let Some(known) = self.nodes.remove(node)
        {
            self.offline.remove(&known);
            self.changes.remove(Entry::Node(node.into()));
        }
        its.iter().map(|instance| instance.topic).collect()
    }
}
