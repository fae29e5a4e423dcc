//! The section `[mavlink]` of the configuration file.

use crate::address::{Address, BadAddress};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Most links.
const MAX_LINKS: usize = 16;
/// Shortest time without a frame after which a node can be offline, in seconds. Vehicles send a HEARTBEAT each second.
const MIN_OFFLINE_SECONDS: f64 = 1.5;
/// Longest such time, in seconds.
const MAX_OFFLINE_SECONDS: f64 = 3_600.0;
const SYSTEM: &str = "{system}";
const COMPONENT: &str = "{component}";

/// The settings of the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MavlinkConfig {
    /// The links: `udpin:HOST:PORT`, `udpout:HOST:PORT`, `serial:PATH` or `serial:PATH,BAUD`.
    pub links: Vec<String>,
    /// The node of a component; `{system}` and `{component}` stand for their numbers.
    pub node: String,
    /// Seconds without a frame after which a node is offline.
    pub offline_after: f64,
    /// Most nodes: components that are heard while the DAC runs.
    pub max_nodes: usize,
    /// Most series: each is an instance.
    pub max_series: usize,
}

impl Default for MavlinkConfig {
    fn default() -> Self {
        Self {
            links: Vec::new(),
            node: "mavlink-{system}-{component}".into(),
            offline_after: 5.0,
            max_nodes: 100,
            max_series: 10_000,
        }
    }
}

/// A section that cannot work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadConfig {
    /// A link has another form.
    #[error("mavlink.links: {0}")]
    Address(#[from] BadAddress),
    /// More links than are opened.
    #[error(
        "mavlink.links has {0} links, more than {MAX_LINKS}: let a router such as mavlink-router join them"
    )]
    Links(usize),
    /// A link is named twice.
    #[error("mavlink.links has {0} twice")]
    Repeated(String),
    /// Two components would have one name.
    #[error("mavlink.node is {0:?}: it needs {{system}} and {{component}}, and neither / nor *")]
    Node(String),
    /// A time that cannot work.
    #[error(
        "mavlink.offline_after is {0}: {MIN_OFFLINE_SECONDS} to {MAX_OFFLINE_SECONDS} seconds are possible, and vehicles send a HEARTBEAT each second"
    )]
    Offline(f64),
    /// Nothing could be taken.
    #[error("mavlink.{0} is 0: nothing could be taken")]
    Zero(&'static str),
}

/// Settings that can work.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    pub links: Vec<Address>,
    pub offline_after: Duration,
}

impl MavlinkConfig {
    /// Checks the settings.
    pub(crate) fn checked(&self) -> Result<Checked, BadConfig> {
        if self.links.len() > MAX_LINKS {
            return Err(BadConfig::Links(self.links.len()));
        }
        let mut links = Vec::new();
        for link in &self.links {
            let address = Address::parse(link)?;
            if links.contains(&address) {
                return Err(BadConfig::Repeated(address.to_string()));
            }
            links.push(address);
        }
        let is_name = self.node.contains(SYSTEM) && self.node.contains(COMPONENT);
        if !is_name || self.node.contains(['/', '*']) || self.node.chars().any(char::is_control) {
            return Err(BadConfig::Node(self.node.clone()));
        }
        if !(MIN_OFFLINE_SECONDS..=MAX_OFFLINE_SECONDS).contains(&self.offline_after) {
            return Err(BadConfig::Offline(self.offline_after));
        }
        for (name, count) in [("max_nodes", self.max_nodes), ("max_series", self.max_series)] {
            if count == 0 {
                return Err(BadConfig::Zero(name));
            }
        }
        Ok(Checked { links, offline_after: Duration::from_secs_f64(self.offline_after) })
    }

    /// Returns the name of the node of a component.
    pub(crate) fn node_name(&self, system: u8, component: u8) -> String {
        self.node.replace(SYSTEM, &system.to_string()).replace(COMPONENT, &component.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_work_are_refused_with_a_remedy() {
        let config =
            MavlinkConfig { links: vec!["udpin:127.0.0.1:14550".into()], ..MavlinkConfig::default() };
        assert_eq!(config.checked().unwrap().links.len(), 1);
        assert_eq!(config.node_name(1, 190), "mavlink-1-190");
        let refused = |change: fn(&mut MavlinkConfig)| {
            let mut config = config.clone();
            change(&mut config);
            config.checked().unwrap_err().to_string()
        };
        for (error, part) in [
            (refused(|config| config.links.push("14550".into())), "udpin:HOST:PORT"),
            (refused(|config| config.links = vec!["udpin:[::1]:1".into(); 17]), "more than 16"),
            (refused(|config| config.links.push("udpin:127.0.0.1:14550".into())), "twice"),
            (refused(|config| config.node = "{system}".into()), "{component}"),
            (refused(|config| config.node = "{system}/{component}".into()), "neither"),
            (refused(|config| config.offline_after = f64::NAN), "HEARTBEAT"),
            (refused(|config| config.max_nodes = 0), "max_nodes"),
        ] {
            assert!(error.contains(part), "{error}");
        }
    }
}
