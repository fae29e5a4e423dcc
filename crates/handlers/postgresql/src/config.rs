//! The handler's settings (`[postgresql]`).

use serde::{Deserialize, Serialize};

/// The database and its tables (`[postgresql]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PostgresqlConfig {
    /// `postgresql://USER:PASSWORD@HOST/DATABASE?sslmode=require` or `host=… user=… dbname=… sslmode=…`; empty for no database.
    pub url: String,
    /// File with the password in its first line, which others cannot read; empty for none, or that of `url`.
    pub password_file: String,
    /// File with the CA certificates (PEM) of the database. With it, only a database with a certificate for its host
    /// name from this CA is used.
    pub ca_file: String,
    /// Whether a database on another machine is used without `ca_file`, whatever certificate it shows, or without encryption.
    pub accept_any_certificate: bool,
    /// Schema of the tables, created if it does not exist.
    pub schema: String,
    /// Name of this DAC in the database, which no other DAC has that writes to the schema. Empty: the DAC's name.
    pub writer: String,
    /// Upper bound of the time that a sample waits for others, in milliseconds, during normal operation: one
    /// transaction contains all samples of that time.
    pub commit_ms: u64,
}

impl Default for PostgresqlConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            password_file: String::new(),
            ca_file: String::new(),
            accept_any_certificate: false,
            schema: "oasis".into(),
            writer: String::new(),
            commit_ms: 200,
        }
    }
}
