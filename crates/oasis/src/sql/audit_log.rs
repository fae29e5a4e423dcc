//! The audit log as a table: a row is a record (`docs/reference/audit-log.md`).

use oasis_access::{Record, read_records};
use oasis_query::{ExtraTable, OwnedSqlValue as Value, SqlError, TableInfo, TakeRow};
use std::{ops::ControlFlow, path::PathBuf};

/// Its columns, as the members of a record.
const COLUMNS: [&str; 11] = [
    "seq",
    "time",
    "principal",
    "address",
    "action",
    "target",
    "arguments",
    "result",
    "of",
    "previous",
    "hash",
];

/// The table `audit_log` of the log in this folder.
pub fn audit_log(folder: PathBuf) -> ExtraTable {
    let info = TableInfo::without_units("audit_log", "records of the audit log", &COLUMNS);
    let rows = move |take: &mut TakeRow<'_>| {
        let mut taken = Ok(());
        let read = read_records(&folder, |record| {
            taken = take(&row(record));
            if taken.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        read.map_err(|error| SqlError::Other(error.to_string())).and(taken)
    };
    ExtraTable { info, rows: Box::new(rows) }
}

fn row(record: Record) -> [Value; 11] {
    let number = |number: u64| Value::Integer(number.cast_signed());
    let arguments = match record.arguments {
        serde_json::Value::Null => Value::Null,
        arguments => Value::Text(arguments.to_string()),
    };
    [
        number(record.seq),
        Value::Text(record.time),
        Value::Text(record.principal),
        Value::Text(record.address),
        Value::Text(record.action),
        Value::Text(record.target),
        arguments,
        Value::Text(record.result),
        record.of.map_or(Value::Null, number),
        Value::Text(record.previous),
        Value::Text(record.hash),
    ]
}
