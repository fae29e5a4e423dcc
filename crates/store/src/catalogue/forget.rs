//! Removes all rows of a node or an instance, in SQL.

use super::{Catalogue, Result, unsigned};
use crate::forget::Forgotten;
use rusqlite::{Connection, params};

/// Entries of a node or an instance in the catalogue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Instances.
    pub instances: u64,
    /// Stored samples in sealed files.
    pub samples: u64,
    /// Segment files with some of them.
    pub files: u64,
    /// Annotations of nothing else.
    pub annotations: u64,
    /// Commands in the journal.
    pub commands: u64,
    /// Causes of losses.
    pub losses: u64,
}

/// Whether a row is of the node `?1`, and of its instance `?2` unless that is null.
const OF_IT: &str = "node = ?1 AND (?2 IS NULL OR instance = ?2)";

/// The series of it.
const SERIES: &str = "SELECT series.id FROM series JOIN instance ON instance.id = series.instance
     WHERE instance.node = ?1 AND (?2 IS NULL OR instance.name = ?2)";

/// Annotations with targets that are all of it.
const ITS_ANNOTATIONS: &str = "SELECT annotation FROM annotation_target GROUP BY annotation
     HAVING sum(node = ?1 AND (?2 IS NULL OR instance IS ?2)) = count(*)";

impl Catalogue {
    /// Returns what there is of it.
    pub fn holdings(&self, of: &Forgotten) -> Result<Holdings> {
        let count = |query: &str| -> Result<u64> {
            Ok(self.0.query_row(query, params![of.node, of.instance], |row| unsigned(row, 0))?)
        };
        Ok(Holdings {
            instances: count("SELECT count(*) FROM instance WHERE node = ?1 AND (?2 IS NULL OR name = ?2)")?,
            samples: count(&format!(
                "SELECT coalesce(sum(samples), 0) FROM extent WHERE series IN ({SERIES})"
            ))?,
            files: self.segments_of(of)?.len() as u64,
            annotations: count(&format!("SELECT count(*) FROM ({ITS_ANNOTATIONS})"))?,
            commands: count(&format!("SELECT count(*) FROM command WHERE {OF_IT}"))?,
            losses: count(&format!("SELECT count(*) FROM loss WHERE {OF_IT}"))?,
        })
    }

    /// Returns the files with samples or gaps of it.
    pub fn segments_of(&self, of: &Forgotten) -> Result<Vec<u64>> {
        let mut statement = self.0.prepare(&format!(
            "SELECT segment FROM extent WHERE series IN ({SERIES}) UNION SELECT segment FROM gap WHERE series IN ({SERIES})
             ORDER BY 1"
        ))?;
        let numbers = statement.query_map(params![of.node, of.instance], |row| unsigned(row, 0))?;
        Ok(numbers.collect::<rusqlite::Result<_>>()?)
    }

    /// Removes all that is not of segment files. Deleted content is overwritten with zeros.
    pub fn forget(&mut self, of: &Forgotten) -> Result<()> {
        self.0.pragma_update(None, "secure_delete", true)?;
        let is_node = of.instance.is_none();
        self.change(|transaction| {
            let delete =
                |statement: &str| transaction.execute(statement, params![of.node, of.instance]).map(drop);
            delete(&format!("DELETE FROM annotation WHERE id IN ({ITS_ANNOTATIONS})"))?;
            delete("DELETE FROM annotation_target WHERE node = ?1 AND (?2 IS NULL OR instance IS ?2)")?;
            for table in ["command", "loss", "expired"] {
                delete(&format!("DELETE FROM {table} WHERE {OF_IT}"))?;
            }
            delete(&format!("DELETE FROM series WHERE id IN ({SERIES})"))?;
            delete("DELETE FROM instance WHERE node = ?1 AND (?2 IS NULL OR name = ?2)")?;
            if is_node {
                forget_node(transaction, &of.node)?;
            }
            Ok::<_, super::CatalogueError>(())
        })?;
        self.0.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(self.0.pragma_update(None, "secure_delete", false)?)
    }

    /// Removes what is known of damage in a file that was written again.
    pub fn remove_damage(&mut self, segment: u64) -> Result<()> {
        self.0.execute("DELETE FROM damage WHERE segment = ?", [super::signed(segment)])?;
        Ok(())
    }
}

fn forget_node(connection: &Connection, node: &str) -> Result<()> {
    connection.execute("DELETE FROM former_run WHERE node = ?", [node])?;
    connection.execute("DELETE FROM node WHERE name = ?", [node])?;
    Ok(())
}
