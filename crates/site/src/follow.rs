//! Follows the accounts of another DAC: asks for changes without end, on a thread of its own.

use super::api;
use anyhow::{Context, anyhow, bail};
use oasis_access::{Access, AccessConfig, AccountsCopy, MAX_COPY_BYTES, Moment};
use oasis_client::{Api, ClientError, DacAddress, Server, token};
use oasis_health::Health;
use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// Time that a source waits for a change before it answers that there is none.
const LONG_POLL_TIMEOUT: Duration = Duration::from_millis(1_000);
/// Time for an answer after that. A first copy has megabytes.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);
/// Shortest time between two requests, also to a source that answers at once.
const MIN_REQUEST_INTERVAL: Duration = Duration::from_millis(100);
/// Pause after a failure.
const FAILURE_BACKOFF: Duration = Duration::from_millis(500);
/// Longest pause after refusals: each is a record in the audit log of the source, until its cause is removed.
const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// Interval at which the token file is read during such a pause: another token is tried at once.
const TOKEN_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Bounds of the age that a copy may have, seconds: below, a restart of the source would lock people out.
const MAX_AGE_RANGE: std::ops::RangeInclusive<u64> = 60..=30 * 24 * 3_600;

/// The DACs that the accounts come from.
#[derive(Debug)]
pub struct Sources {
    servers: Vec<Server>,
    token_file: PathBuf,
}

impl Sources {
    /// Checks the settings; none if this DAC keeps its own accounts.
    ///
    /// # Errors
    /// If an address is none, or is this DAC's own; if a token or a folder is not named; or if the token would be sent in the clear.
    pub fn new(config: &AccessConfig, own: SocketAddr, insecure: bool) -> anyhow::Result<Option<Self>> {
        if config.follow.is_empty() {
            return Ok(None);
        }
        let mut servers = Vec::new();
        for text in &config.follow {
            let url: DacAddress =
                text.parse().map_err(|why: String| anyhow!(why)).context("in access.follow")?;
            let (host, port) = url.socket();
            let is_here = url.is_loopback() && (own.ip().is_loopback() || own.ip().is_unspecified());
            if port == own.port() && (is_here || host.parse() == Ok(own.ip())) {
                bail!(
                    "this DAC follows itself: access.follow names {url}, and must name the DAC that keeps the accounts"
                );
            }
            if !url.is_encrypted && !url.is_loopback() && !insecure {
                bail!(
                    "refusing to copy accounts from {url} without TLS: everybody on the way could read the token, and change the accounts. \
                     Use https:// (access.follow). --insecure insists"
                );
            }
            let ca = (!config.follow_ca.as_os_str().is_empty()).then(|| config.follow_ca.clone());
            servers.push(Server { url, ca });
        }
        if config.follow_token_file.as_os_str().is_empty() {
            bail!(
                "access.follow needs a token: make one there (oasis token create NAME --role follower --token-file FILE), and name the file in access.follow_token_file"
            );
        }
        if config.directory.is_empty() {
            bail!(
                "access.follow needs a folder of its own for the copy: set --access DIR or access.directory. The usual folder may have the accounts of other DACs"
            );
        }
        if !MAX_AGE_RANGE.contains(&config.follow_max_age_seconds) {
            let (least, most) = (MAX_AGE_RANGE.start(), MAX_AGE_RANGE.end());
            bail!(
                "access.follow_max_age_seconds is {}: use {least} to {most}",
                config.follow_max_age_seconds
            );
        }
        Ok(Some(Self { servers, token_file: config.follow_token_file.clone() }))
    }

    /// Starts to follow. The thread ends with the process.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(self, access: Arc<Access>, health: &Health) -> anyhow::Result<()> {
        let pulse = health.watch("copy of the accounts");
        let mut follower =
            AccountFollower { sources: self, access, at: 0, api: None, problem: None, refusals: 0 };
        thread::Builder::new().name("oasis-follow".into()).spawn(move || {
            let _pulse = pulse;
            loop {
                let began = Instant::now();
                let pause = follower.step();
                follower.rest(pause.saturating_sub(began.elapsed()));
            }
        })?;
        Ok(())
    }
}

struct AccountFollower {
    sources: Sources,
    access: Arc<Access>,
    /// The source that is asked.
    at: usize,
    /// None before the first request, and after a failure: token and authority are then read again.
    api: Option<Api>,
    problem: Option<String>,
    /// Refusals since the copy was confirmed.
    refusals: u32,
}

