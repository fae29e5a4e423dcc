//! The database: its tables, its partitions, and the transaction of a round.

use crate::{
    copy::CopyData,
    recent::LruCache,
    refusal::{Refusal, Why},
    round::Load,
    tables::{Shape, qualified, quoted},
    tls::Target,
};
use futures_util::SinkExt;
use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use oasis_wire::quantity::{Offset, Position};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
    pin::pin,
    sync::Arc,
    time::Duration,
};
use tokio_postgres::{Client, Error, Transaction, error::SqlState};

/// Most partitions of one table; rows of other days go to the default partition.
const MAX_PARTITIONS: usize = 4_000;
/// Tables whose names and partitions are cached; others are looked up again.
const TABLES: usize = 256;
/// Timeout of a transaction, after which the connection is closed.
const HANGS: Duration = Duration::from_secs(30);
/// Years whose days get their own partition: others are clock errors.
const YEARS: std::ops::RangeInclusive<i16> = 2000..=2199;

/// Why a write failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An error of PostgreSQL or the system.
    #[error("{}", explain(.0))]
    Sql(#[from] Error),
    /// Timeout.
    #[error("no answer within {} s", .0.as_secs())]
    Timeout(Duration),
}

/// Returns the error with its causes: its own text alone is not specific enough.
fn explain(error: &Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

impl Failure {
    /// Returns the database's reason if it refuses the data.
    ///
    /// # Errors
    /// The failure, if it is of another kind.
    pub fn refusal(self) -> Result<Why, Self> {
        match &self {
            Self::Sql(error) => Why::of(error).ok_or(self),
            Self::Timeout(_) => Err(self),
        }
    }

    /// Returns without error if the database cannot encode a text.
    ///
    /// # Errors
    /// The failure, if it is of another kind.
    pub fn refusal_of_text(self) -> Result<(), Self> {
        match &self {
            Self::Sql(error) if error.code() == Some(&SqlState::UNTRANSLATABLE_CHARACTER) => Ok(()),
            _ => Err(self),
        }
    }
}

/// A connection.
#[derive(Debug)]
pub struct Database {
    client: Client,
    schema: String,
    tables: LruCache<Table>,
}

/// A table in the database.
#[derive(Debug)]
struct Table {
    /// Description of its shape.
    description: Arc<str>,
    name: String,
    /// Names of its partitions.
    partitions: HashSet<String>,
}

/// Some of the rows of a load, and their table.
#[derive(Debug)]
pub struct Piece<'a> {
    pub table: String,
    pub rows: &'a CopyData,
    pub range: Range<usize>,
}

/// Positions of instances, by node and name.
pub type Positions = [(String, String, Position)];

/// Result of a round.
#[derive(Debug, Default)]
pub struct RoundResult {
    /// Rows that were new.
    pub new: u64,
    /// Samples that the database refused.
    pub refusals: Vec<Refusal>,
}

/// Replaces zero bytes, which PostgreSQL does not accept in a text.
pub fn clean(name: &str) -> String {
    name.replace('\0', "\u{fffd}")
}

/// Returns the day of a time, if it is one that gets a partition.
pub fn day(nanoseconds: u64) -> Option<Date> {
    let time = Timestamp::from_nanosecond(nanoseconds.into()).ok()?;
    Some(time.to_zoned(TimeZone::UTC).date()).filter(|date| YEARS.contains(&date.year()))
}

impl Database {
    /// Connects, and creates what all tables need.
    ///
    /// # Errors
    /// If the database is unreachable, or refuses.
    pub async fn connect(target: &Target, schema: &str) -> Result<Self, Failure> {
        let (client, connection) = target.address.connect(target.tls.clone()).await?;
        // Its end is reported to the user of the client.
        tokio::spawn(connection);
        let schema = schema.to_owned();
        let (tables, positions) = (qualified(&schema, "oasis_table"), qualified(&schema, "oasis_position"));
        client
            .batch_execute(&format!(
                "SET client_min_messages = warning; SET application_name = 'oasis'; SET timezone = 'UTC';
                 SET statement_timeout = '25s';
                 CREATE SCHEMA IF NOT EXISTS {};
                 CREATE TABLE IF NOT EXISTS {tables} (name text PRIMARY KEY, description text NOT NULL);
                 CREATE TABLE IF NOT EXISTS {positions} (node text, instance text, epoch text NOT NULL, next numeric(20) NOT NULL,
                     PRIMARY KEY (node, instance));",
                quoted(&schema)
            ))
            .await?;
        Ok(Self { client, schema, tables: LruCache::new(TABLES) })
    }

