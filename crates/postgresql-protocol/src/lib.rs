//! A server of the PostgreSQL protocol, read only: SQL over stored samples for `psql`, drivers, Grafana and DBeaver.
//!
//! In the order of a connection: `server` accepts it, `sign_in` finds out who it is, `message` parses what it sends and `reply` writes the answers,
//! `connection` has the session, with the statements and portals of `prepared`. A statement is split and translated by `sql`, runs over
//! [`oasis_query::GuardedSql`] with the `functions` and the `catalogue` of PostgreSQL, and its rows wait in an `answer`.
//! Source: <https://www.postgresql.org/docs/current/protocol.html>. `docs/guides/query-with-postgresql-clients.md` is the guide.
//!
//! ```
//! use oasis_postgresql_protocol::{PostgresqlProtocolConfig, SqlServer};
//!
//! let off = PostgresqlProtocolConfig::default();
//! assert!(SqlServer::configured(off).is_none(), "it is enabled by an address");
//! ```

mod answer;
mod cancel;
mod catalogue;
mod config;
mod connection;
mod failure;
mod functions;
mod handler;
mod message;
mod prepared;
mod query;
mod reply;
mod server;
mod settings;
mod shared;
mod sign_in;
mod sql;
mod state;
mod stream;
mod value_type;

pub use config::PostgresqlProtocolConfig;
pub use handler::{Serving, SqlServer};

impl SqlServer {
    /// Creates the server of a section; `None` without an address.
    pub fn configured(config: PostgresqlProtocolConfig) -> Option<Self> {
        (!config.listen.is_empty()).then(|| Self::new(config))
    }
}

/// Parses bytes and text of a client in all the ways that a server does: for the fuzz target.
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
