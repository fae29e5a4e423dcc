//! Alertmanager: groups, routes and silences come with it. Each of a cluster gets all alerts.

mod alert;

use crate::{
    destination::{AtOnce, Destination, Scope, SendError},
    notification::Event,
    notification::Notification,
    setting::{ConfigError, Limits, Table},
};
use alert::{Alert, Labels};
use oasis_dac::{config::UrlList, now};
use oasis_http_client::{Client, Reach, is_encrypted, is_loopback};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// Alerts in one request.
const BATCH: usize = 64;
/// As Prometheus does it.
const REPEATED_EVERY: Duration = Duration::from_secs(60);
/// Time in which a cleared alert is repeated, for an Alertmanager that was away: as Prometheus does it.
const CLEARED_FOR: Duration = Duration::from_secs(900);
/// Cleared alerts that are repeated at most; of more the oldest are not.
const MOST_CLEARED: usize = 10_000;
/// Alertmanagers of a cluster.
const MOST_SERVERS: usize = 8;

/// A table `[notify.NAME]` with `kind = "alertmanager"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AlertmanagerConfig {
    /// Addresses of all Alertmanagers of the cluster.
    pub url: UrlList,
    /// File with a token for the header `Authorization`; empty: none.
    pub token_file: PathBuf,
    /// File with the CA of the servers; empty: those that the system trusts.
    pub ca_file: PathBuf,
    /// Address of the page, for links.
    pub page: String,
    /// Requests a minute.
    pub per_minute: u32,
    /// Time in which a notification is tried, in seconds.
    pub give_up_after_seconds: u64,
}

impl Default for AlertmanagerConfig {
    fn default() -> Self {
        Self {
            url: UrlList::default(),
            token_file: PathBuf::new(),
            ca_file: PathBuf::new(),
            page: String::new(),
            per_minute: crate::setting::PER_MINUTE,
            give_up_after_seconds: crate::setting::GIVE_UP_AFTER,
        }
    }
}

impl AlertmanagerConfig {
    pub(crate) fn limits(&self, table: Table<'_>) -> Result<Limits, ConfigError> {
        table.limits(self.per_minute, self.give_up_after_seconds)
    }

    pub(crate) fn open(&self, table: Table<'_>) -> Result<Alertmanager, ConfigError> {
        let urls: Vec<_> = self.url.iter().collect();
        if urls.is_empty() {
            return Err(
                table.missing("url", "write the address of Alertmanager, such as http://127.0.0.1:9093")
            );
        }
        if urls.len() > MOST_SERVERS {
            return Err(table.value(
                "url",
                &urls.join(", "),
                format!("write {MOST_SERVERS} addresses at most"),
            ));
        }
        let token = table.secret("token_file", &self.token_file)?;
        let servers = urls.into_iter().map(|url| {
            let uri = crate::url::parse(table, "url", url)?;
            let has_tls = is_encrypted(&uri);
            if token.is_some() && !has_tls && !is_loopback(&uri) {
                return Err(table.value("url", url, "a token needs https://, except on this host"));
            }
            let http = table.client(&self.ca_file, has_tls, Reach::Anywhere)?;
            let name = url.trim_end_matches('/').to_owned();
            let alerts = format!("{name}/api/v2/alerts");
            Ok(Server { name, alerts, http, failure: Mutex::default() })
        });
        Ok(Alertmanager {
            servers: servers.collect::<Result<_, _>>()?,
            authorization: token.map(|token| format!("Bearer {}", token.reveal())),
            page: crate::url::page(table, &self.page)?,
            cleared: Mutex::default(),
        })
    }
}

/// A cluster of Alertmanagers.
pub struct Alertmanager {
    servers: Vec<Server>,
    authorization: Option<String>,
    page: String,
    /// Alerts that were cleared of late. Locked for a few insertions.
    cleared: Mutex<Cleared>,
}

/// Alerts by their labels, and when they were cleared.
type Cleared = BTreeMap<Labels, (Instant, Alert)>;

/// One of a cluster.
struct Server {
    name: String,
    alerts: String,
    http: Client,
    /// Why the last request failed; none after one that did not.
    failure: Mutex<Option<String>>,
}

impl Destination for Alertmanager {
    fn send(&self, notifications: &[Notification]) -> Result<(), SendError> {
        let alerts = self.alerts(notifications);
        self.remember(&alerts);
        // One is enough: the others get all alerts with the next repetition.
        any(self.post(alerts.values().map(|(_, alert)| alert)))
    }

