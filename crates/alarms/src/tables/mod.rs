//! All SQL: a file for each table.

pub mod alarm;
pub mod checkpoint;
pub mod counter;
pub mod home;
pub mod journal;
pub mod message;

use rusqlite::{
    Row,
    types::{FromSqlError, Type},
};

/// Each script migrates to the version of its number; the last one is current.
pub const VERSIONS: [&str; 3] = [include_str!("1.sql"), include_str!("2.sql"), include_str!("3.sql")];

/// SQLite's integers are signed: larger numbers wrap, in both directions.
pub fn signed(number: u64) -> i64 {
    number.cast_signed()
}

/// The same of a number that may be absent.
pub fn maybe_signed(number: Option<u64>) -> Option<i64> {
    number.map(signed)
}

pub fn unsigned(row: &Row<'_>, column: &str) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}

pub fn maybe_unsigned(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(i64::cast_unsigned))
}

/// A word of a list.
pub fn word<T>(row: &Row<'_>, column: &str, parse: impl Fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    parse(&text).ok_or_else(|| invalid(format!("{text:?} in column {column}")))
}

/// A word of a list, or null.
pub fn maybe_word<T>(
    row: &Row<'_>,
    column: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> rusqlite::Result<Option<T>> {
    match row.get::<_, Option<String>>(column)? {
        Some(text) => parse(&text).map(Some).ok_or_else(|| invalid(format!("{text:?} in column {column}"))),
        None => Ok(None),
    }
}

/// The error of a value that this program never writes.
pub fn invalid(what: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(FromSqlError::Other(what.into())))
}
