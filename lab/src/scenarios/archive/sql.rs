//! Rows a second of a query: over the segment files, beside an SQLite table of the same rows.

use super::{
    super::progress,
    Archive,
    load::bytes_in,
    rows::{BATCH, COMMIT, archived, inserted},
};
use crate::{
    statistics::{median, ratios, spread},
    table::{Table, ratio, with_spread},
};
use anyhow::ensure;
use oasis_query::{Rows, Sql, SqlValue};
use rusqlite::Connection;
use std::{io, path::Path, time::Instant};

const REPETITIONS: usize = 7;

/// Title of each query, and its columns of the archive's table and of SQLite's.
const QUERIES: [(&str, &str, &str); 3] = [
    ("two of seven metrics", "count(*), avg(idle_time), max(user_time)", "count(*), avg(idle), max(user)"),
    (
        "all seven",
        "count(*), max(idle_time), max(system_time), max(user_time), max(nice_time), max(iowait_time), max(irq_time), max(soft_irq_time)",
        "count(*), max(idle), max(system), max(user), max(nice), max(iowait), max(irq), max(soft_irq)",
    ),
    ("none", "count(*), max(time_ns)", "count(*), max(time)"),
];

/// Samples in a batch of an archive: full ones, and those of a probe at 1 kHz that the node sends after 10 ms.
const BATCHES: [u64; 2] = [BATCH, 10];

impl Archive {
    pub(super) fn sql(&self) -> anyhow::Result<String> {
        let rows = (self.rows_m * 1_000_000).next_multiple_of(COMMIT);
        let sqlite = self.new_folder()?;
        progress(format_args!("{rows} rows: filling SQLite"));
        inserted(sqlite.path(), rows)?;
        let mut table = Table::new([
            "samples in a batch",
            "archive",
            "metrics in the query",
            "archive, rows/s",
            "SQLite, rows/s",
            "archive to SQLite",
        ]);
        for samples in BATCHES {
            progress(format_args!("{rows} rows in batches of {samples}"));
            let archive = self.new_folder()?;
            archived(archive.path(), rows, samples)?;
            let size = megabytes(archive.path())?;
            for (name, of_archive, of_sqlite) in QUERIES {
                let (mut ours, mut theirs) = (Vec::new(), Vec::new());
                for _ in 0..REPETITIONS {
                    ours.push(rows as f64 / ask_archive(archive.path(), of_archive, rows)?);
                    theirs.push(rows as f64 / ask_sqlite(sqlite.path(), of_sqlite, rows)?);
                }
                let pairs = ratios(&ours, &theirs);
                let (low, high) = spread(&pairs).unwrap_or_default();
                table.row(vec![
                    samples.to_string(),
                    size.clone(),
                    name.into(),
                    with_spread(&ours),
                    with_spread(&theirs),
                    format!("{} ({low:.2} to {high:.2})", ratio(median(&pairs))),
                ]);
            }
        }
        Ok(format!(
            "## SQL\n\n{rows} samples of seven counters, of one instance: the tables of `oasis sql` over segment files, and an SQLite table of the same rows ({}). One query of aggregates over all rows, {REPETITIONS} alternating runs; median (lowest to highest). The files are in the page cache.\n\n{table}",
            megabytes(sqlite.path())?,
        ))
    }
}

fn megabytes(folder: &Path) -> anyhow::Result<String> {
    Ok(format!("{:.0} MB", bytes_in(folder)? as f64 / 1e6))
}

/// The first number of the only row.
#[derive(Default)]
struct First(i64);

impl Rows for First {
    fn begin(&mut self, _columns: &[String]) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> io::Result<()> {
        if let Some(SqlValue::Integer(value)) = values.first() {
            self.0 = *value;
        }
        Ok(())
    }
}

/// Seconds that it takes.
fn ask_archive(folder: &Path, what: &str, rows: u64) -> anyhow::Result<f64> {
    let sql = Sql::open(folder)?;
    let began = Instant::now();
    let mut count = First::default();
    sql.query(&format!("SELECT {what} FROM oasis_system_linux_processor_probe"), &mut count)?;
    ensure!(count.0 as u64 == rows, "{} of {rows} rows are there", count.0);
    Ok(began.elapsed().as_secs_f64())
}

/// Seconds that it takes.
fn ask_sqlite(folder: &Path, what: &str, rows: u64) -> anyhow::Result<f64> {
    let sqlite = Connection::open(folder.join("rows.sqlite"))?;
    let began = Instant::now();
    let count: i64 = sqlite.query_row(&format!("SELECT {what} FROM sample"), [], |row| row.get(0))?;
    ensure!(count as u64 == rows, "{count} of {rows} rows are there");
    Ok(began.elapsed().as_secs_f64())
}
