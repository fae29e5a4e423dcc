//! The name under which a DAC writes: one connection has it at a time, so that positions have one writer.
//!
//! The database keeps the name locked (an advisory lock) for as long as the connection that writes. A connection that a dead host has left is closed
//! by the keepalives that the connection asks for.

use super::{failure::Failure, tables::qualified};
use oasis_wire::quantity::Epoch;
use tokio_postgres::Client;

/// The DAC that writes.
#[derive(Debug, Clone)]
pub struct Writer {
    /// Its name, which no other writer of the schema has at the same time.
    pub name: String,
    /// Its life.
    pub epoch: Epoch,
}

/// Key of the lock of a name: schema and name.
const KEY: &str = "hashtextextended(format('oasis writer %I %L', $1::text, $2::text), 0)";

impl Writer {
    /// Takes the name for this connection.
    ///
    /// # Errors
    /// [`Failure::NameTaken`] if another connection has it, or if the database fails.
    pub async fn take_name(&self, client: &Client, schema: &str) -> Result<(), Failure> {
        let table = qualified(schema, "oasis_writer");
        let epoch = self.epoch.to_string();
        let sql = format!("SELECT pg_try_advisory_lock({KEY})");
        let is_taken = !client.query_one(&sql, &[&schema, &self.name]).await?.get::<_, bool>(0);
        if is_taken {
            let sql = format!("SELECT epoch, process, since::text FROM {table} WHERE name = $1");
            let holder = client.query_opt(&sql, &[&self.name]).await?;
            if holder.as_ref().is_some_and(|row| row.get::<_, &str>(0) == epoch) {
                self.end_own_connections(client, schema).await?;
            }
            let (process, since) = holder.map(|row| (row.get(1), row.get(2))).unwrap_or_default();
            return Err(Failure::NameTaken { name: self.name.clone(), process, since });
        }
        let sql = format!(
            "INSERT INTO {table} (name, epoch, process) VALUES ($1, $2, $3)
             ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, process = excluded.process, since = now()"
        );
        let process = i64::from(std::process::id());
        client.execute(&sql, &[&self.name, &epoch, &process]).await?;
        Ok(())
    }

    /// Ends connections of this DAC that the database has not noticed the end of.
    async fn end_own_connections(&self, client: &Client, schema: &str) -> Result<(), Failure> {
        let sql = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_locks
             WHERE locktype = 'advisory' AND granted AND objsubid = 1
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
               AND ((classid::bigint << 32) | objid::bigint) = {KEY}"
        );
        client.query_one(&sql, &[&schema, &self.name]).await?;
        Ok(())
    }
}
