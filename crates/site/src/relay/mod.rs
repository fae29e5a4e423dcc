//! Relays other DACs: `oasis relay`, and the section `[relay]` of a DAC.

mod alarms;
mod connection;
mod fetch;
mod line;
mod past;
mod tem;
mod upstream;
mod way;

use anyhow::{Context, anyhow, bail};
use oasis_alarms::RelayedAlarms;
use oasis_client::{DacAddress, Server};
use oasis_dac::{Dac, config::RelayConfig, now};
use oasis_relay::ResumePoints;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use upstream::Upstream;

/// The DACs that this one relays.
#[derive(Debug, Default)]
pub struct Relays {
    upstreams: Vec<Server>,
    tems: Vec<Server>,
    token_file: Option<PathBuf>,
}

impl Relays {
    /// Understands the configuration.
    ///
    /// # Errors
    /// If an address is none, or a token would be sent in the clear.
    pub fn new(config: &RelayConfig, insecure: bool) -> anyhow::Result<Self> {
        let ca = path(&config.ca);
        let server = |text: &str, setting: &str| {
            let url: DacAddress =
                text.parse().map_err(|why: String| anyhow!(why)).with_context(|| format!("in {setting}"))?;
            if !url.is_encrypted && !url.is_loopback() && !insecure {
                bail!(
                    "refusing to relay {url} without TLS: everybody on the way could read the token and change samples. \
                     Use https:// ({setting}), or a DAC on this host. --insecure insists"
                );
            }
            Ok(Server { url, ca: ca.clone() })
        };
        let upstreams = config.upstreams.iter().map(|text| server(text, "relay.upstreams (--upstream)"));
        let upstreams = each_once(upstreams.collect::<Result<_, _>>()?);
        let tems =
            config.tem.iter().map(|text| server(text, "relay.tem (--tem)")).collect::<Result<_, _>>()?;
        Ok(Self { upstreams, tems, token_file: path(&config.token_file) })
    }

    /// The DACs that are relayed by their addresses, and the TEMs whose DACs are.
    pub fn servers(&self) -> (Vec<Server>, Vec<Server>) {
        (self.upstreams.clone(), self.tems.clone())
    }

    /// Their alarms; none if no DAC is relayed.
    pub fn alarms(&self) -> Option<Arc<RelayedAlarms>> {
        let relays = !self.upstreams.is_empty() || !self.tems.is_empty();
        relays.then(|| Arc::new(RelayedAlarms::new(now())))
    }

    /// Relays them as long as the DAC lives, with their alarms.
    pub fn start(self, dac: &Arc<Dac>, alarms: Arc<RelayedAlarms>) {
        let Self { upstreams, tems, token_file } = self;
        let relay = Relay { dac: dac.clone(), token_file, places: ResumePoints::default(), alarms };
        for server in upstreams {
            Upstream::new(&relay, authority(&server.url), server).start();
        }
        if !tems.is_empty() {
            tem::start(relay, tems);
        }
    }
}

/// Leaves out addresses that mean the same as one before.
fn each_once(servers: Vec<Server>) -> Vec<Server> {
    let place = |server: &Server| {
        let (host, port) = server.url.socket();
        let host = host.to_ascii_lowercase();
        (if host == "localhost" { "127.0.0.1".into() } else { host }, port)
    };
    let mut kept: Vec<Server> = Vec::new();
    for server in servers {
        match kept.iter().find(|known| place(known) == place(&server)) {
            Some(known) => {
                tracing::warn!(
                    "the upstream {} is named again as {}: name it once (--upstream, relay.upstreams)",
                    known.url,
                    server.url
                );
            }
            None => kept.push(server),
        }
    }
    kept
}

/// The state that all upstreams share.
#[derive(Debug, Clone)]
struct Relay {
    dac: Arc<Dac>,
    token_file: Option<PathBuf>,
    places: ResumePoints,
    alarms: Arc<RelayedAlarms>,
}

/// Host and port of an address, by which a DAC without a name goes.
fn authority(url: &DacAddress) -> String {
    let (host, port) = url.socket();
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn path(path: &Path) -> Option<PathBuf> {
    (!path.as_os_str().is_empty()).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_to_other_hosts_by_tls_alone() {
        let config = |url: &str| RelayConfig { upstreams: vec![url.into()], ..RelayConfig::default() };
        for url in ["http://127.0.0.1:7070", "https://hall-1.example.org:7070"] {
            assert!(Relays::new(&config(url), false).is_ok(), "{url}");
        }
        let refused = Relays::new(&config("http://192.0.2.1:7070"), false).unwrap_err().to_string();
        assert!(refused.contains("without TLS") && refused.contains("--insecure"), "{refused}");
        assert!(Relays::new(&config("http://192.0.2.1:7070"), true).is_ok());
        let wrong = format!("{:#}", Relays::new(&config("192.0.2.1:7071"), false).unwrap_err());
        assert!(wrong.contains("relay.upstreams") && wrong.contains("http://HOST:PORT"), "{wrong}");
    }

    #[test]
    fn an_upstream_that_is_named_again_counts_once() {
        let urls = [
            "http://127.0.0.1:7070",
            "http://localhost:7070/",
            "http://127.0.0.1:7080",
            "http://127.0.0.1:7070/",
        ];
        let config = RelayConfig { upstreams: urls.map(String::from).into(), ..RelayConfig::default() };
        let relays = Relays::new(&config, false).unwrap();
        let kept: Vec<_> = relays.upstreams.iter().map(|server| authority(&server.url)).collect();
        assert_eq!(kept, ["127.0.0.1:7070", "127.0.0.1:7080"]);
    }

    #[test]
    fn an_upstream_without_a_name_goes_by_its_host_and_port() {
        let of = |text: &str| authority(&text.parse().unwrap());
        assert_eq!(of("https://hall-1.example.org"), "hall-1.example.org:443");
        assert_eq!(of("http://[::1]:7070/"), "[::1]:7070");
    }
}
