//! The handler's settings (`[postgresql]`).

use serde::{Deserialize, Serialize};

/// Which database, and how (`[postgresql]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PostgresqlConfig {
    /// `postgresql://USER:PASSWORD@HOST/DATABASE?sslmode=require` or `host=… user=… dbname=… sslmode=…`; empty for no database.
    pub url: String,
    /// File with the certificates (PEM) of who vouches for the database. With it, only a database that they vouch for under that host name is written to.
    pub ca_file: String,
    /// Schema of the tables, made if there is none.
    pub schema: String,
    /// Longest that a sample waits for others while all is well, in milliseconds: one transaction takes all that came meanwhile.
    pub commit_ms: u64,
}

impl Default for PostgresqlConfig {
    fn default() -> Self {
        Self { url: String::new(), ca_file: String::new(), schema: "oasis".into(), commit_ms: 200 }
    }
}
