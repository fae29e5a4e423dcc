//! TLS for both ends of a connection: certificates and keys in files, the settings of servers and clients, and a small certificate authority.
//!
//! A server has a [`ServerTls`]: its certificate and key, loaded again when the files change. A client makes its settings from [`ClientFiles`]. An
//! [`Authority`] issues certificates for both. Nothing here knows sockets: `rustls` gets its bytes from the callers.
//!
//! ```
//! # #[cfg(feature = "authority")] {
//! use oasis_tls::{Authority, ClientFiles, Lifetime, ServerFiles, ServerTls};
//!
//! let folder = tempfile::tempdir()?;
//! let authority = Authority::create(folder.path())?;
//! let issued = authority.issue_server(&["dac.example.org".into(), "192.0.2.7".into()], Lifetime::days(397))?;
//! let files = ServerFiles { certificate: issued.certificate, key: issued.key, node_ca: None };
//! let server = ServerTls::load(files)?;
//! let client = ClientFiles { ca: Some(authority.certificate()), ..ClientFiles::default() }.load()?;
//! # assert!(server.doors().alpn_protocols == [b"http/1.1"] && client.alpn_protocols.is_empty());
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "authority")]
mod authority;
mod client;
mod error;
mod explain;
#[cfg(feature = "server")]
mod facts;
mod files;
#[cfg(feature = "server")]
mod itself;
#[cfg(feature = "server")]
mod node_certificate;
#[cfg(feature = "authority")]
mod request;
#[cfg(feature = "server")]
mod server;

#[cfg(feature = "authority")]
pub use authority::{Authority, Issued, Lifetime};
pub use client::ClientFiles;
pub use error::TlsError;
pub use explain::{explain, tls_error};
#[cfg(feature = "server")]
pub use facts::Facts;
#[cfg(feature = "server")]
pub use node_certificate::{NodeCertificate, Peer};
#[cfg(feature = "authority")]
pub use request::{CertificateRequest, NodeKey};
#[cfg(feature = "server")]
pub use server::{ServerFiles, ServerTls};

use rustls::{
    SupportedCipherSuite,
    crypto::{CryptoProvider, ring},
};
use std::sync::Arc;

/// The cryptography of every connection.
fn provider() -> Arc<CryptoProvider> {
    let mut provider = ring::default_provider();
    order(&mut provider.cipher_suites, has_aes());
    Arc::new(provider)
}

/// Puts ChaCha20 first where AES is done without hardware: it is several times as fast there.
fn order(suites: &mut [SupportedCipherSuite], has_aes: bool) {
    let is_chacha = |suite: &SupportedCipherSuite| format!("{:?}", suite.suite()).contains("CHACHA20");
    if !has_aes {
        suites.sort_by_key(|suite| !is_chacha(suite));
    }
}

/// Whether this processor has instructions for AES-GCM that ring uses.
fn has_aes() -> bool {
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    return std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("aes")
        && std::arch::is_aarch64_feature_detected!("pmull");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
    return false;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_without_aes_prefers_chacha20_in_both_versions_of_tls() {
        let names = |has_aes| {
            let mut suites = ring::default_provider().cipher_suites;
            order(&mut suites, has_aes);
            suites.iter().map(|suite| format!("{:?}", suite.suite())).collect::<Vec<_>>()
        };
        let (with, without) = (names(true), names(false));
        assert_eq!(with.first().map(String::as_str), Some("TLS13_AES_256_GCM_SHA384"));
        assert_eq!(without.first().map(String::as_str), Some("TLS13_CHACHA20_POLY1305_SHA256"));
        let first_of_1_2 = without.iter().find(|name| name.starts_with("TLS_"));
        assert!(first_of_1_2.is_some_and(|name| name.contains("CHACHA20")), "{without:?}");
        assert_eq!(with.len(), without.len());
    }
}
