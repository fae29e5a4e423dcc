//! Takes copies of the alarms and states of rules of other DACs, so that rules continue here when a node moves from
//! there: from the DACs that this one relays, and from those that a TEM lists together with it. A thread for each DAC
//! asks it once a second, and at once when a node has come.

use super::{api, host_token, relay::Relays};
use oasis_alarms::{Alarms, Handover, HandoverPage};
use oasis_api::Tem;
use oasis_client::{Api, ClientError, DacAddress, Server, Tems, token};
use oasis_dac::config::{RelayConfig, TemConfig};
use oasis_tem::{DacView, Kind};
use oasis_wire::quantity::Epoch;
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Interval at which a DAC is asked, and a TEM for its list.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which a DAC without alarms, or one that does not show them, is asked.
const NO_ALARMS_POLL_INTERVAL: Duration = Duration::from_secs(10);
/// Time for an answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Most bytes of an answer: two nodes of the greatest size and their frame.
const MAX_RESPONSE_BYTES: u64 = 64 << 20;
/// Time for which a DAC is still asked after it left the list: it may be ending, and its nodes are on their way.
const UNLISTED_POLL_TIME: Duration = Duration::from_secs(60);

/// The DACs that copies come from.
pub struct CopySources {
    upstreams: Vec<Server>,
    tems: Vec<Server>,
    /// The certificates of what the own list names.
    ca: Option<PathBuf>,
    token_file: Option<PathBuf>,
}

impl CopySources {
    /// From the upstreams of relays, and the DACs in their TEMs and in those that list this DAC.
    pub fn new(
        token_file: &str,
        (relay, tem): (&RelayConfig, &TemConfig),
        relays: &Relays,
        listing: &[Server],
    ) -> Self {
        let (upstreams, mut tems) = relays.servers();
        tems.extend(listing.iter().filter(|server| !tems.contains(server)).cloned().collect::<Vec<_>>());
        let path = |path: &Path| (!path.as_os_str().is_empty()).then(|| path.to_owned());
        let token_file = Some(token_file).filter(|file| !file.is_empty()).map(PathBuf::from);
        let token_file = token_file.or_else(|| path(&relay.token_file));
        let ca = path(&tem.ca).or_else(|| path(&relay.ca));
        Self { upstreams, tems, ca, token_file }
    }

    /// Takes copies as long as the process lives. `own`: the TEM of this process, which may list others.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(self, alarms: Arc<Alarms>, own: Arc<Tem>, epoch: Epoch) -> io::Result<()> {
        alarms.copies().set_searching(!self.tems.is_empty());
        let mut site = Site { sources: self, alarms, own, epoch, asking: BTreeMap::new() };
        let upstreams = std::mem::take(&mut site.sources.upstreams);
        for server in upstreams {
            site.start_thread(authority(&server.url), server)?;
        }
        thread::Builder::new().name("oasis-copies".into()).spawn(move || site.run())?;
        Ok(())
    }
}

