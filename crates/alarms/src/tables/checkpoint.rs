//! The table of checkpoints.

use super::{signed, unsigned};
use crate::{Checkpoint, CheckpointKey, Position};
use oasis_wire::quantity::{Epoch, Offset};
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

/// The checkpoint with a key.
pub fn get(on: &Connection, key: &CheckpointKey) -> rusqlite::Result<Option<Checkpoint>> {
    let CheckpointKey { rule, node, instance } = key;
    let mut statement =
        on.prepare_cached("SELECT * FROM checkpoint WHERE rule = ? AND node = ? AND instance = ?")?;
    let found = statement.query_row([rule, node, instance], read);
    found.optional()
}

/// The checkpoints of the instances of a node with its rules evaluated together (those without a name of a rule), until they have that many bytes.
pub fn of_node(on: &Connection, node: &str, most: usize) -> rusqlite::Result<Vec<(String, Checkpoint)>> {
    let mut statement = on.prepare_cached("SELECT * FROM checkpoint WHERE rule = '' AND node = ?")?;
    let mut rows = statement.query([node])?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()?.filter(|_| bytes < most) {
        let checkpoint = read(row)?;
        bytes += checkpoint.state.len();
        found.push((row.get("instance")?, checkpoint));
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Checkpoint> {
    let position = Position {
        run: row.get::<_, Option<[u8; 16]>>("run")?.map(Uuid::from_bytes),
        sequence: unsigned(row, "sequence")?,
        epoch: Epoch(unsigned(row, "epoch")?),
        offset: Offset(unsigned(row, "offset")?),
        dac_time: unsigned(row, "dac_time")?,
    };
    Ok(Checkpoint { rule_hash: row.get("rule_hash")?, position, state: row.get("state")? })
}

/// Bytes of the state of a checkpoint; 0 if there is none.
pub fn bytes(on: &Connection, key: &CheckpointKey) -> rusqlite::Result<u64> {
    let CheckpointKey { rule, node, instance } = key;
    let mut statement = on.prepare_cached(
        "SELECT length(state) AS bytes FROM checkpoint WHERE rule = ? AND node = ? AND instance = ?",
    )?;
    let found = statement.query_row([rule, node, instance], |row| unsigned(row, "bytes")).optional()?;
    Ok(found.unwrap_or_default())
}

/// Bytes of the states of all checkpoints.
pub fn total(on: &Connection) -> rusqlite::Result<u64> {
    on.query_row("SELECT coalesce(sum(length(state)), 0) AS bytes FROM checkpoint", [], |row| {
        unsigned(row, "bytes")
    })
}

/// Writes a checkpoint down, instead of an earlier one with its key.
pub fn put(on: &Connection, key: &CheckpointKey, checkpoint: &Checkpoint) -> rusqlite::Result<()> {
    let Position { run, sequence, epoch, offset, dac_time } = checkpoint.position;
    let mut put = on.prepare_cached(
        "INSERT INTO checkpoint (rule, node, instance, rule_hash, run, sequence, epoch, \"offset\", dac_time, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (rule, node, instance) DO UPDATE
         SET rule_hash = excluded.rule_hash, run = excluded.run, sequence = excluded.sequence, epoch = excluded.epoch, \"offset\" = excluded.\"offset\",
             dac_time = excluded.dac_time, state = excluded.state",
    )?;
    let run = run.map(|run| *run.as_bytes());
    let numbers = [sequence, epoch.0, offset.0, dac_time].map(signed);
    put.execute(params![
        key.rule,
        key.node,
        key.instance,
        checkpoint.rule_hash,
        run,
        numbers[0],
        numbers[1],
        numbers[2],
        numbers[3],
        checkpoint.state
    ])?;
    Ok(())
}

/// Returns the keys of up to `most` checkpoints, of those that a caller wants.
pub fn keys(
    on: &Connection,
    is_wanted: impl Fn(&CheckpointKey) -> bool,
    most: usize,
) -> rusqlite::Result<Vec<CheckpointKey>> {
    let mut statement = on.prepare("SELECT rule, node, instance FROM checkpoint")?;
    let keys = statement.query_map([], |row| {
        Ok(CheckpointKey { rule: row.get("rule")?, node: row.get("node")?, instance: row.get("instance")? })
    })?;
    let wanted = keys.filter(|key| key.as_ref().map_or(true, &is_wanted));
    wanted.take(most).collect()
}

/// Removes a checkpoint.
pub fn remove(on: &Connection, key: &CheckpointKey) -> rusqlite::Result<()> {
    let CheckpointKey { rule, node, instance } = key;
    on.prepare_cached("DELETE FROM checkpoint WHERE rule = ? AND node = ? AND instance = ?")?
        .execute([rule, node, instance])?;
    Ok(())
}
