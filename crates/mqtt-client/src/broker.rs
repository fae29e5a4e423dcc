//! The settings of a connection, which the sections of source and handler have both.

use crate::{
    ProtocolVersion,
    address::{Address, BadAddress},
    secret::{BadSecret, password},
};

/// Longest client identifier, in bytes.
const MAX_CLIENT_ID_BYTES: usize = 256;

/// The settings of a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BrokerSettings {
    /// `mqtt://HOST:PORT` or `mqtts://HOST:PORT`, without user and password.
    pub url: String,
    /// The version of the protocol.
    pub version: ProtocolVersion,
    /// The name of the client, which no other client of the broker has.
    pub client_id: String,
    /// User name; empty for none.
    pub user: String,
    /// File with the user's password in its first line, which others cannot read; empty for the environment variable.
    pub password_file: String,
    /// The environment variable with the password.
    pub password_variable: &'static str,
    /// File with the CA certificates (PEM) of the broker; empty for those of the system.
    pub ca_file: String,
    /// File with a certificate (PEM) that shows the broker who this is; empty for none.
    pub certificate: String,
    /// File with the key of that certificate.
    pub key: String,
    /// Whether a broker on another machine is used without TLS.
    pub accept_plaintext: bool,
}

/// Settings that cannot work. The text begins with the setting, so that the section can stand before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadBroker {
    /// The address cannot be used.
    #[error("url: {0}")]
    Address(#[from] BadAddress),
    /// The broker is on another machine, in the clear.
    #[error(
        "url leads to {0} without TLS: write mqtts:// (and ca_file for a CA of your own); or set accept_plaintext = true if you trust the network"
    )]
    Plaintext(String),
    /// The password cannot be read.
    #[error("password_file: {0}")]
    Secret(#[from] BadSecret),
    /// A user without a password.
    #[error("user has no password: set password_file, or the environment variable {0}")]
    NoPassword(&'static str),
    /// Half a pair.
    #[error("certificate and key belong together: set both, or neither")]
    HalfACertificate,
    /// A name that brokers refuse.
    #[error("client_id: {0:?} is no name of 1 to {MAX_CLIENT_ID_BYTES} bytes without control characters")]
    ClientId(String),
}

impl BrokerSettings {
    /// Checks the settings, and that the files with secrets can be read. Nothing is contacted.
    ///
    /// # Errors
    /// If they cannot work.
    pub fn check(&self) -> Result<Address, BadBroker> {
        let address = Address::parse(&self.url)?;
        if !address.is_encrypted && !address.is_local() && !self.accept_plaintext {
            return Err(BadBroker::Plaintext(address.to_string()));
        }
        if !self.user.is_empty() && self.password()?.is_none() {
            return Err(BadBroker::NoPassword(self.password_variable));
        }
        if self.certificate.is_empty() != self.key.is_empty() {
            return Err(BadBroker::HalfACertificate);
        }
        let id = &self.client_id;
        if id.is_empty() || id.len() > MAX_CLIENT_ID_BYTES || id.chars().any(char::is_control) {
            return Err(BadBroker::ClientId(id.chars().take(MAX_CLIENT_ID_BYTES).collect()));
        }
        Ok(address)
    }

    /// Reads the password of the user.
    fn password(&self) -> Result<Option<String>, BadSecret> {
        if self.user.is_empty() { Ok(None) } else { password(&self.password_file, self.password_variable) }
    }
}

mod connection {
    use super::{Address, BadSecret, BrokerSettings};
    use crate::{
        encode::{Login, Will},
        session::{KEEP_ALIVE_SECONDS, Session},
        stream::BrokerStream,
    };
    use oasis_tls::{ClientFiles, TlsError};
    use rustls::ClientConfig;
    use std::{io, sync::Arc, time::Instant};

    /// Why there is no connection.
    #[derive(Debug, thiserror::Error)]
    pub enum ConnectError {
        /// The broker cannot be reached, or proves to be another one.
        #[error("{0}")]
        Io(#[from] io::Error),
        /// The password cannot be read.
        #[error("password_file: {0}")]
        Secret(#[from] BadSecret),
        /// The files of TLS cannot be used.
        #[error(transparent)]
        Tls(#[from] TlsError),
    }

    impl BrokerSettings {
        /// Connects, and begins a connection of the session. Password and certificates are read again.
        ///
        /// # Errors
        /// If there is no connection.
        pub fn connect(
            &self,
            address: &Address,
            session: &mut Session,
            will: Option<&Will>,
        ) -> Result<BrokerStream, ConnectError> {
            let tls = if address.is_encrypted { Some(self.tls()?) } else { None };
            let password = self.password()?;
            let stream = BrokerStream::connect(address, tls)?;
            let login = Login {
                client_id: &self.client_id,
                user: Some(&*self.user).filter(|user| !user.is_empty()),
                password: password.as_deref(),
                keep_alive: KEEP_ALIVE_SECONDS,
                will,
            };
            session.begin(&login, Instant::now());
            Ok(stream)
        }

        fn tls(&self) -> Result<Arc<ClientConfig>, TlsError> {
            let path = |file: &str| Some(file).filter(|file| !file.is_empty()).map(Into::into);
            let Self { ca_file, certificate, key, .. } = self;
            ClientFiles { ca: path(ca_file), certificate: path(certificate), key: path(key) }.load()
        }
    }
}

pub use connection::ConnectError;

#[cfg(test)]
mod tests {
    use super::*;

    fn error(settings: &BrokerSettings) -> String {
        settings.check().map(drop).unwrap_err().to_string()
    }

    #[test]
    fn settings_that_cannot_work_are_refused_with_a_remedy() {
        let local = || BrokerSettings {
            url: "mqtt://localhost".into(),
            client_id: "a".into(),
            password_variable: "OASIS_NO_SUCH_PASSWORD",
            ..BrokerSettings::default()
        };
        assert!(local().check().is_ok());
        let far = BrokerSettings { url: "mqtt://broker.example.org:1883".into(), ..local() };
        assert!(error(&far).contains("accept_plaintext"));
        assert!(BrokerSettings { accept_plaintext: true, ..far }.check().is_ok());
        assert!(error(&BrokerSettings { key: "a".into(), ..local() }).contains("both"));
        assert!(error(&BrokerSettings { client_id: String::new(), ..local() }).contains("client_id"));
        assert!(error(&BrokerSettings { user: "ada".into(), ..local() }).contains("OASIS_NO_SUCH_PASSWORD"));
    }
}
