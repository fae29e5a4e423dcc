//! A handler that evaluates rules over the samples that the DAC receives.
//!
//! The handler follows the topic log of each instance that a rule reads, from the checkpoint of that instance on, evaluates its batches one after the other,
//! and commits
//! the events with new checkpoints to the [`Alarms`]. After a crash it begins again at the checkpoints, and the alarms ignore the events that they have.
//! Silence is noticed at ticks of DAC time: the ledger of the instance declares the time complete, so that no sample of before can follow.
//!
//! Reading order: `files` and `ruleset` (what is evaluated), `source` (an instance), `joint` (several), `work` (the coordinator), `threads` (what evaluates beside it), `state` (what others see).

mod bounds;
mod cause;
mod chatter;
mod checkpoint;
mod commands;
mod config;
mod deadlines;
mod files;
mod joint;
mod member;
mod output;
mod rendezvous;
mod result;
mod ruleset;
mod source;
mod state;
mod threads;
mod unit;
mod wake;
mod work;

pub use bounds::RoundBounds;
pub use config::RulesConfig;

use oasis_alarms::{Alarms, RelayedAlarms};
use oasis_dac::now;
use oasis_handler::{Context, Failure, Handler, StateMetrics};
use oasis_rules::RulesState;
use serde_json::{Value, json};
use state::Shared;
use std::sync::{Arc, OnceLock};

/// Evaluates rules.
pub struct Rules {
    config: RulesConfig,
    bounds: RoundBounds,
    alarms: Arc<Alarms>,
    relayed: OnceLock<Arc<RelayedAlarms>>,
    rules: Arc<RulesState>,
    shared: Arc<Shared>,
    /// A warning about its alarms, for as long as it runs.
    warning: Option<String>,
}

impl Rules {
    /// Creates the handler of a section. Its events go to `alarms`.
    pub fn new(mut config: RulesConfig, alarms: Arc<Alarms>) -> Self {
        config.name_node("");
        let rules = Arc::new(RulesState::new(config.saved_files(), config.editable));
        let (bounds, relayed) = (RoundBounds::default(), OnceLock::new());
        Self { config, bounds, alarms, relayed, rules, shared: Arc::default(), warning: None }
    }

    /// Adds a warning about its alarms, for as long as it runs.
    #[must_use]
    pub fn with_warning(self, warning: Option<String>) -> Self {
        Self { warning, ..self }
    }

    /// Takes the alarms of joints over from the DACs that have evaluated them. Without effect once it runs.
    pub fn take_over_from(&self, relayed: Arc<RelayedAlarms>) {
        self.relayed.get_or_init(|| relayed);
    }

    /// Evaluates within other bounds.
    #[must_use]
    pub fn with_bounds(self, bounds: RoundBounds) -> Self {
        Self { bounds, ..self }
    }

    /// Its files and rules, as the API shows them.
    pub fn rules_state(&self) -> Arc<RulesState> {
        self.rules.clone()
    }
}

impl Handler for Rules {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let alarms = (&self.alarms, self.relayed.get().map(Arc::as_ref));
        work::run((&self.config, self.bounds), alarms, &self.rules, &self.shared, context)
    }

    fn state(&self) -> Value {
        let mut state = self.shared.to_json();
        state["copies"] = json!(self.alarms.copies().figures());
        state
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics {
            counters: &[
                "samples",
                "missing",
                "unreadable",
                "events",
                "known_events",
                "commits",
                "late",
                "overflowed",
                "refused_checkpoints",
                "given_nodes",
                "taken_nodes",
                "unaligned",
                "commands.sent",
                "commands.too_many",
                "commands.circles",
                "commands.dropped",
            ],
            gauges: &[
                "rules",
                "instances",
                "instances_left_out",
                "joins",
                "joins_left_out",
                "joins_waiting",
                "waiting",
                "behind",
                "latency_ns",
                "outputs_left_out",
            ],
        }
    }

    fn problem(&self) -> Option<String> {
        self.shared.problem()
    }

    fn warnings(&self) -> Vec<String> {
        let problem = |why| format!("alarms of another DAC cannot be taken over: {why} (rules.token_file)");
        let problems = self.alarms.copies().problems().into_iter().map(problem);
        let chatter = chatter::warnings(&self.alarms.chatter(now().0), &self.rules);
        self.shared
            .warnings()
            .into_iter()
            .chain(problems)
            .chain(chatter)
            .chain(self.warning.clone())
            .collect()
    }
}
