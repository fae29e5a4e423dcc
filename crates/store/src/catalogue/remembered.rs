//! The nodes and instances that a starting DAC restores, and the removal of rows that nothing refers to, in SQL.

use super::{Catalogue, CatalogueError, Result, parsed, read_kind, read_type, signed, unsigned};
use oasis_wire::{
    loss::Cause,
    quantity::Nanos,
    schema::ProbeType,
    stored::{FormerRun, RunOwner, StoredInstance, StoredNode, StoredRun},
};
use rusqlite::{Connection, Row, Rows, params};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// Runs of an instance that a DAC restores: a node may send the samples of this many earlier processes again.
pub const MAX_RUNS: usize = 16;

impl Catalogue {
    /// Returns all stored instances. Without samples, only roll-ups, there are no runs and the time is 0.
    pub fn stored(&self) -> Result<Vec<StoredInstance>> {
        // The newest series of an instance has the greatest id.
        let mut statement = self.0.prepare(
            "SELECT instance.node, instance.name, newest.kind, newest.run, newest.type, instance.id,
                    coalesce(max(extent.max_time), 0)
             FROM instance
             JOIN series AS newest
               ON newest.id = (SELECT max(id) FROM series WHERE series.instance = instance.id)
             JOIN series ON series.instance = instance.id
             LEFT JOIN extent ON extent.series = series.id
             GROUP BY instance.id",
        )?;
        let types = self.types_by_number()?;
        let mut runs = self.runs_by_instance()?;
        let mut rows = statement.query([])?;
        let mut stored = Vec::new();
        while let Some(row) = rows.next()? {
            let of_instance = runs.remove(&row.get(5)?).unwrap_or_default();
            stored.push(read_stored(row, &types, of_instance)?);
        }
        Ok(stored)
    }

    /// Returns the newest runs with samples, by the number of the instance.
    fn runs_by_instance(&self) -> Result<HashMap<i64, Vec<StoredRun>>> {
        let mut statement = self.0.prepare(
            "SELECT series.instance, series.run, max(extent.last_sequence),
                    coalesce((SELECT max(loss.to_sequence) FROM loss
                              WHERE loss.node = instance.node AND loss.instance = instance.name
                                AND loss.run = series.run AND loss.cause = ?), 0)
             FROM series
             JOIN instance ON instance.id = series.instance
             JOIN extent ON extent.series = series.id
             GROUP BY series.instance, series.run
             ORDER BY max(series.id)",
        )?;
        let mut rows = statement.query([Cause::NodeRestart.word()])?;
        let mut runs: HashMap<i64, Vec<StoredRun>> = HashMap::new();
        while let Some(row) = rows.next()? {
            let run: String = row.get(1)?;
            let (last_sequence, taken) = (unsigned(row, 2)?, unsigned(row, 3)?);
            let of_instance = runs.entry(row.get(0)?).or_default();
            if of_instance.len() == MAX_RUNS {
                of_instance.remove(0);
            }
            of_instance.push(StoredRun { run: parsed(&run, "run")?, last_sequence, taken });
        }
        Ok(runs)
    }

    /// All types by number, shared between instances.
    fn types_by_number(&self) -> Result<HashMap<i64, Arc<ProbeType>>> {
        let mut statement = self.0.prepare("SELECT id, schema FROM type")?;
        let mut rows = statement.query([])?;
        let mut types = HashMap::new();
        while let Some(row) = rows.next()? {
            types.insert(row.get(0)?, Arc::new(read_type(row.get(1)?)?));
        }
        Ok(types)
    }

    /// Adds a node; an existing one stays unchanged.
    pub fn add_stored_node(&self, node: &StoredNode) -> Result<()> {
        let StoredNode { name, uuid, host, software, last_seen, run: _, owner: _, former: _ } = node;
        self.0.execute(
            "INSERT OR IGNORE INTO node (name, uuid, host, software, last_seen) VALUES (?, ?, ?, ?, ?)",
            params![name, uuid.to_string(), host, software, signed(last_seen.0)],
        )?;
        Ok(())
    }

