//! A webhook: each notification is a POST request with a JSON text, signed with a secret that both ends know.

mod signature;

use crate::{
    destination::{AtOnce, Destination, Scope, SendError},
    notification::Notification,
    notification::body::Body,
    setting::{ConfigError, Limits, Table},
};
use oasis_http_client::{Client, Reach, Uri, is_encrypted};
use serde::{Deserialize, Serialize};
use signature::Signer;
use std::{path::PathBuf, time::SystemTime};

/// A table `[notify.NAME]` with `kind = "webhook"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookConfig {
    /// Address of the requests.
    pub url: String,
    /// File with the secret that signs them.
    pub secret_file: PathBuf,
    /// File with the CA of the server; empty: those that the system trusts.
    pub ca_file: PathBuf,
    /// Whether they may go to addresses that are not public, and without TLS.
    pub private: bool,
    /// Address of the page, for links.
    pub page: String,
    /// Messages a minute.
    pub per_minute: u32,
    /// Time in which a notification is tried, in seconds.
    pub give_up_after_seconds: u64,
}

impl Default for WebhookConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            secret_file: PathBuf::new(),
            ca_file: PathBuf::new(),
            private: false,
            page: String::new(),
            per_minute: crate::setting::PER_MINUTE,
            give_up_after_seconds: crate::setting::GIVE_UP_AFTER,
        }
    }
}

impl WebhookConfig {
    pub(crate) fn limits(&self, table: Table<'_>) -> Result<Limits, ConfigError> {
        table.limits(self.per_minute, self.give_up_after_seconds)
    }

    pub(crate) fn open(&self, table: Table<'_>) -> Result<Webhook, ConfigError> {
        if self.url.is_empty() {
            return Err(table.missing("url", "write the address that gets the messages, https://HOST/PATH"));
        }
        let uri = crate::url::parse(table, "url", &self.url)?;
        let has_tls = is_encrypted(&uri);
        if !has_tls && !self.private {
            let remedy = "use https://, or set private = true for a server of this host or its network";
            return Err(table.value("url", &self.url, remedy));
        }
        let secret = table.secret("secret_file", &self.secret_file)?;
        let reach = if self.private { Reach::Anywhere } else { Reach::Public };
        Ok(Webhook {
            http: table.client(&self.ca_file, has_tls, reach)?,
            url: uri,
            signer: secret.as_ref().map(Signer::new),
            page: crate::url::page(table, &self.page)?,
        })
    }
}

/// A server that gets a request for each notification.
#[derive(Debug)]
pub struct Webhook {
    http: Client,
    url: Uri,
    signer: Option<Signer>,
    page: String,
}

impl Destination for Webhook {
    fn send(&self, notifications: &[Notification]) -> Result<(), SendError> {
        notifications.iter().try_for_each(|notification| self.post(notification))
    }

    fn most_at_once(&self) -> AtOnce {
        AtOnce::One
    }
}

impl Webhook {
    fn post(&self, notification: &Notification) -> Result<(), SendError> {
        let body = Body::new(notification, &self.page);
        let body =
            serde_json::to_vec(&body).map_err(|error| SendError::new(Scope::Final, error.to_string()))?;
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let timestamp = since_1970.as_secs().to_string();
        let signature = self.signer.as_ref().map(|signer| signer.sign(&timestamp, &body));
        let mut headers =
            vec![("idempotency-key", notification.key.as_str()), ("x-oasis-timestamp", timestamp.as_str())];
        headers.extend(signature.as_deref().map(|signature| ("x-oasis-signature", signature)));
        // The path of an address may be a secret.
        let host = self.url.authority().map_or("", |authority| authority.as_str());
        let sent = self.http.post(&self.url.to_string(), &headers, &body);
        sent.map(drop).map_err(|error| SendError::from(error).from_server(host))
    }
}
