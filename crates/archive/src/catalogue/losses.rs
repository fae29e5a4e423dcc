//! What never reached the DAC's logs, in SQL. Segment files have the holes in the sequence numbers, and not why.

use super::{Catalogue, Result, signed, unsigned};
use rusqlite::params;
use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc};
use uuid::Uuid;

/// Losses kept; beyond that the oldest are forgotten, and what is missing there has no cause any more.
const MOST_LOSSES: u64 = 100_000;

/// Sequence numbers that never reached the DAC's logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Which.
    pub numbers: RangeInclusive<u64>,
    /// Why: a word of the ledger.
    pub cause: String,
}

impl Catalogue {
    /// Notes gaps of ledgers; those that are known stay as they are. Answers how many others had to be forgotten.
    pub fn add_losses(&mut self, losses: &[(Arc<str>, Arc<str>, oasis_dac::Gap)]) -> Result<u64> {
        let transaction = self.0.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("INSERT OR IGNORE INTO loss VALUES (?, ?, ?, ?, ?, ?, ?)")?;
            for (node, instance, gap) in losses {
                insert.execute(params![
                    &**node,
                    &**instance,
                    gap.run.to_string(),
                    signed(gap.from_sequence),
                    signed(gap.to_sequence),
                    gap.cause.word(),
                    signed(gap.time.0),
                ])?;
            }
        }
        let forgotten = transaction.execute(
            "DELETE FROM loss WHERE time <= (SELECT time FROM loss ORDER BY time DESC LIMIT 1 OFFSET ?)",
            [signed(MOST_LOSSES)],
        )?;
        transaction.commit()?;
        Ok(forgotten as u64)
    }

    /// How many of these sequence numbers were lost, by cause.
    pub fn losses(
        &self,
        node: &str,
        instance: &str,
        run: Uuid,
        sequences: &RangeInclusive<u64>,
    ) -> Result<BTreeMap<String, u64>> {
        let mut statement = self.0.prepare_cached(
            "SELECT cause, sum(min(to_sequence, ?5) - max(from_sequence, ?4) + 1) FROM loss
             WHERE node = ?1 AND instance = ?2 AND run = ?3 AND from_sequence <= ?5 AND to_sequence >= ?4
             GROUP BY cause",
        )?;
        let (first, last) = (signed(*sequences.start()), signed(*sequences.end()));
        let by_cause = statement.query_map(params![node, instance, run.to_string(), first, last], |row| {
            Ok((row.get(0)?, unsigned(row, 1)?))
        })?;
        Ok(by_cause.collect::<rusqlite::Result<_>>()?)
    }

    /// Those of these sequence numbers that were lost, in order.
    pub fn losses_in(
        &self,
        node: &str,
        instance: &str,
        run: Uuid,
        sequences: &RangeInclusive<u64>,
    ) -> Result<Vec<Loss>> {
        let mut statement = self.0.prepare_cached(
            "SELECT from_sequence, to_sequence, cause FROM loss
             WHERE node = ?1 AND instance = ?2 AND run = ?3 AND from_sequence <= ?5 AND to_sequence >= ?4
             ORDER BY from_sequence",
        )?;
        let (first, last) = (signed(*sequences.start()), signed(*sequences.end()));
        let losses = statement.query_map(params![node, instance, run.to_string(), first, last], |row| {
            Ok(Loss { numbers: unsigned(row, 0)?..=unsigned(row, 1)?, cause: row.get(2)? })
        })?;
        Ok(losses.collect::<rusqlite::Result<_>>()?)
    }

    /// Lets go of losses from before the oldest file.
    pub fn forget_losses(&mut self) -> Result<()> {
        self.0.execute("DELETE FROM loss WHERE time < (SELECT min(created) FROM segment)", [])?;
        Ok(())
    }
}
