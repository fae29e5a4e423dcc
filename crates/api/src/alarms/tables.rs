//! Alarms and their journal as tables of SQL, with what the author of a query may read of the past.

use oasis_access::{Target, Verb};
use oasis_alarms::{Alarms, Filter, JournalFilter, rows};
use oasis_http::permissions::Caller;
use oasis_query::{ExtraTable, SqlError, TableInfo};
use std::sync::Arc;

/// Both tables.
pub fn tables(alarms: &Arc<Alarms>, caller: &Caller) -> Vec<ExtraTable> {
    let (of_list, of_journal) = ((alarms.clone(), caller.clone()), (alarms.clone(), caller.clone()));
    let list = ExtraTable {
        info: info(&rows::ALARMS),
        rows: Box::new(move |take| {
            let (alarms, caller) = of_list;
            let list =
                alarms.list_visible(&Filter::default(), |key| reads(&caller, &key.node, &key.instance));
            list.alarms.into_iter().try_for_each(|alarm| take(&rows::of_alarm(alarm, author(&caller))))
        }),
    };
    let journal = ExtraTable {
        info: info(&rows::EVENTS),
        rows: Box::new(move |take| {
            let (alarms, caller) = of_journal;
            let mut filter = JournalFilter::default();
            loop {
                // A page at a time, so that others read meanwhile.
                let page = alarms.journal_visible(&filter, |node, instance| reads(&caller, node, instance));
                let page = page.map_err(|error| SqlError::Other(error.to_string()))?;
                page.entries
                    .into_iter()
                    .try_for_each(|entry| take(&rows::of_entry(entry, author(&caller))))?;
                filter.after = page.next;
                if filter.after.is_none() {
                    return Ok(());
                }
            }
        }),
    };
    vec![list, journal]
}

fn info(table: &rows::Table) -> TableInfo {
    TableInfo::without_units(table.name, table.about, &table.columns)
}

/// Returns the visible part of a principal that acted.
fn author(caller: &Caller) -> impl Fn(&str) -> String {
    |who| caller.shown_author(who).to_owned()
}

fn reads(caller: &Caller, node: &str, instance: &str) -> bool {
    caller.may(Verb::ReadPast, Target::Instance { node, instance })
}
