//! Commands that were sent to probes, in SQL.

use super::{Catalogue, Result, signed};
use oasis_wire::quantity::{Epoch, Nanos};
use rusqlite::params;

/// Most commands; the oldest are deleted.
const MAX_COMMANDS: u64 = 100_000;

/// A command that was sent to an instance, and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRow<'a> {
    /// Its number in this epoch.
    pub id: u64,
    /// When it was sent.
    pub time: Nanos,
    /// The principal that sent it.
    pub who: &'a str,
    /// Node name.
    pub node: &'a str,
    /// Instance name.
    pub instance: &'a str,
    /// The command, in JSON.
    pub command: String,
    /// Its outcome.
    pub outcome: &'a str,
}

impl Catalogue {
    /// Adds commands and their outcomes.
    pub fn add_commands(&mut self, epoch: Epoch, commands: &[CommandRow<'_>]) -> Result<()> {
        let transaction = self.0.transaction()?;
        for entry in commands {
            let mut insert = transaction
                .prepare_cached("INSERT OR REPLACE INTO command VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
            insert.execute(params![
                epoch.to_string(),
                signed(entry.id),
                signed(entry.time.0),
                entry.who,
                entry.node,
                entry.instance,
                entry.command,
                entry.outcome
            ])?;
        }
        Ok(transaction.commit()?)
    }

    /// Deletes the oldest commands if there are too many, and returns their number. Reads the whole table: do not call it every round.
    pub fn forget_commands(&mut self) -> Result<u64> {
        let forgotten = self.0.execute(
            "DELETE FROM command WHERE time <= (SELECT time FROM command ORDER BY time DESC LIMIT 1 OFFSET ?)",
            [signed(MAX_COMMANDS)],
        )?;
        Ok(forgotten as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_deleted_at_the_bound_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mut catalogue = Catalogue::open(&folder.path().join("catalogue.sqlite")).unwrap();
        let many = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
            INSERT INTO command SELECT 'e', i, i, 'who', 'node', 'instance', '{}', 'done' FROM n";
        catalogue.0.execute(many, [signed(MAX_COMMANDS + 9)]).unwrap();
        let newest = CommandRow {
            id: 1,
            time: Nanos(MAX_COMMANDS * 2),
            who: "who",
            node: "node",
            instance: "instance",
            command: r#"{"command":"enable"}"#.into(),
            outcome: "done",
        };
        catalogue.add_commands(Epoch(1), &[newest]).unwrap();
        assert_eq!(catalogue.forget_commands().unwrap(), 10);
        let left = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        let left = catalogue.0.query_row("SELECT count(*), min(time) FROM command", [], left).unwrap();
        assert_eq!(left, (signed(MAX_COMMANDS), 11));
        assert_eq!(catalogue.forget_commands().unwrap(), 0);
    }
}
