//! Announces a TEM in the local network by multicast DNS (RFC 6762, RFC 6763), so that `--tem mdns:` finds it.

use anyhow::{Context, bail};
use mdns_sd::{IfKind, ServiceDaemon, ServiceInfo};
use std::{net::SocketAddr, time::Duration};

/// Name of the service.
const SERVICE: &str = "_oasis-tem._tcp.local.";
/// RFC 1035 2.3.4: longest label of a name, bytes.
const MAX_LABEL_BYTES: usize = 63;
/// Time for the farewell to be sent.
const FAREWELL_TIMEOUT: Duration = Duration::from_millis(500);

/// The content of an announcement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnouncedTem {
    /// Name of the TEM, as in `mdns:NAME`.
    pub name: String,
    /// Address at which page and API listen.
    pub listen: SocketAddr,
    /// Address of the page; empty if it is only known where it listens.
    pub doors: String,
    /// Whether it has a certificate.
    pub is_encrypted: bool,
}

/// An announcement; it ends with [`Self::end`].
pub struct Announcement {
    daemon: ServiceDaemon,
    full_name: String,
}

impl AnnouncedTem {
    /// Checks that others could use it.
    ///
    /// # Errors
    /// If it has a certificate, and no name that the certificate could be of.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.is_encrypted && self.doors.is_empty() {
            bail!(
                "--mdns cannot announce this TEM: it has a certificate, and the settings do not say for which host. \
                 Set tem.host, or name the host first in doors.allowed_hosts"
            );
        }
        Ok(())
    }

    /// Begins to announce it.
    ///
    /// # Errors
    /// If the host has no multicast.
    pub fn announce(&self) -> anyhow::Result<Announcement> {
        let daemon = ServiceDaemon::new().context("mDNS cannot be used on this host")?;
        let ip = self.listen.ip();
        if ip.is_loopback() {
            // Others could not reach it.
            daemon.disable_interface(IfKind::All)?;
            daemon.enable_interface(if ip.is_ipv4() { IfKind::LoopbackV4 } else { IfKind::LoopbackV6 })?;
        }
        let service = self.service()?;
        let full_name = service.get_fullname().to_owned();
        daemon.register(service).context("mDNS cannot be used on this host")?;
        Ok(Announcement { daemon, full_name })
    }

    fn service(&self) -> anyhow::Result<ServiceInfo> {
        let label = label(&self.name);
        let host = format!("{label}.local.");
        let properties: &[(&str, &str)] = match self.doors.is_empty() {
            true => &[],
            false => &[("url", &self.doors)],
        };
        let (ip, port) = (self.listen.ip(), self.listen.port());
        if ip.is_unspecified() {
            return Ok(ServiceInfo::new(SERVICE, &label, &host, "", port, properties)?.enable_addr_auto());
        }
        Ok(ServiceInfo::new(SERVICE, &label, &host, ip.to_string().as_str(), port, properties)?)
    }
}

/// A name as one label: no dots, which separate labels.
fn label(name: &str) -> String {
    let plain = name.replace(|letter: char| letter == '.' || !letter.is_ascii_graphic(), "-");
    let label: String = plain.chars().take(MAX_LABEL_BYTES).collect();
    if label.is_empty() { "tem".into() } else { label }
}

impl Announcement {
    /// Tells the network that the TEM is gone.
    pub fn end(self) {
        if let Ok(done) = self.daemon.unregister(&self.full_name) {
            let _ = done.recv_timeout(FAREWELL_TIMEOUT);
        }
        let _ = self.daemon.shutdown();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(listen: &str, doors: &str, is_encrypted: bool) -> AnnouncedTem {
        AnnouncedTem {
            name: "hall.1".into(),
            listen: listen.parse().unwrap(),
            doors: doors.into(),
            is_encrypted,
        }
    }

    #[test]
    fn what_is_announced_can_be_used() {
        assert!(announced("0.0.0.0:7000", "", false).check().is_ok());
        assert!(announced("0.0.0.0:7000", "https://tem.example.org:7000", true).check().is_ok());
        let refused = announced("0.0.0.0:7000", "", true).check().unwrap_err().to_string();
        assert!(refused.contains("tem.host") && refused.contains("doors.allowed_hosts"), "{refused}");
    }

    #[test]
    fn a_service_has_the_address_of_the_page() {
        let service = announced("192.0.2.7:7000", "http://192.0.2.7:7000", false).service().unwrap();
        assert_eq!(service.get_fullname(), "hall-1._oasis-tem._tcp.local.");
        assert_eq!(service.get_property_val_str("url"), Some("http://192.0.2.7:7000"));
        assert_eq!(service.get_port(), 7000);
        let anywhere = announced("0.0.0.0:7000", "", false).service().unwrap();
        assert_eq!(anywhere.get_property_val_str("url"), None);
        assert!(anywhere.is_addr_auto());
    }

    #[test]
    fn a_name_is_one_label() {
        assert_eq!(label("tem.example.org"), "tem-example-org");
        assert_eq!((label("").as_str(), label("a b\u{1b}").as_str()), ("tem", "a-b-"));
        assert_eq!(label(&"x".repeat(100)).len(), MAX_LABEL_BYTES);
    }
}
