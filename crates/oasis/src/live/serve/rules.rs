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

/// Opens the alarms of a DAC that evaluates rules: in its directory, or without one in memory. If the default directory cannot be used, such as on a full disk,
/// the alarms are in memory too, and health reports it.
///
/// # Errors
/// If the named directory cannot be used.
pub fn open(config: &RulesConfig, is_named: bool) -> anyhow::Result<Option<RunningRules>> {
    if !config.enabled {
        return Ok(None);
    }
    let in_memory = || Alarms::in_memory(Limits::in_memory());
    let opened = match config.directory.is_empty() {
        true => in_memory(),
        false => Alarms::open(Path::new(&config.directory), Limits::default()),
    };
    let (opened, warning) = match opened {
        Err(error) if !is_named => {
            let directory = &config.directory;
            let warning = format!(
                "alarms are kept in memory until the next start: cannot open those in {directory:?}: {error}"
            );
            tracing::error!("{warning}");
            (in_memory(), Some(warning))
        }
        opened => (opened, None),
    };
    let alarms =
        opened.with_context(|| format!("cannot open the alarms in {:?}", config.directory)).context(
            "in the section [rules] (rules.directory says where, and rules.enabled = false does without)",
        )?;
    let alarms = Arc::new(alarms);
    let handler = Arc::new(Rules::new(config.clone(), alarms.clone()).with_warning(warning));
    Ok(Some(RunningRules { alarms, handler }))
}
