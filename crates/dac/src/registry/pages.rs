//! The registry a page at a time: a list of all nodes or instances can be long, and its reader has other work.

use super::Registry;
use crate::{instance::Instance, node::Node};
use oasis_wire::quantity::TopicId;
use std::{
    ops::Bound::{Excluded, Unbounded},
    sync::Arc,
};

impl Registry {
    /// Returns the first instances after a topic, or of all, by topic; fewer than `most` if there are no more.
    pub fn instances_after(&self, topic: Option<TopicId>, most: usize) -> Vec<Arc<Instance>> {
        let after = (topic.map_or(Unbounded, Excluded), Unbounded);
        self.lock().instances.range(after).take(most).map(|(_, instance)| instance.clone()).collect()
    }

    /// Returns the first nodes after a name, or of all, by name; fewer than `most` if there are no more.
    pub fn nodes_after(&self, name: Option<&str>, most: usize) -> Vec<Node> {
        let after = (name.map_or(Unbounded, Excluded), Unbounded);
        self.lock().nodes.range::<str, _>(after).take(most).map(|(_, node)| node.clone()).collect()
    }
}
