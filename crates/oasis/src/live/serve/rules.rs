//! The rules of a DAC, and their alarms.

use anyhow::Context;
use oasis_alarms::{Alarms, Limits};
use oasis_rules_handler::{Rules, RulesConfig};
use std::{path::Path, sync::Arc};

/// The alarms, and the handler that evaluates rules for them.
pub struct RunningRules {
    pub alarms: Arc<Alarms>,
    pub handler: Arc<Rules>,
}

/// Opens the alarms of a DAC that evaluates rules: in its directory, or without one in memory.
///
/// # Errors
/// If the directory cannot be used.
pub fn open(config: &RulesConfig) -> anyhow::Result<Option<RunningRules>> {
    if !config.enabled {
        return Ok(None);
    }
    let alarms = match config.directory.is_empty() {
        true => Alarms::in_memory(Limits::in_memory()),
        false => Alarms::open(Path::new(&config.directory), Limits::default()),
    };
    let alarms =
        alarms.with_context(|| format!("cannot open the alarms in {:?}", config.directory)).context(
            "in the section [rules] (rules.directory says where, and rules.enabled = false does without)",
        )?;
    let alarms = Arc::new(alarms);
    let handler = Arc::new(Rules::new(config.clone(), alarms.clone()));
    Ok(Some(RunningRules { alarms, handler }))
}
