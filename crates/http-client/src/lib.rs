//! Requests to servers that a user names: webhooks, collectors, exporters. They are bounded in size and time, and follow neither redirections nor
//! proxies.
//!
//! ```
//! use oasis_http_client::{Client, ClientConfig, Scope};
//!
//! let client = Client::new(ClientConfig { is_encrypted: false, ..ClientConfig::default() })?;
//! let failure = client.post("http://127.0.0.1:9/", &[], b"{}").expect_err("the port is closed");
//! assert_eq!(failure.scope, Scope::Place);
//! # Ok::<(), oasis_tls::TlsError>(())
//! ```

mod client;
mod public_address;
mod secret_file;
mod server;
mod url;

pub use client::{Answer, Client, ClientConfig, Reach, RequestError, Scope};
pub use secret_file::{BadSecretFile, Secret};
pub use server::{BadServer, Server};
pub use ureq::http::Uri;
pub use url::{BadUrl, is_encrypted, is_loopback, is_loopback_host, logged_url, parse_url, visible_url};
