//! Keeps statements of authors who are not trusted within SELECT, and within bounds of SQLite itself.

use super::{SqlError, functions, stop::Stop};
use rusqlite::{
    Connection,
    config::DbConfig,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
};

/// Instructions of SQLite's virtual machine between two checks of the limits: some microseconds. Each instruction may make a value of 2 MiB.
const CHECK_INTERVAL: i32 = 200;

/// Bytes of a text, a row, or the result of `group_concat`.
pub const MAX_VALUE_BYTES: i32 = 2 * 1024 * 1024;

/// Bounds of SQLite, each with its reason.
const LIMITS: [(Limit, i32); 10] = [
    (Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1_000_000),
    (Limit::SQLITE_LIMIT_COLUMN, 2_000),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
    // Each DISTINCT, ORDER BY and GROUP BY of a program can have a cache of 2 MiB.
    (Limit::SQLITE_LIMIT_VDBE_OP, 25_000),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    // Long patterns compare for ever.
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// Tables of SQLite about itself, which a build may contain: they tell about pages and programs, and not about samples.
const INTERNAL: [&str; 5] = ["dbstat", "sqlite_dbpage", "sqlite_stmt", "bytecode", "tables_used"];

/// Functions that reach beyond the query.
const FORBIDDEN: [&str; 2] = ["load_extension", "fts3_tokenizer"];

/// Guards a connection whose tables are complete.
pub fn set(connection: &mut Connection, stop: Stop) -> Result<(), SqlError> {
    functions::replace_quadratic(connection)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    for (limit, most) in LIMITS {
        connection.set_limit(limit, most)?;
    }
    connection.progress_handler(CHECK_INTERVAL, Some(move || stop.is_due()))?;
    connection.authorizer(Some(|context: AuthContext<'_>| authorize(context.action)))?;
    Ok(())
}

/// Permits what a SELECT does.
fn authorize(action: AuthAction<'_>) -> Authorization {
    match action {
        AuthAction::Select | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Read { table_name, .. } => allow_unless(&INTERNAL, table_name),
        AuthAction::Function { function_name } => allow_unless(&FORBIDDEN, function_name),
        _ => Authorization::Deny,
    }
}

fn allow_unless(forbidden: &[&str], name: &str) -> Authorization {
    let is_forbidden = forbidden.iter().any(|forbidden| forbidden.eq_ignore_ascii_case(name));
    if is_forbidden { Authorization::Deny } else { Authorization::Allow }
}
