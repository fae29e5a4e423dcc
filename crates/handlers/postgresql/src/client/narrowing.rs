//! Finds the rows that the database refuses, and writes the others: table by table, then by halves.

use super::{
    database::{Database, RoundResult, RowChunk, in_time},
    failure::Failure,
    positions::Positions,
    refusal::{Refusal, Why},
    round::Load,
};
use std::ops::Range;

/// Rows of a load that are tried one by one before halving. If the database refuses all of them, it refuses the whole
/// load: otherwise a table that refuses everything would cost two transactions for each row.
const SAMPLE_ROWS: usize = 64;

impl Database {
    /// Writes the rows that the database accepts, each piece in its own transaction, then the positions. If
    /// interrupted, the written rows are recognized the next time.
    ///
    /// # Errors
    /// If the database fails otherwise than by refusing data.
    pub async fn write_what_it_takes(
        &mut self,
        loads: &[Load],
        positions: &Positions,
    ) -> Result<RoundResult, Failure> {
        let mut written = RoundResult::default();
        for load in loads {
            self.forget(&load.shape);
            match in_time(self.table_for(load)).await {
                Ok(table) => self.write_load(&table, load, &mut written).await?,
                Err(failure) => {
                    let why = failure.refusal()?;
                    written.refuse(&load.shape.wanted_name, load, 0..load.rows.count(), why);
                }
            }
        }
        self.write_positions(positions).await?;
        Ok(written)
    }

    /// Writes positions. A name that the database's encoding (not UTF-8) cannot represent is left out.
    async fn write_positions(&mut self, positions: &Positions) -> Result<(), Failure> {
        let Err(failure) = in_time(self.transact(&[], positions)).await else { return Ok(()) };
        failure.refusal_of_text()?;
        for position in positions {
            if let Err(failure) = in_time(self.transact(&[], std::slice::from_ref(position))).await {
                failure.refusal_of_text()?;
            }
        }
        Ok(())
    }

    async fn table_for(&mut self, load: &Load) -> Result<String, Failure> {
        let table = self.table(&load.shape).await?;
        self.make_partitions(&table, &load.days).await?;
        Ok(table)
    }

    async fn write_load(
        &mut self,
        table: &str,
        load: &Load,
        written: &mut RoundResult,
    ) -> Result<(), Failure> {
        let all = 0..load.rows.count();
        let mut left = vec![all.clone()];
        while let Some(range) = left.pop() {
            let piece = RowChunk { table: table.into(), rows: &load.rows, range: range.clone() };
            let why = match in_time(self.transact(&[piece], &[])).await {
                Ok(new) => {
                    written.new += new;
                    continue;
                }
                Err(failure) => failure.refusal()?,
            };
            if range.len() <= 1 || range == all && self.takes_none(table, load).await? {
                written.refuse(table, load, range, why);
            } else {
                let middle = range.start + range.len() / 2;
                left.extend([middle..range.end, range.start..middle]);
            }
        }
        Ok(())
    }

    /// Returns whether it refuses all rows of a sample of the whole load.
    async fn takes_none(&mut self, table: &str, load: &Load) -> Result<bool, Failure> {
        let count = load.rows.count();
        if count <= SAMPLE_ROWS {
            return Ok(false);
        }
        for row in (0..SAMPLE_ROWS).map(|number| number * count / SAMPLE_ROWS) {
            let piece = RowChunk { table: table.into(), rows: &load.rows, range: row..row + 1 };
            if in_time(self.would_take(&piece)).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl RoundResult {
    /// Records refused rows. Rows with one reason make one entry.
    fn refuse(&mut self, table: &str, load: &Load, rows: Range<usize>, why: Why) {
        let Some(sample) = load.rows.sample(rows.start) else { return };
        let samples = rows.len() as u64;
        let is_same = |known: &&mut Refusal| known.table == table && known.code == why.code;
        match self.refusals.iter_mut().find(is_same) {
            Some(known) => *known = Refusal::new(table, why, known.samples + samples, sample),
            None => self.refusals.push(Refusal::new(table, why, samples, sample)),
        }
    }
}