    /// Returns the position of each instance's next sample, by node and instance.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn positions(&self) -> Result<HashMap<(String, String), Position>, Failure> {
        let sql = format!(
            "SELECT node, instance, epoch, next::text FROM {}",
            qualified(&self.schema, "oasis_position")
        );
        let rows = self.client.query(&sql, &[]).await?;
        let position = |row: &tokio_postgres::Row| {
            let (epoch, next): (&str, &str) = (row.get(2), row.get(3));
            let at = Position { epoch: epoch.parse().ok()?, offset: Offset(next.parse().ok()?) };
            Some(((row.get(0), row.get(1)), at))
        };
        Ok(rows.iter().filter_map(position).collect())
    }

    /// Returns the name of the table for samples of this shape, which is created if it does not exist.
    ///
    /// # Errors
    /// If it cannot be created.
    pub async fn table(&mut self, shape: &Shape) -> Result<String, Failure> {
        if let Some(known) = self.tables.find(|known| known.description == shape.description) {
            return Ok(known.name.clone());
        }
        let list = qualified(&self.schema, "oasis_table");
        let sql = format!(
            "SELECT name, to_regclass(format('%I.%I', $2::text, name)) IS NOT NULL FROM {list}
             WHERE description = $1 ORDER BY name LIMIT 1"
        );
        let description = &*shape.description;
        let known = self.client.query_opt(&sql, &[&description, &self.schema]).await?;
        let (name, is_there) = match &known {
            Some(row) => (row.get(0), row.get(1)),
            None => (self.free_name(&shape.wanted_name).await?, false),
        };
        if !is_there {
            let transaction = self.client.transaction().await?;
            transaction.batch_execute(&shape.create(&self.schema, &name)).await?;
            let sql = format!("INSERT INTO {list} VALUES ($1, $2) ON CONFLICT DO NOTHING");
            transaction.execute(&sql, &[&name, &description]).await?;
            transaction.commit().await?;
        }
        let sql = "SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
                   WHERE inhparent = ($1::text)::regclass";
        let partitions = self.client.query(sql, &[&qualified(&self.schema, &name)]).await?;
        let partitions = partitions.iter().map(|row| row.get(0)).collect();
        self.tables.put(Table { description: shape.description.clone(), name: name.clone(), partitions });
        Ok(name)
    }

    async fn free_name(&self, wanted: &str) -> Result<String, Failure> {
        let sql = format!(
            "SELECT name FROM {} WHERE starts_with(name, $1)",
            qualified(&self.schema, "oasis_table")
        );
        let taken = self.client.query(&sql, &[&wanted]).await?;
        Ok(oasis_format::table::Names::new(taken.iter().map(|row| row.get(0))).unique(wanted))
    }

    /// Removes the table from the cache: somebody may have dropped it.
    pub fn forget(&mut self, shape: &Shape) {
        self.tables.forget(|known| known.description == shape.description);
    }

    /// Writes rows and positions in one transaction. If the database refuses some rows, writes the others.
    ///
    /// # Errors
    /// If the write failed.
    pub async fn write(&mut self, loads: &[Load], positions: &Positions) -> Result<RoundResult, Failure> {
        match in_time(self.write_all(loads, positions)).await {
            Ok(new) => Ok(RoundResult { new, refusals: Vec::new() }),
            Err(failure) => {
                failure.refusal()?;
                self.write_what_it_takes(loads, positions).await
            }
        }
    }

    async fn write_all(&mut self, loads: &[Load], positions: &Positions) -> Result<u64, Failure> {
        let mut pieces = Vec::new();
        for load in loads {
            let table = self.table(&load.shape).await?;
            self.make_partitions(&table, &load.days).await?;
            pieces.push(Piece { table, rows: &load.rows, range: 0..load.rows.count() });
        }
        self.transact(&pieces, positions).await
    }

    /// Writes pieces and positions in one transaction. Returns how many rows were new.
    ///
    /// # Errors
    /// If the write failed.
    pub async fn transact(&mut self, pieces: &[Piece<'_>], positions: &Positions) -> Result<u64, Failure> {
        match self.try_to_write(pieces, positions, false).await {
            // Some rows exist already: after a restart without an archive, nodes repeat unacknowledged samples.
            Err(Failure::Sql(error)) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                self.try_to_write(pieces, positions, true).await
            }
            other => other,
        }
    }

    /// Returns whether the database accepts a piece.
    ///
    /// # Errors
    /// If the database fails otherwise.
    pub async fn would_take(&mut self, piece: &Piece<'_>) -> Result<bool, Failure> {
        let table = qualified(&self.schema, &piece.table);
        let transaction = self.client.transaction().await?;
        let copied = copy(&transaction, &table, piece).await;
        transaction.rollback().await?;
        match copied {
            Ok(_) => Ok(true),
            // It exists already.
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(true),
            Err(error) => Failure::from(error).refusal().map(|_| false),
        }
    }

    async fn try_to_write(
        &mut self,
        pieces: &[Piece<'_>],
        positions: &Positions,
        some_are_known: bool,
    ) -> Result<u64, Failure> {
        let schema = self.schema.clone();
        let transaction = self.client.transaction().await?;
        let mut written = 0;
        for piece in pieces {
            let table = qualified(&schema, &piece.table);
            written += match some_are_known {
                false => copy(&transaction, &table, piece).await?,
                true => {
                    let sql = format!("CREATE TEMP TABLE incoming (LIKE {table}) ON COMMIT DROP");
                    transaction.batch_execute(&sql).await?;
                    copy(&transaction, "incoming", piece).await?;
                    let sql = format!("INSERT INTO {table} SELECT * FROM incoming ON CONFLICT DO NOTHING");
                    let new = transaction.execute(&sql, &[]).await?;
                    transaction.batch_execute("DROP TABLE incoming").await?;
                    new
                }
            };
        }
        let sql = format!(
            "INSERT INTO {} VALUES ($1, $2, $3, $4::text::numeric)
             ON CONFLICT (node, instance) DO UPDATE SET epoch = excluded.epoch, next = excluded.next",
            qualified(&schema, "oasis_position")
        );
        let statement = transaction.prepare(&sql).await?;
        for (node, instance, at) in positions {
            let (epoch, next) = (at.epoch.to_string(), at.offset.0.to_string());
            transaction.execute(&statement, &[node, instance, &epoch, &next]).await?;
        }
        transaction.commit().await?;
        Ok(written)
    }

    /// Creates the partitions of these days. If the database refuses one, its rows go to the default partition.
    ///
    /// # Errors
    /// If the database fails otherwise.
    pub async fn make_partitions(&mut self, table: &str, days: &BTreeSet<Date>) -> Result<(), Failure> {
        for day in days {
            let name = format!("{table}_{}", day.strftime("%Y%m%d"));
            let Some(known) = self.tables.find(|known| known.name == table) else { return Ok(()) };
            if known.partitions.contains(&name) || known.partitions.len() >= MAX_PARTITIONS {
                continue;
            }
            let sql = format!(
                "CREATE TABLE IF NOT EXISTS {} PARTITION OF {} FOR VALUES FROM ('{day} 00:00:00+00') TO ('{} 00:00:00+00')",
                qualified(&self.schema, &name),
                qualified(&self.schema, table),
                day.saturating_add(1.day())
            );
            if let Err(error) = self.client.batch_execute(&sql).await {
                // The default partition already has rows of that day, or another partition covers it.
                let why = Failure::from(error).refusal()?;
                tracing::warn!(
                    partition = name,
                    detail = why.detail,
                    "PostgreSQL refused to create the partition of a day"
                );
            }
            known.partitions.insert(name);
        }
        Ok(())
    }
}

/// Runs work on the database with a timeout.
///
/// # Errors
/// If it times out, or fails.
pub async fn in_time<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::time::timeout(HANGS, work).await.map_err(|_| Failure::Timeout(HANGS))?
}

async fn copy(to: &Transaction<'_>, table: &str, piece: &Piece<'_>) -> Result<u64, Error> {
    let sink = to.copy_in(&format!("COPY {table} FROM STDIN (FORMAT binary)")).await?;
    let mut sink = pin!(sink);
    for bytes in piece.rows.pieces(piece.range.clone()) {
        sink.send(bytes).await?;
    }
    sink.finish().await
}
