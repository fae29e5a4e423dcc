//! A table `[notify.NAME]` with `kind = "mail"`.

use crate::setting::{ConfigError, Limits, Table};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A table `[notify.NAME]` with `kind = "mail"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MailConfig {
    /// Host of the mail server.
    pub server: String,
    /// Its port; 0: the usual one, 587 with STARTTLS, 465 with TLS, 25 without.
    pub port: u16,
    /// Encryption of the connection.
    pub tls: MailTls,
    /// File with the CA of the server; empty: those that the system trusts.
    pub ca_file: PathBuf,
    /// User at the server; empty: no sign-in.
    pub user: String,
    /// File with the user's password.
    pub password_file: PathBuf,
    /// Sender.
    pub from: String,
    /// Receivers.
    pub to: Vec<String>,
    /// Address of the page, for links.
    pub page: String,
    /// Mails a minute.
    pub per_minute: u32,
    /// Time in which a notification is tried, in seconds.
    pub give_up_after_seconds: u64,
}

/// Encryption of the connection to a mail server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailTls {
    /// After a greeting in plain text (RFC 3207); required.
    #[default]
    StartTls,
    /// From the beginning (RFC 8314).
    Tls,
    /// Not at all; on this host only.
    None,
}

impl Default for MailConfig {
    fn default() -> Self {
        Self {
            server: String::new(),
            port: 0,
            tls: MailTls::default(),
            ca_file: PathBuf::new(),
            user: String::new(),
            password_file: PathBuf::new(),
            from: String::new(),
            to: Vec::new(),
            page: String::new(),
            per_minute: crate::setting::PER_MINUTE,
            give_up_after_seconds: crate::setting::GIVE_UP_AFTER,
        }
    }
}

impl MailConfig {
    pub(crate) fn limits(&self, table: Table<'_>) -> Result<Limits, ConfigError> {
        table.limits(self.per_minute, self.give_up_after_seconds)
    }
}
