//! Alarms and entries of the journal as rows of SQL (`docs/guides/query-with-sql.md`).

use crate::{AlarmView, JournalEntry};
use oasis_wire::time;
use rusqlite::types::Value;

/// A table: its name, what its rows are, and its columns.
#[derive(Debug)]
pub struct Table {
    /// Its name in queries.
    pub name: &'static str,
    /// Description of its rows.
    pub about: &'static str,
    /// The names of its columns.
    pub columns: [&'static str; 20],
}

/// The table of alarms.
pub const ALARMS: Table = Table { name: "alarms", about: "alarms as they are now", columns: ALARM_COLUMNS };

/// The table of the journal.
pub const EVENTS: Table = Table {
    name: "events",
    about: "what happened to alarms, and results of other rules",
    columns: EVENT_COLUMNS,
};

const ALARM_COLUMNS: [&str; 20] = [
    "rule",
    "node",
    "instance",
    "state",
    "acknowledged",
    "severity",
    "quality",
    "message",
    "value",
    "threshold",
    "unit",
    "raised",
    "raised_ns",
    "cleared",
    "cleared_ns",
    "shelved_until",
    "suppressed",
    "out_of_service",
    "who",
    "comment",
];
const EVENT_COLUMNS: [&str; 20] = [
    "id",
    "time",
    "time_ns",
    "written",
    "rule",
    "node",
    "instance",
    "kind",
    "state",
    "severity",
    "quality",
    "value",
    "threshold",
    "unit",
    "sequence",
    "missing",
    "cause",
    "late",
    "who",
    "comment",
];

/// Returns the row of an alarm; `author` is what a reader may see of who acted.
pub fn of_alarm(alarm: AlarmView, author: impl Fn(&str) -> String) -> [Value; 20] {
    [
        alarm.key.rule.into(),
        alarm.key.node.into(),
        alarm.key.instance.into(),
        alarm.state.name().to_owned().into(),
        alarm.acknowledged.into(),
        alarm.severity.name().to_owned().into(),
        quality(alarm.is_known).to_owned().into(),
        alarm.message.into(),
        alarm.value.into(),
        alarm.limit.into(),
        alarm.unit.into(),
        alarm.raised.map(moment).into(),
        alarm.raised.map(u64::cast_signed).into(),
        alarm.cleared.map(moment).into(),
        alarm.cleared.map(u64::cast_signed).into(),
        alarm.shelved_until.map(moment).into(),
        alarm.suppressed.into(),
        alarm.out_of_service.into(),
        alarm.principal.map(|who| author(&who)).into(),
        alarm.comment.into(),
    ]
}

/// Returns the row of an entry; `author` is what a reader may see of who acted.
pub fn of_entry(entry: JournalEntry, author: impl Fn(&str) -> String) -> [Value; 20] {
    [
        entry.id.cast_signed().into(),
        moment(entry.time).into(),
        entry.time.cast_signed().into(),
        moment(entry.written).into(),
        entry.rule.into(),
        entry.node.into(),
        entry.instance.into(),
        entry.kind.name().to_owned().into(),
        entry.state.map(|state| state.name().to_owned()).into(),
        entry.severity.map(|severity| severity.name().to_owned()).into(),
        quality(entry.is_known).to_owned().into(),
        entry.value.into(),
        entry.limit.into(),
        entry.unit.into(),
        entry.sequence.map(u64::cast_signed).into(),
        entry.missing.map(u64::cast_signed).into(),
        entry.cause.into(),
        entry.late.into(),
        entry.principal.map(|who| author(&who)).into(),
        entry.comment.into(),
    ]
}

/// The name of a quality.
pub fn quality(is_known: bool) -> &'static str {
    if is_known { "good" } else { "unknown" }
}

/// As in the other tables.
fn moment(nanoseconds: u64) -> String {
    time::format_digits(nanoseconds, 9)
}
