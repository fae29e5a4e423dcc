//! The configuration file: TOML, with the names of the flags. `docs/reference/oasis.toml` documents every key by being the default.

use crate::{
    cli::{Addresses, Common, Probes},
    probe_choice::ProbeChoice,
};
use anyhow::Context;
use oasis_dac::config::{ChannelConfig, LogConfig};
use oasis_doors::DoorsConfig;
use oasis_probe::{NodeConfig, host_name};
use serde::{Deserialize, Serialize};
use std::{fs, path::PathBuf, time::Duration};
use uuid::Uuid;

/// The whole file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub doors: DoorsConfig,
    pub channel: ChannelConfig,
    pub log: LogConfig,
    pub node: NodeSection,
}

/// `[node]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NodeSection {
    pub name: String,
    pub uuid: Option<Uuid>,
    pub dac: String,
    pub spool_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spool_directory: Option<PathBuf>,
    pub spool_directory_bytes: u64,
    pub batch_samples: usize,
    pub linger_ms: u64,
    pub demand: bool,
    pub probes: Vec<ProbeChoice>,
}

impl Default for NodeSection {
    fn default() -> Self {
        let bounds = NodeConfig::default();
        Self {
            name: String::new(),
            uuid: bounds.uuid,
            dac: ChannelConfig::default().listen,
            spool_bytes: bounds.spool_bytes,
            spool_directory: bounds.spool_directory,
            spool_directory_bytes: bounds.spool_directory_bytes,
            batch_samples: bounds.batch_samples,
            linger_ms: bounds.linger.as_millis() as u64,
            demand: bounds.demand,
            probes: ["processor", "memory", "network", "heartbeat"].map(ProbeChoice::of).into(),
        }
    }
}

impl NodeSection {
    /// The configured name, or the host's.
    pub fn name(&self) -> String {
        if self.name.is_empty() { host_name() } else { self.name.clone() }
    }

    /// Bounds for the node.
    pub fn bounds(&self) -> NodeConfig {
        NodeConfig {
            spool_bytes: self.spool_bytes,
            spool_directory: self.spool_directory.clone(),
            spool_directory_bytes: self.spool_directory_bytes,
            batch_samples: self.batch_samples,
            linger: Duration::from_millis(self.linger_ms),
            uuid: self.uuid,
            demand: self.demand,
        }
    }
}

impl Config {
    /// The file named on the command line, or the defaults.
    pub fn load(common: &Common) -> anyhow::Result<Self> {
        let Some(path) = &common.config else { return Ok(Self::default()) };
        let text = fs::read_to_string(path)
            .with_context(|| format!("cannot read the configuration {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("in the configuration {}", path.display()))
    }

    /// Flags for a DAC win.
    pub fn with_addresses(mut self, addresses: Addresses) -> Self {
        if let Some(listen) = addresses.listen {
            self.doors.listen = listen;
        }
        if let Some(listen) = addresses.channel_listen {
            self.channel.listen = listen;
        }
        self
    }

    /// Flags for a node win.
    pub fn with_probes(mut self, probes: Probes) -> anyhow::Result<Self> {
        if let Some(name) = probes.name {
            self.node.name = name;
        }
        if let Some(directory) = probes.spool_directory {
            self.node.spool_directory = Some(directory);
        }
        if !probes.probes.is_empty() {
            let choose =
                |text: &String| ProbeChoice::parse(text).with_context(|| format!("in --probe {text}"));
            self.node.probes = probes.probes.iter().map(choose).collect::<anyhow::Result<_>>()?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_file_is_the_default() {
        let documented = include_str!("../../../docs/reference/oasis.toml");
        assert_eq!(toml::from_str::<Config>(documented).unwrap(), Config::default());
    }

    #[test]
    fn the_documented_file_has_every_key() {
        let documented: toml::Table = include_str!("../../../docs/reference/oasis.toml").parse().unwrap();
        let all = toml::Table::try_from(Config::default()).unwrap();
        for (section, keys) in &all {
            for key in keys.as_table().unwrap().keys() {
                assert!(
                    documented[section].as_table().unwrap().contains_key(key),
                    "[{section}] {key} is not documented"
                );
            }
        }
    }
}
