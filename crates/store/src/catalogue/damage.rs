//! A catalogue that is damaged or gone: it is put aside and made again, so that no bit of it stops the start.

use super::{Catalogue, CatalogueError, Result, parsed, read_kind, unsigned};
use crate::{clock::now, recovery, recovery::Finding, segment_file};
use oasis_wire::quantity::Epoch;
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter, types::Value};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use uuid::Uuid;

const NAME: &str = "catalogue.sqlite";
/// What SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["", "-wal", "-shm"];
/// A number of a version beyond this is none.
const MOST_VERSIONS: usize = 255;
/// What is in the catalogue alone: it is taken over as far as it can be read. Referred to before referring.
const ALONE: [&str; 7] =
    ["node", "test_run", "test_run_tag", "annotation", "annotation_target", "loss", "command"];

/// Opens an archive's catalogue. One that is damaged is put aside, and one that is gone is told, if there are files it should know: the start reads
/// them. What is in a catalogue alone is taken over as far as it can be read.
///
/// # Errors
/// If it cannot be opened or made for another reason.
pub fn open_or_make_again(folder: &Path) -> Result<(Catalogue, Vec<Finding>)> {
    let path = folder.join(NAME);
    let is_gone = !path.exists();
    match Catalogue::open(&path).and_then(|catalogue| catalogue.check(folder).map(|()| catalogue)) {
        Ok(catalogue) => Ok((catalogue, if is_gone { told_gone(folder) } else { Vec::new() })),
        Err(error) if is_damage(&error) => make_again(folder, &error),
        Err(error) => Err(error),
    }
}

fn told_gone(folder: &Path) -> Vec<Finding> {
    let files = recovery::segment_files(folder).map_or(0, |files| files.len());
    if files == 0 {
        return Vec::new();
    }
    let detail = format!(
        "it is gone, and made again from {files} segment files; test runs, annotations, commands, and the causes of losses are gone with it"
    );
    vec![Finding { file: NAME.into(), from: 0, to: 0, kind: "unreadable", detail }]
}

fn make_again(folder: &Path, error: &CatalogueError) -> Result<(Catalogue, Vec<Finding>)> {
    let path = folder.join(NAME);
    let length = fs::metadata(&path).map_or(0, |metadata| metadata.len());
    let aside = put_aside(folder).map_err(|error| CatalogueError::Aside(path.clone(), error))?;
    let mut catalogue = Catalogue::open(&path)?;
    let rows = catalogue.take_over(&aside);
    let kept = recovery::file_name(&aside);
    let detail = format!(
        "{error}: it is kept as {kept}, and made again from the segment files; {rows} of the rows that were in it alone (test runs, annotations, commands, \
         causes of losses) could be read and are taken over"
    );
    Ok((catalogue, vec![Finding { file: NAME.into(), from: 0, to: length, kind: "damaged", detail }]))
}

/// Gives the database another name. Answers where it is now.
fn put_aside(folder: &Path) -> io::Result<PathBuf> {
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

/// Whether what is in the database is wrong, and not how it is asked for.
pub fn is_damage(error: &CatalogueError) -> bool {
    match error {
        CatalogueError::Sqlite(rusqlite::Error::SqliteFailure(failure, _)) => {
            // A table or column that is not there: the schema itself is damaged.
            // One that may not be written by its own header.
            use ErrorCode::{DatabaseCorrupt, NotADatabase, ReadOnly, Unknown};
            matches!(failure.code, DatabaseCorrupt | NotADatabase | ReadOnly | Unknown)
        }
        CatalogueError::Sqlite(
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::SqlInputError { .. }
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::QueryReturnedNoRows,
        )
        | CatalogueError::Value(..)
        | CatalogueError::Damaged(_) => true,
        // There will hardly ever be so many.
        CatalogueError::Version(later) => *later > MOST_VERSIONS,
        CatalogueError::Sqlite(_)
        | CatalogueError::Unshared(_)
        | CatalogueError::Outdated(_)
        | CatalogueError::Aside(..) => false,
    }
}

impl Catalogue {
    /// Reads all of what the archive relies on, and sees whether it can be written.
    fn check(&self, folder: &Path) -> Result<()> {
        // That shows when it is.
        self.0.pragma_update(None, "user_version", super::versions::VERSION as i64)?;
        self.look_over()?;
        for segment in self.segments()? {
            let path = segment_file::path(folder, segment.number);
            // One that is gone is told elsewhere.
            let Ok(found) = fs::metadata(&path) else { continue };
            if found.len() != segment.bytes {
                let (path, is, said) = (path.display(), found.len(), segment.bytes);
                let what = format!(
                    "{path} has {is} bytes, not the {said} it says, so one of the two is not as it was written"
                );
                return Err(CatalogueError::Damaged(what));
            }
        }
        Ok(())
    }

    /// Reads all of what the archive relies on, but for the files that it lists.
    ///
    /// # Errors
    /// What is wrong with it.
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
            return Err(CatalogueError::Damaged("rows refer to others that are not there".into()));
        }
        self.segments()?;
        self.check_extents()?;
        self.stored()?;
        self.nodes()?;
        self.pinned()?;
        Ok(())
    }

    /// Reads what [`Catalogue::extents`] does, all of it at once: an instance at a time it would read the types again for each.
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

    /// Copies what can be read of the tables that files do not have. Answers how many rows.
    fn take_over(&mut self, damaged: &Path) -> u64 {
        let Ok(old) = Connection::open_with_flags(damaged, OpenFlags::SQLITE_OPEN_READ_ONLY) else {
            return 0;
        };
        ALONE.iter().map(|table| self.take_over_table(&old, table).unwrap_or_default()).sum()
    }

    fn take_over_table(&mut self, old: &Connection, table: &str) -> rusqlite::Result<u64> {
        let mut select = old.prepare(&format!("SELECT * FROM {table}"))?;
        let columns = select.column_count();
        // By the names that they have here: those over there may be damaged. An earlier version has the first of them.
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
            // What comes behind a page that cannot be read is lost with it.
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
