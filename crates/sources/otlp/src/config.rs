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
    /// An address for OTLP over gRPC, such as `127.0.0.1:4317`, where SDKs and Collectors send over gRPC without settings; empty: there is none.
    pub grpc_listen: String,
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
            grpc_listen: String::new(),
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
    #[error("otlp.{0} is set, but otlp.enabled is false: set otlp.enabled = true")]
    ListenOnly(&'static str),
}

impl OtlpConfig {
    /// Checks that a source that is off has no addresses.
    pub(crate) fn check_off(&self) -> Result<(), BadConfig> {
        let addresses = [("listen", &self.listen), ("grpc_listen", &self.grpc_listen)];
        let set = addresses.iter().find(|(_, address)| !address.is_empty());
        set.map_or(Ok(()), |(name, _)| Err(BadConfig::ListenOnly(name)))
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_source_that_is_off_is_a_mistake() {
        let address = || "127.0.0.1:4317".to_owned();
        let off = OtlpConfig::default();
        assert_eq!(off.check_off(), Ok(()));
        let http = OtlpConfig { listen: address(), ..off.clone() };
        assert_eq!(http.check_off(), Err(BadConfig::ListenOnly("listen")));
        let grpc = OtlpConfig { grpc_listen: address(), ..off };
        assert_eq!(grpc.check_off(), Err(BadConfig::ListenOnly("grpc_listen")));
    }
}
