//! The last time at which the wall clock was trusted, in SQL.

use super::{Catalogue, Result, signed, unsigned};
use crate::clock_watch::TrustedTime;
use oasis_wire::quantity::Nanos;
use rusqlite::{OptionalExtension, params};
use std::time::Duration;

impl Catalogue {
    /// Returns the last recorded time.
    pub fn trusted_time(&self) -> Result<Option<TrustedTime>> {
        let select = "SELECT boot, since_boot, wall, frozen FROM trusted_time";
        let row = self.0.query_row(select, [], |row| {
            Ok(TrustedTime {
                boot: row.get(0)?,
                since_boot: Duration::from_nanos(unsigned(row, 1)?),
                wall: Nanos(unsigned(row, 2)?),
                is_frozen: row.get(3)?,
            })
        });
        Ok(row.optional()?)
    }

    /// Records a time.
    pub fn record_trusted_time(&mut self, time: &TrustedTime) -> Result<()> {
        let since_boot = u64::try_from(time.since_boot.as_nanos()).unwrap_or(u64::MAX);
        self.0.execute(
            "INSERT OR REPLACE INTO trusted_time VALUES (1, ?, ?, ?, ?)",
            params![time.boot, signed(since_boot), signed(time.wall.0), time.is_frozen],
        )?;
        Ok(())
    }
}