    /// All known nodes.
    pub fn nodes(&self) -> Result<Vec<StoredNode>> {
        // A reader may have a catalogue of an earlier version, without this table.
        let mut former =
            self.0.prepare("SELECT run, owner FROM former_run WHERE node = ? ORDER BY place").ok();
        let mut statement = self.0.prepare("SELECT * FROM node")?;
        let mut rows = statement.query([])?;
        let mut nodes = Vec::new();
        while let Some(row) = rows.next()? {
            let uuid: String = row.get("uuid")?;
            let name: String = row.get("name")?;
            // A reader may have a catalogue of an earlier version, without these columns.
            let run: Option<String> = row.get("run").unwrap_or_default();
            nodes.push(StoredNode {
                former: match &mut former {
                    Some(former) => read_former(former.query([&name])?)?,
                    None => Vec::new(),
                },
                name,
                // Only informative: skip unreadable rows.
                uuid: uuid.parse().unwrap_or_default(),
                host: row.get("host")?,
                software: row.get("software")?,
                last_seen: Nanos(row.get::<_, i64>("last_seen")? as u64),
                run: run.and_then(|run| run.parse().ok()),
                owner: row.get::<_, Option<[u8; 32]>>("owner").unwrap_or_default().map(RunOwner::from_bytes),
            });
        }
        Ok(nodes)
    }

    /// Deletes series, instances, types and damage without a file, except for instances in roll-ups.
    pub fn remove_unreferenced(&mut self, rolled: &BTreeMap<(Arc<str>, Arc<str>), u64>) -> Result<()> {
        let transaction = self.0.transaction()?;
        transaction.execute_batch(
            "DELETE FROM damage WHERE segment NOT IN (SELECT number FROM segment);
             DELETE FROM series
             WHERE id NOT IN (SELECT series FROM extent) AND id NOT IN (SELECT series FROM gap)
               AND id NOT IN (SELECT max(id) FROM series GROUP BY instance);",
        )?;
        let empty: Vec<(i64, String, String)> = transaction
            .prepare(
                "SELECT id, node, name FROM instance
                 WHERE NOT EXISTS (SELECT 1 FROM series JOIN extent ON extent.series = series.id
                                   WHERE series.instance = instance.id)
                   AND NOT EXISTS (SELECT 1 FROM series JOIN gap ON gap.series = series.id
                                   WHERE series.instance = instance.id)",
            )?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (id, node, name) in empty {
            if !rolled.contains_key(&(node.into(), name.into())) {
                transaction.execute("DELETE FROM series WHERE instance = ?", [id])?;
                transaction.execute("DELETE FROM instance WHERE id = ?", [id])?;
            }
        }
        transaction.execute("DELETE FROM type WHERE id NOT IN (SELECT type FROM series)", [])?;
        Ok(transaction.commit()?)
    }
}

/// Notes the earlier runs of a node and their owners. Unchanged rows are not written.
pub(super) fn note_former_runs(connection: &Connection, node: &str, former: &[FormerRun]) -> Result<()> {
    let mut noted =
        connection.prepare_cached("SELECT run, owner FROM former_run WHERE node = ? ORDER BY place")?;
    if read_former(noted.query([node])?)? == former {
        return Ok(());
    }
    connection.execute("DELETE FROM former_run WHERE node = ?", [node])?;
    let mut insert = connection.prepare_cached("INSERT INTO former_run VALUES (?, ?, ?, ?)")?;
    for (place, (run, owner)) in (0_i64..).zip(former) {
        insert.execute(params![node, run.to_string(), owner.as_bytes(), place])?;
    }
    Ok(())
}

fn read_former(mut rows: Rows<'_>) -> Result<Vec<FormerRun>> {
    let mut former = Vec::new();
    while let Some(row) = rows.next()? {
        let run: String = row.get("run")?;
        former.push((parsed(&run, "run")?, RunOwner::from_bytes(row.get("owner")?)));
    }
    Ok(former)
}

fn read_stored(
    row: &Row<'_>,
    types: &HashMap<i64, Arc<ProbeType>>,
    runs: Vec<StoredRun>,
) -> Result<StoredInstance> {
    let number = row.get(4)?;
    let probe_type =
        types.get(&number).ok_or_else(|| CatalogueError::Damaged(format!("no type {number}")))?;
    let (node, instance): (String, String) = (row.get(0)?, row.get(1)?);
    let (kind, run): (String, String) = (row.get(2)?, row.get(3)?);
    Ok(StoredInstance {
        node: node.into(),
        instance: instance.into(),
        probe_type: probe_type.clone(),
        kind: read_kind(kind)?,
        run: parsed(&run, "run")?,
        runs,
        last_time: unsigned(row, 6)?,
    })
}
