//! The tables of alarms and their journal, from the directory of a DAC's rules.

use super::Arguments;
use crate::config::Config;
use oasis_alarms::{AlarmsError, JournalFilter, RecordedAlarms, rows};
use oasis_query::{ExtraTable, Sql, SqlError, TableInfo};
use std::path::{Path, PathBuf};

/// Adds both tables, if the DAC of this archive has alarms.
///
/// # Errors
/// If the named directory has no alarms that can be read, or the query names a table that cannot be read.
pub fn add(sql: &mut Sql, arguments: &Arguments, archive: &Path, query: &str) -> anyhow::Result<()> {
    let Some(directory) = directory(arguments, archive)? else { return Ok(()) };
    Ok(tables(&directory).into_iter().try_for_each(|table| sql.add(table, query))?)
}

/// Returns the directory: the named one, or where the DAC of this archive keeps it. None if that DAC has no alarms.
fn directory(arguments: &Arguments, archive: &Path) -> anyhow::Result<Option<PathBuf>> {
    if let Some(named) = &arguments.rules_dir {
        RecordedAlarms::open(named)?;
        return Ok(Some(named.clone()));
    }
    let mut config = Config::read(arguments.archive.config_file().as_deref())?;
    config.archive.directory = archive.display().to_string();
    let found = config.rules_directory().map(PathBuf::from);
    Ok(found.filter(|directory| directory.join(oasis_alarms::DATABASE).exists()))
}

/// Both tables. The database is opened once a query names one of them.
fn tables(directory: &Path) -> [ExtraTable; 2] {
    let info = |table: &rows::Table| TableInfo::without_units(table.name, table.about, &table.columns);
    let (of_alarms, of_events) = (directory.to_owned(), directory.to_owned());
    let alarms = ExtraTable {
        info: info(&rows::ALARMS),
        rows: Box::new(move |take| {
            let alarms = RecordedAlarms::open(&of_alarms).and_then(|alarms| alarms.list()).map_err(other)?;
            alarms.into_iter().try_for_each(|alarm| take(&rows::of_alarm(alarm, str::to_owned)))
        }),
    };
    let events = ExtraTable {
        info: info(&rows::EVENTS),
        rows: Box::new(move |take| {
            let alarms = RecordedAlarms::open(&of_events).map_err(other)?;
            let mut filter = JournalFilter::default();
            loop {
                let page = alarms.journal(&filter).map_err(other)?;
                page.entries.into_iter().try_for_each(|entry| take(&rows::of_entry(entry, str::to_owned)))?;
                filter.after = page.next;
                if filter.after.is_none() {
                    return Ok(());
                }
            }
        }),
    };
    [alarms, events]
}

fn other(error: AlarmsError) -> SqlError {
    SqlError::Other(error.to_string())
}
