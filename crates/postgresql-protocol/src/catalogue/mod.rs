//! `pg_catalog` and `information_schema`: tables of SQLite that list the tables of samples as PostgreSQL would.

mod definition;
mod functions;
mod relation;
mod rows;

pub use relation::{Catalogue, Session};

use crate::value_type::ValueType;
use definition::TABLES;
use rusqlite::{Connection, Result};

/// The names under which SQLite knows both schemas.
const SCHEMAS: [&str; 2] = ["pg_catalog", "information_schema"];

/// Whether a query can use the catalogue.
pub fn is_named(sql: &str) -> bool {
    let sql = sql.to_ascii_lowercase();
    SCHEMAS.iter().any(|schema| sql.contains(schema)) || TABLES.iter().any(|table| sql.contains(table.name))
}

/// Adds the functions about tables and session, and the tables if the query can use them.
///
/// # Errors
/// If SQLite reports one.
pub fn add(connection: &Connection, catalogue: &Catalogue, session: &Session, sql: &str) -> Result<()> {
    functions::define(connection, catalogue, session)?;
    if is_named(sql) {
        for schema in SCHEMAS {
            connection.execute_batch(&format!("ATTACH ':memory:' AS {schema}"))?;
        }
        TABLES.iter().try_for_each(|table| table.create(connection))?;
        rows::fill(connection, catalogue, session)?;
    }
    Ok(())
}

/// The type of a column of the catalogue, by its name.
pub fn type_of(column: &str) -> Option<ValueType> {
    definition::type_of(column)
}
