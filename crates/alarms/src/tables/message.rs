//! The tables of messages that wait, and of destinations.

use super::{invalid, maybe_unsigned, signed, unsigned, word};
use crate::{AlarmKey, AlarmView, DestinationFigures, Message, MessageKind};
use oasis_rules::program::Severity;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Bytes that a message counts besides its alarm.
const MESSAGE_OVERHEAD_BYTES: usize = 120;

/// After this time, in nanoseconds, a state that waits is sent only if the alarm has no newer one.
const STALE_AGE_NANOS: u64 = 2_000_000_000;

/// A message to be written down.
#[derive(Debug)]
pub struct NewMessage<'a> {
    pub key: Uuid,
    pub destination: &'a str,
    pub kind: MessageKind,
    pub of: &'a AlarmKey,
    pub severity: Severity,
    /// JSON.
    pub alarm: &'a str,
    pub written: u64,
    pub replaced: ReplacedMessage,
}

/// Properties that a message inherits from those that it replaces.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReplacedMessage {
    pub count: u64,
    /// When the first of them was written.
    pub waiting_since: Option<u64>,
    /// When their destination is tried again.
    pub due: u64,
}

/// A message that waits, as far as a newer one about the same alarm needs to know.
#[derive(Debug, Clone, Copy)]
pub struct WaitingMessage {
    pub id: i64,
    pub kind: MessageKind,
    pub waiting_since: u64,
    pub coalesced: u64,
    pub due: u64,
    pub bytes: u64,
}

/// Appends a message. Returns its bytes.
pub fn append(on: &Connection, message: &NewMessage<'_>) -> rusqlite::Result<u64> {
    let NewMessage { key, destination, kind, of, severity, alarm, written, replaced } = message;
    let texts = [*destination, alarm, &of.rule, &of.node, &of.instance];
    let bytes = (MESSAGE_OVERHEAD_BYTES + texts.iter().map(|text| text.len()).sum::<usize>()) as u64;
    let mut append = on.prepare_cached(
        "INSERT INTO message (key, destination, kind, alarm, written, due, bytes, rule, node, instance, severity, waiting_since, coalesced)
         VALUES (:key, :destination, :kind, :alarm, :written, :due, :bytes, :rule, :node, :instance, :severity, :waiting_since, :coalesced)",
    )?;
    append.execute(named_params! {
        ":key": *key.as_bytes(), ":destination": destination, ":kind": kind.name(), ":alarm": alarm, ":written": signed(*written),
        ":due": signed(replaced.due), ":bytes": signed(bytes), ":rule": of.rule, ":node": of.node, ":instance": of.instance,
        ":severity": rank(*severity), ":waiting_since": signed(replaced.waiting_since.unwrap_or(*written)),
        ":coalesced": signed(replaced.count),
    })?;
    Ok(bytes)
}

/// The order of severities in the table.
fn rank(severity: Severity) -> i64 {
    match severity {
        Severity::Low => 0,
        Severity::Medium => 1,
        Severity::High => 2,
        Severity::Critical => 3,
    }
}

/// Messages about an alarm that wait for a destination, oldest first.
pub fn waiting(on: &Connection, destination: &str, of: &AlarmKey) -> rusqlite::Result<Vec<WaitingMessage>> {
    let mut statement = on.prepare_cached(
        "SELECT id, kind, waiting_since, coalesced, due, bytes FROM message
         WHERE destination = ? AND rule = ? AND node = ? AND instance = ? ORDER BY id",
    )?;
    let found = statement.query_map(params![destination, of.rule, of.node, of.instance], |row| {
        Ok(WaitingMessage {
            id: row.get("id")?,
            kind: kind(row)?,
            waiting_since: unsigned(row, "waiting_since")?,
            coalesced: unsigned(row, "coalesced")?,
            due: unsigned(row, "due")?,
            bytes: unsigned(row, "bytes")?,
        })
    })?;
    found.collect()
}

/// Messages for a destination that are due, the most severe first and then the oldest; none while the destination waits for its next attempt. A state
/// that is stale, or that the destination has not accepted, is left out if the alarm has a newer one.
pub fn due(on: &Connection, destination: &str, now: u64, most: usize) -> rusqlite::Result<Vec<Message>> {
    // A retry is an hour ahead at most, so the clock has stepped back if it is more.
    let mut held =
        on.prepare_cached("SELECT 1 FROM message WHERE destination = ? AND due > ? AND due <= ?")?;
    if held.exists(params![destination, signed(now), signed(now.saturating_add(MAX_RETRY_DELAY_NANOS))])? {
        return Ok(Vec::new());
    }
    let mut statement = on.prepare_cached(DUE)?;
    let stale = signed(now.saturating_sub(STALE_AGE_NANOS));
    let found = statement.query_map(params![destination, stale, most.min(10_000) as i64], read)?;
    found.collect()
}

