//! Alarms and their journal as tables of SQL, with what the author of a query may read of the past.

use super::view::quality;
use oasis_access::{Target, Verb};
use oasis_alarms::{AlarmView, Alarms, Filter, JournalEntry, JournalFilter};
use oasis_doors::permissions::Caller;
use oasis_query::{ExtraTable, OwnedSqlValue as Value, SqlError, TableInfo};
use oasis_wire::time;
use std::sync::Arc;

/// Columns of the table `alarms`.
const ALARMS: [&str; 20] = [
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
/// Columns of the table `events`.
const EVENTS: [&str; 20] = [
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

/// Both tables.
pub fn tables(alarms: &Arc<Alarms>, caller: &Caller) -> Vec<ExtraTable> {
    let info = |name: &str, about: &str, columns: &[&str]| TableInfo {
        name: name.into(),
        about: about.into(),
        columns: columns.iter().map(|column| ((*column).to_owned(), None)).collect(),
    };
    let (of_list, of_journal) = ((alarms.clone(), caller.clone()), (alarms.clone(), caller.clone()));
    let list = ExtraTable {
        info: info("alarms", "alarms as they are now", &ALARMS),
        rows: Box::new(move |take| {
            let (alarms, caller) = of_list;
            let list =
                alarms.list_visible(&Filter::default(), |key| reads(&caller, &key.node, &key.instance));
            list.alarms.into_iter().try_for_each(|alarm| take(&alarm_row(alarm, &caller)))
        }),
    };
    let journal = ExtraTable {
        info: info("events", "what happened to alarms, and results of other rules", &EVENTS),
        rows: Box::new(move |take| {
            let (alarms, caller) = of_journal;
            let mut filter = JournalFilter::default();
            loop {
                // A page at a time, so that others read meanwhile.
                let page = alarms.journal_visible(&filter, |node, instance| reads(&caller, node, instance));
                let page = page.map_err(|error| SqlError::Other(error.to_string()))?;
                page.entries.into_iter().try_for_each(|entry| take(&event_row(entry, &caller)))?;
                filter.after = page.next;
                if filter.after.is_none() {
                    return Ok(());
                }
            }
        }),
    };
    vec![list, journal]
}

fn reads(caller: &Caller, node: &str, instance: &str) -> bool {
    caller.may(Verb::ReadPast, Target::Instance { node, instance })
}

fn alarm_row(alarm: AlarmView, caller: &Caller) -> [Value; 20] {
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
        alarm.principal.map(|who| caller.shown_author(&who).to_owned()).into(),
        alarm.comment.into(),
    ]
}

fn event_row(entry: JournalEntry, caller: &Caller) -> [Value; 20] {
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
        entry.principal.map(|who| caller.shown_author(&who).to_owned()).into(),
        entry.comment.into(),
    ]
}

/// As in the other tables.
fn moment(nanoseconds: u64) -> String {
    time::format_digits(nanoseconds, 9)
}
