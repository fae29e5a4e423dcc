//! A damaged or missing catalogue is rebuilt from the segment files, so that it never prevents the start.

use super::{Catalogue, CatalogueError, Result, parsed, read_kind, unsigned};
use crate::{clock::now, forget, grouping, recovery, recovery::Finding, segment_file};
use oasis_wire::quantity::Epoch;
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter, types::Value};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use uuid::Uuid;

const NAME: &str = "catalogue.sqlite";
/// Suffixes of the files that SQLite creates for a database.
const BESIDE: [&str; 3] = ["", "-wal", "-shm"];
/// Greatest plausible version number.
const MAX_VERSIONS: usize = 255;
/// Tables whose content is only in the catalogue: readable rows are copied. Referenced tables come first.
const ALONE: [&str; 7] =
    ["node", "test_run", "test_run_tag", "annotation", "annotation_target", "loss", "command"];

/// Opens the catalogue of an archive. A damaged one is renamed, a missing one is reported if there are segment files: the start reads
/// them. Readable rows that are only in the catalogue are copied.
///
/// # Errors
/// If it cannot be opened or created for another reason.
pub fn open_or_make_again(folder: &Path) -> Result<(Catalogue, Vec<Finding>)> {
    let path = folder.join(NAME);
    let is_gone = !path.exists();
    match Catalogue::open(&path).and_then(|catalogue| catalogue.check(folder).map(|()| catalogue)) {
        Ok(catalogue) => Ok((catalogue, if is_gone { missing_catalogue(folder) } else { Vec::new() })),
        Err(error) if is_damage(&error) => make_again(folder, &error),
        Err(error) => Err(error),
    }
}

fn missing_catalogue(folder: &Path) -> Vec<Finding> {
    let files = recovery::segment_files(folder).map_or(0, |files| files.len());
    if files == 0 {
        return Vec::new();
    }
    let detail = format!(
        "it is gone: made again from {files} segment files; test runs, annotations, commands and causes of losses are lost"
    );
    vec![Finding { file: NAME.into(), from: 0, to: 0, kind: "unreadable", detail }]
}

fn make_again(folder: &Path, error: &CatalogueError) -> Result<(Catalogue, Vec<Finding>)> {
    let path = folder.join(NAME);
    let length = fs::metadata(&path).map_or(0, |metadata| metadata.len());
    let aside = rename_damaged(folder).map_err(|error| CatalogueError::Aside(path.clone(), error))?;
    let mut catalogue = Catalogue::open(&path)?;
    let rows = catalogue.copy_readable(&aside);
    let kept = recovery::file_name(&aside);
    let detail = format!(
        "{error}: kept as {kept} and made again from the segment files; {rows} of the rows that were only in it (test runs, annotations, commands, \
         causes of losses) could be read and are taken over"
    );
    Ok((catalogue, vec![Finding { file: NAME.into(), from: 0, to: length, kind: "damaged", detail }]))
}

