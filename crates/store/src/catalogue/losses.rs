//! Losses before the DAC's logs, in SQL. Segment files show gaps in the sequence numbers, but not their causes.

use super::{Catalogue, Result, parsed, signed, unsigned};
use oasis_wire::{loss::Cause, quantity::Nanos};
use rusqlite::{Connection, params, types::ValueRef};
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Most losses; beyond that the oldest are deleted, and their samples are missing without a cause.
pub const MAX_LOSSES: u64 = 100_000;
/// The greatest sequence number that the catalogue can contain.
const MAX_SEQUENCE: u64 = i64::MAX as u64;

/// Sequence numbers that never reached the DAC's logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Which.
    pub numbers: RangeInclusive<u64>,
    /// Why.
    pub cause: Cause,
}

/// A loss, to be noted.
#[derive(Debug)]
pub struct LossRow<'a> {
    /// Node name.
    pub node: &'a str,
    /// Instance name.
    pub instance: &'a str,
    /// The run of the sequence numbers.
    pub run: Uuid,
    /// Which.
    pub numbers: RangeInclusive<u64>,
    /// Why.
    pub cause: Cause,
    /// When it was noticed.
    pub time: Nanos,
}

impl Catalogue {
    /// Adds losses. Numbers that have a cause keep it: an earlier run of the DAC may have known more, or less. Returns how many others were deleted.
    pub fn add_losses<'a>(&mut self, losses: impl Iterator<Item = LossRow<'a>>) -> Result<u64> {
        self.change(|transaction| {
            let mut insert = transaction.prepare_cached("INSERT INTO loss VALUES (?, ?, ?, ?, ?, ?, ?)")?;
            for LossRow { node, instance, run, numbers, cause, time } in losses {
                for numbers in without_cause(transaction, node, instance, run, numbers)? {
                    let (from, to) = (signed(*numbers.start()), signed(*numbers.end()));
                    let (run, cause, time) = (run.to_string(), cause.word(), signed(time.0));
                    insert.execute(params![node, instance, run, from, to, cause, time])?;
                }
            }
            let forgotten = transaction.execute(
                "DELETE FROM loss WHERE time <= (SELECT time FROM loss ORDER BY time DESC LIMIT 1 OFFSET ?)",
                [signed(MAX_LOSSES)],
            )?;
            Ok(forgotten as u64)
        })
    }

    /// Removes numbers of a run from its losses: these samples came after all. Returns whether losses after `last` are left.
    pub fn retract_losses(
        &mut self,
        (node, instance): (&str, &str),
        run: Uuid,
        came: &[RangeInclusive<u64>],
        last: u64,
    ) -> Result<bool> {
        self.change(|transaction| {
            for came in came {
                retract(transaction, (node, instance), run, came)?;
            }
            Ok(!losses_in(transaction, node, instance, run, &(last.saturating_add(1)..=MAX_SEQUENCE))?
                .is_empty())
        })
    }

    /// Returns all losses of an instance, by run.
    pub fn losses_of(&self, node: &str, instance: &str) -> Result<Vec<(Uuid, Loss)>> {
        let mut statement = self.0.prepare_cached(
            "SELECT run, from_sequence, to_sequence, cause FROM loss
             WHERE node = ?1 AND instance = ?2 AND from_sequence <= to_sequence
             ORDER BY run, from_sequence",
        )?;
        let mut rows = statement.query([node, instance])?;
        let mut losses = Vec::new();
        while let Some(row) = rows.next()? {
            let run: String = row.get(0)?;
            let numbers = unsigned(row, 1)?..=unsigned(row, 2)?;
            losses.push((parsed(&run, "run")?, Loss { numbers, cause: cause_of(row.get_ref(3)?) }));
        }
        Ok(losses)
    }

    /// Returns the losses within these sequence numbers, in order.
    pub fn losses_in(
        &self,
        node: &str,
        instance: &str,
        run: Uuid,
        sequences: &RangeInclusive<u64>,
    ) -> Result<Vec<Loss>> {
        losses_in(&self.0, node, instance, run, sequences)
    }

    /// Deletes losses from before the oldest file.
    pub fn forget_losses(&mut self) -> Result<()> {
        self.0.execute("DELETE FROM loss WHERE time < (SELECT min(created) FROM segment)", [])?;
        Ok(())
    }
}

/// Removes numbers from the losses that contain them.
fn retract(
    connection: &Connection,
    (node, instance): (&str, &str),
    run: Uuid,
    came: &RangeInclusive<u64>,
) -> Result<()> {
    let of_run = "node = ?1 AND instance = ?2 AND run = ?3";
    let text = run.to_string();
    for Loss { numbers, .. } in losses_in(connection, node, instance, run, came)? {
        let (from, to) = (*numbers.start(), *numbers.end());
        let this = params![node, instance, text, signed(from)];
        if came.end() < &to {
            // Its end stays, as a loss of its own.
            let split = format!(
                "INSERT INTO loss SELECT node, instance, run, {}, to_sequence, cause, time FROM loss
                 WHERE {of_run} AND from_sequence = ?4",
                signed(came.end() + 1)
            );
            connection.execute(&split, this)?;
        }
        if from < *came.start() {
            let cut = format!(
                "UPDATE loss SET to_sequence = {} WHERE {of_run} AND from_sequence = ?4",
                signed(came.start() - 1)
            );
            connection.execute(&cut, this)?;
        } else {
            connection.execute(&format!("DELETE FROM loss WHERE {of_run} AND from_sequence = ?4"), this)?;
        }
    }
    Ok(())
}

/// Returns the losses within these sequence numbers, in order. Losses do not overlap, so only the last of those that begin before can reach
/// into the range.
fn losses_in(
    connection: &Connection,
    node: &str,
    instance: &str,
    run: Uuid,
    sequences: &RangeInclusive<u64>,
) -> Result<Vec<Loss>> {
    let mut statement = connection.prepare_cached(
        "SELECT from_sequence, to_sequence, cause FROM loss
         WHERE node = ?1 AND instance = ?2 AND run = ?3 AND to_sequence >= ?4
           AND from_sequence BETWEEN coalesce(
             (SELECT max(from_sequence) FROM loss
              WHERE node = ?1 AND instance = ?2 AND run = ?3 AND from_sequence <= ?4), ?4) AND ?5
         ORDER BY from_sequence",
    )?;
    let (first, last) = (signed(*sequences.start()), signed(*sequences.end()));
    let losses = statement.query_map(params![node, instance, run.to_string(), first, last], |row| {
        Ok(Loss { numbers: unsigned(row, 0)?..=unsigned(row, 1)?, cause: cause_of(row.get_ref(2)?) })
    })?;
    Ok(losses.collect::<rusqlite::Result<_>>()?)
}

/// Returns the sequence numbers of these that no listed loss contains.
fn without_cause(
    connection: &Connection,
    node: &str,
    instance: &str,
    run: Uuid,
    numbers: RangeInclusive<u64>,
) -> Result<Vec<RangeInclusive<u64>>> {
    let (mut next, end) = numbers.into_inner();
    let mut left = Vec::new();
    for Loss { numbers, .. } in losses_in(connection, node, instance, run, &(next..=end))? {
        if next < *numbers.start() {
            left.push(next..=numbers.start() - 1);
        }
        next = next.max(numbers.end().saturating_add(1));
    }
    if next <= end {
        left.push(next..=end);
    }
    Ok(left)
}

/// Parses a cause. Imports of earlier releases stored any word of a recording.
fn cause_of(word: ValueRef<'_>) -> Cause {
    word.as_str().ok().and_then(Cause::from_word).unwrap_or(Cause::Unexplained)
}
