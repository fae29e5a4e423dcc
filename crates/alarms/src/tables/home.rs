//! The table of the connections under which the alarms of nodes are here.

use super::{maybe_signed, maybe_unsigned, signed, unsigned};
use crate::NodeConnection;
use rusqlite::{Connection, params};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Most nodes. The ones whose connection came first make room.
pub const MAX_NODES: usize = 20_000;

/// All of them.
pub fn all(on: &Connection) -> rusqlite::Result<BTreeMap<String, NodeConnection>> {
    let mut statement = on.prepare("SELECT * FROM home")?;
    let homes = statement.query_map([], |row| {
        let run = Uuid::from_bytes(row.get("run")?);
        let home =
            NodeConnection { run, attach: maybe_unsigned(row, "attach")?, since: unsigned(row, "since")? };
        Ok((row.get("node")?, home))
    })?;
    homes.collect()
}

/// Writes down the connection of a node.
pub fn put(on: &Connection, node: &str, home: &NodeConnection) -> rusqlite::Result<()> {
    on.prepare_cached("INSERT OR REPLACE INTO home VALUES (?, ?, ?, ?)")?.execute(params![
        node,
        home.run.as_bytes(),
        maybe_signed(home.attach),
        signed(home.since)
    ])?;
    Ok(())
}

/// Removes those that are too many.
pub fn bound(on: &Connection) -> rusqlite::Result<()> {
    on.prepare_cached(
        "DELETE FROM home WHERE node IN (SELECT node FROM home ORDER BY since DESC LIMIT -1 OFFSET ?)",
    )?
    .execute([MAX_NODES as i64])?;
    Ok(())
}