/// Renames the database. Returns its new path.
fn rename_damaged(folder: &Path) -> io::Result<PathBuf> {
    let aside = format!("catalogue.damaged-{}.sqlite", now());
    for end in BESIDE {
        match fs::rename(folder.join(format!("{NAME}{end}")), folder.join(format!("{aside}{end}"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    segment_file::sync_directory(folder)?;
    Ok(folder.join(aside))
}

/// Whether the error is damage of the database, not of a query.
pub fn is_damage(error: &CatalogueError) -> bool {
    match error {
        CatalogueError::Sqlite(rusqlite::Error::SqliteFailure(failure, _)) => {
            // A missing table or column: the schema is damaged.
            // Marked read-only in its own header.
            use ErrorCode::{DatabaseCorrupt, NotADatabase, ReadOnly, Unknown};
            matches!(failure.code, DatabaseCorrupt | NotADatabase | ReadOnly | Unknown)
        }
        CatalogueError::Sqlite(
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::InvalidColumnName(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::SqlInputError { .. }
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::QueryReturnedNoRows,
        )
        | CatalogueError::Value(..)
        | CatalogueError::Damaged(_) => true,
        // More than will ever exist.
        CatalogueError::Version(later) => *later > MAX_VERSIONS,
        CatalogueError::Sqlite(_)
        | CatalogueError::Unshared(_)
        | CatalogueError::Outdated(_)
        | CatalogueError::Gone(_)
        | CatalogueError::Aside(..) => false,
    }
}

impl Catalogue {
    /// Reads all required tables, and checks that the database is writable.
    fn check(&self, folder: &Path) -> Result<()> {
        // Only a write shows that.
        self.0.pragma_update(None, "user_version", super::versions::VERSION as i64)?;
        self.look_over()?;
        if forget::is_under_way(folder) {
            // A file that was written again has another size until it is listed again.
            return Ok(());
        }
        for segment in self.segments()? {
            let path = segment_file::path(folder, segment.number);
            // Missing files are reported elsewhere.
            let Ok(found) = fs::metadata(&path) else { continue };
            if found.len() != segment.bytes && !grouping::has_replaced(&path, segment.bytes) {
                let (path, is, said) = (path.display(), found.len(), segment.bytes);
                let what =
                    format!("{path} has {is} bytes instead of {said}: the file or the catalogue is damaged");
                return Err(CatalogueError::Damaged(what));
            }
        }
        Ok(())
    }

    /// Reads all required tables, but not the listed files.
    ///
    /// # Errors
    /// The damage.
    pub fn look_over(&self) -> Result<()> {
        let verdict: String = self.0.pragma_query_value(None, "quick_check", |row| row.get(0))?;
        if verdict != "ok" {
            return Err(CatalogueError::Damaged(verdict));
        }
        let broken: bool = self
            .0
            .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get::<_, i64>(0))
            .map(|count| count > 0)?;
        if broken {
            return Err(CatalogueError::Damaged("rows refer to missing rows".into()));
        }
        self.segments()?;
        self.check_extents()?;
        self.stored()?;
        self.nodes()?;
        self.pinned()?;
        self.trusted_time()?;
        Ok(())
    }

    /// Reads all rows of [`Catalogue::extents`] at once, which is faster than for each instance.
    fn check_extents(&self) -> Result<()> {
        let mut statement = self.0.prepare("SELECT kind, run, epoch FROM series")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (kind, run, epoch): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            read_kind(kind)?;
            parsed::<Uuid>(&run, "run")?;
            parsed::<Epoch>(&epoch, "epoch")?;
        }
        let mut statement = self.0.prepare(
            "SELECT segment, number, series, first_offset, end_offset, min_time, max_time, last_sequence FROM extent",
        )?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            (0..columns).try_for_each(|column| unsigned(row, column).map(drop))?;
        }
        Ok(())
    }

    /// Copies readable rows of tables that files do not contain. Returns their number.
    fn copy_readable(&mut self, damaged: &Path) -> u64 {
        let Ok(old) = Connection::open_with_flags(damaged, OpenFlags::SQLITE_OPEN_READ_ONLY) else {
            return 0;
        };
        ALONE.iter().map(|table| self.copy_table(&old, table).unwrap_or_default()).sum()
    }

    fn copy_table(&mut self, old: &Connection, table: &str) -> rusqlite::Result<u64> {
        let mut select = old.prepare(&format!("SELECT * FROM {table}"))?;
        let columns = select.column_count();
        // Uses the column names of this database, because those of the other may be damaged. An earlier version has fewer columns.
        let own = self.0.prepare(&format!("SELECT * FROM {table}"))?;
        let names: Vec<_> = own.column_names().take(columns).map(|name| format!("\"{name}\"")).collect();
        drop(own);
        if names.len() < columns {
            return Ok(0);
        }
        let places = vec!["?"; columns].join(", ");
        let transaction = self.0.transaction()?;
        let mut taken = 0;
        {
            let sql = format!("INSERT OR IGNORE INTO {table} ({}) VALUES ({places})", names.join(", "));
            let mut insert = transaction.prepare(&sql)?;
            let mut rows = select.query([])?;
            // Rows after an unreadable page are lost.
            while let Ok(Some(row)) = rows.next() {
                let values: rusqlite::Result<Vec<Value>> =
                    (0..columns).map(|column| row.get(column)).collect();
                taken += values
                    .and_then(|values| insert.execute(params_from_iter(values)))
                    .unwrap_or_default() as u64;
            }
        }
        transaction.commit()?;
        Ok(taken)
    }
}