/// Messages in the order of their urgency; `replaced` counts the states that each stands for beside its own.
const DUE: &str = "
    SELECT *, coalesced + (
        SELECT coalesce(sum(older.coalesced + 1), 0) FROM message AS older
        WHERE older.destination = message.destination AND older.rule = message.rule AND older.node = message.node
            AND older.instance = message.instance AND older.id < message.id AND (older.attempts > 0 OR older.written <= ?2)
    ) AS replaced
    FROM message
    WHERE destination = ?1 AND NOT ((attempts > 0 OR written <= ?2) AND EXISTS (
        SELECT 1 FROM message AS newer
        WHERE newer.destination = message.destination AND newer.rule = message.rule AND newer.node = message.node
            AND newer.instance = message.instance AND newer.id > message.id
    ))
    ORDER BY severity DESC, waiting_since, id LIMIT ?3";

/// The longest pause before a retry, in nanoseconds.
pub const MAX_RETRY_DELAY_NANOS: u64 = 3_600_000_000_000;

/// Returns destination, alarm in JSON, and bytes of a message. None if it is gone.
pub fn get(on: &Connection, id: i64) -> rusqlite::Result<Option<(String, AlarmView, u64)>> {
    let mut statement = on.prepare_cached("SELECT destination, alarm, bytes FROM message WHERE id = ?")?;
    let found =
        statement.query_row([id], |row| Ok((row.get("destination")?, alarm(row)?, unsigned(row, "bytes")?)));
    found.optional()
}

/// Whether a message still waits.
pub fn has(on: &Connection, id: i64) -> rusqlite::Result<bool> {
    on.prepare_cached("SELECT 1 FROM message WHERE id = ?")?.exists([id])
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

/// Removes the least severe message for a destination, of several the one that waits longest. Returns its alarm and its bytes.
pub fn remove_least(on: &Connection, destination: &str) -> rusqlite::Result<Option<(AlarmView, u64)>> {
    let mut statement = on.prepare_cached(
        "DELETE FROM message WHERE id = (SELECT id FROM message WHERE destination = ? ORDER BY severity, waiting_since, id LIMIT 1)
         RETURNING alarm, bytes",
    )?;
    statement.query_row([destination], |row| Ok((alarm(row)?, unsigned(row, "bytes")?))).optional()
}

/// Since when the oldest message has waited for a destination, on the DAC's clock.
pub fn oldest(on: &Connection, destination: &str) -> rusqlite::Result<Option<u64>> {
    let mut statement = on.prepare_cached("SELECT min(waiting_since) FROM message WHERE destination = ?")?;
    let oldest: Option<i64> = statement.query_row([destination], |row| row.get(0))?;
    Ok(oldest.map(i64::cast_unsigned))
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
            coalesced: unsigned(row, "coalesced")?,
            last_error: row.get("last_error")?,
            ..Default::default()
        };
        all.insert(row.get("name")?, figures);
    }
    let mut statement = on.prepare(
        "SELECT destination, count(*) AS waiting, sum(bytes) AS bytes, min(waiting_since) AS oldest FROM message GROUP BY destination",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let figures = all.entry(row.get("destination")?).or_default();
        (figures.waiting, figures.bytes) = (unsigned(row, "waiting")?, unsigned(row, "bytes")?);
        figures.oldest = maybe_unsigned(row, "oldest")?;
    }
    Ok(all)
}

/// Writes the counts of a destination down.
pub fn put_figures(on: &Connection, name: &str, figures: &DestinationFigures) -> rusqlite::Result<()> {
    let put = "INSERT OR REPLACE INTO destination (name, delivered, failed, given_up, dropped, coalesced, last_error)
         VALUES (:name, :delivered, :failed, :given_up, :dropped, :coalesced, :last_error)";
    on.prepare_cached(put)?.execute(named_params! {
        ":name": name, ":delivered": signed(figures.delivered), ":failed": signed(figures.failed),
        ":given_up": signed(figures.given_up), ":dropped": signed(figures.dropped),
        ":coalesced": signed(figures.coalesced), ":last_error": figures.last_error,
    })?;
    Ok(())
}

/// Removes the counts of a destination.
pub fn forget(on: &Connection, name: &str) -> rusqlite::Result<()> {
    on.execute("DELETE FROM destination WHERE name = ?", [name])?;
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<Message> {
    Ok(Message {
        id: row.get("id")?,
        key: Uuid::from_bytes(row.get("key")?),
        destination: row.get("destination")?,
        kind: kind(row)?,
        alarm: alarm(row)?,
        written: unsigned(row, "written")?,
        coalesced: unsigned(row, "replaced")?,
        attempts: u32::try_from(row.get::<_, i64>("attempts")?).unwrap_or(u32::MAX),
        last_error: row.get("last_error")?,
    })
}

fn kind(row: &Row<'_>) -> rusqlite::Result<MessageKind> {
    let kinds = [MessageKind::Raised, MessageKind::Cleared];
    word(row, "kind", |name| kinds.into_iter().find(|kind| kind.name() == name))
}

fn alarm(row: &Row<'_>) -> rusqlite::Result<AlarmView> {
    let text: String = row.get("alarm")?;
    serde_json::from_str(&text).map_err(|error| invalid(format!("alarm of a message: {error}")))
}
