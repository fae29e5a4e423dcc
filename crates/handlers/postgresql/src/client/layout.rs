//! Tables of the handler's own, and changes of the layout that several DACs may make at the same time.

use super::{
    failure::Failure,
    tables::{qualified, quoted},
};
use tokio_postgres::{Client, error::SqlState};

/// Times that a change is tried if another connection makes the same one.
const MAX_ATTEMPTS: usize = 4;
/// Key of the lock under which a schema's layout is changed.
pub const LAYOUT_LOCK: &str = "hashtextextended('oasis layout', 0)";

/// Creates what all tables need. Versions without names of writers keep their positions in `oasis_position`, which stays theirs.
///
/// # Errors
/// If the database refuses.
pub async fn create(client: &Client, schema: &str) -> Result<(), Failure> {
    let of = |name| qualified(schema, name);
    // One transaction, so the lock is kept to its end.
    let sql = format!(
        "SELECT pg_advisory_xact_lock({LAYOUT_LOCK});
         CREATE SCHEMA IF NOT EXISTS {};
         CREATE TABLE IF NOT EXISTS {} (name text PRIMARY KEY, description text NOT NULL);
         CREATE TABLE IF NOT EXISTS {} (name text PRIMARY KEY, epoch text NOT NULL, process bigint NOT NULL,
             since timestamptz NOT NULL DEFAULT now());
         CREATE TABLE IF NOT EXISTS {} (writer text, node text, instance text, epoch text NOT NULL, next numeric(20) NOT NULL,
             written timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (writer, node, instance));
         CREATE TABLE IF NOT EXISTS {} (writer text, node text, instance text, run uuid, from_sequence numeric(20), to_sequence numeric(20),
             cause text, noticed timestamptz NOT NULL, PRIMARY KEY (node, instance, run, from_sequence, to_sequence, cause, writer));",
        quoted(schema),
        of("oasis_table"),
        of("oasis_writer"),
        of("oasis_writer_position"),
        of("oasis_gap"),
    );
    change(client, &sql).await
}

/// Runs statements that change the layout in one transaction; again if another connection has changed the same.
///
/// # Errors
/// If the database refuses.
pub async fn change(client: &Client, sql: &str) -> Result<(), Failure> {
    let mut tries = 1;
    loop {
        match client.batch_execute(sql).await {
            Ok(()) => return Ok(()),
            Err(error) if tries < MAX_ATTEMPTS && is_race(error.code()) => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether another connection has made the same change at the same time: one of a version that does not take the lock.
pub fn is_race(code: Option<&SqlState>) -> bool {
    let races = [
        &SqlState::UNIQUE_VIOLATION,
        &SqlState::DUPLICATE_TABLE,
        &SqlState::DUPLICATE_SCHEMA,
        &SqlState::DUPLICATE_OBJECT,
        &SqlState::INTERNAL_ERROR,
        &SqlState::T_R_DEADLOCK_DETECTED,
    ];
    code.is_some_and(|code| races.contains(&code))
}

/// Whether the database ended a transaction in favor of another one.
pub fn is_collision(code: Option<&SqlState>) -> bool {
    code.is_some_and(|code| {
        [SqlState::T_R_DEADLOCK_DETECTED, SqlState::T_R_SERIALIZATION_FAILURE].contains(code)
    })
}
