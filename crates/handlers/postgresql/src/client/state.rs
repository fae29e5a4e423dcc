//! The handler's state, for the API.

use super::refusal::Refusal;
use oasis_handler::Reach;
use serde::Serialize;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Reasons of refusals that are listed; the oldest are evicted. All samples are counted.
const MAX_REFUSALS: usize = 32;

/// Whether samples reach the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The database was not reached yet.
    #[default]
    Connecting,
    /// Samples are written.
    Storing,
    /// The database is unreachable, or refuses; the handler retries.
    Failing,
}

/// State of the handler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct State {
    /// Whether samples reach the database.
    #[serde(flatten)]
    pub reach: Reach<Condition>,
    /// Rows written since the start.
    pub rows: u64,
    /// Samples that were in the database already.
    pub known: u64,
    /// Samples lost before they were written: evicted from log and archive, or damaged.
    pub missing: u64,
    /// Samples that the database refused, or that no table accepts.
    pub refused: u64,
    /// The same by table and reason, the latest first; each names its last sample.
    pub refusals: Vec<Refusal>,
    /// Samples of the topic logs that are not written yet.
    pub behind: u64,
    /// Age of the oldest of them, in nanoseconds; 0 if there is none.
    pub lag_ns: u64,
    /// Number of transactions.
    pub commits: u64,
    /// Connections that broke or were refused.
    pub failures: u64,
}

impl State {
    /// Returns how many samples were refused, and which was the last one.
    pub fn warning(&self) -> Option<String> {
        let Refusal { table, detail, node, instance, sequence, .. } = self.refusals.first()?;
        let refused = self.refused;
        Some(format!(
            "PostgreSQL does not have {refused} refused samples; the last one is sequence {sequence} of {node}/{instance}, table {table}: {detail}"
        ))
    }
}

/// The shared state. Locked for a few assignments.
#[derive(Debug, Default)]
pub struct SharedState(Mutex<State>);

impl SharedState {
    /// Locks the state for reading or counting.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records refused samples.
    pub fn refuse(&self, refusals: Vec<Refusal>) {
        for refusal in refusals {
            let mut state = self.lock();
            state.refused += refusal.samples;
            let is_same = |known: &Refusal| (&known.table, &known.code) == (&refusal.table, &refusal.code);
            let known = state.refusals.iter().position(is_same).map(|at| state.refusals.remove(at));
            let before = known.as_ref().map_or(0, |known| known.samples);
            if known.is_none() {
                let Refusal { table, detail, node, instance, sequence, .. } = &refusal;
                tracing::error!(
                    table,
                    detail,
                    node,
                    instance,
                    sequence,
                    "PostgreSQL refuses samples: they are counted, and others are written"
                );
            }
            let samples = before + refusal.samples;
            state.refusals.insert(0, Refusal { samples, ..refusal });
            state.refusals.truncate(MAX_REFUSALS);
        }
    }

    /// Records the condition.
    pub fn note(&self, condition: Condition, detail: Option<String>) {
        let mut state = self.lock();
        state.failures += u64::from(condition == Condition::Failing);
        let is_new = state.reach.note(condition, detail.clone());
        drop(state);
        match detail {
            _ if !is_new => {}
            Some(detail) => {
                tracing::error!(%detail, "cannot write samples to PostgreSQL: retrying, live data continues");
            }
            None => tracing::info!("samples are written to PostgreSQL"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(table: usize, sequence: u64) -> Refusal {
        Refusal {
            table: format!("t{table}"),
            code: Some("23514".into()),
            detail: "no".into(),
            samples: 2,
            node: "n".into(),
            instance: "i".into(),
            sequence,
        }
    }

    #[test]
    fn refusals_are_summed_by_reason_and_all_are_counted() {
        let shared = SharedState::default();
        shared.refuse(vec![refusal(1, 5), refusal(2, 6), refusal(1, 7)]);
        let state = shared.lock().clone();
        assert_eq!(state.refused, 6);
        let warning =
            "PostgreSQL does not have 6 refused samples; the last one is sequence 7 of n/i, table t1: no";
        assert_eq!(state.warning().as_deref(), Some(warning));
        assert_eq!(State::default().warning(), None);
        assert_eq!(state.refusals, [Refusal { samples: 4, ..refusal(1, 7) }, refusal(2, 6)]);
        shared.refuse((0..100).map(|table| refusal(table, 1)).collect());
        let state = shared.lock().clone();
        assert_eq!(
            (state.refused, state.refusals.len(), &state.refusals[0]),
            (206, MAX_REFUSALS, &refusal(99, 1))
        );
    }
}
