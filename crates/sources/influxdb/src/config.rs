//! The section `[influxdb]` of the configuration file.

use oasis_handler::Acknowledge;
use serde::{Deserialize, Serialize};

/// The settings of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InfluxdbConfig {
    /// Whether line protocol is taken, on the address of the page.
    pub enabled: bool,
    /// The tag whose value names the node of a point. The other tags belong to the name of the instance.
    pub node_tag: String,
    /// The name of the node of points without that tag, and what the names of all other nodes begin with: `influxdb-HOST`. If it is empty, the
    /// tag alone is the name, and a point without it is refused.
    pub node_prefix: String,
    /// Most nodes.
    pub max_nodes: usize,
    /// Most series: each is an instance.
    pub max_series: usize,
    /// When a request is answered.
    pub acknowledge: Acknowledge,
}

impl Default for InfluxdbConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            node_tag: "host".into(),
            node_prefix: "influxdb".into(),
            max_nodes: 1_000,
            max_series: 10_000,
            acknowledge: Acknowledge::Stored,
        }
    }
}

/// A section that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadConfig {
    /// Names of nodes have no such signs.
    #[error("influxdb.node_prefix: {0:?} has a / or a *, which names of nodes cannot have")]
    Prefix(String),
    /// Nothing could be taken.
    #[error("influxdb.{0} is 0: nothing could be taken")]
    Zero(&'static str),
}

impl InfluxdbConfig {
    /// Checks the values that have no meaning.
    pub(crate) fn check(&self) -> Result<(), BadConfig> {
        if self.node_prefix.contains(['/', '*']) {
            return Err(BadConfig::Prefix(self.node_prefix.clone()));
        }
        let limits = [("max_nodes", self.max_nodes), ("max_series", self.max_series)];
        limits.iter().find(|(_, limit)| *limit == 0).map_or(Ok(()), |(name, _)| Err(BadConfig::Zero(name)))
    }
}
