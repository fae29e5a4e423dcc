//! Encryption of the connection, and verification of the database.

use crate::PostgresqlConfig;
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{self, CryptoProvider, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use std::{fs::File, io::Read, net::IpAddr, os::unix::fs::MetadataExt, sync::Arc};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Longest password that is read, bytes.
const MAX_PASSWORD_BYTES: u64 = 4_096;

/// Longest name of a writer, in bytes.
pub const MAX_WRITER: usize = 256;

/// Why the connection settings are invalid.
#[derive(Debug, thiserror::Error)]
pub enum BadTarget {
    /// The address is invalid.
    #[error(
        "invalid postgresql.url ({0}): use postgresql://USER@HOST/DATABASE, or host=/run/postgresql dbname=DATABASE; sslmode is disable, prefer or require; instead of verify-full, use sslmode=require and set postgresql.ca_file"
    )]
    Url(tokio_postgres::Error),
    /// The certificates are invalid.
    #[error(
        "no certificates in postgresql.ca_file {path} ({why}): use a PEM file (-----BEGIN CERTIFICATE-----)"
    )]
    Certificates {
        /// As configured.
        path: String,
        /// The problem.
        why: String,
    },
    /// The settings contradict each other.
    #[error("postgresql.ca_file requires TLS, but postgresql.url has sslmode=disable: use sslmode=require")]
    Contradiction,
    /// Nothing says which certificate of another machine is right.
    #[error(
        "postgresql.url leads to {0}, and nothing says which certificate is right: set postgresql.ca_file; or postgresql.accept_any_certificate = true if you trust the network, with sslmode=disable too"
    )]
    Unverified(String),
    /// The password cannot be read, or others can read it.
    #[error("no password in postgresql.password_file {path}: {why}")]
    Password {
        /// The file.
        path: String,
        /// Reason of the error.
        why: String,
    },
    /// The name cannot be one.
    #[error("postgresql.writer is {0:?}: use 1 to {MAX_WRITER} bytes without control characters")]
    Writer(String),
    /// Error of the TLS library.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] Error),
}

/// The address of the database, and the encryption.
#[derive(Clone)]
pub struct Target {
    pub address: tokio_postgres::Config,
    pub tls: MakeRustlsConnect,
}

impl Target {
    /// Parses the settings. With certificates, only a verified connection is accepted.
    ///
    /// # Errors
    /// If the settings are invalid.
    pub fn new(config: &PostgresqlConfig) -> Result<Self, BadTarget> {
        let mut address: tokio_postgres::Config = config.url.parse().map_err(BadTarget::Url)?;
        if !config.password_file.is_empty() {
            address.password(password(&config.password_file)?);
        }
        let provider = Arc::new(crypto::ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let builder = if config.ca_file.is_empty() {
            if let Some(host) = unverified(&address, config.accept_any_certificate) {
                return Err(BadTarget::Unverified(host));
            }
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody(provider)))
        } else {
            if address.get_ssl_mode() == SslMode::Disable {
                return Err(BadTarget::Contradiction);
            }
            address.ssl_mode(SslMode::Require);
            builder.with_root_certificates(certificates(&config.ca_file)?)
        };
        Ok(Self { address, tls: MakeRustlsConnect::new(builder.with_no_client_auth()) })
    }
}

/// Returns the first host on another machine whose certificate is not verified, unless that was accepted.
fn unverified(address: &tokio_postgres::Config, is_accepted: bool) -> Option<String> {
    if is_accepted {
        return None;
    }
    if !address.get_hostaddrs().is_empty() {
        let remote = address.get_hostaddrs().iter().find(|address| !address.is_loopback());
        return remote.map(ToString::to_string);
    }
    address.get_hosts().iter().find_map(|host| match host {
        Host::Tcp(name) => {
            let is_local =
                name.parse::<IpAddr>().map_or(name == "localhost", |address| address.is_loopback());
            (!is_local).then(|| name.clone())
        }
        Host::Unix(_) => None,
    })
}

/// The first line of a file that others cannot read.
fn password(path: &str) -> Result<String, BadTarget> {
    let bad = |why: String| BadTarget::Password { path: path.to_owned(), why };
    let file = File::open(path).map_err(|error| bad(error.to_string()))?;
    let metadata = file.metadata().map_err(|error| bad(error.to_string()))?;
    let mode = metadata.mode() & 0o777;
    if metadata.is_file() && mode & 0o077 != 0 {
        return Err(bad(format!("others can read it (mode {mode:03o}): run `chmod 600 {path}`")));
    }
    let mut text = String::new();
    file.take(MAX_PASSWORD_BYTES).read_to_string(&mut text).map_err(|error| bad(error.to_string()))?;
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() { Err(bad("its first line is empty".into())) } else { Ok(line.to_owned()) }
}

fn certificates(path: &str) -> Result<RootCertStore, BadTarget> {
    let bad = |why: String| BadTarget::Certificates { path: path.to_owned(), why };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| bad(error.to_string()))? {
        let certificate = certificate.map_err(|error| bad(error.to_string()))?;
        roots.add(certificate).map_err(|error| bad(error.to_string()))?;
    }
    if roots.is_empty() { Err(bad("the file contains none".into())) } else { Ok(roots) }
}

/// Without certificates any server is accepted: on this machine, or if the settings accept that. This prevents
/// eavesdropping, but not impersonation.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str, ca_file: &str) -> String {
        let config =
            PostgresqlConfig { url: url.into(), ca_file: ca_file.into(), ..PostgresqlConfig::default() };
        Target::new(&config).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn invalid_settings_are_refused_with_a_remedy() {
        assert_eq!(refused("postgresql://a@127.0.0.1/c?sslmode=require", ""), "");
        for remote in
            ["postgresql://a@b/c?sslmode=require", "postgresql://a@b/c", "host=localhost hostaddr=10.0.0.1"]
        {
            let said = refused(remote, "");
            assert!(said.contains("postgresql.ca_file") && said.contains("accept_any_certificate"), "{said}");
        }
        assert!(refused("postgresql://a@b/c?sslmode=disable", "").contains("accept_any_certificate"));
        assert_eq!(refused("host=/run/postgresql sslmode=disable", ""), "");
        let accepting = PostgresqlConfig {
            url: "host=b".into(),
            accept_any_certificate: true,
            ..PostgresqlConfig::default()
        };
        assert!(Target::new(&accepting).is_ok());
        assert_eq!(refused("host=/run/postgresql dbname=c", ""), "");
        let said = refused("postgresql://a@b/c?sslmode=verify-full", "");
        assert!(said.contains("sslmode") && said.contains("postgresql.ca_file"), "{said}");
        assert!(
            refused("postgresql://a@b/c", "/nowhere.pem")
                .contains("no certificates in postgresql.ca_file /nowhere.pem")
        );
        assert!(refused("postgresql://a@b/c", "/dev/null").contains("the file contains none"));
        assert!(refused("host=b sslmode=disable", "/dev/null").contains("sslmode=require"));
    }
}
