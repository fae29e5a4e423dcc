//! The flags that override the configuration file.

use super::{Config, default_file};
use crate::{
    live::arguments::{Addresses, Common, PageAddress, Probes},
    live::probe_choice,
    usual_archive::usual_archive,
};
use anyhow::Context;
use oasis_ei_node::ProbeChoice;
use oasis_gateway::LineAddress;
use std::path::{Path, PathBuf};

/// The default probes of a node of the command line.
const STANDARD_PROBES: [&str; 4] = ["processor", "memory", "network", "heartbeat"];

impl Config {
    /// As [`Config::read`].
    pub fn load(common: &Common) -> anyhow::Result<Self> {
        Self::read(common.config.as_deref())
    }

    /// The file that is named, else that of the user, or the defaults. The folders of the host belong to its service.
    pub fn load_of_user(common: &Common) -> anyhow::Result<Self> {
        Self::read_file(default_file::find(common.config.as_deref(), false).as_deref())
    }

    /// Applies the flags that say where devices are: they replace those of the file.
    pub fn with_devices(mut self, serial: Vec<LineAddress>, others: Vec<LineAddress>) -> Self {
        if !serial.is_empty() || !others.is_empty() {
            self.gateway.devices = serial.into_iter().chain(others).collect();
        }
        self
    }

    /// Applies the flags of whatever has a page.
    pub fn with_page(mut self, page: PageAddress) -> Self {
        if let Some(listen) = page.listen {
            self.doors.listen = listen;
        }
        if let Some(directory) = page.access {
            self.access.directory = directory;
        }
        if let Some(local) = page.local {
            self.access.local = local;
        }
        self.access.insecure |= page.insecure;
        self.insecure |= page.insecure;
        if let Some(certificate) = page.tls_certificate {
            self.tls.certificate = certificate;
        }
        if let Some(key) = page.tls_key {
            self.tls.key = key;
        }
        self
    }

    /// Applies the flags of a DAC.
    pub fn with_addresses(self, addresses: Addresses) -> Self {
        let mut config = self.with_page(addresses.page);
        if let Some(listen) = addresses.channel_listen {
            config.channel.listen = listen;
        }
        if let Some(directory) = addresses.archive {
            config.archive.directory = directory;
        }
        config.rules.files.extend(addresses.rules);
        if let Some(nats) = addresses.nats {
            config.nats.url = nats;
        }
        if let Some(domain) = addresses.dds {
            (config.dds.domain, config.dds.publish) = (domain, true);
        }
        if let Some(name) = addresses.own_node {
            config.own_node = name;
        }
        config.channel.udp |= addresses.udp;
        if let Some(folder) = addresses.ca_dir {
            config.tls.ca_directory = folder;
        }
        if let Some(ca) = addresses.node_ca {
            config.tls.node_ca = ca;
        }
        if !addresses.tem.is_empty() {
            config.tem.url = addresses.tem.iter().map(ToString::to_string).collect();
        }
        if let Some(name) = addresses.dac_name {
            config.tem.name = name.to_string();
        }
        config
    }

    /// Resolves the paths that are relative to the folder of the file.
    pub fn relative_to(mut self, folder: &Path) -> Self {
        self.rules.relative_to(folder);
        self
    }

    /// Finds the directory of the state of rules: beside the archive, unless the configuration says where. Without either it is kept in memory.
    pub fn place_rules(&mut self) {
        self.rules.directory = self.rules_directory().unwrap_or_default();
    }

    /// Finds the folder with the messages that an MQTT broker may send again: beside the archive, as that of rules. Without either, there is none.
    #[cfg(feature = "mqtt")]
    pub fn place_received(&mut self) {
        let directory = self.beside_the_archive(&self.mqtt.directory, "mqtt");
        self.mqtt.directory = directory.unwrap_or_default();
    }

    /// Finds the folder with what is published to MQTT: beside the archive, as that of rules. Without either, nothing is remembered.
    #[cfg(feature = "mqtt-publish")]
    pub fn place_published(&mut self) {
        let directory = self.beside_the_archive(&self.mqtt_publish.directory, "mqtt-publish");
        self.mqtt_publish.directory = directory.unwrap_or_default();
    }

    /// Returns the folder for labels and settings of nodes: that of the configuration, or else one beside the archive;
    /// none without both.
    pub fn settings_directory(&self) -> Option<PathBuf> {
        self.beside_the_archive(&self.channel.settings_dir, "settings").map(PathBuf::from)
    }

