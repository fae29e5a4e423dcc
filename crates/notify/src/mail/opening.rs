//! A mail server as its table says.

use super::{MailConfig, MailTls, sender::Mail};
use crate::{
    destination::Destination,
    setting::{ConfigError, Table},
    url::page,
};
use lettre::{
    SmtpTransport,
    message::Mailbox,
    transport::smtp::{
        authentication::Credentials,
        client::{Certificate, CertificateStore, Tls, TlsParameters},
    },
};
use oasis_http_client::is_loopback_host;
use oasis_tls::ClientFiles;
use rustls::RootCertStore;
use std::{path::Path, sync::Arc};

/// Receivers of a mail.
const MAX_RECEIVERS: usize = 16;

impl MailTls {
    const fn port(self) -> u16 {
        match self {
            Self::StartTls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
}

impl MailConfig {
    pub(crate) fn open(&self, table: Table<'_>) -> Result<Arc<dyn Destination>, ConfigError> {
        if self.server.is_empty() {
            return Err(table.missing("server", "write the host name of the mail server"));
        }
        if self.tls == MailTls::None && !is_loopback_host(&self.server) {
            let remedy = "use \"starttls\" or \"tls\": only a server of this host (127.0.0.1) may be without";
            return Err(table.value("tls", "none", remedy));
        }
        let from = mailbox(table, "from", &self.from)?;
        if !(1..=MAX_RECEIVERS).contains(&self.to.len()) {
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
        Ok(Arc::new(Mail { transport: transport.build(), from, to, page: page(table, &self.page)?, server }))
    }

    fn credentials(&self, table: Table<'_>) -> Result<Option<Credentials>, ConfigError> {
        let password = table.secret("password_file", &self.password_file)?;
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
