//! A handler that writes samples to a PostgreSQL database as they arrive: one table for each probe type.
//!
//! The handler reads each topic log from its own position, like every reader, so nothing waits for it. While the
//! database is
//! unreachable it keeps only its positions. Afterwards it continues from there, from the archive if the logs have
//! evicted the samples. A round is one transaction: rows by binary `COPY`, and the positions after them.
//! `docs/guides/keep-samples-in-postgresql.md` documents the tables and the guarantees.
//!
//! `client` has all that needs a connection.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_postgresql::{Postgresql, PostgresqlConfig};
//!
//! assert!(Postgresql::configured(PostgresqlConfig::default())?.is_none(), "no database is configured");
//! # Ok::<(), oasis_postgresql::BadTarget>(())
//! ```

mod client;
mod config;

pub use client::{BadTarget, Condition, Postgresql, Refusal, State};
pub use config::PostgresqlConfig;
