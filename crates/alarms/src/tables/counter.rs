//! Numbers that outlive the process.

use super::signed;
use rusqlite::{Connection, params};

pub fn get(on: &Connection, name: &str) -> rusqlite::Result<u64> {
    on.query_row("SELECT value FROM counter WHERE name = ?", [name], |row| super::unsigned(row, "value"))
}

pub fn set(on: &Connection, name: &str, value: u64) -> rusqlite::Result<()> {
    on.prepare_cached("UPDATE counter SET value = ? WHERE name = ?")?
        .execute(params![signed(value), name])?;
    Ok(())
}
