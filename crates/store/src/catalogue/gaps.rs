//! Gaps: samples that were received and not stored, in SQL.

use super::{Catalogue, CatalogueError, Result, signed, unsigned};
use crate::gap::Gap;
use oasis_wire::{
    loss::Cause,
    quantity::{Epoch, Nanos, Offset},
};
use rusqlite::params;
use uuid::Uuid;

/// Gaps of one series do not overlap, so the first one that ends after an offset is the next; tens of thousands may follow.
const NEXT: &str = "
    SELECT gap.from_offset, gap.to_offset, gap.cause, gap.time, series.run FROM instance
    JOIN series ON series.instance = instance.id
    JOIN gap ON gap.rowid = (SELECT next.rowid FROM gap AS next WHERE next.series = series.id AND next.to_offset > ?4
                             ORDER BY next.to_offset LIMIT 1)
    WHERE instance.node = ?1 AND instance.name = ?2 AND series.epoch = ?3
    ORDER BY gap.from_offset LIMIT 1";

impl Catalogue {
    /// Returns the first gap of an instance in this epoch that does not end before an offset, and the node's run that its samples belong to.
    pub fn next_gap(
        &self,
        node: &str,
        instance: &str,
        epoch: Epoch,
        at: Offset,
    ) -> Result<Option<(Gap, Uuid)>> {
        let mut statement = self.0.prepare_cached(NEXT)?;
        let mut rows = statement.query(params![node, instance, epoch.to_string(), signed(at.0)])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let cause: String = row.get(2)?;
        let gap = Gap {
            from: Offset(unsigned(row, 0)?),
            to: Offset(unsigned(row, 1)?),
            cause: Cause::from_word(&cause).ok_or(CatalogueError::Value(cause, "cause"))?,
            time: Nanos(unsigned(row, 3)?),
        };
        let run: String = row.get(4)?;
        let run = run.parse().map_err(|_| CatalogueError::Value(run, "run"))?;
        Ok(Some((gap, run)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::StatementStatus;

    const EPOCH: Epoch = Epoch(7);

    /// With a gap of five offsets in each ten, of two runs one after the other.
    fn with_gaps(folder: &std::path::Path, gaps: u64) -> Catalogue {
        let catalogue = Catalogue::open(&folder.join("catalogue.sqlite")).unwrap();
        let setup = format!(
            "PRAGMA foreign_keys = false;
             INSERT INTO instance VALUES (1, 'plant', 'counter');
             INSERT INTO series VALUES (1, 1, 1, 'pushed', '{a}', '{EPOCH}'), (2, 1, 1, 'pushed', '{b}', '{EPOCH}'), (3, 1, 1, 'pushed', '{b}', '{}');
             WITH RECURSIVE number(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM number WHERE value < {gaps} - 1)
             INSERT INTO gap SELECT 1, CASE WHEN value < {gaps} / 2 THEN 1 ELSE 2 END, value * 10 + 5, value * 10 + 10, 'disk_full', 1
             FROM number;
             INSERT INTO gap VALUES (1, 3, 0, 1000000, 'disk_full', 1);",
            Epoch(8),
            a = Uuid::from_u128(1),
            b = Uuid::from_u128(2)
        );
        catalogue.0.execute_batch(&setup).unwrap();
        catalogue
    }

    fn next(catalogue: &Catalogue, at: u64) -> Option<(u64, u64)> {
        let gap = catalogue.next_gap("plant", "counter", EPOCH, Offset(at)).unwrap();
        gap.map(|(gap, _)| (gap.from.0, gap.to.0))
    }

    #[test]
    fn the_next_gap_may_be_of_any_run() {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = with_gaps(folder.path(), 40);
        let found = [0, 5, 9, 10, 199, 200, 399].map(|at| next(&catalogue, at));
        let expected = [(5, 10), (5, 10), (5, 10), (15, 20), (195, 200), (205, 210), (395, 400)];
        assert_eq!(found, expected.map(Some));
        assert_eq!(next(&catalogue, 400), None);
    }

    #[test]
    fn many_gaps_do_not_slow_the_search_for_the_next() {
        let steps = |gaps: u64| {
            let folder = tempfile::tempdir().unwrap();
            let catalogue = with_gaps(folder.path(), gaps);
            let mut statement = catalogue.0.prepare(NEXT).unwrap();
            let most = [0, gaps * 5, gaps * 10 - 1].map(|at| {
                let rows = statement
                    .query_row(params!["plant", "counter", EPOCH.to_string(), signed(at)], |row| {
                        row.get::<_, i64>(0)
                    });
                rows.unwrap();
                statement.reset_status(StatementStatus::VmStep)
            });
            most.into_iter().max().unwrap()
        };
        let (few, many) = (steps(10), steps(20_000));
        assert!(many <= few + 20, "{few} steps with 10 gaps, {many} with 20,000");
    }
}
