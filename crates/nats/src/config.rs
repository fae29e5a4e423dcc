//! The settings of NATS (`[nats]`).

use serde::{Deserialize, Serialize};

/// NATS, and what OASIS does with it (`[nats]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NatsConfig {
    /// `nats://HOST:PORT` or `tls://HOST:PORT`, several with commas, without user and password; empty for none.
    pub url: String,
    /// File with JWT and key of a user (`.creds`), which others cannot read; empty for none.
    pub credentials_file: String,
    /// File with the seed of an nkey in its first line, which others cannot read; empty for none.
    pub nkey_file: String,
    /// User name; empty for none.
    pub user: String,
    /// File with the user's password in its first line, which others cannot read; empty for the environment variable `OASIS_NATS_PASSWORD`.
    pub password_file: String,
    /// File with the CA certificates (PEM) of the servers; empty for those of the system.
    pub ca_file: String,
    /// File with a certificate (PEM) that shows the servers who this is; empty for none.
    pub certificate: String,
    /// File with the key of that certificate.
    pub key: String,
    /// Whether servers on other machines are used without TLS.
    pub accept_plaintext: bool,
    /// Whether received samples are copied to JetStream.
    pub copy: bool,
    /// Whether a DAC that starts with an archive fills it with copies of what it lacks.
    pub catch_up: bool,
    /// Whether nodes may connect through NATS (`oasis node --channel nats`).
    pub channel: bool,
    /// Servers that have each copy, if the streams are created now.
    pub replicas: u64,
    /// Retention of copies, if the streams are created now.
    pub retention_seconds: u64,
    /// Bytes of all copies together, if the streams are created now.
    pub retention_bytes: u64,
}

impl Default for NatsConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            credentials_file: String::new(),
            nkey_file: String::new(),
            user: String::new(),
            password_file: String::new(),
            ca_file: String::new(),
            certificate: String::new(),
            key: String::new(),
            accept_plaintext: false,
            copy: true,
            catch_up: true,
            channel: false,
            replicas: 1,
            retention_seconds: 3_600,
            retention_bytes: 4 * 1024 * 1024 * 1024,
        }
    }
}
