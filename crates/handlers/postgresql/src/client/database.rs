//! The database: its tables, its partitions, and the transaction of a round.

use super::{
    copy::CopyData,
    failure::Failure,
    layout::{self, LAYOUT_LOCK},
    positions::{Positions, put_positions},
    recent::LruCache,
    refusal::Refusal,
    round::Load,
    tables::{Shape, qualified},
    tls::Target,
    writer::Writer,
};
use futures_util::SinkExt;
use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use std::{
    collections::{BTreeSet, HashSet},
    ops::Range,
    pin::pin,
    sync::Arc,
    time::Duration,
};
use tokio_postgres::{Client, Error, GenericClient, Transaction, error::SqlState};

/// Most partitions of one table; rows of other days go to the default partition.
const MAX_PARTITIONS: usize = 4_000;
/// Tables whose names and partitions are cached; others are looked up again.
const MAX_CACHED_TABLES: usize = 256;
/// Timeout of a transaction, after which the connection is closed.
const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(30);
/// Times that a transaction is tried if the database ends it in favor of another DAC's.
const MAX_ATTEMPTS: usize = 8;
/// Years whose days get their own partition: others are clock errors.
const YEARS: std::ops::RangeInclusive<i16> = 2000..=2199;

/// A connection.
#[derive(Debug)]
pub struct Database {
    pub(crate) client: Client,
    pub(crate) schema: String,
    pub(crate) writer: Writer,
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
pub struct RowChunk<'a> {
    pub table: String,
    pub rows: &'a CopyData,
    pub range: Range<usize>,
}

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
    /// Connects as a writer, and creates what all tables need.
    ///
    /// # Errors
    /// If the database is unreachable, or refuses, or if another DAC has the writer's name.
    pub async fn connect(target: &Target, schema: &str, writer: Writer) -> Result<Self, Failure> {
        let (client, connection) = target.address.connect(target.tls.clone()).await?;
        // Its end is reported to the user of the client.
        tokio::spawn(connection);
        client
            .batch_execute(
                "SET client_min_messages = warning; SET application_name = 'oasis'; SET timezone = 'UTC';
                 SET statement_timeout = '25s'; SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 5;
                 SET tcp_keepalives_count = 3; SET tcp_user_timeout = '20s';
                 SET idle_in_transaction_session_timeout = '15s';",
            )
            .await?;
        layout::create(&client, schema).await?;
        writer.take_name(&client, schema).await?;
        Ok(Self { client, schema: schema.to_owned(), writer, tables: LruCache::new(MAX_CACHED_TABLES) })
    }

    /// Returns the name of the table for samples of this shape, which is created if it does not exist.
    ///
    /// # Errors
    /// If it cannot be created.
    pub async fn table(&mut self, shape: &Shape) -> Result<String, Failure> {
        if let Some(known) = self.tables.find(|known| known.description == shape.description) {
            return Ok(known.name.clone());
        }
        let description = &*shape.description;
        let name = match find_table(&self.client, &self.schema, description).await? {
            Some((name, true)) => name,
            _ => self.create_table(shape).await?,
        };
        let sql = "SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
                   WHERE inhparent = ($1::text)::regclass";
        let partitions = self.client.query(sql, &[&qualified(&self.schema, &name)]).await?;
        let partitions = partitions.iter().map(|row| row.get(0)).collect();
        self.tables.put(Table { description: shape.description.clone(), name: name.clone(), partitions });
        Ok(name)
    }

    /// Creates a table, unless another DAC has created it meanwhile. Returns its name.
    async fn create_table(&mut self, shape: &Shape) -> Result<String, Failure> {
        let mut tries = 1;
        loop {
            match self.try_to_create_table(shape).await {
                Err(Failure::Sql(error)) if tries < MAX_ATTEMPTS && layout::is_race(error.code()) => {
                    tries += 1
                }
                other => return other,
            }
        }
    }

    async fn try_to_create_table(&mut self, shape: &Shape) -> Result<String, Failure> {
        let description = &*shape.description;
        let transaction = self.client.transaction().await?;
        transaction.batch_execute(&format!("SELECT pg_advisory_xact_lock({LAYOUT_LOCK})")).await?;
        let (name, is_there) = match find_table(&transaction, &self.schema, description).await? {
            Some(known) => known,
            None => (free_name(&transaction, &self.schema, &shape.wanted_name).await?, false),
        };
        if !is_there {
            transaction.batch_execute(&shape.create(&self.schema, &name)).await?;
            let list = qualified(&self.schema, "oasis_table");
            let sql = format!("INSERT INTO {list} VALUES ($1, $2) ON CONFLICT DO NOTHING");
            transaction.execute(&sql, &[&name, &description]).await?;
        }
        transaction.commit().await?;
        Ok(name)
    }

    /// Removes the table from the cache: it may have been dropped.
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
            pieces.push(RowChunk { table, rows: &load.rows, range: 0..load.rows.count() });
        }
        self.transact(&pieces, positions).await
    }

    /// Writes pieces and positions in one transaction. Returns how many rows were new.
    ///
    /// # Errors
    /// If the write failed.
    pub async fn transact(&mut self, pieces: &[RowChunk<'_>], positions: &Positions) -> Result<u64, Failure> {
        let (mut some_are_known, mut tries) = (false, 1);
        loop {
            match self.try_to_write(pieces, positions, some_are_known).await {
                // Some rows exist already: nodes repeat samples that are not safe, also to another DAC.
                Err(Failure::Sql(error))
                    if !some_are_known && error.code() == Some(&SqlState::UNIQUE_VIOLATION) =>
                {
                    some_are_known = true;
                }
                // Two DACs write the same samples in another order.
                Err(Failure::Sql(error)) if tries < MAX_ATTEMPTS && layout::is_collision(error.code()) => {
                    tries += 1
                }
                other => return other,
            }
        }
    }

    /// Returns whether the database accepts a piece.
    ///
    /// # Errors
    /// If the database fails otherwise.
    pub async fn would_take(&mut self, piece: &RowChunk<'_>) -> Result<bool, Failure> {
        let table = qualified(&self.schema, &piece.table);
        let transaction = self.client.transaction().await?;
        let copied = copy(&transaction, &table, piece).await;
        transaction.rollback().await?;
        match copied {
            Ok(_) => Ok(true),
            // The table exists already.
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(true),
            Err(error) => Failure::from(error).refusal().map(|_| false),
        }
    }

    async fn try_to_write(
        &mut self,
        pieces: &[RowChunk<'_>],
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
        put_positions(&transaction, (&schema, &self.writer.name), positions).await?;
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
                "SELECT pg_advisory_xact_lock({LAYOUT_LOCK});
                 CREATE TABLE IF NOT EXISTS {} PARTITION OF {} FOR VALUES FROM ('{day} 00:00:00+00') TO ('{} 00:00:00+00')",
                qualified(&self.schema, &name),
                qualified(&self.schema, table),
                day.saturating_add(1.day())
            );
            if let Err(failure) = layout::change(&self.client, &sql).await {
                // The default partition already has rows of that day, or another partition covers it.
                let why = failure.refusal()?;
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
    tokio::time::timeout(TRANSACTION_TIMEOUT, work)
        .await
        .map_err(|_| Failure::Timeout(TRANSACTION_TIMEOUT))?
}

async fn copy(to: &Transaction<'_>, table: &str, piece: &RowChunk<'_>) -> Result<u64, Error> {
    let sink = to.copy_in(&format!("COPY {table} FROM STDIN (FORMAT binary)")).await?;
    let mut sink = pin!(sink);
    for bytes in piece.rows.pieces(piece.range.clone()) {
        sink.send(bytes).await?;
    }
    sink.finish().await
}

/// Returns the table of a shape, and whether it exists.
async fn find_table(
    client: &impl GenericClient,
    schema: &str,
    description: &str,
) -> Result<Option<(String, bool)>, Error> {
    let sql = format!(
        "SELECT name, to_regclass(format('%I.%I', $2::text, name)) IS NOT NULL FROM {}
         WHERE description = $1 ORDER BY name LIMIT 1",
        qualified(schema, "oasis_table")
    );
    let known = client.query_opt(&sql, &[&description, &schema]).await?;
    Ok(known.map(|row| (row.get(0), row.get(1))))
}

async fn free_name(client: &impl GenericClient, schema: &str, wanted: &str) -> Result<String, Error> {
    let sql = format!("SELECT name FROM {} WHERE starts_with(name, $1)", qualified(schema, "oasis_table"));
    let taken = client.query(&sql, &[&wanted]).await?;
    Ok(oasis_format::table::Names::new(taken.iter().map(|row| row.get(0))).unique(wanted))
}
