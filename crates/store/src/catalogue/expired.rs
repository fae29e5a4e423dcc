//! Samples that retention has evicted, by instance, in SQL: readers report them instead of silence.

use super::{Catalogue, Result, parsed, signed, unsigned, version};
use oasis_wire::quantity::{Epoch, Offset};
use rusqlite::{OptionalExtension, params};
use std::ops::Range;

/// Most instances; beyond that those with the oldest samples are deleted.
const MAX_INSTANCES: u64 = 100_000;
/// The first version with this table. Archives of earlier ones can be read.
const EXPIRED_VERSION: usize = 4;

/// The samples of an instance that retention has evicted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiredSamples {
    /// The epoch of the last of them.
    pub epoch: Epoch,
    /// Their offsets in that epoch.
    pub offsets: Range<Offset>,
    /// Number of them, in all epochs.
    pub samples: u64,
    /// Bounds of their times, on the node's clock.
    pub times: (u64, u64),
}

impl Catalogue {
    /// Removes a file that retention evicts, and notes whose samples were in it.
    pub fn expire(&mut self, segment: u64) -> Result<()> {
        let transaction = self.0.transaction()?;
        transaction.execute(
            "INSERT INTO expired
             SELECT instance.node, instance.name, max(series.epoch), min(extent.first_offset), max(extent.end_offset),
                    sum(extent.samples), min(extent.min_time), max(extent.max_time)
             FROM extent JOIN series ON series.id = extent.series JOIN instance ON instance.id = series.instance
             WHERE extent.segment = ? GROUP BY instance.id
             ON CONFLICT (node, instance) DO UPDATE SET
               from_offset = CASE WHEN epoch = excluded.epoch THEN min(from_offset, excluded.from_offset) ELSE excluded.from_offset END,
               to_offset = CASE WHEN epoch = excluded.epoch THEN max(to_offset, excluded.to_offset) ELSE excluded.to_offset END,
               epoch = excluded.epoch,
               samples = samples + excluded.samples,
               min_time = min(min_time, excluded.min_time),
               max_time = max(max_time, excluded.max_time)",
            [signed(segment)],
        )?;
        transaction.execute(
            "DELETE FROM expired WHERE max_time <= (SELECT max_time FROM expired ORDER BY max_time DESC LIMIT 1 OFFSET ?)",
            [signed(MAX_INSTANCES)],
        )?;
        transaction.execute("DELETE FROM segment WHERE number = ?", [signed(segment)])?;
        Ok(transaction.commit()?)
    }

    /// Returns what retention has evicted of an instance, if anything.
    pub fn expired(&self, node: &str, instance: &str) -> Result<Option<ExpiredSamples>> {
        if version(&self.0)? < EXPIRED_VERSION {
            return Ok(None);
        }
        let mut statement = self.0.prepare_cached(
            "SELECT epoch, from_offset, to_offset, samples, min_time, max_time FROM expired WHERE node = ? AND instance = ?",
        )?;
        let row = statement.query_row(params![node, instance], |row| {
            let epoch: String = row.get(0)?;
            let offsets = Offset(unsigned(row, 1)?)..Offset(unsigned(row, 2)?);
            Ok((epoch, offsets, unsigned(row, 3)?, (unsigned(row, 4)?, unsigned(row, 5)?)))
        });
        let Some((epoch, offsets, samples, times)) = row.optional()? else { return Ok(None) };
        Ok(Some(ExpiredSamples { epoch: parsed(&epoch, "epoch")?, offsets, samples, times }))
    }
}
