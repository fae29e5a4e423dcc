//! Adds sealed files to the catalogue and removes them, in SQL.

use super::{Catalogue, Result, SealedFile, parsed, signed, unsigned};
use crate::{
    index::SeriesIndex,
    plausible::{TimeWindow, joined},
    series::Series,
};
use oasis_wire::{
    probe_kind::ProbeKind,
    quantity::{Epoch, Nanos, Offset},
    schema::ProbeType,
};
use rusqlite::{Connection, OptionalExtension, params};
use std::{collections::BTreeSet, ops::Range, sync::Arc};
use uuid::Uuid;

/// A series' share of a segment file, for a check of the file.
#[derive(Debug)]
pub struct Share {
    /// The series' number in the file's index.
    pub number: u32,
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub instance: Arc<str>,
    run: Uuid,
    epoch: Epoch,
    /// Offset of the first sample.
    pub first: Offset,
    /// Offset after the last one.
    pub end: Offset,
    /// Samples.
    pub samples: u64,
    /// Least and greatest time of them.
    pub times: (u64, u64),
}

impl Share {
    /// Whether it is of this series.
    pub fn is_of(&self, series: &Series) -> bool {
        (&self.node, &self.instance, self.run, self.epoch)
            == (&series.node, &series.instance, series.run, series.epoch)
    }
}

impl Catalogue {
    /// Starts a transaction: files that are added from now on become visible and durable with [`Catalogue::commit`].
    pub fn begin(&self) -> Result<()> {
        Ok(self.0.execute_batch("BEGIN IMMEDIATE")?)
    }

    /// Commits everything since [`Catalogue::begin`]; nothing if this fails.
    pub fn commit(&self) -> Result<()> {
        Ok(self.0.execute_batch("COMMIT")?)
    }

    /// Undoes everything since [`Catalogue::begin`].
    pub fn roll_back(&self) {
        // If it fails, the transaction ends with the connection.
        let _ = self.0.execute_batch("ROLLBACK");
    }

    /// Lists a file that is sealed and synced.
    pub fn add(&mut self, sealed: &SealedFile<'_>) -> Result<()> {
        let entries = || sealed.index.series.iter().flat_map(|series| &series.entries);
        let plausible: Vec<_> =
            sealed.index.series.iter().map(|series| plausible_times(series, sealed.window)).collect();
        let of_file = plausible.iter().copied().fold(None, joined).unwrap_or(NO_TIME);
        self.change(|transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO segment VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                params![
                    signed(sealed.number),
                    sealed.rule,
                    signed(sealed.created.0),
                    signed(sealed.sealed.0),
                    signed(sealed.bytes),
                    signed(entries().map(|entry| u64::from(entry.count)).sum()),
                    signed(of_file.0),
                    signed(of_file.1),
                ],
            )?;
            let bytes = sealed.index.bytes_by_series(sealed.bytes);
            for (((number, series), bytes), times) in
                (1..).zip(&sealed.index.series).zip(bytes).zip(plausible)
            {
                add_series(transaction, sealed.number, (number, series), (bytes, times))?;
            }
            Ok(())
        })
    }

    /// Whether a file is listed.
    pub fn is_listed(&self, segment: u64) -> Result<bool> {
        let mut statement = self.0.prepare_cached("SELECT 1 FROM segment WHERE number = ?")?;
        Ok(statement.exists([signed(segment)])?)
    }

    /// Lists the size of a file that was written again, and the bytes of its series, by their numbers. Returns its size before.
    pub fn resize(&mut self, segment: u64, bytes: u64, by_series: &[u64]) -> Result<u64> {
        self.change(|transaction| {
            let before = transaction
                .query_row("SELECT bytes FROM segment WHERE number = ?", [signed(segment)], |row| {
                    unsigned(row, 0)
                })
                .optional()?;
            let Some(before) = before else { return Ok(bytes) };
            let values = params![signed(bytes), signed(segment)];
            transaction.execute("UPDATE segment SET bytes = ? WHERE number = ?", values)?;
            for (number, bytes) in (1_u32..).zip(by_series) {
                transaction
                    .prepare_cached("UPDATE extent SET bytes = ? WHERE segment = ? AND number = ?")?
                    .execute(params![signed(*bytes), signed(segment), number])?;
            }
            Ok(before)
        })
    }

    /// Removes a file from the list.
    pub fn remove(&mut self, segment: u64) -> Result<()> {
        self.0.execute("DELETE FROM segment WHERE number = ?", [signed(segment)])?;
        Ok(())
    }

    /// Returns the listed series of a file.
    pub fn shares(&self, segment: u64) -> Result<Vec<Share>> {
        let mut statement = self.0.prepare_cached(
            "SELECT instance.node, instance.name, series.run, series.epoch, extent.number,
                    extent.first_offset, extent.end_offset, extent.samples, extent.min_time, extent.max_time
             FROM extent JOIN series ON series.id = extent.series JOIN instance ON instance.id = series.instance
             WHERE extent.segment = ? ORDER BY extent.number",
        )?;
        let mut rows = statement.query([signed(segment)])?;
        let mut shares = Vec::new();
        while let Some(row) = rows.next()? {
            let (run, epoch): (String, String) = (row.get(2)?, row.get(3)?);
            shares.push(Share {
                node: row.get(0)?,
                instance: row.get(1)?,
                run: parsed(&run, "run")?,
                epoch: parsed(&epoch, "epoch")?,
                number: row.get(4)?,
                first: Offset(unsigned(row, 5)?),
                end: Offset(unsigned(row, 6)?),
                samples: unsigned(row, 7)?,
                times: (unsigned(row, 8)?, unsigned(row, 9)?),
            });
        }
        Ok(shares)
    }

    /// Returns the listed files with samples of these types.
    pub fn segments_with(&self, is_wanted: impl Fn(&ProbeType) -> bool) -> Result<BTreeSet<u64>> {
        let mut types = self.0.prepare_cached("SELECT id, schema FROM type")?;
        let mut of_type = self.0.prepare_cached(
            "SELECT DISTINCT extent.segment FROM extent JOIN series ON series.id = extent.series WHERE series.type = ?",
        )?;
        let mut found = BTreeSet::new();
        let mut rows = types.query([])?;
        while let Some(row) = rows.next()? {
            let (id, schema): (i64, String) = (row.get(0)?, row.get(1)?);
            // A type that cannot be read has no readers either.
            if !serde_json::from_str::<ProbeType>(&schema).is_ok_and(|probe_type| is_wanted(&probe_type)) {
                continue;
            }
            let mut segments = of_type.query([id])?;
            while let Some(segment) = segments.next()? {
                found.insert(unsigned(segment, 0)?);
            }
        }
        Ok(found)
    }

    /// Adds damaged bytes.
    pub fn add_damage(&mut self, segment: u64, bytes: &Range<u64>, kind: &str, found: Nanos) -> Result<()> {
        let values = params![signed(segment), signed(bytes.start), signed(bytes.end), kind, signed(found.0)];
        self.0.execute("INSERT INTO damage VALUES (?, ?, ?, ?, ?)", values)?;
        Ok(())
    }
}

