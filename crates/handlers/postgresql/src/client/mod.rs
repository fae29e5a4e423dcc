//! The handler, and its connection to the database.
//!
//! In the order of a sample: `source` reads the next samples of an instance. `tables` maps its type to a table,
//! `copy` encodes its rows, and a `round` collects rows for one transaction. `database` writes them over a
//! connection that `tls` encrypts, under the name of a `writer`; `positions` keeps the next position, and `layout` has its own tables.
//! `narrowing` writes the rest if some rows are refused. `handler` repeats this.
//!
//! ```
//! use oasis_handler::{ConfiguredHandler, Supervisor};
//! use oasis_postgresql::{Condition, Postgresql, PostgresqlConfig};
//! use std::sync::Arc;
//!
//! let url = "postgresql://oasis@127.0.0.1:1/plant".into();
//! let config = PostgresqlConfig { url, ..PostgresqlConfig::default() };
//! let handler = Arc::new(Postgresql::configured(config)?.expect("a database is configured"));
//!
//! let dac = oasis_dac::Dac::new(oasis_dac::Config::default());
//! let supervisor = Supervisor::new(dac, None, vec![handler.clone()]);
//! supervisor.start_all();
//! // Nothing listens at this port: the handler reports it and retries until it is stopped.
//! while handler.report().reach.condition != Condition::Failing {}
//! supervisor.stop_all();
//! # Ok::<(), oasis_postgresql::BadTarget>(())
//! ```

mod copy;
mod database;
mod failure;
mod handler;
mod layout;
mod narrowing;
mod positions;
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
mod writer;

pub use handler::Postgresql;
pub use refusal::Refusal;
pub use state::{Condition, State};
pub use tls::BadTarget;
