//! The section `[otlp]` of the configuration file.

use oasis_handler::Acknowledge;
use serde::{Deserialize, Serialize};

/// The settings of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OtlpConfig {
    /// Whether OTLP is taken, on the address of the page.
    pub enabled: bool,
    /// An address of its own for OTLP, such as `127.0.0.1:4318`, where SDKs send without settings; empty: there is none.
    pub listen: String,
    /// Attributes of a resource whose values name its node, joined by hyphens: `otlp-SERVICE-HOST`. Those that a resource lacks are skipped.
    pub node_attributes: Vec<String>,
    /// The beginning of the name of each node, and the whole name of nodes without these attributes. If it is empty, such nodes are refused.
    pub node_prefix: String,
    /// Attributes that do not belong to the name of an instance; `http.*` stands for all that begin so. `otel.scope.name` is the name of the
    /// instrumentation scope.
    pub left_out_attributes: Vec<String>,
    /// Most nodes.
    pub max_nodes: usize,
    /// Most series: each is an instance.
    pub max_series: usize,
    /// When a request is answered.
    pub acknowledge: Acknowledge,
}

impl Default for OtlpConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            listen: String::new(),
            node_attributes: vec!["service.name".into(), "host.name".into()],
            node_prefix: "otlp".into(),
            left_out_attributes: vec!["otel.scope.name".into()],
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
    #[error("otlp.node_prefix: {0:?} has a / or a *, which names of nodes cannot have")]
    Prefix(String),
    /// No resource could name its node.
    #[error("otlp.node_prefix and otlp.node_attributes are empty: set one, because nodes need names")]
    NoName,
    /// Nothing could be taken.
    #[error("otlp.{0} is 0: nothing could be taken")]
    Zero(&'static str),
    /// Nothing would be taken there.
    #[error("otlp.listen is set, but otlp.enabled is false: set otlp.enabled = true")]
    ListenOnly,
    /// The program lacks the source.
    #[error(
        "otlp.enabled needs the feature otlp, which this program was built without: cargo build --features otlp"
    )]
    NotBuilt,
}

impl OtlpConfig {
    /// Checks the values that have no meaning.
    pub(crate) fn check(&self) -> Result<(), BadConfig> {
        if self.node_prefix.contains(['/', '*']) {
            return Err(BadConfig::Prefix(self.node_prefix.clone()));
        }
        if self.node_prefix.is_empty() && self.node_attributes.is_empty() {
            return Err(BadConfig::NoName);
        }
        let limits = [("max_nodes", self.max_nodes), ("max_series", self.max_series)];
        limits.iter().find(|(_, limit)| *limit == 0).map_or(Ok(()), |(name, _)| Err(BadConfig::Zero(name)))
    }
}
