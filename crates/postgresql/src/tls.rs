//! How the connection is encrypted, and whom it believes.

use crate::config::PostgresqlConfig;
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{self, CryptoProvider, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use std::sync::Arc;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Why there is nothing to connect with.
#[derive(Debug, thiserror::Error)]
pub enum BadTarget {
    /// The address.
    #[error(
        "postgresql.url is no address of a database ({0}): write postgresql://USER@HOST/DATABASE, or host=/run/postgresql dbname=DATABASE; sslmode is disable, prefer or require, and instead of verify-full write sslmode=require and name the certificates in postgresql.ca_file"
    )]
    Url(tokio_postgres::Error),
    /// The certificates.
    #[error(
        "postgresql.ca_file, {path}, has no certificates ({why}): name a file with them in PEM (-----BEGIN CERTIFICATE-----)"
    )]
    Certificates {
        /// As configured.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// Settings that contradict each other.
    #[error(
        "postgresql.ca_file says who the database must be, and sslmode=disable in postgresql.url does not ask it: write sslmode=require"
    )]
    Contradiction,
    /// The library.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] Error),
}

/// Where a connection goes, and how it is encrypted.
#[derive(Clone)]
pub struct Target {
    pub address: tokio_postgres::Config,
    pub tls: MakeRustlsConnect,
}

impl Target {
    /// What the settings say. With certificates nothing but a verified connection will do.
    ///
    /// # Errors
    /// If the settings make no sense.
    pub fn new(config: &PostgresqlConfig) -> Result<Self, BadTarget> {
        let mut address: tokio_postgres::Config = config.url.parse().map_err(BadTarget::Url)?;
        let provider = Arc::new(crypto::ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let builder = if config.ca_file.is_empty() {
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

fn certificates(path: &str) -> Result<RootCertStore, BadTarget> {
    let bad = |why: String| BadTarget::Certificates { path: path.to_owned(), why };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| bad(error.to_string()))? {
        let certificate = certificate.map_err(|error| bad(error.to_string()))?;
        roots.add(certificate).map_err(|error| bad(error.to_string()))?;
    }
    if roots.is_empty() { Err(bad("there is none in it".into())) } else { Ok(roots) }
}

/// Without certificates whoever answers is believed, as `sslmode=require` means everywhere: nobody can listen, but somebody else may answer.
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
    fn what_cannot_be_kept_is_refused_and_says_what_to_write() {
        assert_eq!(refused("postgresql://a@b/c?sslmode=require", ""), "");
        assert_eq!(refused("host=/run/postgresql dbname=c", ""), "");
        let said = refused("postgresql://a@b/c?sslmode=verify-full", "");
        assert!(said.contains("sslmode") && said.contains("postgresql.ca_file"), "{said}");
        assert!(refused("postgresql://a@b/c", "/nowhere.pem").contains("/nowhere.pem, has no certificates"));
        assert!(refused("postgresql://a@b/c", "/dev/null").contains("there is none in it"));
        assert!(refused("host=b sslmode=disable", "/dev/null").contains("sslmode=require"));
    }
}
