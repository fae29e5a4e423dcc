//! Stands for the handler in programs without the feature: a [`Postgresql`] cannot be constructed.

use crate::PostgresqlConfig;
use oasis_handler::{ConfiguredHandler, Context, Failure, Handler};
use serde_json::Value;

/// Keeps samples in a PostgreSQL database.
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
    type Error = BadTarget;

    fn configured(config: PostgresqlConfig) -> Result<Option<Self>, BadTarget> {
        if config.url.is_empty() { Ok(None) } else { Err(BadTarget::NotBuilt) }
    }
}

impl Handler for Postgresql {
    fn name(&self) -> &'static str {
        match *self {}
    }

    fn run(&self, _: Context) -> Result<(), Failure> {
        match *self {}
    }

    fn state(&self) -> Value {
        match *self {}
    }
}
