//! Whether the followed nodes are online at the DAC that is followed.

use super::printer::short;
use oasis_dac::now;
use oasis_format::visible::Visible;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// The followed nodes at one DAC.
#[derive(Debug, Default)]
pub struct Presence {
    /// Whether each is online; none until the DAC has said it.
    nodes: BTreeMap<String, Option<bool>>,
}

impl Presence {
    /// Nodes of which nothing is known yet.
    pub fn of(nodes: BTreeSet<String>) -> Self {
        Self { nodes: nodes.into_iter().map(|node| (node, None)).collect() }
    }

    /// Notes that an instance of a node was online when it was subscribed to.
    pub fn begin_online(&mut self, node: &str) {
        if let Some(is_online) = self.nodes.get_mut(node) {
            is_online.get_or_insert(true);
        }
    }

    /// Takes a change of the registry. Returns what is new, for the user.
    pub fn take(&mut self, delta: &Value) -> Vec<String> {
        let removed = delta["removed"]["nodes"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let gone: Vec<_> = removed.filter_map(|name| self.change(name, false, None)).collect();
        let nodes = delta["nodes"].as_array().into_iter().flatten();
        let changed = nodes.filter_map(|node| {
            self.change(node["name"].as_str()?, node["online"] == true, node["since"].as_u64())
        });
        gone.into_iter().chain(changed).collect()
    }

    /// Notes the state of a node. Returns a sentence if it was another one before.
    fn change(&mut self, name: &str, is_online: bool, since: Option<u64>) -> Option<String> {
        let before = self.nodes.get_mut(name)?.replace(is_online);
        let name = Visible(name);
        match (before, is_online) {
            (Some(true), false) => {
                let time = since.unwrap_or(now().0);
                Some(format!("{name} is offline since {}", short(time, now())))
            }
            (Some(false), true) => Some(format!("{name} is online again")),
            _ => None,
        }
    }

    /// Whether all nodes are offline here. False as long as the DAC has not said it of each.
    pub fn is_away(&self) -> bool {
        !self.nodes.is_empty() && self.nodes.values().all(|is_online| *is_online == Some(false))
    }
}

impl fmt::Display for Presence {
    /// The names of the nodes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.nodes.keys().map(|name| Visible(name).to_string()).collect();
        f.write_str(&names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn delta(name: &str, is_online: bool) -> Value {
        json!({"op": "registry_delta", "nodes": [{"name": name, "online": is_online, "since": now().0}]})
    }

    #[test]
    fn a_node_that_leaves_before_the_first_news_of_it_is_said_to_be_offline() {
        let mut presence = Presence::of(["plant".to_owned()].into());
        presence.begin_online("plant");
        let said = presence.take(&delta("plant", false));
        assert!(said[0].starts_with("plant is offline since "), "{said:?}");
    }

    #[test]
    fn only_a_change_of_a_followed_node_is_said() {
        let mut presence = Presence::of(["mill".to_owned(), "plant".to_owned()].into());
        assert!(presence.take(&delta("plant", true)).is_empty(), "it was online when following began");
        assert!(presence.take(&delta("other", false)).is_empty());
        let said = presence.take(&delta("plant", false));
        assert!(said[0].starts_with("plant is offline since "), "{said:?}");
        assert!(presence.take(&delta("plant", false)).is_empty());
        assert!(!presence.is_away(), "nothing is known of the other one");
        presence.take(&delta("mill", false));
        assert!(presence.is_away());
        assert_eq!(presence.take(&delta("plant", true)), ["plant is online again"]);
        let removed = json!({"op": "registry_delta", "removed": {"nodes": ["plant"], "instances": []}});
        assert_eq!(presence.take(&removed).len(), 1);
        assert!(presence.is_away());
    }
}
