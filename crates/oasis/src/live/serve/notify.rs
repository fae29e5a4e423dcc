//! The destinations that a DAC notifies of its alarms.

use anyhow::{Context, bail};
use oasis_alarms::Alarms;
use oasis_dac::config::TemConfig;
use oasis_notify::{Configured, NotifyHandler};
use oasis_site::registration;
use oasis_tem::Kind;
use std::sync::Arc;

/// Makes the handler of a DAC that has alarms. Call it before the rules run: messages are written for the destinations that are known then.
///
/// # Errors
/// If there are destinations but no alarms, the DAC has no name, or the database of the alarms fails.
pub fn open(
    destinations: Vec<Configured>,
    tem: &TemConfig,
    alarms: Option<&Arc<Alarms>>,
) -> anyhow::Result<Option<Arc<NotifyHandler>>> {
    match alarms {
        Some(alarms) => {
            let name = registration::name(tem, Kind::Dac)?.to_string();
            let handler = NotifyHandler::new(destinations, alarms.clone(), name);
            Ok(Some(Arc::new(handler.context("cannot use the alarms for [notify]")?)))
        }
        None if destinations.is_empty() => Ok(None),
        None => bail!(
            "[notify] needs rules, since nothing else raises an alarm: set rules.enabled = true, at a DAC"
        ),
    }
}
