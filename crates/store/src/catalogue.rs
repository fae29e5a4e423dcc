//! The catalogue: an SQLite database that indexes the segment files.
//!
//! All SQL of the crate is here. The folder `catalogue/` defines the tables: `1.sql` creates version 1, each further
//! file migrates to the next version.

mod annotations;
mod commands;
mod damage;
pub mod error;
mod expired;
mod forget;
mod gaps;
mod listing;
mod losses;
mod ranges;
pub mod reading;
mod remembered;
mod test_runs;
mod trusted_time;
mod usage;
mod versions;

use crate::{index::FileIndex, plausible::TimeWindow, series::Series};
use oasis_wire::{
    probe_kind::ProbeKind,
    quantity::{Epoch, Nanos, Offset},
    schema::ProbeType,
    stored::{RunOwner, StoredNode},
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::{fs::File, ops::Range, path::Path, sync::Arc, time::Duration};

pub use commands::CommandRow;
pub use damage::{is_damage, open_or_make_again};
pub use error::CatalogueError;
pub use expired::ExpiredSamples;
pub use forget::Holdings;
pub use listing::Share;
pub use losses::{Loss, LossRow, MAX_LOSSES};
pub use ranges::TimeRange;
pub use remembered::MAX_RUNS;
use uuid::Uuid;
use versions::{SAME_TABLES, VERSION, VERSIONS};

type Result<T> = std::result::Result<T, CatalogueError>;

/// The database, and a lock against writers if a reader needs one.
#[derive(Debug)]
pub struct Catalogue(Connection, #[expect(dead_code, reason = "it is held, not read")] Option<File>);

/// A sealed file, to be listed.
#[derive(Debug)]
pub struct SealedFile<'a> {
    /// Its number.
    pub number: u64,
    /// The pattern of its retention rule.
    pub rule: &'a str,
    /// When it was created.
    pub created: Nanos,
    /// When it was sealed.
    pub sealed: Nanos,
    /// Its size.
    pub bytes: u64,
    /// Its content.
    pub index: &'a FileIndex,
    /// The plausible times of its samples.
    pub window: TimeWindow,
}

/// A sealed file, as listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its number.
    pub number: u64,
    /// The pattern of its retention rule.
    pub rule: String,
    /// When it was sealed, on the DAC's clock.
    pub sealed: Nanos,
    /// Its size.
    pub bytes: u64,
    /// Samples in it.
    pub samples: u64,
    /// Least plausible time of its samples.
    pub min_time: u64,
    /// Greatest plausible time of its samples.
    pub max_time: u64,
}

/// A series' share of a segment file.
#[derive(Debug, Clone)]
pub struct Extent {
    /// The file's number.
    pub segment: u64,
    /// The series' number in the file's index.
    pub number: u32,
    /// The series.
    pub series: Arc<Series>,
    /// Offset of the first sample.
    pub first: Offset,
    /// Offset after the last one.
    pub end: Offset,
    /// Least time of its samples.
    pub min_time: u64,
    /// Greatest time of its samples.
    pub max_time: u64,
    /// Sequence number of its last sample.
    pub last_sequence: u64,
}