/// Times of a file without plausible ones: no pin matches them.
const NO_TIME: (u64, u64) = (u64::MAX, 0);

/// Least and greatest plausible time of a series.
fn plausible_times(series: &SeriesIndex, window: TimeWindow) -> Option<(u64, u64)> {
    let of_entries = series.entries.iter().map(|entry| window.of((entry.min_time, entry.max_time)));
    of_entries.fold(None, joined)
}

/// Lists the share of a series: its number in the file, its bytes, and its plausible times.
fn add_series(
    to: &Connection,
    segment: u64,
    (number, series): (u32, &SeriesIndex),
    (bytes, plausible): (u64, Option<(u64, u64)>),
) -> Result<()> {
    let id = series_id(to, &series.series)?;
    for gap in &series.gaps {
        let (from, until) = (signed(gap.from.0), signed(gap.to.0));
        let values = params![signed(segment), id, from, until, gap.cause.word(), signed(gap.time.0)];
        to.execute("INSERT INTO gap VALUES (?, ?, ?, ?, ?, ?)", values)?;
    }
    let entries = &series.entries;
    let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return Ok(()) };
    to.prepare_cached("INSERT INTO extent VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?.execute(params![
        signed(segment),
        number,
        id,
        signed(first.first.0),
        signed(last.end().0),
        signed(entries.iter().map(|entry| u64::from(entry.count)).sum()),
        signed(entries.iter().map(|entry| entry.min_time).min().unwrap_or_default()),
        signed(entries.iter().map(|entry| entry.max_time).max().unwrap_or_default()),
        signed(entries.iter().map(|entry| entry.last_sequence).max().unwrap_or_default()),
        signed(bytes),
        plausible.map(|(least, _)| signed(least)),
        plausible.map(|(_, greatest)| signed(greatest)),
    ])?;
    Ok(())
}

fn series_id(to: &Connection, series: &Series) -> Result<i64> {
    let names = params![&*series.node, &*series.instance];
    to.prepare_cached("INSERT OR IGNORE INTO instance (node, name) VALUES (?, ?)")?.execute(names)?;
    let instance: i64 = to
        .prepare_cached("SELECT id FROM instance WHERE node = ? AND name = ?")?
        .query_row(names, |row| row.get(0))?;
    let probe_type = type_id(to, &series.probe_type)?;
    let (run, epoch, kind) = (series.run.to_string(), series.epoch.to_string(), kind_word(series.kind));
    to.prepare_cached(
        "INSERT OR IGNORE INTO series (instance, type, kind, run, epoch) VALUES (?, ?, ?, ?, ?)",
    )?
    .execute(params![instance, probe_type, kind, run, epoch])?;
    let id = to
        .prepare_cached("SELECT id FROM series WHERE instance = ? AND epoch = ? AND run = ? AND type = ?")?
        .query_row(params![instance, epoch, run, probe_type], |row| row.get(0))?;
    Ok(id)
}

fn type_id(to: &Connection, probe_type: &ProbeType) -> Result<i64> {
    let schema = serde_json::to_string(probe_type).unwrap_or_default();
    let known =
        to.prepare_cached("SELECT id FROM type WHERE schema = ?")?.query_row([&schema], |row| row.get(0));
    if let Some(id) = known.optional()? {
        return Ok(id);
    }
    let values = params![probe_type.uuid.to_string(), probe_type.name, probe_type.version, schema];
    to.execute("INSERT INTO type (uuid, name, version, schema) VALUES (?, ?, ?, ?)", values)?;
    Ok(to.last_insert_rowid())
}

fn kind_word(kind: ProbeKind) -> String {
    serde_json::to_value(kind).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}
