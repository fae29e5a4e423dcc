//! Overhead of TLS, measured: two rustls endpoints in memory, and the bytes between them.

use super::model::Tls;
use anyhow::Context;
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair},
};
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, ServerConfig, ServerConnection,
    SignatureScheme, SupportedProtocolVersion,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::ring::{default_provider, sign::any_ecdsa_type},
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime},
    sign::{CertifiedKey, SingleCertAndKey},
    version::{TLS12, TLS13},
};
use std::{io::Write, sync::Arc};

/// A client and a server after their handshake.
pub struct Session {
    client: Connection,
    server: Connection,
}

impl Session {
    /// Shakes hands in one version. Each session has a key of its own.
    pub fn new(version: Tls) -> anyhow::Result<Self> {
        let versions = match version {
            Tls::V1_2 => [&TLS12],
            Tls::V1_3 => [&TLS13],
        };
        let (client, server) = configurations(&versions)?;
        let mut session = Self {
            client: ClientConnection::new(client, ServerName::try_from("localhost")?)?.into(),
            server: ServerConnection::new(server)?.into(),
        };
        while session.client.is_handshaking() || session.server.is_handshaking() {
            let (sent, answered) = (drain(&mut session.client)?, drain(&mut session.server)?);
            take(&mut session.server, &sent)?;
            take(&mut session.client, &answered)?;
        }
        // Tickets for a later session are no part of a message.
        let rest = drain(&mut session.server)?;
        take(&mut session.client, &rest)?;
        Ok(session)
    }

    /// Bytes on the wire of one write by the client.
    pub fn write(&mut self, bytes: &[u8]) -> anyhow::Result<usize> {
        self.client.set_buffer_limit(None);
        self.client.writer().write_all(bytes)?;
        Ok(drain(&mut self.client)?.len())
    }
}

fn configurations(
    versions: &[&'static SupportedProtocolVersion],
) -> anyhow::Result<(Arc<ClientConfig>, Arc<ServerConfig>)> {
    let provider = Arc::new(default_provider());
    let client = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(SameProcess))
        .with_no_client_auth();
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new());
    let key = key.map_err(|_| anyhow::anyhow!("the system has no random numbers"))?;
    let key = any_ecdsa_type(&PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.as_ref())))?;
    let certificate = CertificateDer::from_slice(b"nobody reads this");
    let certified = CertifiedKey::new(vec![certificate], key);
    let server = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
    Ok((Arc::new(client), Arc::new(server)))
}

/// Trusts the server: it is in the same process, and only the sizes of records matter.
#[derive(Debug)]
struct SameProcess;

impl ServerCertVerifier for SameProcess {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}

/// Takes what an endpoint has to send.
fn drain(endpoint: &mut Connection) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while endpoint.wants_write() {
        endpoint.write_tls(&mut bytes)?;
    }
    Ok(bytes)
}

fn take(endpoint: &mut Connection, mut bytes: &[u8]) -> anyhow::Result<()> {
    while !bytes.is_empty() {
        endpoint.read_tls(&mut bytes)?;
        endpoint.process_new_packets().context("a TLS record")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_cost_what_the_specifications_say() {
        for version in [Tls::V1_2, Tls::V1_3] {
            let mut session = Session::new(version).unwrap();
            for bytes in [1, 19, 1_000, 16_384, 16_385, 100_000] {
                let added = session.write(&vec![0; bytes]).unwrap() - bytes;
                assert_eq!(added, version.of_write(bytes), "{version:?}, {bytes}");
            }
        }
    }
}
