//! The table of alarms.

use super::{maybe_signed, maybe_unsigned, signed, unsigned, word};
use crate::{
    AlarmKey, AlarmView,
    machine::{Shelve, State, TimedShelve},
    memory::Alarm,
    names,
};
use rusqlite::{Connection, Row, named_params, params};

/// All alarms.
pub fn all(on: &Connection) -> rusqlite::Result<Vec<Alarm>> {
    let mut statement = on.prepare("SELECT * FROM alarm")?;
    statement.query_map([], read)?.collect()
}

/// Writes an alarm down, as a new one or instead of what it was.
pub fn put(on: &Connection, alarm: &Alarm) -> rusqlite::Result<()> {
    let mut put = on.prepare_cached(
        "INSERT OR REPLACE INTO alarm
         VALUES (:rule, :node, :instance, :revision, :state, :acknowledged, :severity, :known, :message, :value, :threshold, :unit, :since, :raised, :cleared,
                 :sequence, :cause, :shelved_until, :shelved_nanos, :shelved_once, :suppressed, :out_of_service, :comment, :principal, :told, :raised_dac)",
    )?;
    let Alarm { state, view, raised_dac, raises: _, chatter: _ } = alarm;
    put.execute(named_params! {
        ":rule": view.key.rule, ":node": view.key.node, ":instance": view.key.instance,
        ":revision": signed(view.revision), ":state": state.standing.name(), ":acknowledged": state.acknowledged,
        ":severity": view.severity.name(), ":known": state.is_known, ":message": view.message,
        ":value": view.value, ":threshold": view.limit, ":unit": view.unit, ":since": maybe_signed(view.since),
        ":raised": maybe_signed(view.raised), ":cleared": maybe_signed(view.cleared),
        ":sequence": maybe_signed(view.sequence), ":cause": view.cause,
        ":shelved_until": state.shelve.timed.map(|timed| signed(timed.until)),
        ":shelved_nanos": state.shelve.timed.map(|timed| signed(timed.nanos)),
        ":shelved_once": state.shelve.once, ":suppressed": state.suppressed, ":out_of_service": state.out_of_service,
        ":comment": view.comment, ":principal": view.principal, ":told": state.is_told,
        ":raised_dac": maybe_signed(*raised_dac),
    })?;
    Ok(())
}

/// Removes an alarm.
pub fn remove(on: &Connection, key: &AlarmKey) -> rusqlite::Result<()> {
    on.prepare_cached("DELETE FROM alarm WHERE rule = ? AND node = ? AND instance = ?")?.execute(params![
        key.rule,
        key.node,
        key.instance
    ])?;
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<Alarm> {
    let (until, nanos) = (maybe_unsigned(row, "shelved_until")?, maybe_unsigned(row, "shelved_nanos")?);
    let timed = until.zip(nanos).map(|(until, nanos)| TimedShelve { until, nanos });
    let state = State {
        standing: word(row, "state", names::standing)?,
        acknowledged: row.get("acknowledged")?,
        is_known: row.get("known")?,
        shelve: Shelve { timed, once: row.get("shelved_once")? },
        suppressed: row.get("suppressed")?,
        out_of_service: row.get("out_of_service")?,
        is_told: row.get("told")?,
    };
    let key = key(row)?;
    let view = AlarmView {
        severity: word(row, "severity", names::severity)?,
        message: row.get("message")?,
        value: row.get("value")?,
        limit: row.get("threshold")?,
        unit: row.get("unit")?,
        since: maybe_unsigned(row, "since")?,
        raised: maybe_unsigned(row, "raised")?,
        cleared: maybe_unsigned(row, "cleared")?,
        sequence: maybe_unsigned(row, "sequence")?,
        cause: row.get("cause")?,
        comment: row.get("comment")?,
        principal: row.get("principal")?,
        revision: unsigned(row, "revision")?,
        ..AlarmView::new(key)
    };
    let raised_dac = maybe_unsigned(row, "raised_dac")?;
    let mut alarm = Alarm { state, raised_dac, ..Alarm::new(view.key.clone()) };
    alarm.view = view;
    alarm.show();
    Ok(alarm)
}

/// The alarm that a row is about.
pub fn key(row: &Row<'_>) -> rusqlite::Result<AlarmKey> {
    Ok(AlarmKey { rule: row.get("rule")?, node: row.get("node")?, instance: row.get("instance")? })
}