    /// Returns the folder for the dashboards of the page; as [`Self::settings_directory`].
    pub fn layouts_directory(&self) -> Option<String> {
        self.beside_the_archive(&self.doors.layouts_dir, "layouts")
    }

    /// Returns the folder for the state of rules; none if neither the configuration nor an archive names one.
    pub fn rules_directory(&self) -> Option<String> {
        self.beside_the_archive(&self.rules.directory, "rules")
    }

    fn beside_the_archive(&self, configured: &str, what: &str) -> Option<String> {
        let archive = self.archive.directory.trim_end_matches('/');
        match (configured, archive) {
            ("", "") => None,
            ("", archive) => Some(format!("{archive}-{what}")),
            (directory, _) => Some(directory.to_owned()),
        }
    }

    /// Chooses the usual folder of the archive if none is named, or keeps none.
    pub fn place_archive(&mut self, is_unwanted: bool) {
        let directory = &mut self.archive.directory;
        match usual_archive() {
            _ if is_unwanted => directory.clear(),
            Some(usual) if directory.is_empty() => *directory = usual.to_string_lossy().into_owned(),
            _ => {}
        }
    }

    /// Leaves what a TEM without a DAC has: page, API and accounts.
    pub fn switch_off_all_but_the_page(&mut self) {
        let Self { memory_bytes, insecure, tls, doors, access, tem, relay, log, .. } = std::mem::take(self);
        *self = Self { memory_bytes, insecure, tls, doors, access, tem, relay, log, ..Self::default() };
    }

    /// Applies the flags of a node.
    pub fn with_probes(mut self, probes: Probes) -> anyhow::Result<Self> {
        if let Some(name) = probes.name.filter(|name| !name.is_empty()) {
            self.node.name = name;
        }
        if let Some(uuid) = probes.uuid {
            self.node.uuid = Some(uuid);
        }
        if let Some(flushes) = probes.flushes {
            self.node.flushes = Some(flushes);
        }
        if let Some(channel) = probes.channel {
            self.node.channel = channel;
        }
        self.node.ca = probes.ca.or(self.node.ca);
        self.node.certificate = probes.certificate.or(self.node.certificate);
        self.node.key = probes.key.or(self.node.key);
        self.node.spool_directory = probes.spool_dir.or(self.node.spool_directory);
        if !probes.probes.is_empty() {
            let choose =
                |text: &String| probe_choice::parse(text).with_context(|| format!("in --probe {text}"));
            self.node.probes = Some(probes.probes.iter().map(choose).collect::<anyhow::Result<_>>()?);
        }
        self.node.probes.get_or_insert_with(|| STANDARD_PROBES.map(ProbeChoice::new).into());
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_file_is_the_default() {
        let documented = include_str!("../../../../docs/reference/oasis.toml");
        let mut default = Config::default();
        default.node.probes = Some(STANDARD_PROBES.map(ProbeChoice::new).into());
        assert_eq!(toml::from_str::<Config>(documented).unwrap(), default);
        assert_eq!(default.node.dac.first(), default.channel.listen);
    }

    #[test]
    fn the_state_of_rules_lies_beside_the_archive() {
        let placed = |archive: &str, directory: &str| {
            let mut config = Config::default();
            (config.archive.directory, config.rules.directory) = (archive.into(), directory.into());
            config.place_rules();
            config.rules.directory
        };
        assert_eq!(placed("", ""), "", "in memory");
        assert_eq!(placed("/data/samples/", ""), "/data/samples-rules");
        assert_eq!(placed("/data/samples", "/state"), "/state");
    }

    #[test]
    fn dashboards_lie_beside_the_archive() {
        let mut config = Config::default();
        assert_eq!(config.layouts_directory(), None);
        config.archive.directory = "/data/samples".into();
        assert_eq!(config.layouts_directory().as_deref(), Some("/data/samples-layouts"));
        config.doors.layouts_dir = "/layouts".into();
        assert_eq!(config.layouts_directory().as_deref(), Some("/layouts"));
    }

    #[test]
    fn the_documented_file_has_every_key() {
        let documented: toml::Table = include_str!("../../../../docs/reference/oasis.toml").parse().unwrap();
        let all = toml::Table::try_from(Config::default()).unwrap();
        for (section, keys) in &all {
            assert!(documented.contains_key(section), "{section} is not documented");
            for key in keys.as_table().into_iter().flat_map(toml::Table::keys) {
                assert!(
                    documented[section].as_table().unwrap().contains_key(key),
                    "[{section}] {key} is not documented"
                );
            }
        }
    }
}
