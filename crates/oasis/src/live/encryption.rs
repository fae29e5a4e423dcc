//! TLS of a DAC: which addresses need it, and certificates that are loaded again while it runs.

use anyhow::{Context, bail};
use oasis_api::Enrollment;
use oasis_channel::{Connector, tcp::TcpConnector, tls::TlsConnector};
use oasis_dac::config::TlsConfig;
use oasis_tls::{Authority, ServerFiles, ServerTls};
use std::{
    net::SocketAddr,
    path::Path,
    sync::{Arc, Weak},
    time::{Duration, SystemTime},
};

/// Interval at which the files are checked.
const FILE_CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// A certificate that ends sooner is reported.
const EXPIRY_WARNING_TIME: Duration = Duration::from_secs(21 * 86_400);

/// Reads the certificates of a DAC, if it has any.
///
/// # Errors
/// If a file cannot be used, or is missing beside the others.
pub fn load(config: &TlsConfig) -> anyhow::Result<Option<Arc<ServerTls>>> {
    let tls = read(config)?;
    tls.iter().for_each(report_end);
    Ok(tls.map(Arc::new))
}

/// The same, without a word of a certificate that ends.
///
/// # Errors
/// As [`load`].
pub fn read(config: &TlsConfig) -> anyhow::Result<Option<ServerTls>> {
    let is_set = |path: &Path| !path.as_os_str().is_empty();
    let own_ca = is_set(&config.ca_directory).then(|| config.ca_directory.join("ca.pem"));
    let node_ca = is_set(&config.node_ca).then(|| config.node_ca.clone()).or(own_ca);
    match (is_set(&config.certificate), is_set(&config.key)) {
        (true, true) => {
            let (certificate, key) = (config.certificate.clone(), config.key.clone());
            ServerTls::load(ServerFiles { certificate, key, node_ca }).context("in [tls]").map(Some)
        }
        (false, false) if node_ca.is_none() => Ok(None),
        (false, false) => bail!(
            "tls.node_ca and tls.ca_directory need TLS: set tls.certificate and tls.key too (--tls-certificate, --tls-key; oasis ca issue server)"
        ),
        _ => bail!(
            "tls.certificate and tls.key belong together: set both (--tls-certificate, --tls-key), or none"
        ),
    }
}

/// Opens the authority that nodes are enrolled with, if there is one.
///
/// # Errors
/// If it cannot be used.
pub fn enrollment(config: &TlsConfig, channel_port: u16) -> anyhow::Result<Option<Enrollment>> {
    if config.ca_directory.as_os_str().is_empty() {
        return Ok(None);
    }
    let context = || {
        format!(
            "no usable CA in {} (--ca-dir, tls.ca_directory; oasis ca init creates one)",
            config.ca_directory.display()
        )
    };
    let authority = Authority::open(&config.ca_directory).with_context(context)?;
    Ok(Some(Enrollment::new(authority, channel_port).with_context(context)?))
}

/// Refuses to listen beyond this host without encryption, unless the user insists.
///
/// # Errors
/// Says what to do.
pub fn check(address: SocketAddr, what: &str, is_encrypted: bool, insecure: bool) -> anyhow::Result<()> {
    if address.ip().to_canonical().is_loopback() || is_encrypted {
        return Ok(());
    }
    if !insecure {
        let instead = match what {
            DATAGRAMS => "Use TLS (--tls-certificate and --tls-key): datagrams are encrypted then",
            _ => {
                "Use TLS (--tls-certificate and --tls-key; `oasis ca init` makes a CA: docs/guides/use-tls.md), or a loopback address such as 127.0.0.1"
            }
        };
        bail!(
            "refusing to listen on {address} for {what} without TLS: everybody on the way could read and change samples and commands. \
             {instead}. --insecure insists"
        );
    }
    tracing::warn!(%address, "listening beyond this host without TLS (--insecure): everybody on the way can read and change {what}");
    Ok(())
}

/// Use of a UDP socket; datagrams are encrypted if the data channel is.
pub const DATAGRAMS: &str = "datagrams of nodes";

/// Loads certificates again when their files change, as long as they are used.
pub fn keep_current(tls: &Arc<ServerTls>) {
    let tls = Arc::downgrade(tls);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(FILE_CHECK_INTERVAL).await;
            let tls = tls.clone();
            // Files may be on a slow disk.
            if !tokio::task::spawn_blocking(move || reload_changed(&tls)).await.unwrap_or(false) {
                return;
            }
        }
    });
}

/// Returns whether the certificates are still used.
fn reload_changed(tls: &Weak<ServerTls>) -> bool {
    let Some(tls) = tls.upgrade() else { return false };
    match tls.reload_if_changed() {
        Ok(true) => {
            tracing::info!(until = tls.facts().map(|facts| facts.last_day), "TLS certificate loaded again");
            report_end(&tls);
        }
        Ok(false) => {}
        Err(error) => {
            tracing::error!(%error, "changed TLS files are bad: new connections still get the old certificate")
        }
    }
    true
}

/// Logs a certificate that has expired, or will soon.
fn report_end(tls: &ServerTls) {
    let Some(facts) = tls.facts() else { return };
    let now = SystemTime::now();
    if facts.ends < now {
        tracing::error!(
            until = facts.last_day,
            "the TLS certificate has expired: clients refuse it; issue another one (oasis ca issue server)"
        );
    } else if facts.ends < now + EXPIRY_WARNING_TIME {
        tracing::warn!(
            until = facts.last_day,
            "the TLS certificate expires soon: issue another one (oasis ca issue server)"
        );
    }
}

/// The connector of nodes in the DAC's own process.
pub fn own_connector(address: &str, tls: Option<&Arc<ServerTls>>) -> Box<dyn Connector> {
    match tls {
        Some(tls) => {
            let tls = tls.clone();
            Box::new(TlsConnector::with_settings(address, move || Ok(tls.itself())))
        }
        None => Box::new(TcpConnector::new(address)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_needs_no_tls() {
        let allowed = |address: &str, tls, insecure| {
            check(address.parse().unwrap(), "the page", tls, insecure).map_err(|error| error.to_string())
        };
        for address in ["127.0.0.1:7070", "127.9.9.9:1", "[::1]:7070", "[::ffff:127.0.0.1]:1"] {
            allowed(address, false, false).unwrap();
        }
        for address in ["0.0.0.0:7070", "[::]:7070", "192.0.2.7:1", "[2001:db8::1]:1"] {
            let refused = allowed(address, false, false).unwrap_err();
            assert!(refused.contains("--insecure") && refused.contains("oasis ca init"), "{refused}");
            allowed(address, true, false).unwrap();
            allowed(address, false, true).unwrap();
        }
    }

    #[test]
    fn half_of_the_settings_is_an_error() {
        let refused = |config: TlsConfig| load(&config).unwrap_err().to_string();
        let config = TlsConfig { certificate: "a.pem".into(), ..TlsConfig::default() };
        assert!(refused(config).contains("belong together"));
        let config = TlsConfig { node_ca: "ca.pem".into(), ..TlsConfig::default() };
        assert!(refused(config).contains("tls.certificate"));
        assert!(load(&TlsConfig::default()).unwrap().is_none());
    }
}
