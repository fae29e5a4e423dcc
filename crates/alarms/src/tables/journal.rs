//! The table of the journal.

use super::{alarm, maybe_signed, maybe_unsigned, maybe_word, signed, unsigned, word};
use crate::{AlarmKey, EventKey, JournalEntry, JournalFilter, JournalKind, JournalPage, names};
use oasis_wire::quantity::Nanos;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params, params_from_iter, types::Value};
use uuid::Uuid;

/// Bytes that an entry counts besides its texts.
const ENTRY_OVERHEAD_BYTES: usize = 160;

/// Entries and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    pub entries: u64,
    pub bytes: u64,
}

/// Returns the size of the journal.
pub fn size(on: &Connection) -> rusqlite::Result<Size> {
    on.query_row("SELECT count(*) AS entries, coalesce(sum(bytes), 0) AS bytes FROM journal", [], |row| {
        Ok(Size { entries: unsigned(row, "entries")?, bytes: unsigned(row, "bytes")? })
    })
}

/// Whether an event is in the journal.
pub fn has(on: &Connection, key: EventKey) -> rusqlite::Result<bool> {
    on.prepare_cached("SELECT 1 FROM journal WHERE key = ?")?.exists([key.0.as_bytes().as_slice()])
}

/// Appends an entry; its number is assigned. Returns its bytes.
pub fn append(on: &Connection, entry: &JournalEntry) -> rusqlite::Result<u64> {
    let mut append = on.prepare_cached(
        "INSERT INTO journal (key, time, dac_time, written, rule, node, instance, kind, state, severity, known, value, threshold, unit, sequence, since,
                              missing, cause, late, principal, comment, bytes)
         VALUES (:key, :time, :dac_time, :written, :rule, :node, :instance, :kind, :state, :severity, :known, :value, :threshold, :unit, :sequence, :since,
                 :missing, :cause, :late, :principal, :comment, :bytes)",
    )?;
    let optional = [&entry.unit, &entry.cause, &entry.principal, &entry.comment];
    let optional: usize = optional.into_iter().flatten().map(String::len).sum();
    let bytes =
        (ENTRY_OVERHEAD_BYTES + entry.rule.len() + entry.node.len() + entry.instance.len() + optional) as u64;
    append.execute(named_params! {
        ":key": entry.key.map(|key| *key.0.as_bytes()), ":time": signed(entry.time), ":dac_time": signed(entry.dac_time),
        ":written": signed(entry.written), ":rule": entry.rule, ":node": entry.node, ":instance": entry.instance,
        ":kind": entry.kind.name(), ":state": entry.state.map(|state| state.name()),
        ":severity": entry.severity.map(|severity| severity.name()), ":known": entry.is_known, ":value": entry.value,
        ":threshold": entry.limit, ":unit": entry.unit, ":sequence": maybe_signed(entry.sequence),
        ":since": maybe_signed(entry.since), ":missing": maybe_signed(entry.missing), ":cause": entry.cause,
        ":late": entry.late, ":principal": entry.principal, ":comment": entry.comment, ":bytes": signed(bytes),
    })?;
    Ok(bytes)
}

/// Removes the oldest entry. Returns its bytes; none if there is no entry.
pub fn remove_oldest(on: &Connection) -> rusqlite::Result<Option<u64>> {
    on.prepare_cached("DELETE FROM journal WHERE id = (SELECT min(id) FROM journal) RETURNING bytes")?
        .query_row([], |row| unsigned(row, "bytes"))
        .optional()
}

