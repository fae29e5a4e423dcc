//! Rows a second on the disk: the archive beside inserts into SQLite, the same samples, in turn.

use super::{super::progress, Archive};
use crate::{
    packet,
    servers::{Feed, sample},
    statistics::{median, ratios},
    table::{Table, ratio, with_spread},
};
use oasis_dac::{Config, Dac};
use oasis_handler::Supervisor;
use oasis_store::ArchiveConfig;
use rusqlite::{Connection, params};
use std::{path::Path, sync::Arc, time::Instant};

/// Samples in a batch.
pub(super) const BATCH: u64 = 1_000;
/// Rows in a transaction of SQLite, and samples for which the archive is waited for.
pub(super) const COMMIT: u64 = 100_000;
const REPETITIONS: usize = 3;

impl Archive {
    pub(super) fn rows(&self) -> anyhow::Result<String> {
        let rows = (self.rows_m * 1_000_000).next_multiple_of(COMMIT);
        let (mut ours, mut sqlite) = (Vec::new(), Vec::new());
        for repetition in 1..=REPETITIONS {
            progress(format_args!("{rows} rows, repetition {repetition} of {REPETITIONS}"));
            ours.push(archived(self.new_folder()?.path(), rows, BATCH)?);
            sqlite.push(inserted(self.new_folder()?.path(), rows)?);
        }
        let mut table = Table::new(["store", "rows a second"]);
        table.row(vec!["archive".into(), with_spread(&ours)]);
        table.row(vec!["SQLite".into(), with_spread(&sqlite)]);
        Ok(format!(
            "## Rows a second\n\n{rows} samples of seven counters, synced every {COMMIT}. Archive: encoding, a node's session, the topic log and the segment file, on one thread plus the archive's thread. SQLite: one prepared insert for each row, WAL, `synchronous=FULL`, on one thread. {REPETITIONS} alternating runs; median (lowest to highest).\n\n{table}\nRatio of archive to SQLite: {}; the target is at least 2.\n",
            ratio(median(&ratios(&ours, &sqlite))),
        ))
    }
}

/// Fills an archive with batches of `samples` samples, a divisor of [`COMMIT`]; returns rows a second.
pub(super) fn archived(folder: &Path, rows: u64, samples: u64) -> anyhow::Result<f64> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let dac = Dac::new(Config::default());
    let directory = folder.to_string_lossy().into_owned();
    let opened = oasis_store::open(ArchiveConfig { directory, ..ArchiveConfig::default() })?;
    let archive = Arc::new(oasis_archive::Archive::new(opened));
    let handlers = Supervisor::new(dac.clone(), None, vec![archive.clone()]);
    handlers.start("archive")?;
    let mut feed = Feed::new(dac)?;
    let (began, mut time) = (Instant::now(), packet::now());
    for batch in 1..=rows / samples {
        feed.batch(
            samples,
            |_| {
                time += 1_000;
                time
            },
            false,
        )?;
        if batch % (COMMIT / samples) == 0 {
            runtime.block_on(archive.flush())?;
        }
    }
    let took = began.elapsed();
    let stored = archive.counters().stored;
    anyhow::ensure!(stored == rows, "{stored} of {rows} are stored");
    handlers.stop("archive")?;
    archive.close()?;
    Ok(rows as f64 / took.as_secs_f64())
}

/// Fills `rows.sqlite`; rows a second.
pub(super) fn inserted(folder: &Path, rows: u64) -> anyhow::Result<f64> {
    let mut sqlite = Connection::open(folder.join("rows.sqlite"))?;
    sqlite.pragma_update(None, "journal_mode", "WAL")?;
    sqlite.pragma_update(None, "synchronous", "FULL")?;
    sqlite.execute_batch("CREATE TABLE sample (instance INTEGER, sequence INTEGER, time INTEGER, idle INTEGER, system INTEGER, user INTEGER, nice INTEGER, iowait INTEGER, irq INTEGER, soft_irq INTEGER)")?;
    let (began, mut time) = (Instant::now(), packet::now());
    for first in (0..rows).step_by(COMMIT as usize) {
        let transaction = sqlite.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("INSERT INTO sample VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
            for number in first..first + COMMIT {
                time += 1_000;
                let row = sample(number);
                insert.execute(params![
                    number as i64,
                    time as i64,
                    row.idle_time as i64,
                    row.system_time as i64,
                    row.user_time as i64,
                    row.nice_time as i64,
                    row.iowait_time as i64,
                    row.irq_time as i64,
                    row.soft_irq_time as i64
                ])?;
            }
        }
        transaction.commit()?;
    }
    Ok(rows as f64 / began.elapsed().as_secs_f64())
}