/// Host and port of an address, by which a DAC without a name goes.
fn authority(url: &DacAddress) -> String {
    let (host, port) = url.socket();
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// The DACs that are asked.
struct Site {
    sources: CopySources,
    alarms: Arc<Alarms>,
    own: Arc<Tem>,
    /// The life of this DAC.
    epoch: Epoch,
    /// By address of the page.
    asking: BTreeMap<String, CopySource>,
}

struct CopySource {
    name: String,
    /// Whether a list named it last; none for an upstream of the settings.
    listed: Option<Instant>,
    is_over: Arc<AtomicBool>,
}

impl Site {
    fn run(mut self) {
        let mut tems = Tems::from(self.sources.tems.clone()).with_host_token(host_token::of);
        loop {
            let mut listed = self.own_list();
            // Why a TEM does not answer, or what is wrong with an address in its list, the relay and the registration say.
            if !self.sources.tems.is_empty()
                && let Ok(list) = tems.fetch_list(None)
            {
                let is_other = |dac: &&DacView| dac.kind == Kind::Dac && dac.epoch != self.epoch;
                let others = list.dacs().iter().filter(is_other);
                listed.extend(others.filter_map(|dac| Some((dac.name.to_string(), list.server(dac).ok()?))));
            }
            self.update(listed);
            self.alarms.copies().set_searching(false);
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Returns the DACs that the TEM of this process lists.
    fn own_list(&self) -> Vec<(String, Server)> {
        let others = self.own.other_dacs(self.epoch).into_iter();
        let server = |(name, doors): (String, String)| {
            Some((name, Server { url: doors.parse().ok()?, ca: self.sources.ca.clone() }))
        };
        others.filter_map(server).collect()
    }

    fn update(&mut self, listed: Vec<(String, Server)>) {
        let now = Instant::now();
        for (name, server) in listed {
            match self.asking.get_mut(&server.url.page()) {
                Some(known) => known.listed = known.listed.map(|_| now),
                None => {
                    if let Err(error) = self.ask_listed(name, server, now) {
                        tracing::warn!(%error, "no thread for copies of alarms");
                    }
                }
            }
        }
        let copies = self.alarms.copies();
        self.asking.retain(|_, asked| {
            let stays = asked.listed.is_none_or(|listed| now.duration_since(listed) < UNLISTED_POLL_TIME);
            if !stays {
                asked.is_over.store(true, Ordering::Relaxed);
                copies.remove(&asked.name);
            }
            stays
        });
    }

    fn ask_listed(&mut self, name: String, server: Server, now: Instant) -> io::Result<()> {
        // A DAC that was started again elsewhere has its name once.
        let before = self.asking.iter().find(|(_, asked)| asked.name == name).map(|(page, _)| page.clone());
        if let Some(before) = before.and_then(|page| self.asking.remove(&page)) {
            before.is_over.store(true, Ordering::Relaxed);
        }
        let page = server.url.page();
        self.start_thread(name, server)?;
        if let Some(asked) = self.asking.get_mut(&page) {
            asked.listed = Some(now);
        }
        Ok(())
    }

    fn start_thread(&mut self, name: String, server: Server) -> io::Result<()> {
        if !self.alarms.copies().add(&name) {
            return Ok(());
        }
        let (page, is_over) = (server.url.page(), Arc::new(AtomicBool::new(false)));
        let asker = CopyPoller {
            name: name.clone(),
            // No host on the way may read the token.
            token_file: self
                .sources
                .token_file
                .clone()
                .filter(|_| server.url.is_encrypted || server.url.is_loopback()),
            server,
            alarms: self.alarms.clone(),
            own: self.epoch,
            is_over: is_over.clone(),
            api: None,
            at: None,
        };
        thread::Builder::new().name("oasis-copy".into()).spawn(move || asker.run())?;
        self.asking.insert(page, CopySource { name, listed: None, is_over });
        Ok(())
    }
}

/// Asks one DAC.
struct CopyPoller {
    name: String,
    server: Server,
    token_file: Option<PathBuf>,
    alarms: Arc<Alarms>,
    /// The life of this DAC.
    own: Epoch,
    is_over: Arc<AtomicBool>,
    /// None before the first request, and after a failure: token and authority are then read again.
    api: Option<Api>,
    /// The life of the DAC, and the position of its last answer.
    at: Option<(Epoch, u64)>,
}

/// An answer.
#[derive(Deserialize)]
struct Answer {
    epoch: Epoch,
    position: u64,
    has_more: bool,
    nodes: Vec<Handover>,
}

impl CopyPoller {
    fn run(mut self) {
        let mut question = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            let pause = match self.poll() {
                Ok(true) => continue,
                Ok(false) => POLL_INTERVAL,
                Err(error) => self.fail(&error),
            };
            question = self.alarms.copies().wait_for_request(question, pause);
        }
    }

    /// Asks once. Returns whether more follows at once.
    fn poll(&mut self) -> anyhow::Result<bool> {
        let put = Instant::now();
        let api = match self.api.take() {
            Some(api) => api,
            None => {
                let token = self.token_file.as_deref().map(token::from_file).transpose()?;
                api::within(&self.server, Some(REQUEST_TIMEOUT))?.with_authorization(token)
            }
        };
        let at = self.at.map(|(epoch, after)| (epoch.to_string(), after.to_string()));
        let query: Vec<_> =
            at.iter().flat_map(|(epoch, after)| [("epoch", &**epoch), ("after", &**after)]).collect();
        let answer: Answer = api.get_bounded("/rules/handover", &query, MAX_RESPONSE_BYTES)?;
        self.api = Some(api);
        let Answer { epoch, position, has_more, nodes } = answer;
        if self.is_over.load(Ordering::Relaxed) {
            return Ok(false);
        }
        // The address may be one of this DAC itself.
        let nodes = if epoch == self.own { Vec::new() } else { nodes };
        let page = HandoverPage { position, has_more, nodes };
        let is_same = self.at.replace((epoch, position)).is_some_and(|(known, _)| known == epoch);
        match is_same {
            true => self.alarms.copies().take(&self.name, page, put),
            false => self.alarms.copies().begin(&self.name, page, put),
        }
        Ok(has_more)
    }

    /// Notes that it does not answer. Returns the pause until the next question.
    fn fail(&mut self, error: &anyhow::Error) -> Duration {
        self.api = None;
        let refusal = error.downcast_ref::<ClientError>().and_then(ClientError::refusal);
        let (problem, pause) = match refusal {
            // The DAC evaluates no rules, or is of an earlier version.
            Some(refusal) if refusal.status == 404 => (None, NO_ALARMS_POLL_INTERVAL),
            Some(_) => (Some(format!("{error:#}")), NO_ALARMS_POLL_INTERVAL),
            None => (None, POLL_INTERVAL),
        };
        self.alarms.copies().fail(&self.name, problem);
        pause
    }
}