impl Catalogue {
    /// Opens or creates it.
    ///
    /// # Errors
    /// If it cannot be opened, or a later version wrote it.
    pub fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        // In WAL mode, NORMAL can lose acknowledged commits in a power failure.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // After a failed sync the system may show what never reached the disk. What is copied to the database is written again, and later
        // changes do not follow something that a power cut would remove.
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        let mut catalogue = Self(connection, None);
        catalogue.bring_up_to_date()?;
        Ok(catalogue)
    }

    /// Opens the catalogue of a folder to read it.
    ///
    /// # Errors
    /// If there is none, or another version wrote it.
    pub fn open_to_read(folder: &Path) -> Result<Self> {
        let reading = reading::open(folder)?;
        match version(&reading.connection)? {
            SAME_TABLES..=VERSION => Ok(Self(reading.connection, reading.undisturbed)),
            earlier @ ..SAME_TABLES => Err(CatalogueError::Outdated(earlier)),
            later => Err(CatalogueError::Version(later)),
        }
    }

    /// Node and name of all instances.
    pub fn instances(&self) -> Result<Vec<(String, String)>> {
        let mut statement = self.0.prepare_cached("SELECT node, name FROM instance ORDER BY node, name")?;
        let names = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(names.collect::<rusqlite::Result<_>>()?)
    }

    /// The epochs of all samples, oldest first.
    pub fn epochs(&self) -> Result<Vec<Epoch>> {
        let mut statement =
            self.0.prepare_cached("SELECT epoch FROM series GROUP BY epoch ORDER BY min(id)")?;
        let mut rows = statement.query([])?;
        let mut epochs = Vec::new();
        while let Some(row) = rows.next()? {
            epochs.push(parsed(&row.get::<_, String>(0)?, "epoch")?);
        }
        Ok(epochs)
    }

    /// All types, oldest first.
    pub fn types(&self) -> Result<Vec<ProbeType>> {
        let mut statement = self.0.prepare_cached("SELECT schema FROM type ORDER BY id")?;
        let mut rows = statement.query([])?;
        let mut types = Vec::new();
        while let Some(row) = rows.next()? {
            types.push(read_type(row.get(0)?)?);
        }
        Ok(types)
    }

    /// Node and name of all instances with samples of a type.
    pub fn instances_of(&self, probe_type: &ProbeType) -> Result<Vec<(String, String)>> {
        let mut statement = self.0.prepare_cached(
            "SELECT DISTINCT instance.node, instance.name FROM type
             JOIN series ON series.type = type.id JOIN instance ON instance.id = series.instance
             WHERE type.schema = ?",
        )?;
        let schema = serde_json::to_string(probe_type).unwrap_or_default();
        let names = statement.query_map([schema], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(names.collect::<rusqlite::Result<_>>()?)
    }

    /// Makes changes, all or none, and durable. An import has begun a transaction: then they are part of it.
    fn change<T, E: From<rusqlite::Error>>(
        &mut self,
        change: impl FnOnce(&Connection) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        // Not always a savepoint: one that cannot be released would stay open, and later changes would not be durable.
        if self.0.is_autocommit() {
            let transaction = self.0.transaction()?;
            let changed = change(&transaction)?;
            transaction.commit()?;
            return Ok(changed);
        }
        let part = self.0.savepoint()?;
        let changed = change(&part)?;
        part.commit()?;
        Ok(changed)
    }

    fn bring_up_to_date(&mut self) -> Result<()> {
        let found = version(&self.0)?;
        let missing = VERSIONS.get(found..).ok_or(CatalogueError::Version(found))?;
        let transaction = self.0.transaction()?;
        missing.iter().try_for_each(|step| transaction.execute_batch(step))?;
        Ok(transaction.commit()?)
    }

    /// Numbers of all sealed files.
    pub fn segment_numbers(&self) -> Result<Vec<u64>> {
        let mut statement = self.0.prepare_cached("SELECT number FROM segment")?;
        let numbers = statement.query_map([], |row| unsigned(row, 0))?;
        Ok(numbers.collect::<rusqlite::Result<_>>()?)
    }

    /// All sealed files, oldest first.
    pub fn segments(&self) -> Result<Vec<Segment>> {
        let mut statement = self.0.prepare_cached(
            "SELECT number, rule, bytes, samples, min_time, max_time, sealed FROM segment ORDER BY number",
        )?;
        let segments = statement.query_map([], |row| {
            Ok(Segment {
                number: unsigned(row, 0)?,
                rule: row.get(1)?,
                bytes: unsigned(row, 2)?,
                samples: unsigned(row, 3)?,
                min_time: unsigned(row, 4)?,
                max_time: unsigned(row, 5)?,
                sealed: Nanos(unsigned(row, 6)?),
            })
        })?;
        Ok(segments.collect::<rusqlite::Result<_>>()?)
    }

    /// Names of the first instance in a file.
    pub fn first_instance(&self, segment: u64) -> Result<Option<(String, String)>> {
        let mut statement = self.0.prepare_cached(
            "SELECT instance.node, instance.name FROM extent
             JOIN series ON series.id = extent.series JOIN instance ON instance.id = series.instance
             WHERE extent.segment = ? ORDER BY extent.number LIMIT 1",
        )?;
        Ok(statement.query_row([signed(segment)], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    /// Assigns a file to another retention rule.
    pub fn set_rule(&mut self, segment: u64, rule: &str) -> Result<()> {
        self.0.execute("UPDATE segment SET rule = ? WHERE number = ?", params![rule, signed(segment)])?;
        Ok(())
    }

    /// Time spans of pinned test runs, in nanoseconds since 1970; a running one has the greatest end.
    pub fn pinned(&self) -> Result<Vec<Range<u64>>> {
        let mut statement =
            self.0.prepare_cached("SELECT started, stopped FROM test_run WHERE pinned != 0")?;
        let runs = statement.query_map([], |row| {
            let stopped: Option<i64> = row.get(1)?;
            Ok(unsigned(row, 0)?..stopped.map_or(u64::MAX, |stopped| stopped as u64))
        })?;
        Ok(runs.collect::<rusqlite::Result<_>>()?)
    }

    /// An instance's shares of sealed files from `segment` on, oldest first.
    pub fn extents(&self, node: &str, instance: &str, segment: u64) -> Result<Vec<Extent>> {
        let mut statement = self.0.prepare_cached(
            "SELECT extent.segment, extent.number, series.id, series.kind, series.run, series.epoch, type.schema,
                    extent.first_offset, extent.end_offset, extent.min_time, extent.max_time, extent.last_sequence
             FROM instance
             JOIN series ON series.instance = instance.id
             JOIN type ON type.id = series.type
             JOIN extent ON extent.series = series.id
             WHERE instance.node = ? AND instance.name = ? AND extent.segment >= ?
             ORDER BY extent.segment, extent.number",
        )?;
        let mut rows = statement.query(params![node, instance, signed(segment)])?;
        let mut extents: Vec<Extent> = Vec::new();
        let mut known: Vec<(i64, Arc<Series>)> = Vec::new();
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(2)?;
            let series = match known.iter().find(|(known, _)| *known == id) {
                Some((_, series)) => series.clone(),
                None => {
                    let series = Arc::new(read_series(row, node, instance)?);
                    known.push((id, series.clone()));
                    series
                }
            };
            extents.push(Extent {
                segment: unsigned(row, 0)?,
                number: row.get(1)?,
                series,
                first: Offset(unsigned(row, 7)?),
                end: Offset(unsigned(row, 8)?),
                min_time: unsigned(row, 9)?,
                max_time: unsigned(row, 10)?,
                last_sequence: unsigned(row, 11)?,
            });
        }
        Ok(extents)
    }

    /// Adds nodes, or updates those that it has.
    pub fn add_nodes(&mut self, nodes: &[StoredNode]) -> Result<()> {
        let transaction = self.0.transaction()?;
        // Unchanged rows are not written.
        let mut add = transaction.prepare_cached(
            "INSERT INTO node (name, uuid, host, software, last_seen, run, owner) VALUES (?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (name) DO UPDATE
             SET uuid = excluded.uuid, host = excluded.host, software = excluded.software,
                 last_seen = excluded.last_seen, run = excluded.run, owner = excluded.owner
             WHERE (uuid, host, software, last_seen, run, owner)
               IS NOT (excluded.uuid, excluded.host, excluded.software, excluded.last_seen, excluded.run, excluded.owner)",
        )?;
        for StoredNode { name, uuid, host, software, last_seen, run, owner, former } in nodes {
            let run = run.map(|run| run.to_string());
            let owner = owner.as_ref().map(RunOwner::as_bytes);
            remembered::note_former_runs(&transaction, name, former)?;
            add.execute(params![name, uuid.to_string(), host, software, signed(last_seen.0), run, owner])?;
        }
        drop(add);
        Ok(transaction.commit()?)
    }
}

fn read_type(schema: String) -> Result<ProbeType> {
    let probe_type: ProbeType =
        serde_json::from_str(&schema).map_err(|_| CatalogueError::Value(schema, "schema"))?;
    match probe_type.validate() {
        Ok(()) => Ok(probe_type),
        Err(_) => Err(CatalogueError::Value(probe_type.name, "schema")),
    }
}

fn read_series(row: &Row<'_>, node: &str, instance: &str) -> Result<Series> {
    let (kind, run): (String, String) = (row.get(3)?, row.get(4)?);
    let (epoch, schema): (String, String) = (row.get(5)?, row.get(6)?);
    let probe_type = read_type(schema)?;
    Ok(Series {
        node: node.into(),
        instance: instance.into(),
        kind: read_kind(kind)?,
        run: parsed::<Uuid>(&run, "run")?,
        epoch: parsed(&epoch, "epoch")?,
        probe_type: Arc::new(probe_type),
    })
}

fn read_kind(word: String) -> Result<ProbeKind> {
    serde_json::from_value(word.as_str().into()).map_err(|_| CatalogueError::Value(word, "kind of probe"))
}

fn version(of: &Connection) -> Result<usize> {
    let version: i64 = of.pragma_query_value(None, "user_version", |row| row.get(0))?;
    usize::try_from(version).map_err(|_| CatalogueError::Value(version.to_string(), "version of tables"))
}

fn parsed<T: std::str::FromStr>(text: &str, what: &'static str) -> Result<T> {
    text.parse().map_err(|_| CatalogueError::Value(text.into(), what))
}

/// SQLite's integers are signed: larger numbers wrap, in both directions.
fn signed(number: u64) -> i64 {
    number as i64
}

fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|number| number as u64)
}
