//! A data handler that keeps samples in a PostgreSQL database: a table for each probe type, written as samples come.
//!
//! It reads each topic log with a place of its own, as every reader does, so nobody waits for it. While the database is away it keeps its places and nothing else;
//! afterwards it goes on from there, from the archive where the logs hold no more. A round is one transaction: rows by binary `COPY`, and the places behind them. `docs/guides/keep-samples-in-postgresql.md` has
//! the tables and the promises.
//!
//! In the order of a sample: [`source`] finds what comes next of an instance, [`tables`] where its rows go, [`copy`] how they look, a [`round`] is what goes together, [`database`] writes it over a connection that [`tls`] encrypts, [`narrowing`] what is left of it when some is refused, and [`handler`] does it again and again.

mod config;
mod copy;
mod database;
mod handler;
mod narrowing;
mod recent;
mod refusal;
mod round;
mod source;
mod starts;
mod state;
mod tables;
#[cfg(test)]
mod test_dac;
mod tls;

pub use config::PostgresqlConfig;
pub use handler::{Handler, NotStarted};
pub use refusal::Refusal;
pub use state::{Condition, State};
pub use tls::BadTarget;
