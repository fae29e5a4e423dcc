//! Positions at which writers continue, and the gaps that they report: the parts of a round that are no samples.

use super::{database::Database, failure::Failure, tables::qualified};
use oasis_dac::Gap;
use oasis_wire::quantity::{Epoch, Offset, Position};
use std::{
    collections::HashMap,
    time::{Duration, SystemTime},
};
use tokio_postgres::{Error, Transaction, types::ToSql};

/// Positions of instances, by node and name.
pub type Positions = [(String, String, Position)];

/// A gap of an instance, by node and name.
pub type GapRow = (String, String, Gap);

impl Database {
    /// Returns the position of each instance's next sample, by node and instance: the latest that is in one of these epochs. A DAC
    /// knows a position by its epoch, whichever name it wrote under.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn positions(&self, epochs: &[Epoch]) -> Result<HashMap<(String, String), Position>, Failure> {
        let earlier = qualified(&self.schema, "oasis_position");
        let has_earlier =
            self.client.query_one("SELECT to_regclass($1::text) IS NOT NULL", &[&earlier]).await?;
        let earlier = match has_earlier.get(0) {
            true => format!(
                "UNION ALL SELECT node, instance, epoch, next, '-infinity' FROM {earlier} WHERE epoch = ANY($1)"
            ),
            false => String::new(),
        };
        let sql = format!(
            "SELECT DISTINCT ON (node, instance) node, instance, epoch, next::text FROM (
                 SELECT node, instance, epoch, next, written FROM {} WHERE epoch = ANY($1) {earlier}
             ) known ORDER BY node, instance, written DESC",
            qualified(&self.schema, "oasis_writer_position")
        );
        let epochs: Vec<String> = epochs.iter().map(Epoch::to_string).collect();
        let rows = self.client.query(&sql, &[&epochs]).await?;
        let position = |row: &tokio_postgres::Row| {
            let (epoch, next): (&str, &str) = (row.get(2), row.get(3));
            let at = Position { epoch: epoch.parse().ok()?, offset: Offset(next.parse().ok()?) };
            Some(((row.get(0), row.get(1)), at))
        };
        Ok(rows.iter().filter_map(position).collect())
    }

    /// Writes gaps. One that this writer has reported before stays as it is.
    ///
    /// # Errors
    /// If they cannot be written.
    pub async fn put_gaps(&self, gaps: &[GapRow]) -> Result<(), Failure> {
        if gaps.is_empty() {
            return Ok(());
        }
        let sql = format!(
            "INSERT INTO {} (writer, node, instance, run, from_sequence, to_sequence, cause, noticed)
             SELECT $1, node, instance, run::uuid, from_sequence::numeric, to_sequence::numeric, cause, noticed
             FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
                 AS given (node, instance, run, from_sequence, to_sequence, cause, noticed)
             ON CONFLICT DO NOTHING",
            qualified(&self.schema, "oasis_gap")
        );
        let nodes: Vec<&str> = gaps.iter().map(|(node, ..)| node.as_str()).collect();
        let instances: Vec<&str> = gaps.iter().map(|(_, instance, _)| instance.as_str()).collect();
        let runs: Vec<String> = gaps.iter().map(|(.., gap)| gap.run.to_string()).collect();
        let from: Vec<String> = gaps.iter().map(|(.., gap)| gap.from_sequence.to_string()).collect();
        let to: Vec<String> = gaps.iter().map(|(.., gap)| gap.to_sequence.to_string()).collect();
        let causes: Vec<&str> = gaps.iter().map(|(.., gap)| gap.cause.word()).collect();
        let noticed = |(.., gap): &GapRow| SystemTime::UNIX_EPOCH + Duration::from_nanos(gap.time.0);
        let noticed: Vec<SystemTime> = gaps.iter().map(noticed).collect();
        let values: [&(dyn ToSql + Sync); 8] =
            [&self.writer.name, &nodes, &instances, &runs, &from, &to, &causes, &noticed];
        self.client.execute(&sql, &values).await?;
        Ok(())
    }
}

/// Writes positions of a writer in a transaction.
///
/// # Errors
/// If they cannot be written.
pub async fn put_positions(
    transaction: &Transaction<'_>,
    (schema, writer): (&str, &str),
    positions: &Positions,
) -> Result<(), Error> {
    if positions.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "INSERT INTO {} (writer, node, instance, epoch, next)
         SELECT $1, node, instance, epoch, next::numeric FROM unnest($2::text[], $3::text[], $4::text[], $5::text[])
             AS given (node, instance, epoch, next)
         ON CONFLICT (writer, node, instance) DO UPDATE SET epoch = excluded.epoch, next = excluded.next, written = now()",
        qualified(schema, "oasis_writer_position")
    );
    let nodes: Vec<&str> = positions.iter().map(|(node, ..)| node.as_str()).collect();
    let instances: Vec<&str> = positions.iter().map(|(_, instance, _)| instance.as_str()).collect();
    let epochs: Vec<String> = positions.iter().map(|(.., at)| at.epoch.to_string()).collect();
    let next: Vec<String> = positions.iter().map(|(.., at)| at.offset.0.to_string()).collect();
    transaction.execute(&sql, &[&writer, &nodes, &instances, &epochs, &next]).await?;
    Ok(())
}
