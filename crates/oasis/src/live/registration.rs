//! Lists a DAC: in the TEM of its own process, and in the one that it was told to use.

use super::{
    api::{Api, Refused},
    dac_address::{DacAddress, Server},
    token,
};
use anyhow::{Context, anyhow, bail};
use oasis_api::{Reporter, Tem};
use oasis_dac::config::TemConfig;
use oasis_health::Health;
use oasis_probe::host_name;
use oasis_tem::{DacName, HEARTBEAT, MovedNode};
use serde_json::{Value, json};
use std::{
    net::{SocketAddr, ToSocketAddrs, UdpSocket},
    path::Path,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use ureq::http::Method;

/// Time for an answer to a heartbeat.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest pause after failures: a TEM that is back has all DACs soon.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Returns the name of a DAC: as configured, or that of the host with `-` for what a name cannot have.
///
/// # Errors
/// If the configured name cannot be one.
pub fn name(config: &TemConfig) -> anyhow::Result<DacName> {
    if !config.name.is_empty() {
        return config.name.parse().context("in tem.name");
    }
    let plain =
        |letter: char| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    let host: String = host_name().chars().map(plain).take(64).collect();
    Ok(host.parse().or_else(|_| "dac".parse())?)
}

/// Keeps a DAC in the TEM of its process, and lets silent members become late.
pub async fn keep_own(tem: Arc<Tem>, mut own: Option<(DacName, Reporter)>) {
    // Twice in a heartbeat: a directory wants to see the time four times a second.
    let mut ticks = tokio::time::interval(HEARTBEAT / 2);
    let mut is_beat = false;
    loop {
        ticks.tick().await;
        tem.advance();
        is_beat = !is_beat;
        if let Some((name, reporter)) = own.as_mut().filter(|_| is_beat) {
            match tem.beat_own(name, reporter.heartbeat()) {
                Ok(accepted) => {
                    reporter.set_sent(!accepted.wants_names);
                    reporter.take_moved(&accepted.moved);
                }
                Err(refusal) => tracing::debug!(%refusal, "the DAC is not in its own list"),
            }
        }
    }
}

/// A TEM that a DAC registers at.
#[derive(Debug)]
pub struct Registration {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// What the thread needs.
struct Registrar {
    server: Server,
    token_file: Option<std::path::PathBuf>,
    name: DacName,
    reporter: Reporter,
    tem: Arc<Tem>,
    /// None before the first request, and after a failure: token and authority are then read again.
    api: Option<Api>,
    problem: Option<String>,
    /// Whether the TEM has accepted a heartbeat.
    was_listed: bool,
}

/// Parses `tem.url`, and refuses to send a token in the clear.
///
/// # Errors
/// If it is no address, or has no TLS beyond this host.
pub fn remote(config: &TemConfig, insecure: bool) -> anyhow::Result<Option<Server>> {
    if config.url.is_empty() {
        return Ok(None);
    }
    let url: DacAddress =
        config.url.parse().map_err(|why: String| anyhow!(why)).context("in tem.url (--tem)")?;
    if !url.is_encrypted && !url.is_loopback() && !insecure {
        bail!(
            "refusing to register at the TEM {url} without TLS: everybody on the way could read the token and change the list. \
             Use https:// (tem.url, --tem), or a TEM on this host. --insecure insists"
        );
    }
    Ok(Some(Server { url, ca: path(&config.ca) }))
}

fn path(path: &Path) -> Option<std::path::PathBuf> {
    (!path.as_os_str().is_empty()).then(|| path.to_owned())
}

/// Returns the address that others reach a listener at.
pub fn advertised(listen: &str, host: Option<&str>, tem: Option<&Server>) -> String {
    let Ok(address) = listen.parse::<SocketAddr>() else { return listen.into() };
    let port = address.port();
    match (host, tem) {
        (Some(host), _) if host.contains(':') && !host.starts_with('[') => format!("[{host}]:{port}"),
        (Some(host), _) => format!("{host}:{port}"),
        (None, Some(tem)) if address.ip().is_unspecified() => {
            source(&tem.url).map_or_else(|| listen.into(), |ip| SocketAddr::new(ip, port).to_string())
        }
        _ => listen.into(),
    }
}

/// The address of this host on the way to a TEM. Connecting a datagram socket sends nothing.
fn source(tem: &DacAddress) -> Option<std::net::IpAddr> {
    let to = tem.socket().to_socket_addrs().ok()?.next()?;
    let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(to).ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}

impl Registration {
    /// Registers, again and again, on a thread of its own: a TEM that hangs must delay nothing.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(
        server: Server,
        config: &TemConfig,
        (name, reporter): (DacName, Reporter),
        tem: Arc<Tem>,
        health: &Health,
    ) -> anyhow::Result<Self> {
        let token_file = path(&config.token_file);
        let registrar = Registrar {
            server,
            token_file,
            name,
            reporter,
            tem,
            api: None,
            problem: None,
            was_listed: false,
        };
        let (stop, stopped) = mpsc::channel();
        let pulse = health.watch("registration at the TEM");
        let thread = thread::Builder::new().name("oasis-tem".into()).spawn(move || {
            let _pulse = pulse;
            registrar.run(&stopped);
        })?;
        Ok(Self { stop, thread })
    }

    /// Removes the DAC from the list, and ends. Blocks for the time of two requests at most.
    pub fn stop(self) {
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

impl Registrar {
    fn run(mut self, stop: &Receiver<()>) {
        let mut failures = 0;
        loop {
            let began = Instant::now();
            let pause = match self.beat() {
                Ok(true) => Duration::ZERO,
                Ok(false) => HEARTBEAT.saturating_sub(began.elapsed()),
                Err(_) => (HEARTBEAT * 2_u32.pow(failures)).min(LONGEST_PAUSE),
            };
            let done = stop.recv_timeout(pause);
            if !matches!(done, Err(RecvTimeoutError::Timeout)) {
                break;
            }
            failures = if self.problem.is_some() { (failures + 1).min(8) } else { 0 };
        }
        if self.was_listed
            && let Err(error) = self.leave()
        {
            tracing::info!("the TEM at {} was not told of the end of this DAC: {error:#}", self.server.url);
        }
    }

    /// Sends a heartbeat. Returns whether the TEM wants the names of nodes at once.
    fn beat(&mut self) -> anyhow::Result<bool> {
        let sent = self.send();
        if sent.is_err() {
            // The TEM may have forgotten all, and token or authority may have changed.
            self.api = None;
            self.reporter.set_sent(false);
        }
        let problem = sent.as_ref().err().map(|error| {
            format!("this DAC is not listed as {} in the TEM at {}: {error:#}", self.name, self.server.url)
        });
        if problem != self.problem {
            match &problem {
                Some(problem) => tracing::warn!("{problem}; trying again"),
                None => {
                    tracing::info!(name = %self.name, tem = %self.server.url, "this DAC is listed in the TEM")
                }
            }
            self.tem.set_problem(problem.clone());
            self.problem = problem;
        }
        sent
    }

    fn send(&mut self) -> anyhow::Result<bool> {
        let heartbeat = self.reporter.heartbeat();
        let body = serde_json::to_value(&heartbeat)?;
        let answer = self.request(Method::PUT, &[], Some(&body))?;
        let wants_names = answer["wants_names"] == true;
        self.reporter.set_sent(!wants_names);
        self.was_listed = true;
        // A TEM of an earlier version does not say that.
        let moved = answer.get("moved").cloned().unwrap_or_else(|| json!([]));
        self.reporter.take_moved(&serde_json::from_value::<Vec<MovedNode>>(moved)?);
        // Names that were in this heartbeat and did not fit are not sent again at once.
        Ok(wants_names && heartbeat.names.is_none())
    }

    fn leave(&mut self) -> anyhow::Result<()> {
        let departure = self.reporter.departure();
        let departure: Vec<_> = departure.iter().map(|(key, value)| (*key, value.as_str())).collect();
        match self.request(Method::DELETE, &departure, None) {
            // Somebody else has removed it.
            Err(error)
                if error.downcast_ref::<Refused>().is_some_and(|refused| refused.code == "unknown_dac") =>
            {
                Ok(())
            }
            other => other.map(drop),
        }
    }

    fn request(
        &mut self,
        method: Method,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> anyhow::Result<Value> {
        let api = match self.api.take() {
            Some(api) => api,
            None => {
                let token = self.token_file.as_deref().map(token::from_file).transpose()?;
                Api::within(&self.server, Some(PATIENCE))?.with_authorization(token)
            }
        };
        let query: Vec<_> = query.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        let answer = api.send(method, &format!("/tem/dacs/{}{query}", self.name), body);
        self.api = Some(api);
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_the_host_or_as_configured() {
        let config = |name: &str| TemConfig { name: name.into(), ..TemConfig::default() };
        assert_eq!(name(&config("hall-1")).unwrap().as_str(), "hall-1");
        assert!(name(&config("hall 1")).is_err());
        assert!(!name(&config("")).unwrap().as_str().is_empty());
    }

    #[test]
    fn a_token_leaves_this_host_by_tls_alone() {
        let config = |url: &str| TemConfig { url: url.into(), ..TemConfig::default() };
        assert!(remote(&config(""), false).unwrap().is_none());
        for url in ["http://127.0.0.1:7070", "http://localhost:7070", "https://tem.example.org:7070"] {
            assert!(remote(&config(url), false).unwrap().is_some(), "{url}");
        }
        let refused = remote(&config("http://192.0.2.1:7070"), false).unwrap_err().to_string();
        assert!(refused.contains("without TLS") && refused.contains("--insecure"), "{refused}");
        assert!(remote(&config("http://192.0.2.1:7070"), true).unwrap().is_some());
        assert!(remote(&config("192.0.2.1:7071"), false).is_err());
    }

    #[test]
    fn an_address_is_one_that_others_can_reach() {
        let tem = Server { url: "http://127.0.0.1:7070".parse().unwrap(), ca: None };
        assert_eq!(advertised("192.0.2.7:7070", None, Some(&tem)), "192.0.2.7:7070");
        assert_eq!(advertised("0.0.0.0:7070", None, Some(&tem)), "127.0.0.1:7070");
        assert_eq!(advertised("0.0.0.0:7070", Some("dac.example.org"), Some(&tem)), "dac.example.org:7070");
        assert_eq!(advertised("[::]:7070", Some("2001:db8::7"), Some(&tem)), "[2001:db8::7]:7070");
        assert_eq!(advertised("0.0.0.0:7070", None, None), "0.0.0.0:7070");
    }
}
