//! Functions of PostgreSQL that SQLite does not have.

mod array;
mod pattern;
mod scalar;
mod time;
mod value;

pub use scalar::{Define, argument_text};

use rusqlite::{Connection, Result};

/// Adds the functions that know nothing of the session. `now` is the time of the statement, nanoseconds since 1970.
///
/// # Errors
/// If SQLite reports one.
pub fn define(connection: &Connection, now: u64) -> Result<()> {
    let define = Define(connection);
    time::define(&define, now)?;
    value::define(&define)?;
    array::define(&define)?;
    pattern::define(&define)
}