    fn test(&self, notification: &Notification) -> Result<(), SendError> {
        let alert = Alert::new(notification, &self.page, now().0);
        self.post(std::iter::once(&alert)).into_iter().collect()
    }

    fn most_at_once(&self) -> AtOnce {
        AtOnce::Always(BATCH)
    }

    fn repeat(&self, standing: &[Notification]) -> Result<(), SendError> {
        let mut alerts = self.cleared_of_late();
        // Later ones replace earlier ones: an alarm that stands again is not cleared.
        alerts.extend(self.alerts(standing).into_iter().map(|(labels, (_, alert))| (labels, alert)));
        let alerts: Vec<_> = alerts.values().collect();
        let posted = alerts.chunks(BATCH).map(|batch| any(self.post(batch.iter().copied())));
        // Each batch is tried.
        posted.fold(Ok(()), Result::and)
    }

    fn repeats_every(&self) -> Option<Duration> {
        Some(REPEATED_EVERY)
    }

    fn warnings(&self) -> Vec<String> {
        if self.servers.len() == 1 {
            return Vec::new();
        }
        let failures = self.servers.iter().filter_map(|server| Some((server, server.failure().clone()?)));
        failures.map(|(server, why)| format!("{} does not take alerts: {why}", server.name)).collect()
    }
}

impl Alertmanager {
    /// The alerts of notifications. Of several changes of one alarm the last one counts: in one request there is no order.
    fn alerts(&self, notifications: &[Notification]) -> BTreeMap<Labels, (Event, Alert)> {
        let now = now().0;
        let alerts = notifications.iter().map(|notification| {
            let alert = Alert::new(notification, &self.page, now);
            (alert.labels.clone(), (notification.event, alert))
        });
        alerts.collect()
    }

    /// Posts alerts to all servers at the same time. Returns the result of each.
    fn post<'a>(&self, alerts: impl Iterator<Item = &'a Alert>) -> Vec<Result<(), SendError>> {
        let body = match serde_json::to_vec(&alerts.collect::<Vec<_>>()) {
            Ok(body) => body,
            Err(error) => return vec![Err(SendError::new(Scope::Final, error.to_string()))],
        };
        let headers: Vec<_> =
            self.authorization.iter().map(|value| ("authorization", value.as_str())).collect();
        let (headers, body) = (&headers[..], &body[..]);
        if let [server] = &self.servers[..] {
            return vec![server.post(headers, body)];
        }
        thread::scope(|scope| {
            let post = |server| scope.spawn(move || Server::post(server, headers, body));
            let threads: Vec<_> = self.servers.iter().map(post).collect();
            let panicked = |_| Err(SendError::new(Scope::Place, "sending panicked"));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
        })
    }

    fn remember(&self, alerts: &BTreeMap<Labels, (Event, Alert)>) {
        let mut cleared = self.cleared();
        for (labels, (event, alert)) in alerts {
            match event {
                Event::Cleared => cleared.insert(labels.clone(), (Instant::now(), alert.clone())),
                Event::Raised | Event::Test => cleared.remove(labels),
            };
        }
        while cleared.len() > MOST_CLEARED {
            let oldest = cleared.iter().min_by_key(|(_, (when, _))| *when).map(|(labels, _)| labels.clone());
            oldest.and_then(|labels| cleared.remove(&labels));
        }
    }

    fn cleared_of_late(&self) -> BTreeMap<Labels, Alert> {
        let mut cleared = self.cleared();
        cleared.retain(|_, (when, _)| when.elapsed() < CLEARED_FOR);
        cleared.iter().map(|(labels, (_, alert))| (labels.clone(), alert.clone())).collect()
    }

    fn cleared(&self) -> MutexGuard<'_, Cleared> {
        self.cleared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether one of several has accepted the alerts; otherwise the last failure.
fn any(mut results: Vec<Result<(), SendError>>) -> Result<(), SendError> {
    if results.iter().any(Result::is_ok) { Ok(()) } else { results.pop().unwrap_or(Ok(())) }
}

impl Server {
    fn post(&self, headers: &[(&str, &str)], body: &[u8]) -> Result<(), SendError> {
        let result = self.http.post(&self.alerts, headers, body).map(drop).map_err(SendError::from);
        let failure = result.as_ref().err().map(|error| error.why.clone());
        *self.failure() = failure;
        result.map_err(|error| error.from_server(&self.name))
    }

    fn failure(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
