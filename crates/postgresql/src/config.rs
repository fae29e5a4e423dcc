//! The handler's settings (`[postgresql]`).

use serde::{Deserialize, Serialize};

/// Which database, and how (`[postgresql]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PostgresqlConfig {
    /// `postgresql://USER:PASSWORD@HOST/DATABASE` or `host=… user=… dbname=…`; empty for no database.
    pub url: String,
    /// Schema of the tables, made if there is none.
    pub schema: String,
    /// Longest that a sample waits for others while all is well, in milliseconds: one transaction takes all that came meanwhile.
    pub commit_ms: u64,
}

impl Default for PostgresqlConfig {
    fn default() -> Self {
        Self { url: String::new(), schema: "oasis".into(), commit_ms: 200 }
    }
}
