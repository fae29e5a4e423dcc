//! Changes of the registry since a revision.

use super::{
    Registry,
    changes::{Entry, Line},
};
use crate::{instance::Instance, node::Node};
use oasis_wire::quantity::TopicId;
use std::sync::Arc;

/// Bytes that an entry takes in a message, besides its names.
const ENTRY_BYTES: usize = 200;

/// Position of a reader of the registry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct RegistryCursor {
    /// The revision of the last entry that it has received; 0 if it has none.
    pub revision: u64,
    /// The newest revision when it received its first entry: entries removed before that never reached it.
    pub begun: u64,
}

impl RegistryCursor {
    /// Continues after a revision.
    pub fn after(revision: u64) -> Self {
        Self { revision, begun: revision }
    }
}

/// Entries that changed since a revision, in the order of their last changes.
#[derive(Debug)]
pub struct RegistryDelta {
    /// The entries changed after this revision. At 0 it begins a new picture.
    pub from: u64,
    /// Position at which the reader continues.
    pub next: RegistryCursor,
    /// Whether more changes follow.
    pub more: bool,
    /// New or changed nodes.
    pub nodes: Vec<Node>,
    /// New or changed instances.
    pub instances: Vec<Arc<Instance>>,
    /// Names of nodes that are gone.
    pub removed_nodes: Vec<Arc<str>>,
    /// Topics of instances that are gone.
    pub removed_instances: Vec<TopicId>,
}

impl Registry {
    /// Returns the revision: it rises with each change of a node or an instance, but not with samples or statistics.
    pub fn revision(&self) -> u64 {
        self.lock().changes.last()
    }

    /// Returns the entries that changed after `cursor`, up to a size; at least one, if there are any. A reader for which
    /// removals were forgotten begins again at revision 0.
    pub fn delta(&self, cursor: RegistryCursor, most_bytes: usize) -> RegistryDelta {
        let inner = self.lock();
        let last = inner.changes.last();
        let is_readable =
            inner.changes.forgotten() <= cursor.revision.max(cursor.begun) && cursor.revision <= last;
        let from = if is_readable { cursor.revision } else { 0 };
        let begun = if from == 0 { last } else { cursor.begun };
        let mut delta = RegistryDelta {
            from,
            next: RegistryCursor { revision: last, begun },
            more: false,
            nodes: Vec::new(),
            instances: Vec::new(),
            removed_nodes: Vec::new(),
            removed_instances: Vec::new(),
        };
        let (mut bytes, mut at) = (0, from);
        for (revision, Line { entry, is_removed }) in inner.changes.after(from) {
            if bytes >= most_bytes {
                (delta.more, delta.next.revision) = (true, at);
                break;
            }
            at = revision;
            match entry {
                Entry::Node(name) if *is_removed => delta.removed_nodes.push(name.clone()),
                Entry::Instance(topic) if *is_removed => delta.removed_instances.push(*topic),
                Entry::Node(name) => delta.nodes.extend(inner.nodes.get(&**name).cloned()),
                Entry::Instance(topic) => delta.instances.extend(inner.instances.get(topic).cloned()),
            }
            bytes += ENTRY_BYTES
                + match entry {
                    Entry::Node(name) => name.len() + self.settings.shown_bytes(name, None),
                    Entry::Instance(topic) => inner.instances.get(topic).map_or(0, |instance| {
                        let (node, name) = (&instance.node, &instance.name);
                        node.len() + name.len() + self.settings.shown_bytes(node, Some(name))
                    }),
                };
        }
        delta
    }

    /// Records that the labels of a node have changed.
    pub(crate) fn node_changed(&self, node: &str) {
        let mut inner = self.lock();
        if inner.nodes.contains_key(node) {
            inner.changes.change(Entry::Node(node.into()));
        }
        drop(inner);
        self.notify_watchers();
    }

    /// Records that the rate, the demand or another property of an instance has changed.
    pub(crate) fn instance_changed(&self, instance: &Instance) {
        let mut inner = self.lock();
        if inner.instances.contains_key(&instance.topic) {
            inner.changes.change(instance.into());
        }
        drop(inner);
        self.notify_watchers();
    }
}
