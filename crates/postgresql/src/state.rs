//! How the handler is, for the API.

use oasis_dac::now;
use serde::Serialize;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether samples get into the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// It has not been reached yet.
    #[default]
    Connecting,
    /// All is well.
    Storing,
    /// It cannot be reached, or refuses; it is tried again.
    Failing,
}

/// How the handler is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct State {
    /// Whether samples get into the database.
    pub condition: Condition,
    /// Since when, nanoseconds since 1970.
    pub since: u64,
    /// What is wrong.
    pub detail: Option<String>,
    /// Rows written since the start.
    pub rows: u64,
    /// Samples that were in the database already.
    pub known: u64,
    /// Samples that neither log nor archive had any more when their turn came, or that no table takes.
    pub missing: u64,
    /// Samples of the topic logs that are not written yet.
    pub behind: u64,
    /// Age of the oldest of them, nanoseconds; 0 if there is none.
    pub lag_ns: u64,
    /// Transactions.
    pub commits: u64,
    /// Connections that broke or were refused.
    pub failures: u64,
}

/// The state, shared with who asks for it. Held for a few assignments.
#[derive(Debug, Default)]
pub struct Book(Mutex<State>);

impl Book {
    /// To read it, or to count.
    pub fn open(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes how it is now.
    pub fn note(&self, condition: Condition, detail: Option<String>) {
        let mut state = self.open();
        let is_new = state.condition != condition || state.since == 0;
        if is_new {
            (state.condition, state.since) = (condition, now().0);
        }
        state.failures += u64::from(condition == Condition::Failing);
        state.detail.clone_from(&detail);
        drop(state);
        match detail {
            _ if !is_new => {}
            Some(detail) => {
                tracing::error!(%detail, "samples do not get into PostgreSQL for now; live data goes on");
            }
            None => tracing::info!("samples get into PostgreSQL"),
        }
    }
}
