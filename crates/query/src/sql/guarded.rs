//! One query of a principal of a DAC.

use super::{
    ExtraTable, Rows, SqlError, TableInfo, add_samples, answer, copied, guard,
    sight::Sight,
    stop::{SqlLimits, Stop},
    table::{Samples, TIMES, compare_times},
    views,
};
use oasis_store::{History, OpenError, catalogue::reading};
use rusqlite::{Connection, types::Value};
use std::sync::Arc;

/// One query over what its author may see.
pub struct GuardedSql {
    /// The connection of the query, with nothing but what its author may see.
    connection: Connection,
    /// The catalogue, with its views. The query does not reach it.
    catalogue: Connection,
    views: Vec<TableInfo>,
    samples: Vec<TableInfo>,
    extra: Vec<ExtraTable>,
    sight: Arc<dyn Sight>,
    stop: Stop,
}

impl GuardedSql {
    /// Prepares a query over an archive; its time begins now. The names of `extra` are those of tables that the author may see besides.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn open(
        history: &History,
        sight: Arc<dyn Sight>,
        limits: SqlLimits,
        extra: Vec<ExtraTable>,
    ) -> Result<Self, SqlError> {
        let stop = Stop::at(limits);
        let catalogue = reading::open(&history.0.directory).map_err(OpenError::Catalogue)?.connection;
        catalogue.create_collation(TIMES, compare_times)?;
        let views = views::create(&catalogue, &history.0.open_shares(), &history.0.open_gaps())?;
        let connection = Connection::open_in_memory()?;
        // Sorted and materialized rows count as memory, which has a bound: a temporary file has none.
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.create_collation(TIMES, compare_times)?;
        let taken = views.iter().chain(extra.iter().map(|table| &table.info));
        let taken: Vec<_> = taken.map(|table| table.name.clone()).collect();
        let mut visible = Vec::new();
        for probe_type in history.types()? {
            let samples = Samples::visible(history.clone(), probe_type, sight.clone(), stop.clone());
            // A type without visible instances would tell that there are others.
            if !samples.instances(None, None)?.is_empty() {
                visible.push(samples);
            }
        }
        let samples = add_samples(&connection, &catalogue, visible.into_iter(), &taken)?;
        Ok(Self { connection, catalogue, views, samples, extra, sight, stop })
    }

    /// All tables that its author may see.
    pub fn tables(&self) -> impl Iterator<Item = &TableInfo> {
        self.views.iter().chain(self.extra.iter().map(|table| &table.info)).chain(&self.samples)
    }

    /// Lets other code add tables and functions to the connection, which has no guard and no rows of the catalogue yet.
    ///
    /// # Errors
    /// If SQLite reports one.
    pub fn extend(&self, add: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), SqlError> {
        Ok(add(&self.connection)?)
    }

    /// Runs the query.
    ///
    /// # Errors
    /// If it is invalid or more than a SELECT, the archive cannot be read, the output fails, or a limit is reached.
    pub fn query(self, sql: &str, rows: &mut dyn Rows) -> Result<(), SqlError> {
        self.query_with(sql, &[], rows)
    }

    /// Runs the query with values of its parameters.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn query_with(
        mut self,
        sql: &str,
        parameters: &[Value],
        rows: &mut dyn Rows,
    ) -> Result<(), SqlError> {
        let stop = self.stop.clone();
        let done = self.copy(sql).and_then(|()| {
            guard::set(&mut self.connection, self.stop.clone())?;
            answer(&self.connection, sql, parameters, rows)
        });
        // SQLite reports any stop as an interruption, or as an error of a table.
        done.map_err(|error| match error {
            SqlError::Output(_) => error,
            error => stop.reason().unwrap_or(error),
        })
    }

    /// Copies what the query names.
    fn copy(&mut self, sql: &str) -> Result<(), SqlError> {
        for table in self.views.iter().filter(|table| copied::names(sql, &table.name)) {
            copied::copy(&self.catalogue, &self.connection, table, &*self.sight, &self.stop)?;
        }
        for table in self.extra.drain(..).filter(|table| copied::names(sql, &table.info.name)) {
            copied::copy_extra(&self.connection, table, &self.stop)?;
        }
        Ok(())
    }
}