impl AccountFollower {
    /// Asks once. Returns the pause before the next request.
    fn step(&mut self) -> Duration {
        let Some(server) = self.sources.servers.get(self.at).cloned() else { return FAILURE_BACKOFF };
        let source = server.url.page();
        let mut pause = MIN_REQUEST_INTERVAL;
        let problem = match self.request(&server) {
            Ok(is_change) => {
                if is_change {
                    tracing::info!(%source, "copied the accounts");
                }
                if self.problem.is_some() && !is_change {
                    tracing::info!(%source, "the copy of the accounts is confirmed again");
                }
                self.refusals = 0;
                None
            }
            Err(error) => {
                pause = FAILURE_BACKOFF;
                if error.downcast_ref::<ClientError>().is_some_and(ClientError::is_final) {
                    pause = pause_after(self.refusals);
                    self.refusals = self.refusals.saturating_add(1);
                }
                Some(format!("{source}: {error:#}"))
            }
        };
        if let Some(problem) = &problem {
            self.api = None;
            self.at = (self.at + 1) % self.sources.servers.len();
            if self.problem.as_ref() != Some(problem) {
                tracing::warn!("the copy of the accounts is not renewed: {problem}; trying again");
            }
            self.access.note_copy_problem(problem.clone());
        }
        self.problem = problem;
        pause
    }

    /// Waits, but not for long once the file has another token.
    fn rest(&self, pause: Duration) {
        let until = Instant::now() + pause;
        let token = || token::from_file(&self.sources.token_file).ok();
        let before = (pause > TOKEN_CHECK_INTERVAL).then(token);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || before.as_ref().is_some_and(|before| *before != token()) {
                return;
            }
            thread::sleep(left.min(TOKEN_CHECK_INTERVAL));
        }
    }

    fn request(&mut self, server: &Server) -> anyhow::Result<bool> {
        let api = match self.api.take() {
            Some(api) => api,
            None => {
                let token = token::from_file(&self.sources.token_file)?;
                api::within(server, Some(LONG_POLL_TIMEOUT + RESPONSE_TIMEOUT))?
                    .with_authorization(Some(token))
            }
        };
        let after = self.access.copy_position().map(|position| position.to_string());
        let wait = LONG_POLL_TIMEOUT.as_millis().to_string();
        let mut query = vec![("wait_ms", wait.as_str())];
        query.extend(after.as_deref().map(|after| ("after", after)));
        let copy: AccountsCopy = api.get_bounded("/accounts/copy", &query, MAX_COPY_BYTES)?;
        let is_change = self.access.take_copy(&server.url.page(), &copy, Moment::now())?;
        self.api = Some(api);
        Ok(is_change)
    }
}

/// Returns the pause after this many refusals in a row: twice as long each time.
fn pause_after(refusals: u32) -> Duration {
    FAILURE_BACKOFF.saturating_mul(2_u32.saturating_pow(refusals)).min(MAX_BACKOFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_after_refusals_grow_to_a_minute() {
        let seconds = [0, 1, 2, 6, 7, 1_000].map(|refusals| pause_after(refusals).as_secs_f64());
        assert_eq!(seconds, [0.5, 1.0, 2.0, 32.0, 60.0, 60.0]);
    }

    fn config(url: &str) -> AccessConfig {
        AccessConfig {
            follow: vec![url.into()],
            follow_token_file: "token".into(),
            directory: "access".into(),
            ..AccessConfig::default()
        }
    }

    fn refused(config: &AccessConfig) -> String {
        Sources::new(config, ([127, 0, 0, 1], 7070).into(), false).unwrap_err().to_string()
    }

    #[test]
    fn a_dac_that_follows_itself_and_one_without_tls_are_refused() {
        for own in ["http://127.0.0.1:7070", "http://localhost:7070", "https://[::1]:7070"] {
            assert!(refused(&config(own)).contains("follows itself"), "{own}");
        }
        assert!(refused(&config("http://192.0.2.7:7070")).contains("without TLS"));
        let error = Sources::new(&config("192.0.2.7"), ([127, 0, 0, 1], 7070).into(), false).unwrap_err();
        assert!(format!("{error:#}").contains("in access.follow"), "{error:#}");
        let none = Sources::new(&AccessConfig::default(), ([127, 0, 0, 1], 7070).into(), false).unwrap();
        assert!(none.is_none());
        assert!(Sources::new(&config("https://192.0.2.7"), ([127, 0, 0, 1], 443).into(), false).is_ok());
    }

    #[test]
    fn a_token_a_folder_and_a_bounded_age_are_required() {
        let good = config("https://dac-1.example.org:7070");
        assert!(
            refused(&AccessConfig { follow_token_file: PathBuf::new(), ..good.clone() })
                .contains("needs a token")
        );
        assert!(refused(&AccessConfig { directory: String::new(), ..good.clone() }).contains("--access DIR"));
        for age in [0, 59, u64::MAX] {
            assert!(
                refused(&AccessConfig { follow_max_age_seconds: age, ..good.clone() })
                    .contains("use 60 to 2592000")
            );
        }
    }
}