/// Returns up to `most` matching entries, newest first, of instances that a caller may see. Reads [`MAX_READ_ENTRIES`] entries
/// at most, and then returns the number after which the next search begins.
pub fn find(
    on: &Connection,
    filter: &JournalFilter,
    most: usize,
    is_visible: impl Fn(&str, &str) -> bool,
) -> rusqlite::Result<JournalPage> {
    let time = |time: Option<Nanos>| time.map(|time| i64::try_from(time.0).unwrap_or(i64::MAX));
    let text = |text: &Option<String>| text.clone().map(Value::from);
    // Only the conditions that are asked for: the others would keep SQLite from its indexes.
    let conditions = [
        ("time >= ?", time(filter.from).map(Value::from)),
        ("time < ?", time(filter.to).map(Value::from)),
        ("rule = ?", text(&filter.rule)),
        ("node = ?", text(&filter.node)),
        ("instance = ?", text(&filter.instance)),
        ("kind = ?", filter.kind.map(|kind| Value::from(kind.name().to_owned()))),
        ("id < ?", filter.after.map(|after| Value::from(i64::try_from(after).unwrap_or(i64::MAX)))),
    ];
    let (asked, values): (Vec<_>, Vec<_>) =
        conditions.into_iter().filter_map(|(condition, value)| Some((condition, value?))).unzip();
    let asked = if asked.is_empty() { "true".to_owned() } else { asked.join(" AND ") };
    let mut statement =
        on.prepare_cached(&format!("SELECT * FROM journal WHERE {asked} ORDER BY id DESC"))?;
    let mut rows = statement.query(params_from_iter(values))?;
    let (mut page, mut last) = (JournalPage::default(), None);
    for _ in 0..MAX_READ_ENTRIES {
        let Some(row) = rows.next()? else { return Ok(page) };
        if page.entries.len() == most {
            page.next = last;
            return Ok(page);
        }
        let entry = read(row)?;
        last = Some(entry.id);
        if is_visible(&entry.node, &entry.instance) {
            page.entries.push(entry);
        }
    }
    page.next = last;
    Ok(page)
}

/// Entries that one request reads.
const MAX_READ_ENTRIES: usize = 10_000;

/// Raises of an alarm.
pub struct Raises {
    pub key: AlarmKey,
    pub ten_minutes: u64,
    pub hour: u64,
    pub day: u64,
}

/// Counts the raises of alarms in the day before a time.
pub fn raises(on: &Connection, now: u64) -> rusqlite::Result<Vec<Raises>> {
    let mut statement = on.prepare_cached(
        "SELECT rule, node, instance, sum(written >= ?1) AS ten_minutes, sum(written >= ?2) AS hour, count(*) AS day
         FROM journal WHERE kind = 'raised' AND written >= ?3 GROUP BY rule, node, instance",
    )?;
    let ago = |minutes: u64| signed(now.saturating_sub(minutes * 60_000_000_000));
    let found = statement.query_map(params![ago(10), ago(60), ago(1_440)], |row| {
        let key = alarm::key(row)?;
        let (ten_minutes, hour) = (unsigned(row, "ten_minutes")?, unsigned(row, "hour")?);
        Ok(Raises { key, ten_minutes, hour, day: unsigned(row, "day")? })
    })?;
    found.collect()
}

/// When raises of alarms were written, from a time on, with the times of their samples.
pub fn raised_since(on: &Connection, from: u64) -> rusqlite::Result<Vec<(AlarmKey, u64, u64)>> {
    let mut statement = on.prepare(
        "SELECT rule, node, instance, written, time FROM journal WHERE kind = 'raised' AND written >= ?",
    )?;
    let found = statement.query_map([signed(from)], |row| {
        Ok((alarm::key(row)?, unsigned(row, "written")?, unsigned(row, "time")?))
    })?;
    found.collect()
}

/// When the newest entry was written.
pub fn newest(on: &Connection) -> rusqlite::Result<u64> {
    let newest = on
        .query_row("SELECT written FROM journal ORDER BY id DESC LIMIT 1", [], |row| unsigned(row, "written"))
        .optional()?;
    Ok(newest.unwrap_or_default())
}

fn read(row: &Row<'_>) -> rusqlite::Result<JournalEntry> {
    Ok(JournalEntry {
        id: unsigned(row, "id")?,
        key: row.get::<_, Option<[u8; 16]>>("key")?.map(|bytes| EventKey(Uuid::from_bytes(bytes))),
        time: unsigned(row, "time")?,
        dac_time: unsigned(row, "dac_time")?,
        written: unsigned(row, "written")?,
        rule: row.get("rule")?,
        node: row.get("node")?,
        instance: row.get("instance")?,
        kind: word(row, "kind", JournalKind::named)?,
        state: maybe_word(row, "state", names::standing)?,
        severity: maybe_word(row, "severity", names::severity)?,
        is_known: row.get("known")?,
        value: row.get("value")?,
        limit: row.get("threshold")?,
        unit: row.get("unit")?,
        sequence: maybe_unsigned(row, "sequence")?,
        since: maybe_unsigned(row, "since")?,
        missing: maybe_unsigned(row, "missing")?,
        cause: row.get("cause")?,
        late: row.get("late")?,
        principal: row.get("principal")?,
        comment: row.get("comment")?,
    })
}
