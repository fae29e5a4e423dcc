//! SQL for readers that do not speak HTTP: with the same tables, rights, limits and audit log.

use super::{Archived, MAX_RECORDED_CHARS, Turn, open_for};
use crate::Api;
use oasis_access::{Target, Verb};
use oasis_http::{
    Problem,
    permissions::{Caller, Permissions},
};
use oasis_query::GuardedSql;
use serde_json::json;
use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// Queries of another protocol.
#[derive(Debug, Clone)]
pub struct Queries(Api);

impl Api {
    /// Returns the queries for another protocol.
    pub fn queries(&self) -> Queries {
        Queries(self.clone())
    }
}

impl Queries {
    /// Upper bound of the time of a query.
    pub const TIMEOUT: Duration = super::QUERY_TIMEOUT;
    /// Longest text of a query, bytes.
    pub const MAX_BYTES: usize = super::MAX_QUERY_BYTES;

    /// Accounts and audit log of the DAC.
    pub fn permissions(&self) -> &Arc<Permissions> {
        &self.0.doors.permissions
    }

    /// Asks for the permission to query at all.
    ///
    /// # Errors
    /// If the caller does not have it, or the DAC keeps no samples.
    pub fn authorize(&self, caller: &Caller) -> Result<(), Problem> {
        caller.authorize(Verb::Sql, Target::SomeOfDac)?;
        Archived::of(&self.0, caller).map(drop)
    }

    /// Waits until a caller may run one more query.
    pub async fn wait_for_turn(&self, caller: &Caller) -> Turn {
        self.0.sql.wait_for(caller).await
    }

    /// Prepares a query that ends after `time`, or when `has_left` becomes true. Blocks: reads the catalogue.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn open(
        &self,
        caller: &Caller,
        has_left: Arc<AtomicBool>,
        time: Duration,
    ) -> Result<GuardedSql, Problem> {
        let on = Archived::of(&self.0, caller)?;
        open_for(on, caller.clone(), has_left, time.min(Self::TIMEOUT))
    }

    /// Runs a query between two records of the audit log.
    ///
    /// # Errors
    /// If the query fails, or cannot be recorded.
    pub async fn recorded<T: Send + 'static, E: oasis_http::permissions::Outcome>(
        &self,
        caller: &Caller,
        query: &str,
        run: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, E> {
        let recorded: String = query.chars().take(MAX_RECORDED_CHARS).collect();
        let arguments = json!({"query": recorded});
        self.permissions().recorded(caller, "sql", String::new(), arguments, run).await
    }
}
