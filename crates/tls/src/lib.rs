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
mod server;

#[cfg(feature = "authority")]
pub use authority::{Authority, Issued, Lifetime};
pub use client::ClientFiles;
pub use error::TlsError;
pub use explain::{explain, tls_error};
#[cfg(feature = "server")]
pub use facts::Facts;
#[cfg(feature = "server")]
pub use server::{ServerFiles, ServerTls};

use rustls::crypto::{CryptoProvider, ring};
use std::sync::Arc;

/// The cryptography of every connection.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}
