//! Queries of stored samples, without a DAC: [`points`](points()) aggregates a long time to few points, [`summarize`] computes statistics of an instance between two times, [`search`] finds
//! records by level, text and field, and [`Sql`] runs SQL over all tables of an archive.
//!
//! ```
//! use oasis_query::{Rows, Sql, SqlValue};
//! use oasis_store::{ArchiveConfig, open};
//!
//! struct Count(usize);
//!
//! impl Rows for Count {
//!     fn begin(&mut self, _: &[String]) -> std::io::Result<()> {
//!         Ok(())
//!     }
//!
//!     fn row(&mut self, _: &[SqlValue<'_>]) -> std::io::Result<()> {
//!         self.0 += 1;
//!         Ok(())
//!     }
//! }
//!
//! let folder = tempfile::tempdir()?;
//! let directory = folder.path().display().to_string();
//! drop(open(ArchiveConfig { directory, ..ArchiveConfig::default() })?);
//! let mut rows = Count(0);
//! Sql::open(folder.path())?.query("SELECT node FROM instances", &mut rows)?;
//! assert_eq!(rows.0, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod points;
mod points_reader;
pub mod search;
mod sql;
mod summary;

pub use points::{add_points, points};
pub use points_reader::{PointsRead, PointsReader};
pub use rusqlite::types::Value as OwnedSqlValue;
pub use rusqlite::types::ValueRef as SqlValue;
pub use sql::{
    Answer, ExtraTable, GuardedSql, Rows, Sight, Sql, SqlError, SqlLimits, TableInfo, TakeRow, audit_log,
    cell, everything, names,
};
pub use summary::{Intervals, MetricSummary, Summary, summarize};
