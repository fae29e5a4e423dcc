//! The section `[prometheus]` of the configuration file.

use oasis_handler::Acknowledge;
use serde::{Deserialize, Serialize};

/// Most exporters that are read.
const MAX_TARGETS: usize = 64;

/// The settings of the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrometheusConfig {
    /// Whether remote write is taken, at `/api/v1/write` on the address of the page.
    pub enabled: bool,
    /// The label whose value names the node of a series. The other labels belong to the name of the instance.
    pub node_label: String,
    /// The name of the node of series without that label, and what the names of all other nodes begin with: `prometheus-HOST:PORT`. If it is
    /// empty, the label alone is the name, and a series without it is refused.
    pub node_prefix: String,
    /// Most nodes.
    pub max_nodes: usize,
    /// Most series: each is an instance.
    pub max_series: usize,
    /// When a request is answered.
    pub acknowledge: Acknowledge,
    /// Exporters that are read, such as `http://127.0.0.1:9100/metrics`.
    pub scrape: Vec<String>,
    /// Seconds between two scrapes of an exporter.
    pub scrape_interval: f64,
    /// Whether exporters are asked for Protocol Buffers, which have native histograms.
    pub scrape_native_histograms: bool,
}

impl Default for PrometheusConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            node_label: "instance".into(),
            node_prefix: "prometheus".into(),
            max_nodes: 1_000,
            max_series: 10_000,
            acknowledge: Acknowledge::Stored,
            scrape: Vec::new(),
            scrape_interval: 10.0,
            scrape_native_histograms: false,
        }
    }
}

/// A section that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadConfig {
    /// Names of nodes have no such signs.
    #[error("prometheus.node_prefix: {0:?} has a / or a *, which names of nodes cannot have")]
    Prefix(String),
    /// Nothing could be taken.
    #[error("prometheus.{0} is 0: nothing could be taken")]
    Zero(&'static str),
    /// Such a target is not read.
    #[error(
        "prometheus.scrape: {0:?} is no address such as http://127.0.0.1:9100/metrics, without user and password"
    )]
    Target(String),
    /// Their series would be those of one node.
    #[error(
        "prometheus.scrape has two targets at {0}: a node is an address, so name each once, or let Prometheus scrape them with labels"
    )]
    SameTarget(String),
    /// Each target has a thread.
    #[error(
        "prometheus.scrape has {0} targets, more than {MAX_TARGETS}: let Prometheus scrape, and send by remote write"
    )]
    Targets(usize),
    /// Nothing would be read.
    #[error("prometheus.scrape is set, but prometheus.enabled is false: set prometheus.enabled = true")]
    ScrapeOnly,
    /// A rate that no exporter bears.
    #[error("prometheus.scrape_interval: {0} is not from 0.1 to 86400 seconds")]
    Interval(String),
}

impl PrometheusConfig {
    /// Checks that a source that is off has no targets.
    pub(crate) fn check_off(&self) -> Result<(), BadConfig> {
        if self.scrape.is_empty() { Ok(()) } else { Err(BadConfig::ScrapeOnly) }
    }

    /// Checks the values that have no meaning.
    pub(crate) fn check(&self) -> Result<(), BadConfig> {
        if self.node_prefix.contains(['/', '*']) {
            return Err(BadConfig::Prefix(self.node_prefix.clone()));
        }
        if let Some(wrong) = self.scrape.iter().find(|url| !is_target(url)) {
            return Err(BadConfig::Target(wrong.clone()));
        }
        let addresses: Vec<&str> = self.scrape.iter().map(|url| target_address(url)).collect();
        if let Some(twice) = (1..addresses.len()).find(|at| addresses[..*at].contains(&addresses[*at])) {
            return Err(BadConfig::SameTarget(addresses[twice].to_owned()));
        }
        if self.scrape.len() > MAX_TARGETS {
            return Err(BadConfig::Targets(self.scrape.len()));
        }
        if !(0.1..=86_400.0).contains(&self.scrape_interval) {
            return Err(BadConfig::Interval(self.scrape_interval.to_string()));
        }
        let limits = [("max_nodes", self.max_nodes), ("max_series", self.max_series)];
        limits.iter().find(|(_, limit)| *limit == 0).map_or(Ok(()), |(name, _)| Err(BadConfig::Zero(name)))
    }
}

/// Returns `HOST:PORT` of the address of a target.
pub(crate) fn target_address(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?']).next().unwrap_or(rest)
}

fn is_target(url: &str) -> bool {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")).unwrap_or_default();
    !rest.is_empty() && !rest.starts_with(['/', ':', '?']) && !url.contains([' ', '@'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(scrape: &[&str], scrape_interval: f64) -> Result<(), BadConfig> {
        let scrape = scrape.iter().map(|url| (*url).to_owned()).collect();
        PrometheusConfig { scrape, scrape_interval, ..PrometheusConfig::default() }.check()
    }

    #[test]
    fn a_target_of_a_source_that_is_off_is_a_mistake() {
        let off = PrometheusConfig::default();
        assert_eq!(off.check_off(), Ok(()));
        let scrape = vec!["http://127.0.0.1:9100/metrics".to_owned()];
        assert_eq!(PrometheusConfig { scrape, ..off }.check_off(), Err(BadConfig::ScrapeOnly));
    }

    #[test]
    fn targets_are_plain_addresses_and_intervals_have_bounds() {
        assert_eq!(
            checked(&["http://127.0.0.1:9100/metrics", "http://host", "https://other/metrics"], 0.1),
            Ok(())
        );
        for wrong in ["", "127.0.0.1:9100", "ftp://host/metrics", "http:///metrics", "http://a:b@host/"] {
            assert_eq!(checked(&[wrong], 10.0), Err(BadConfig::Target(wrong.into())));
        }
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(checked(&[], wrong), Err(BadConfig::Interval(_))), "{wrong}");
        }
        let same = ["http://host:1/a", "http://host:2/a", "http://host:1/b"];
        assert_eq!(checked(&same, 10.0), Err(BadConfig::SameTarget("host:1".into())));
        let many: Vec<String> = (0..65).map(|port| format!("http://host:{port}")).collect();
        let many: Vec<&str> = many.iter().map(|url| &**url).collect();
        assert_eq!(checked(&many, 10.0), Err(BadConfig::Targets(65)));
    }
}
