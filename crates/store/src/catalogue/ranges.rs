//! The times of the samples of instances, in SQL.

use super::{Catalogue, Result, unsigned, version};
use crate::{plausible::joined, reach::Reach};
use rusqlite::Row;
use std::collections::BTreeMap;

/// The first version with plausible times. Archives of earlier ones can be read.
const PLAUSIBLE_TIMES_VERSION: usize = 6;

/// Bounds of the times of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// Bounds of all samples.
    pub all: Reach,
    /// Bounds of samples with plausible times; `None` if there are no such samples.
    pub plausible: Option<Reach>,
}

impl TimeRange {
    /// Returns the range of both.
    pub fn and(self, other: Self) -> Self {
        let all = (self.all.0.min(other.all.0), self.all.1.max(other.all.1));
        Self { all, plausible: joined(self.plausible, other.plausible) }
    }

    /// Returns the plausible times, or all if none is plausible.
    pub fn reach(self) -> Reach {
        self.plausible.unwrap_or(self.all)
    }
}

impl Catalogue {
    /// Times of the samples in sealed files, of each instance.
    pub fn ranges(&self) -> Result<BTreeMap<(String, String), TimeRange>> {
        let select = self.select("GROUP BY instance.id")?;
        let mut statement = self.0.prepare_cached(&select)?;
        let mut rows = statement.query([])?;
        let mut ranges = BTreeMap::new();
        while let Some(row) = rows.next()? {
            ranges.insert((row.get(0)?, row.get(1)?), read(row)?);
        }
        Ok(ranges)
    }

    /// As [`Catalogue::ranges`], for one instance; `None` if no sealed file has samples of it.
    pub fn range_of(&self, node: &str, instance: &str) -> Result<Option<TimeRange>> {
        let select = self.select("WHERE instance.node = ? AND instance.name = ? GROUP BY instance.id")?;
        let mut statement = self.0.prepare_cached(&select)?;
        let mut rows = statement.query([node, instance])?;
        rows.next()?.map(read).transpose()
    }

    fn select(&self, which: &str) -> Result<String> {
        let [least, greatest] = match version(&self.0)? {
            PLAUSIBLE_TIMES_VERSION.. => ["plausible_min", "plausible_max"],
            _ => ["min_time", "max_time"],
        };
        Ok(format!(
            "SELECT instance.node, instance.name, min(extent.min_time), max(extent.max_time),
                    min(extent.{least}), max(extent.{greatest})
             FROM instance
             JOIN series ON series.instance = instance.id
             JOIN extent ON extent.series = series.id
             {which}"
        ))
    }
}

fn read(row: &Row<'_>) -> Result<TimeRange> {
    let plausible = row.get::<_, Option<i64>>(4)?.zip(row.get::<_, Option<i64>>(5)?);
    Ok(TimeRange {
        all: (unsigned(row, 2)?, unsigned(row, 3)?),
        plausible: plausible.map(|(least, greatest)| (least as u64, greatest as u64)),
    })
}
