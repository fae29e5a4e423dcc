//! The section `[postgresql_protocol]` of the configuration file.

use serde::{Deserialize, Serialize};

/// The settings of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PostgresqlProtocolConfig {
    /// Address of the server, HOST:PORT, such as `127.0.0.1:5432`. Empty: there is none.
    pub listen: String,
    /// Most connections at the same time.
    pub max_connections: usize,
}

impl Default for PostgresqlProtocolConfig {
    fn default() -> Self {
        Self { listen: String::new(), max_connections: 32 }
    }
}
