//! Exchanges the list of a TEM with others.

use anyhow::{Context, bail};
use oasis_api::Tem;
use oasis_client::{Api, ClientError, Server, token};
use oasis_dac::config::TemConfig;
use oasis_health::Health;
use oasis_site::{api, registration::usable};
use oasis_tem::{Identity, Peer, Report};
use std::{path::PathBuf, sync::Arc, thread, time::Duration};
use ureq::http::Method;

/// Most peers.
const MAX_PEERS: usize = 16;
/// Time for an answer. A request that hangs in a partition must end soon after that.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// Pause before a peer that is of no use is asked again: another program may answer there by then.
const USELESS_PEER_RETRY_DELAY: Duration = Duration::from_secs(10);

/// Parses `tem.peers`, and refuses to send a token in the clear.
///
/// # Errors
/// If one is no address, has no TLS beyond this host, or there are too many.
pub fn servers(config: &TemConfig, insecure: bool) -> anyhow::Result<Vec<Server>> {
    let servers = usable(&config.peers, &config.ca, "tem.peers (--peer)", insecure)?;
    if servers.len() > MAX_PEERS {
        bail!("{} peers are named: use at most {MAX_PEERS} (--peer, tem.peers)", servers.len());
    }
    Ok(servers)
}

/// Exchanges the list with these TEMs as long as the process lives, on a thread each: one that hangs delays no other.
///
/// # Errors
/// If a thread cannot be started.
pub fn start(
    servers: Vec<Server>,
    token_file: Option<PathBuf>,
    identity: &Identity,
    (tem, health): (&Arc<Tem>, &Health),
) -> anyhow::Result<()> {
    for server in servers {
        let peer = Peer::new(identity.clone(), &server.url.page());
        // Known before it answers: whoever asks for the list sees that it is late.
        let problem = Some(format!("the TEM at {} has not answered yet", server.url));
        tem.set_problem(peer.address(), problem.clone());
        let pulse = health.watch(&format!("exchange with the TEM at {}", server.url));
        let exchange =
            Exchange { server, token_file: token_file.clone(), peer, tem: tem.clone(), api: None, problem };
        thread::Builder::new().name("oasis-peer".into()).spawn(move || {
            let _pulse = pulse;
            exchange.run();
        })?;
    }
    Ok(())
}

/// The state of a thread.
struct Exchange {
    server: Server,
    token_file: Option<PathBuf>,
    peer: Peer,
    tem: Arc<Tem>,
    /// None before the first request, and after a failure: token and authority are then read again.
    api: Option<Api>,
    problem: Option<String>,
}

/// The outcome of a request.
enum Outcome {
    Done,
    /// No answer, or one that is not a report.
    Failed(anyhow::Error),
    /// The answer says that this peer is of no use.
    Useless(String),
}

impl Exchange {
    fn run(mut self) -> ! {
        loop {
            thread::sleep(self.tem.pause(&self.peer));
            let report = self.tem.request(&mut self.peer);
            let (problem, pause) = match self.exchange(&report) {
                Outcome::Done => (None, Duration::ZERO),
                Outcome::Failed(error) => {
                    self.fail();
                    (
                        Some(format!("the TEM at {} does not exchange its list: {error:#}", self.server.url)),
                        Duration::ZERO,
                    )
                }
                Outcome::Useless(reason) => {
                    self.fail();
                    (
                        Some(format!("the peer {} is of no use: {reason}", self.server.url)),
                        USELESS_PEER_RETRY_DELAY,
                    )
                }
            };
            self.report(problem);
            thread::sleep(pause);
        }
    }

    fn fail(&mut self) {
        self.api = None;
        self.tem.take_failure(&mut self.peer);
    }

    fn exchange(&mut self, report: &Report) -> Outcome {
        let answer = match self.send_report(report) {
            Ok(answer) => answer,
            Err(error) => match error.downcast_ref().and_then(ClientError::refusal) {
                Some(refused) if refused.code == "own_peer" => return Outcome::Useless(refused.to_string()),
                _ => return Outcome::Failed(error),
            },
        };
        match self.tem.take_answer(&mut self.peer, answer) {
            Ok(()) => Outcome::Done,
            Err(reason) => Outcome::Useless(reason),
        }
    }

    fn send_report(&mut self, report: &Report) -> anyhow::Result<Report> {
        let api = match self.api.take() {
            Some(api) => api,
            None => {
                let token = self.token_file.as_deref().map(token::from_file).transpose()?;
                api::within(&self.server, Some(REQUEST_TIMEOUT))?.with_authorization(token)
            }
        };
        let body = serde_json::to_value(report)?;
        let answer = api.send(Method::POST, "/tem/exchange", Some(&body))?;
        self.api = Some(api);
        serde_json::from_value(answer).context("it has sent something else than a report")
    }

    fn report(&mut self, problem: Option<String>) {
        if problem == self.problem {
            return;
        }
        match &problem {
            Some(problem) => tracing::warn!("{problem}; trying again"),
            None => tracing::info!(peer = %self.server.url, "exchanging the list of DACs"),
        }
        self.tem.set_problem(self.peer.address(), problem.clone());
        self.problem = problem;
    }
}
