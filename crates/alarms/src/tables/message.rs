//! The tables of messages that wait, and of destinations.

use super::{invalid, signed, unsigned, word};
use crate::{AlarmView, DestinationFigures, Message, MessageKind};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::BTreeMap;
use uuid::Uuid;

/// What a message counts besides its alarm.
const ROW: usize = 120;

/// A message to be written down.
#[derive(Debug)]
pub struct NewMessage<'a> {
    pub key: Uuid,
    pub destination: &'a str,
    pub kind: MessageKind,
    /// JSON.
    pub alarm: &'a str,
    pub written: u64,
}

/// Appends a message that is due at once. Returns its bytes.
pub fn append(on: &Connection, message: &NewMessage<'_>) -> rusqlite::Result<u64> {
    let NewMessage { key, destination, kind, alarm, written } = message;
    let bytes = (ROW + destination.len() + alarm.len()) as u64;
    let mut append = on.prepare_cached(
        "INSERT INTO message (key, destination, kind, alarm, written, due, bytes) VALUES (?, ?, ?, ?, ?, 0, ?)",
    )?;
    let (key, kind, written) = (*key.as_bytes(), kind.name(), signed(*written));
    append.execute(params![key, destination, kind, alarm, written, signed(bytes)])?;
    Ok(bytes)
}

/// Messages for a destination that are due, oldest first, up to the first one that is not.
pub fn due(on: &Connection, destination: &str, now: u64, most: usize) -> rusqlite::Result<Vec<Message>> {
    let mut statement =
        on.prepare_cached("SELECT * FROM message WHERE destination = ? ORDER BY id LIMIT ?")?;
    let mut rows = statement.query(params![destination, most.min(10_000) as i64])?;
    let mut due = Vec::new();
    while let Some(row) = rows.next()? {
        // A retry is an hour ahead at most, so the clock has stepped back if it is more.
        let at = unsigned(row, "due")?;
        if at > now && at - now <= LONGEST_PAUSE {
            break;
        }
        due.push(read(row)?);
    }
    Ok(due)
}

/// The longest pause before a retry, in nanoseconds.
pub const LONGEST_PAUSE: u64 = 3_600_000_000_000;

/// Of a message: destination, the alarm in JSON, and bytes. None if it is gone.
pub fn get(on: &Connection, id: i64) -> rusqlite::Result<Option<(String, AlarmView, u64)>> {
    let mut statement = on.prepare_cached("SELECT destination, alarm, bytes FROM message WHERE id = ?")?;
    let found =
        statement.query_row([id], |row| Ok((row.get("destination")?, alarm(row)?, unsigned(row, "bytes")?)));
    found.optional()
}

pub fn remove(on: &Connection, id: i64) -> rusqlite::Result<()> {
    on.prepare_cached("DELETE FROM message WHERE id = ?")?.execute([id])?;
    Ok(())
}

/// Notes a failed attempt.
pub fn postpone(on: &Connection, id: i64, due: u64, why: &str) -> rusqlite::Result<()> {
    on.prepare_cached("UPDATE message SET due = ?, attempts = attempts + 1, last_error = ? WHERE id = ?")?
        .execute(params![signed(due), why, id])?;
    Ok(())
}

/// Removes the oldest message for a destination. Returns its alarm and its bytes.
pub fn remove_oldest(on: &Connection, destination: &str) -> rusqlite::Result<Option<(AlarmView, u64)>> {
    let mut statement = on.prepare_cached(
        "DELETE FROM message WHERE id = (SELECT min(id) FROM message WHERE destination = ?) RETURNING alarm, bytes",
    )?;
    statement.query_row([destination], |row| Ok((alarm(row)?, unsigned(row, "bytes")?))).optional()
}

/// Figures of all destinations that were used.
pub fn figures(on: &Connection) -> rusqlite::Result<BTreeMap<String, DestinationFigures>> {
    let mut all: BTreeMap<String, DestinationFigures> = BTreeMap::new();
    let mut statement = on.prepare("SELECT * FROM destination")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let figures = DestinationFigures {
            delivered: unsigned(row, "delivered")?,
            failed: unsigned(row, "failed")?,
            given_up: unsigned(row, "given_up")?,
            dropped: unsigned(row, "dropped")?,
            last_error: row.get("last_error")?,
            ..Default::default()
        };
        all.insert(row.get("name")?, figures);
    }
    let mut statement = on.prepare(
        "SELECT destination, count(*) AS waiting, sum(bytes) AS bytes FROM message GROUP BY destination",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let figures = all.entry(row.get("destination")?).or_default();
        (figures.waiting, figures.bytes) = (unsigned(row, "waiting")?, unsigned(row, "bytes")?);
    }
    Ok(all)
}

/// Writes the counts of a destination down.
pub fn put_figures(on: &Connection, name: &str, figures: &DestinationFigures) -> rusqlite::Result<()> {
    let numbers = [figures.delivered, figures.failed, figures.given_up, figures.dropped].map(signed);
    on.prepare_cached("INSERT OR REPLACE INTO destination VALUES (?, ?, ?, ?, ?, ?)")?.execute(params![
        name,
        numbers[0],
        numbers[1],
        numbers[2],
        numbers[3],
        figures.last_error
    ])?;
    Ok(())
}

/// Removes the counts of a destination.
pub fn forget(on: &Connection, name: &str) -> rusqlite::Result<()> {
    on.execute("DELETE FROM destination WHERE name = ?", [name])?;
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<Message> {
    let kinds = [MessageKind::Raised, MessageKind::Cleared];
    Ok(Message {
        id: row.get("id")?,
        key: Uuid::from_bytes(row.get("key")?),
        destination: row.get("destination")?,
        kind: word(row, "kind", |name| kinds.into_iter().find(|kind| kind.name() == name))?,
        alarm: alarm(row)?,
        written: unsigned(row, "written")?,
        attempts: u32::try_from(row.get::<_, i64>("attempts")?).unwrap_or(u32::MAX),
        last_error: row.get("last_error")?,
    })
}

fn alarm(row: &Row<'_>) -> rusqlite::Result<AlarmView> {
    let text: String = row.get("alarm")?;
    serde_json::from_str(&text).map_err(|error| invalid(format!("alarm of a message: {error}")))
}
