//! Questions to stored samples: an instance between two times in figures, and SQL.

pub mod points;
mod sql;
mod summary;

pub use points::{add_points, points};
pub use rusqlite::types::ValueRef as SqlValue;
pub use sql::{Rows, Sql, SqlError, TableInfo};
pub use summary::{Intervals, MetricSummary, Summary, summarize};
