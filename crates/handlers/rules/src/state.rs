//! State of the handler as others see it.

use crate::commands::Counts;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Figures, and what is wrong. Locked for a few assignments.
#[derive(Debug, Default)]
pub struct Shared(Mutex<State>);

/// The state for API and page.
#[derive(Debug, Clone, Default, Serialize)]
pub struct State {
    /// Rules that are evaluated.
    pub rules: usize,
    /// Threads that evaluate them.
    pub threads: usize,
    /// Instances that they read.
    pub instances: usize,
    /// Instances that are not evaluated, because there are too many.
    pub instances_left_out: usize,
    /// Instances of rules that read several inputs, counted for each rule.
    pub joins: usize,
    /// Joins that are not evaluated, because there are too many.
    pub joins_left_out: usize,
    /// Joins that another DAC evaluates, as far as this one knows.
    pub joins_elsewhere: usize,
    /// Joins that are not evaluated, because this DAC does not know a node of them.
    pub joins_waiting: usize,
    /// One such node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_node: Option<String>,
    /// The DAC time up to which such rules were evaluated.
    pub joined_until: u64,
    /// Samples that wait for those of other inputs of such a rule.
    pub waiting: usize,
    /// Samples that came too late for an evaluation of such a rule.
    pub late: u64,
    /// Samples that did not fit into the memory of such rules.
    pub overflowed: u64,
    /// Samples evaluated.
    pub samples: u64,
    /// Samples that were missing between them.
    pub missing: u64,
    /// Batches that could not be decoded.
    pub unreadable: u64,
    /// Events committed.
    pub events: u64,
    /// Events that the alarms had already: after a crash they are found again.
    pub known_events: u64,
    /// Transactions.
    pub commits: u64,
    /// Checkpoints that are too large, so that their rules begin anew after a crash.
    pub refused_checkpoints: u64,
    /// Nodes that have gone, and whose alarms and states of rules were given to other DACs.
    pub given_nodes: u64,
    /// Nodes that have come, and whose alarms and states of rules were taken over from other DACs.
    pub taken_nodes: u64,
    /// Samples in the logs that were not evaluated yet.
    pub behind: u64,
    /// Time from the arrival of the last samples with an event to their commit, in nanoseconds.
    pub latency_ns: u64,
    /// Why the last commit failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Files that are refused, with their first error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// Limits of PDL files that are no rules, because there are too many.
    pub limits_left_out: usize,
    /// Why derived instances and results are not there for readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_output: Option<String>,
    /// Derived instances and results that are not there, because there are too many.
    pub outputs_left_out: usize,
    /// Nodes whose clocks are not published, because there are too many.
    pub clocks_left_out: usize,
    /// Samples of rules over several nodes whose time on the clock of the DAC is not known.
    pub unaligned: u64,
    /// Commands to probes.
    pub commands: Counts,
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn to_json(&self) -> Value {
        json!(*self.lock())
    }

    pub fn problem(&self) -> Option<String> {
        self.lock().failure.clone()
    }

    pub fn warnings(&self) -> Vec<String> {
        let state = self.lock();
        let mut warnings = state.refused.clone();
        if state.instances_left_out > 0 {
            let left_out = state.instances_left_out;
            warnings.push(format!("{left_out} instances are not evaluated: use patterns that match fewer"));
        }
        if state.joins_left_out > 0 {
            let left_out = state.joins_left_out;
            warnings.push(format!("{left_out} joins are not evaluated: use patterns that match fewer"));
        }
        if let Some(node) = &state.missing_node {
            let waiting = state.joins_waiting;
            warnings.push(format!(
                "{waiting} joins wait for inputs: nothing comes here of node {node:?}; connect it, or relay its DAC"
            ));
        }
        if state.clocks_left_out > 0 {
            let left_out = state.clocks_left_out;
            warnings.push(format!(
                "the clocks of {left_out} nodes are not published: use patterns that match fewer nodes, or shorter names"
            ));
        }
        if let Some(why) = &state.no_output {
            warnings.push(format!("derived instances and results cannot be read: {why}"));
        }
        if state.refused_checkpoints > 0 {
            warnings.push(
                "the states of some rules are too large to keep: they begin anew after a restart".into(),
            );
        }
        warnings
    }
}
