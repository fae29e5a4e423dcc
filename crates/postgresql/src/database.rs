//! The database: its tables, its partitions, and a round's transaction.

use crate::{
    copy::Rows,
    tables::{Shape, qualified, quoted},
    tls::Target,
};
use bytes::Bytes;
use futures_util::SinkExt;
use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use oasis_wire::quantity::{Offset, Position};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    pin::pin,
    time::Duration,
};
use tokio_postgres::{Client, Error, Transaction, error::SqlState};

/// Most partitions of one table; what lies in other days goes to the partition of the rest.
const MAX_PARTITIONS: usize = 4_000;
/// Days that get a partition of their own: others are mistakes of a clock.
const YEARS: std::ops::RangeInclusive<i16> = 2000..=2199;

/// Why samples do not get into it.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// As PostgreSQL or the system says it.
    #[error("{}", explain(.0))]
    Sql(#[from] Error),
    /// Nobody answers.
    #[error("it does not answer within {} s", .0.as_secs())]
    Timeout(Duration),
}

/// The error with its causes: its own text alone says too little.
fn explain(error: &Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Rows for one table, with the days that they lie in.
#[derive(Debug)]
pub struct Load {
    pub table: String,
    pub rows: Rows,
    pub days: BTreeSet<Date>,
}

/// A connection.
#[derive(Debug)]
pub struct Database {
    client: Client,
    schema: String,
    /// Names of tables by what they are.
    tables: HashMap<String, String>,
    /// Names of partitions, by table.
    partitions: HashMap<String, HashSet<String>>,
}

/// PostgreSQL has no text with a zero byte.
pub fn clean(name: &str) -> String {
    name.replace('\0', "\u{fffd}")
}

/// The day of a time, if it is one that gets a partition.
pub fn day(nanoseconds: u64) -> Option<Date> {
    let time = Timestamp::from_nanosecond(nanoseconds.into()).ok()?;
    Some(time.to_zoned(TimeZone::UTC).date()).filter(|date| YEARS.contains(&date.year()))
}

impl Database {
    /// Connects, and makes what all tables need.
    ///
    /// # Errors
    /// If it cannot be reached, or refuses.
    pub async fn connect(target: &Target, schema: &str) -> Result<Self, Failure> {
        let (client, connection) = target.address.connect(target.tls.clone()).await?;
        // Its end is told to whoever uses the client.
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
        let known = client.query(&format!("SELECT description, name FROM {tables}"), &[]).await?;
        let tables = known.iter().map(|row| (row.get(0), row.get(1))).collect();
        Ok(Self { client, schema, tables, partitions: HashMap::new() })
    }

    /// Where each instance's next sample stands, by node and instance.
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

    /// The table for samples of this shape; it is made if there is none.
    ///
    /// # Errors
    /// If it cannot be made.
    pub async fn table(&mut self, shape: &Shape) -> Result<String, Failure> {
        if let Some(name) = self.tables.get(&shape.description) {
            return Ok(name.clone());
        }
        let mut names = oasis_table::Names::new(self.tables.values().map(String::as_str));
        let name = names.unique(&shape.wanted_name);
        let transaction = self.client.transaction().await?;
        transaction.batch_execute(&shape.create(&self.schema, &name)).await?;
        let sql = format!("INSERT INTO {} VALUES ($1, $2)", qualified(&self.schema, "oasis_table"));
        transaction.execute(&sql, &[&name, &shape.description]).await?;
        transaction.commit().await?;
        self.tables.insert(shape.description.clone(), name.clone());
        Ok(name)
    }

    /// Writes rows and places, all or nothing. Answers how many rows were new.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn write(
        &mut self,
        loads: Vec<Load>,
        positions: &[(String, String, Position)],
    ) -> Result<u64, Failure> {
        for load in &loads {
            self.make_partitions(load).await?;
        }
        let loads: Vec<_> =
            loads.into_iter().map(|load| (load.table, Bytes::from(load.rows.finish()))).collect();
        match self.try_to_write(&loads, positions, false).await {
            // Some are there already: after a restart without an archive, nodes send what was not acknowledged again.
            Err(Failure::Sql(error)) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                self.try_to_write(&loads, positions, true).await
            }
            other => other,
        }
    }

    async fn try_to_write(
        &mut self,
        loads: &[(String, Bytes)],
        positions: &[(String, String, Position)],
        some_are_known: bool,
    ) -> Result<u64, Failure> {
        let schema = self.schema.clone();
        let transaction = self.client.transaction().await?;
        let mut written = 0;
        for (table, rows) in loads {
            let table = qualified(&schema, table);
            written += match some_are_known {
                false => copy(&transaction, &table, rows.clone()).await?,
                true => {
                    let sql = format!("CREATE TEMP TABLE incoming (LIKE {table}) ON COMMIT DROP");
                    transaction.batch_execute(&sql).await?;
                    copy(&transaction, "incoming", rows.clone()).await?;
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

    async fn make_partitions(&mut self, load: &Load) -> Result<(), Failure> {
        if !self.partitions.contains_key(&load.table) {
            let sql = "SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
                       WHERE inhparent = ($1::text)::regclass";
            let known = self.client.query(sql, &[&qualified(&self.schema, &load.table)]).await?;
            let names = known.iter().map(|row| row.get(0)).collect();
            self.partitions.insert(load.table.clone(), names);
        }
        for day in &load.days {
            let name = format!("{}_{}", load.table, day.strftime("%Y%m%d"));
            let known = self.partitions.entry(load.table.clone()).or_default();
            if known.contains(&name) || known.len() >= MAX_PARTITIONS {
                continue;
            }
            let sql = format!(
                "CREATE TABLE IF NOT EXISTS {} PARTITION OF {} FOR VALUES FROM ('{day} 00:00:00+00') TO ('{} 00:00:00+00')",
                qualified(&self.schema, &name),
                qualified(&self.schema, &load.table),
                day.saturating_add(1.day())
            );
            self.client.batch_execute(&sql).await?;
            known.insert(name);
        }
        Ok(())
    }
}

async fn copy(to: &Transaction<'_>, table: &str, rows: Bytes) -> Result<u64, Error> {
    let sink = to.copy_in(&format!("COPY {table} FROM STDIN (FORMAT binary)")).await?;
    let mut sink = pin!(sink);
    sink.send(rows).await?;
    sink.finish().await
}
