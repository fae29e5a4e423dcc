//! A table `[notify.NAME]` with `kind = "mail"`.

use crate::{
    mail::Mail,
    secret_file::Secret,
    setting::{ConfigError, Limits, Table},
    url::{is_loopback_host, page},
};
use lettre::{
    SmtpTransport,
    message::Mailbox,
    transport::smtp::{
        authentication::Credentials,
        client::{Certificate, CertificateStore, Tls, TlsParameters},
    },
};
use oasis_tls::ClientFiles;
use rustls::RootCertStore;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Receivers of a mail.
const MOST_RECEIVERS: usize = 16;

/// A table `[notify.NAME]` with `kind = "mail"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MailConfig {
    /// Host of the mail server.
    pub server: String,
    /// Its port; 0: the usual one, 587 with STARTTLS, 465 with TLS, 25 without.
    pub port: u16,
    /// How the connection is encrypted.
    pub tls: MailTls,
    /// File with the CA of the server; empty: those that the system trusts.
    pub ca_file: PathBuf,
    /// User at the server; empty: nobody signs in.
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
    /// How long a notification is tried, in seconds.
    pub give_up_after_seconds: u64,
}

/// How the connection to a mail server is encrypted.
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

impl MailTls {
    const fn port(self) -> u16 {
        match self {
            Self::StartTls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
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

    pub(crate) fn open(&self, table: Table<'_>) -> Result<Mail, ConfigError> {
        if self.server.is_empty() {
            return Err(table.missing("server", "write the host name of the mail server"));
        }
        if self.tls == MailTls::None && !is_loopback_host(&self.server) {
            let remedy = "use \"starttls\" or \"tls\": only a server of this host (127.0.0.1) may be without";
            return Err(table.value("tls", "none", remedy));
        }
        let from = mailbox(table, "from", &self.from)?;
        if !(1..=MOST_RECEIVERS).contains(&self.to.len()) {
            let remedy = "write a list of 1 to 16 addresses, such as [\"operators@example.org\"]";
            return Err(table.value("to", &self.to.join(", "), remedy));
        }
        let to = self.to.iter().map(|address| mailbox(table, "to", address)).collect::<Result<_, _>>()?;
        let port = if self.port == 0 { self.tls.port() } else { self.port };
        let mut transport = SmtpTransport::builder_dangerous(&self.server)
            .port(port)
            .timeout(Some(crate::setting::TIMEOUT))
            .tls(self.encryption(table)?);
        if let Some(credentials) = self.credentials(table)? {
            transport = transport.credentials(credentials);
        }
        let server = format!("{}:{port}", self.server);
        Ok(Mail { transport: transport.build(), from, to, page: page(table, &self.page)?, server })
    }

    fn credentials(&self, table: Table<'_>) -> Result<Option<Credentials>, ConfigError> {
        let password = Secret::read(&table.key("password_file"), &self.password_file)?;
        match (self.user.is_empty(), password) {
            (true, None) => Ok(None),
            (false, Some(password)) => {
                Ok(Some(Credentials::new(self.user.clone(), password.reveal().to_owned())))
            }
            (true, Some(_)) => Err(table.missing("user", "write the user whose password it is")),
            (false, None) => Err(table.missing("password_file", "write the file with the user's password")),
        }
    }

    fn encryption(&self, table: Table<'_>) -> Result<Tls, ConfigError> {
        let bad = |why: String| ConfigError::File {
            setting: table.key("ca_file"),
            path: self.ca_file.clone(),
            why,
        };
        let parameters = || -> Result<TlsParameters, ConfigError> {
            let mut builder =
                TlsParameters::builder(self.server.clone()).certificate_store(CertificateStore::None);
            for certificate in authorities(table, &self.ca_file)? {
                builder = builder.add_root_certificate(certificate);
            }
            builder.build().map_err(|error| bad(error.to_string()))
        };
        Ok(match self.tls {
            MailTls::StartTls => Tls::Required(parameters()?),
            MailTls::Tls => Tls::Wrapper(parameters()?),
            MailTls::None => Tls::None,
        })
    }
}

/// The authorities of a file, or those of the system. Some systems have certificates that cannot be used; these are left out.
fn authorities(table: Table<'_>, ca_file: &Path) -> Result<Vec<Certificate>, ConfigError> {
    let ca = (!ca_file.as_os_str().is_empty()).then(|| ca_file.to_owned());
    let files = ClientFiles { ca, ..ClientFiles::default() };
    let tls = |error| ConfigError::Tls { setting: table.key("ca_file"), error };
    let found = files.authorities().map_err(tls)?.into_iter();
    let usable = found.filter(|certificate| RootCertStore::empty().add(certificate.clone()).is_ok());
    Ok(usable.filter_map(|certificate| Certificate::from_der(certificate.to_vec()).ok()).collect())
}

fn mailbox(table: Table<'_>, key: &str, text: &str) -> Result<Mailbox, ConfigError> {
    let remedy = "write an address such as \"operators@example.org\" or \"Plant 3 <plant-3@example.org>\"";
    if text.is_empty() {
        return Err(table.missing(key, remedy));
    }
    let is_line = !text.chars().any(char::is_control);
    text.parse::<Mailbox>().ok().filter(|_| is_line).ok_or_else(|| table.value(key, text, remedy))
}
