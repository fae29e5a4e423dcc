//! A server of the PostgreSQL protocol, read only: SQL over stored samples for `psql`, drivers, Grafana and DBeaver.
//!
//! In the order of a connection: `server` accepts it, `sign_in` finds out who it is, `message` parses what it sends and `reply` writes the answers,
//! `connection` has the session, with the statements and portals of `prepared`. A statement is split and translated by `sql`, runs over
//! [`oasis_query::GuardedSql`] with the `functions` and the `catalogue` of PostgreSQL, and its rows wait in an `answer`.
//! Source: <https://www.postgresql.org/docs/current/protocol.html>. `docs/guides/query-with-postgresql-clients.md` is the guide. Without the feature
//! `server`, settings that enable it are refused.
//!
//! ```
//! use oasis_postgresql_protocol::{PostgresqlProtocolConfig, SqlServer};
//!
//! let off = PostgresqlProtocolConfig::default();
//! assert!(SqlServer::configured(off)?.is_none(), "it is enabled by an address");
//! # Ok::<(), oasis_postgresql_protocol::NotBuilt>(())
//! ```

mod config;

#[cfg(feature = "server")]
mod answer;
#[cfg(feature = "server")]
mod cancel;
#[cfg(feature = "server")]
mod catalogue;
#[cfg(feature = "server")]
mod connection;
#[cfg(feature = "server")]
mod failure;
#[cfg(feature = "server")]
mod functions;
#[cfg(feature = "server")]
mod handler;
#[cfg(feature = "server")]
mod message;
#[cfg(not(feature = "server"))]
mod no_server;
#[cfg(feature = "server")]
mod prepared;
#[cfg(feature = "server")]
mod query;
#[cfg(feature = "server")]
mod reply;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
mod settings;
#[cfg(feature = "server")]
mod shared;
#[cfg(feature = "server")]
mod sign_in;
#[cfg(feature = "server")]
mod sql;
#[cfg(feature = "server")]
mod state;
#[cfg(feature = "server")]
mod stream;
#[cfg(feature = "server")]
mod value_type;

pub use config::PostgresqlProtocolConfig;
#[cfg(feature = "server")]
pub use handler::{Serving, SqlServer};
#[cfg(not(feature = "server"))]
pub use no_server::SqlServer;

/// The program is built without the server.
#[derive(Debug, thiserror::Error)]
#[error(
    "listen: this program is built without the PostgreSQL protocol: build it with --features postgresql-protocol"
)]
pub struct NotBuilt;

impl SqlServer {
    /// Creates the server of a section; `None` without an address.
    ///
    /// # Errors
    /// If the program is built without it.
    pub fn configured(config: PostgresqlProtocolConfig) -> Result<Option<Self>, NotBuilt> {
        if config.listen.is_empty() {
            return Ok(None);
        }
        #[cfg(feature = "server")]
        return Ok(Some(Self::new(config)));
        #[cfg(not(feature = "server"))]
        Err(NotBuilt)
    }
}

/// Parses bytes and text of a client in all the ways that a server does: for the fuzz target.
#[cfg(feature = "server")]
pub fn parse_all(bytes: &[u8]) {
    let _ = message::parse_opening(bytes);
    if let Some((kind, content)) = bytes.split_first() {
        let _ = message::parse(*kind, content);
        let _ = value_type::parameter(u32::from(*kind) * 20, false, Some(content));
        let _ = value_type::parameter(u32::from(*kind), true, Some(content));
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        for statement in sql::statements(text).into_iter().flatten() {
            let _ = sql::parameter_contexts(&statement.tokens);
            let _ = sql::translate(statement.tokens);
        }
    }
}
