//! Reads one database. It is not trusted: no view, trigger or virtual table of it runs, and values have a bounded length.

use super::topics::{Described, Topics};
use crate::input::{Defects, InputError, TakeBatch, TimeShift, bounds::MAX_MESSAGE};
use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig, limits::Limit, types::ValueRef};
use std::{fs, path::Path};

/// Longest statement of the schema, and longest value besides a message.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;
/// Topics of a recording.
const MAX_TOPICS: i64 = 65_536;

/// Returns the topics, with their definitions.
///
/// # Errors
/// If the file is no database of rosbag2.
pub fn topics(path: &Path) -> Result<Vec<Described>, InputError> {
    let connection = open(path)?;
    let read = || -> rusqlite::Result<Vec<Described>> {
        let mut definitions = Vec::new();
        if has_table(&connection, "message_definitions")? {
            let sql =
                "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions LIMIT ?1";
            let mut statement = connection.prepare(sql)?;
            let rows =
                statement.query_map([MAX_TOPICS], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            for row in rows {
                let (name, encoding, text): (String, String, String) = row?;
                definitions.push((name, encoding, text));
            }
        }
        let sql = "SELECT id, name, type, serialization_format FROM topics ORDER BY id LIMIT ?1";
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([MAX_TOPICS], |row| {
            Ok(Described {
                id: row.get(0)?,
                name: row.get(1)?,
                kind: row.get(2)?,
                serialization: row.get(3)?,
                definition: None,
            })
        })?;
        let mut topics = Vec::new();
        for row in rows {
            let mut topic = row?;
            // The definition of a service describes its events.
            let kind = topic.kind.strip_suffix("_Event").unwrap_or(&topic.kind);
            let found = definitions.iter().find(|(name, ..)| *name == topic.kind || name == kind);
            topic.definition = found.map(|(_, encoding, text)| (encoding.clone(), text.clone()));
            topics.push(topic);
        }
        Ok(topics)
    };
    for table in ["topics", "messages"] {
        if !has_table(&connection, table).map_err(|error| refused(path, &error))? {
            let why = format!("{}: a database without the table `{table}` of rosbag2", path.display());
            return Err(InputError::file(why, "export its tables as CSV, and import those"));
        }
    }
    read().map_err(|error| refused(path, &error))
}

/// Reads all messages in the order in which they were written. Returns an error that ended it.
///
/// # Errors
/// If the receiver fails, or a message is defective and defects are not counted.
pub fn messages(
    path: &Path,
    topics: &mut Topics,
    shift: &mut TimeShift,
    defects: &mut Defects,
    take: &mut TakeBatch<'_>,
) -> Result<Option<String>, InputError> {
    topics.begin_file(&self::topics(path)?);
    let connection = open(path)?;
    let sql = "SELECT rowid, topic_id, timestamp, data FROM messages ORDER BY rowid";
    let mut statement = connection.prepare(sql).map_err(|error| refused(path, &error))?;
    let mut rows = statement.query([]).map_err(|error| refused(path, &error))?;
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(None),
            Err(error) => return Ok(Some(error.to_string())),
        };
        let number: i64 = row.get(0).unwrap_or_default();
        let place = || format!("message {number}");
        let values = (row.get_ref(1), row.get_ref(2), row.get_ref(3));
        let (Ok(ValueRef::Integer(topic)), Ok(ValueRef::Integer(time)), Ok(ValueRef::Blob(data))) = values
        else {
            defects.add(place, "its topic and time are no integers, or its data no blob")?;
            continue;
        };
        topics.count(topic);
        match shift.apply(time.into()) {
            Ok(time) => topics.message(topic, time, data, &place, defects, take)?,
            Err(why) => defects.add_time(topics.name(topic), place, &why)?,
        }
    }
}

fn open(path: &Path) -> Result<Connection, InputError> {
    let open = || -> rusqlite::Result<Connection> {
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        // A log beside the file has the newest messages. Without one, a medium that cannot be written will do.
        let has_log = fs::metadata(format!("{}-wal", path.display())).is_ok_and(|log| log.len() > 0);
        let connection = if has_log {
            Connection::open_with_flags(path, flags & !OpenFlags::SQLITE_OPEN_URI)?
        } else {
            Connection::open_with_flags(format!("file:{}?immutable=1", escaped(path)), flags)?
        };
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, (MAX_MESSAGE + MAX_TEXT_BYTES) as i32)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -8192;")?;
        Ok(connection)
    };
    open().map_err(|error| refused(path, &error))
}

/// Escapes the characters that end a path in a URI.
fn escaped(path: &Path) -> String {
    path.display().to_string().replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

/// Whether there is an ordinary table of this name.
fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1 AND sql NOT LIKE 'CREATE VIRTUAL%'";
    connection.query_row(sql, [name], |row| Ok(row.get::<_, i64>(0)? > 0))
}

fn refused(path: &Path, error: &rusqlite::Error) -> InputError {
    let remedy = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "end the recording first",
        _ => "check the file; `sqlite3 FILE .recover` may save a part",
    };
    InputError::file(format!("{}: {error}", path.display()), remedy)
}
