//! Lists a DAC: in the TEM of its own process, and in those of its configuration.

use super::{
    api,
    beat_stream::{Answer, BeatStream},
    host_token,
};
use anyhow::{Context, anyhow, bail};
use oasis_api::{Registrant, Reporter, Tem};
use oasis_client::{Api, ClientError, DacAddress, Server, token};
use oasis_dac::config::{TemConfig, UrlList};
use oasis_health::Health;
use oasis_probe::host_name;
use oasis_tem::{DacName, HEARTBEAT, Kind, MovedNode, OtherPage};
use serde_json::Value;
use std::{
    net::{SocketAddr, ToSocketAddrs, UdpSocket},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use ureq::http::Method;

/// Time for an answer to a heartbeat.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest pause after failures: a TEM that is back has all DACs soon.
const MAX_BACKOFF: Duration = Duration::from_secs(2);
/// Pause before a stream is tried again at a TEM that has none, such as an older one.
const STREAM_RETRY_DELAY: Duration = Duration::from_secs(60);
/// Most TEMs that list a DAC.
const MAX_TEMS: usize = 16;

/// Returns the name of a DAC or relay: as configured, or that of the host with `-` for what a name cannot have.
///
/// # Errors
/// If the configured name cannot be one.
pub fn name(config: &TemConfig, kind: Kind) -> anyhow::Result<DacName> {
    if !config.name.is_empty() {
        return config.name.parse().context("in tem.name");
    }
    let plain =
        |letter: char| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    let host: String = host_name().chars().map(plain).take(58).collect();
    // The DAC of the same host has its name.
    let name = match kind {
        Kind::Dac => host,
        Kind::Relay => format!("{host}-relay"),
    };
    Ok(name.parse().or_else(|_| kind.as_str().parse())?)
}

/// Keeps a DAC in the TEM of its process, and lets silent members become late.
pub async fn keep_own(tem: Arc<Tem>, mut own: Option<(Arc<Registrant>, Reporter)>) {
    // Twice in a heartbeat: a directory wants to see the time four times a second.
    let mut ticks = tokio::time::interval(HEARTBEAT / 2);
    let mut is_beat = false;
    loop {
        ticks.tick().await;
        tem.advance();
        is_beat = !is_beat;
        if let Some((registrant, reporter)) = own.as_mut().filter(|_| is_beat) {
            match tem.beat_own(registrant.name(), reporter.heartbeat()) {
                Ok(accepted) => {
                    reporter.set_sent(!accepted.wants_names);
                    reporter.take_moved(&accepted.moved);
                }
                Err(refusal) => tracing::debug!(%refusal, "the DAC is not in its own list"),
            }
        }
    }
}

/// Parses `tem.url`, and refuses to send a token in the clear.
///
/// # Errors
/// If one is no address, has no TLS beyond this host, or there are too many.
pub fn remotes(config: &TemConfig, insecure: bool) -> anyhow::Result<Vec<Server>> {
    let remotes = usable(&config.url, &config.ca, "tem.url (--tem)", insecure)?;
    if remotes.len() > MAX_TEMS {
        bail!("{} TEMs are named: use at most {MAX_TEMS} (--tem, tem.url)", remotes.len());
    }
    Ok(remotes)
}

/// Parses addresses of TEMs to which a token may be sent.
///
/// # Errors
/// If one is no address, or has no TLS beyond this host.
fn usable(urls: &UrlList, ca: &Path, setting: &str, insecure: bool) -> anyhow::Result<Vec<Server>> {
    let mut servers: Vec<Server> = Vec::new();
    for text in urls.iter() {
        let url: DacAddress =
            text.parse().map_err(|why: String| anyhow!(why)).with_context(|| format!("in {setting}"))?;
        if !url.is_encrypted && !url.is_loopback() && !insecure {
            bail!(
                "refusing to register at the TEM {url} without TLS: everybody on the way could read the token and change the list. \
                 Use https:// ({setting}), or a TEM on this host. --insecure insists"
            );
        }
        if servers.iter().any(|known| known.url.page() == url.page()) {
            tracing::warn!(tem = %url, "this TEM is named twice in {setting}: the second name is ignored");
            continue;
        }
        servers.push(Server { url, ca: path(ca) });
    }
    Ok(servers)
}

fn path(path: &Path) -> Option<PathBuf> {
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

/// The TEMs that a DAC registers at.
#[derive(Debug, Default)]
pub struct Registrations(Vec<Registration>);

#[derive(Debug)]
struct Registration {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// The state of a thread.
struct Registrar {
    server: Server,
    token_file: Option<PathBuf>,
    registrant: Arc<Registrant>,
    reporter: Reporter,
    tem: Arc<Tem>,
    /// None before the first request, and after a failure: token and authority are then read again.
    api: Option<Api>,
    /// Heartbeats go here, if the TEM has streams, and by requests otherwise.
    stream: Option<BeatStream>,
    /// When a stream is tried next.
    stream_due: Instant,
    problem: Option<String>,
    /// Whether the TEM has accepted a heartbeat.
    was_listed: bool,
}

impl Registrations {
    /// Registers at one more TEM, again and again, on a thread of its own: a TEM that hangs must delay nothing.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(
        &mut self,
        server: Server,
        config: &TemConfig,
        (registrant, reporter): (Arc<Registrant>, Reporter),
        (tem, health): (Arc<Tem>, &Health),
    ) -> anyhow::Result<()> {
        let pulse = health.watch(&format!("registration at the TEM {}", server.url));
        let registrar = Registrar {
            server,
            token_file: path(&config.token_file),
            registrant,
            reporter,
            tem,
            api: None,
            stream: None,
            stream_due: Instant::now(),
            problem: None,
            was_listed: false,
        };
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new().name("oasis-tem".into()).spawn(move || {
            let _pulse = pulse;
            registrar.run(&stopped);
        })?;
        self.0.push(Registration { stop, thread });
        Ok(())
    }

    /// Removes the DAC from all lists, and ends. Blocks for the time of two requests at most.
    pub fn stop(self) {
        // All of them first: they take their leave at the same time.
        for registration in &self.0 {
            let _ = registration.stop.send(());
        }
        self.0.into_iter().for_each(|registration| drop(registration.thread.join()));
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
                Err(_) => (HEARTBEAT * 2_u32.pow(failures)).min(MAX_BACKOFF),
            };
            let done = stop.recv_timeout(pause);
            if !matches!(done, Err(RecvTimeoutError::Timeout)) {
                break;
            }
            failures = if self.problem.is_some() { (failures + 1).min(8) } else { 0 };
        }
        // Heartbeats that are under way there arrive before the last request.
        self.stream = None;
        if self.was_listed
            && let Err(error) = self.leave()
        {
            tracing::info!("the TEM at {} was not told of the end of this DAC: {error:#}", self.server.url);
        }
    }

    /// Sends a heartbeat. Returns whether the TEM wants the names of nodes at once.
    fn beat(&mut self) -> anyhow::Result<bool> {
        if let Some(wants_names) = self.send_on_stream() {
            return Ok(wants_names);
        }
        let sent = self.send();
        if sent.is_err() {
            // The TEM may have forgotten all, and token or authority may have changed.
            self.api = None;
            self.reporter.set_sent(false);
        }
        let problem = sent.as_ref().err().map(|error| {
            let (name, tem) = (self.registrant.name(), &self.server.url);
            format!("this DAC is not listed as {name} in the TEM at {tem}: {error:#}")
        });
        if problem != self.problem || !self.was_listed {
            self.report(problem);
        }
        if sent.is_ok() {
            self.open_stream();
        }
        sent
    }

    fn report(&mut self, problem: Option<String>) {
        match &problem {
            Some(problem) if self.problem.as_ref() == Some(problem) => {}
            Some(problem) => tracing::warn!("{problem}; trying again"),
            None => {
                let name = self.registrant.name();
                tracing::info!(%name, tem = %self.server.url, "this DAC is listed in the TEM")
            }
        }
        self.was_listed |= problem.is_none();
        self.tem.set_problem(&self.server.url.page(), problem.clone());
        self.problem = problem;
    }

    /// Sends a heartbeat on the stream; none if there is none any more.
    fn send_on_stream(&mut self) -> Option<bool> {
        let stream = self.stream.as_mut()?;
        let line = self.reporter.line();
        self.reporter.set_sent(true);
        match stream.send(&line) {
            Ok(answers) => {
                let wants_names = answers.iter().any(|answer| answer.wants_names);
                if wants_names {
                    self.reporter.set_sent(false);
                }
                for Answer { moved, other_pages, .. } in answers {
                    self.take(&moved, other_pages);
                }
                Some(wants_names)
            }
            Err(error) => {
                tracing::debug!("the stream of heartbeats to {} has ended: {error:#}", self.server.url);
                self.stream = None;
                self.reporter.set_sent(false);
                None
            }
        }
    }

    /// A TEM without streams, or a proxy that knows none, takes requests.
    fn open_stream(&mut self) {
        if Instant::now() < self.stream_due {
            return;
        }
        let authorization = match &self.token_file {
            Some(file) => token::from_file(file).map(Some),
            None => token::authorization(),
        };
        let url = &self.server.url;
        let opened = authorization.map_err(anyhow::Error::from).and_then(|token| {
            let name = self.registrant.name();
            let open = |token: Option<&str>| BeatStream::open(&self.server, name, token, HEARTBEAT_TIMEOUT);
            // The TEM may be of the same user, as for requests.
            open(token.as_deref()).or_else(|error| match (&token, host_token::find(url, None)?) {
                (None, Some(token)) => open(Some(&token)),
                _ => Err(error),
            })
        });
        match opened {
            Ok(stream) => {
                self.reporter.begin_stream();
                self.stream = Some(stream);
            }
            Err(error) => {
                tracing::debug!("{error:#}; heartbeats go by requests");
                self.stream_due = Instant::now() + STREAM_RETRY_DELAY;
            }
        }
    }

    fn send(&mut self) -> anyhow::Result<bool> {
        let heartbeat = self.reporter.heartbeat();
        let body = serde_json::to_value(&heartbeat)?;
        let answer = self.request(Method::PUT, &[], Some(&body))?;
        let Answer { wants_names, moved, other_pages } = serde_json::from_value(answer)?;
        self.reporter.set_sent(!wants_names);
        self.take(&moved, other_pages);
        // Names that were in this heartbeat and did not fit are not sent again at once.
        Ok(wants_names && heartbeat.names.is_none())
    }

    fn take(&self, moved: &[MovedNode], other_pages: Option<Vec<OtherPage>>) {
        self.reporter.take_moved(moved);
        if let Some(pages) = other_pages {
            self.tem.set_other_pages(&self.server.url.page(), pages);
        }
    }

    fn leave(&mut self) -> anyhow::Result<()> {
        let departure = self.reporter.departure();
        let departure: Vec<_> = departure.iter().map(|(key, value)| (*key, value.as_str())).collect();
        match self.request(Method::DELETE, &departure, None) {
            // Another client has removed it.
            Err(error)
                if error
                    .downcast_ref()
                    .and_then(ClientError::refusal)
                    .is_some_and(|refused| refused.code == "unknown_dac") =>
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
                api::within(&self.server, Some(HEARTBEAT_TIMEOUT))?.with_authorization(token)
            }
        };
        let query: Vec<_> = query.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        let answer = api.send(method, &format!("/tem/dacs/{}{query}", self.registrant.name()), body);
        self.api = Some(api);
        Ok(answer?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_the_host_or_as_configured() {
        let config = |name: &str| TemConfig { name: name.into(), ..TemConfig::default() };
        assert_eq!(name(&config("hall-1"), Kind::Relay).unwrap().as_str(), "hall-1");
        assert!(name(&config("hall 1"), Kind::Dac).is_err());
        assert!(!name(&config(""), Kind::Dac).unwrap().as_str().is_empty());
        assert!(name(&config(""), Kind::Relay).unwrap().as_str().ends_with("-relay"));
    }

    #[test]
    fn a_token_leaves_this_host_by_tls_alone() {
        let config = |url: &str| TemConfig { url: url.split(',').collect(), ..TemConfig::default() };
        assert!(remotes(&config(""), false).unwrap().is_empty());
        for url in ["http://127.0.0.1:7070", "http://localhost:7070", "https://tem.example.org:7070"] {
            assert_eq!(remotes(&config(url), false).unwrap().len(), 1, "{url}");
        }
        let refused = remotes(&config("http://192.0.2.1:7070"), false).unwrap_err().to_string();
        assert!(refused.contains("without TLS") && refused.contains("--insecure"), "{refused}");
        assert_eq!(remotes(&config("http://192.0.2.1:7070"), true).unwrap().len(), 1);
        assert!(remotes(&config("192.0.2.1:7071"), false).is_err());
        let twice = "http://127.0.0.1:7070,http://127.0.0.1:7070/,http://127.0.0.1:7071";
        assert_eq!(remotes(&config(twice), false).unwrap().len(), 2);
        let many: Vec<_> = (1..=17).map(|port| format!("http://127.0.0.1:{port}")).collect();
        assert!(remotes(&config(&many.join(",")), false).unwrap_err().to_string().contains("at most 16"));
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
