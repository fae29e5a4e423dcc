//! The section in programs without the feature.

use crate::PostgresqlConfig;
use oasis_handler::{ConfiguredHandler, Unbuilt};

/// The section `[postgresql]`.
#[derive(Debug)]
pub enum Postgresql {}

/// Why the connection settings are invalid.
#[derive(Debug, thiserror::Error)]
pub enum BadTarget {
    /// This library has no connection.
    #[error("postgresql.url needs a connection, which this library was built without (feature client)")]
    NotBuilt,
}

impl ConfiguredHandler for Postgresql {
    type Config = PostgresqlConfig;
    type Handler = Unbuilt;
    type Error = BadTarget;

    fn configured(config: PostgresqlConfig) -> Result<Option<Unbuilt>, BadTarget> {
        if config.url.is_empty() { Ok(None) } else { Err(BadTarget::NotBuilt) }
    }
}
