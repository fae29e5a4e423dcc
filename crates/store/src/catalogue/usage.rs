//! Bytes of instances in the sealed files, for retention by size, in SQL.

use super::{Catalogue, Result, signed, unsigned};
use crate::fair_share::{FileShare, Usage};
use std::{collections::BTreeMap, sync::Arc};

impl Catalogue {
    /// Returns the bytes of all instances by the pattern of the rule. Reads the whole table.
    pub fn usage(&self) -> Result<BTreeMap<String, Usage>> {
        let mut statement = self.0.prepare(
            "SELECT segment.rule, instance.node, instance.name, sum(extent.bytes)
             FROM extent JOIN segment ON segment.number = extent.segment
             JOIN series ON series.id = extent.series JOIN instance ON instance.id = series.instance
             GROUP BY segment.rule, instance.id ORDER BY instance.node",
        )?;
        let mut rows = statement.query([])?;
        let mut usage: BTreeMap<String, Usage> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let share = FileShare { node: row.get(1)?, instance: row.get(2)?, bytes: unsigned(row, 3)? };
            usage.entry(row.get(0)?).or_default().add(&share);
        }
        Ok(usage)
    }

    /// Returns the bytes of each instance in a file.
    pub fn file_shares(&self, segment: u64) -> Result<Arc<[FileShare]>> {
        let mut statement = self.0.prepare_cached(
            "SELECT instance.node, instance.name, sum(extent.bytes)
             FROM extent JOIN series ON series.id = extent.series JOIN instance ON instance.id = series.instance
             WHERE extent.segment = ? GROUP BY instance.id",
        )?;
        let shares = statement.query_map([signed(segment)], |row| {
            Ok(FileShare { node: row.get(0)?, instance: row.get(1)?, bytes: unsigned(row, 2)? })
        })?;
        Ok(shares.collect::<rusqlite::Result<_>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::versions::VERSIONS;
    use rusqlite::Connection;

    #[test]
    fn files_of_earlier_releases_are_divided_by_their_samples() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalogue.sqlite");
        let earlier = Connection::open(&path).unwrap();
        VERSIONS[..5].iter().for_each(|step| earlier.execute_batch(step).unwrap());
        earlier
            .execute_batch(
                "INSERT INTO type VALUES (1, 'u', 'T', '1.0', '{}');
                 INSERT INTO instance VALUES (1, 'plant', 'a'), (2, 'mill', 'b');
                 INSERT INTO series VALUES (1, 1, 1, 'pushed', 'r', '1'), (2, 2, 1, 'pushed', 'r', '1');
                 INSERT INTO segment VALUES (7, '*', 0, 0, 4000, 40, 0, 9), (8, '*', 0, 0, 0, 0, 0, 0);
                 INSERT INTO extent VALUES (7, 1, 1, 0, 30, 30, 0, 9, 30), (7, 2, 2, 0, 10, 10, 0, 9, 10),
                                           (8, 1, 1, 30, 30, 0, 0, 0, 30);",
            )
            .unwrap();
        drop(earlier);
        let catalogue = Catalogue::open(&path).unwrap();
        let usage = catalogue.usage().unwrap();
        let by_node: Vec<_> = usage["*"].by_node().map(|(node, bytes)| (node.to_string(), bytes)).collect();
        assert_eq!(by_node, [("mill".to_owned(), 1_000), ("plant".to_owned(), 3_000)]);
        let shares = catalogue.file_shares(7).unwrap();
        assert_eq!(shares.iter().map(|share| share.bytes).collect::<Vec<_>>(), [3_000, 1_000]);
    }
}
