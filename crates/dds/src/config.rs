//! The settings of DDS (`[dds]`).

use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr};

/// The highest domain whose ports exist (DDSI-RTPS 2.5, 9.6.2.3).
const MAX_DOMAIN: u16 = 232;

/// DDS, and what OASIS does with it (`[dds]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DdsConfig {
    /// Whether received samples are published.
    pub publish: bool,
    /// Whether nodes may connect through DDS (`oasis node --channel dds`).
    pub channel: bool,
    /// Domain, 0 to 232: only participants of one domain meet.
    pub domain: u16,
    /// IPv4 addresses of the network interfaces that are used; empty for all.
    pub interfaces: Vec<IpAddr>,
    /// Whether samples may leave this host: they are not encrypted, and who subscribes is not asked.
    pub accept_plaintext: bool,
    /// Instances whose samples are published, as `NODE/INSTANCE`; a `*` stands for any text.
    pub instances: Vec<String>,
    /// Bytes of samples that are kept for subscribers, of all topics together. A topic has a quarter at most.
    pub buffer_bytes: usize,
}

impl Default for DdsConfig {
    fn default() -> Self {
        Self {
            publish: false,
            channel: false,
            domain: 0,
            interfaces: vec![Ipv4Addr::LOCALHOST.into()],
            accept_plaintext: false,
            instances: vec!["*".into()],
            buffer_bytes: 128 * 1024 * 1024,
        }
    }
}

/// Settings of DDS that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDds {
    /// No such domain.
    #[error("domain {0} does not exist: write 0 to {MAX_DOMAIN}")]
    Domain(u16),
    /// An address that DDS does not use.
    #[error("interfaces: {0} is no IPv4 address, and others are not supported")]
    Interface(IpAddr),
    /// Samples would leave the host.
    #[error(
        "interfaces: {0} leads to other hosts, and DDS neither encrypts samples nor asks who subscribes: set accept_plaintext = true, or keep to 127.0.0.1"
    )]
    Plaintext(String),
    /// This library has no participant.
    #[error("[dds] needs a participant, which this library was built without (feature participant)")]
    NotBuilt,
}

impl DdsConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// If they cannot work in any program, or not in this one.
    pub fn check(&self) -> Result<(), BadDds> {
        if self.domain > MAX_DOMAIN {
            return Err(BadDds::Domain(self.domain));
        }
        if let Some(other) = self.interfaces.iter().find(|address| !address.is_ipv4()) {
            return Err(BadDds::Interface(*other));
        }
        if !self.accept_plaintext {
            let beyond = self.interfaces.iter().find(|address| !address.is_loopback());
            if let Some(address) = beyond {
                return Err(BadDds::Plaintext(address.to_string()));
            }
            if self.interfaces.is_empty() {
                return Err(BadDds::Plaintext("an empty list, which means all,".into()));
            }
        }
        if cfg!(feature = "participant") { Ok(()) } else { Err(BadDds::NotBuilt) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(interfaces: &[&str]) -> DdsConfig {
        DdsConfig {
            interfaces: interfaces.iter().map(|address| address.parse().unwrap()).collect(),
            ..Default::default()
        }
    }

    #[test]
    fn samples_leave_the_host_only_on_request() {
        for beyond in [&["192.0.2.7"][..], &[], &["127.0.0.1", "192.0.2.7"]] {
            let config = with(beyond);
            assert!(matches!(config.check(), Err(BadDds::Plaintext(_))), "{beyond:?}");
            let config = DdsConfig { accept_plaintext: true, ..config };
            assert!(!matches!(config.check(), Err(BadDds::Plaintext(_))), "{beyond:?}");
        }
        assert!(matches!(with(&["127.0.0.2"]).check(), Ok(()) | Err(BadDds::NotBuilt)));
    }

    #[test]
    fn a_domain_without_ports_and_other_addresses_are_refused() {
        assert_eq!(DdsConfig { domain: 233, ..Default::default() }.check(), Err(BadDds::Domain(233)));
        assert_eq!(with(&["::1"]).check(), Err(BadDds::Interface("::1".parse().unwrap())));
    }
}
