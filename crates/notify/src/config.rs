//! The tables `[notify.NAME]` of the configuration.

use crate::{
    alertmanager::AlertmanagerConfig,
    destination::Destination,
    exec::ExecConfig,
    mail::MailConfig,
    otlp::OtlpConfig,
    setting::{ConfigError, Limits, MOST_DESTINATIONS, Table},
    webhook::WebhookConfig,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// Longest name of a destination.
const LONGEST_NAME: usize = 64;
/// The name of no destination: the language of rules gives it a meaning.
const RESERVED: &str = "none";

/// All destinations by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NotifyConfig(pub BTreeMap<String, DestinationConfig>);

/// One destination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum DestinationConfig {
    /// A cluster of Alertmanagers.
    Alertmanager(AlertmanagerConfig),
    /// A server that gets a JSON text for each notification.
    Webhook(WebhookConfig),
    /// A collector of OpenTelemetry.
    Otlp(OtlpConfig),
    /// Mail to some people.
    Mail(MailConfig),
    /// A program of this host.
    Exec(ExecConfig),
}

/// A destination that can be used.
#[derive(Clone)]
pub struct Configured {
    /// Its name.
    pub name: String,
    /// Its kind in the configuration.
    pub kind: &'static str,
    /// Settings of its treatment.
    pub limits: Limits,
    /// Itself.
    pub destination: Arc<dyn Destination>,
}

impl NotifyConfig {
    /// Makes the destinations.
    ///
    /// # Errors
    /// If a setting or a file cannot be used. No destination is contacted.
    pub fn destinations(&self) -> Result<Vec<Configured>, ConfigError> {
        if self.0.len() > MOST_DESTINATIONS {
            return Err(ConfigError::TooMany(self.0.len()));
        }
        self.0.iter().map(|(name, config)| configured(name, config)).collect()
    }
}

fn configured(name: &str, config: &DestinationConfig) -> Result<Configured, ConfigError> {
    let is_plain = !name.chars().any(char::is_control) && name.trim() == name;
    if name.is_empty() || name.len() > LONGEST_NAME || !is_plain || name == RESERVED {
        return Err(ConfigError::Name(name.into()));
    }
    let table = Table(name);
    let (kind, limits, destination): (_, _, Arc<dyn Destination>) = match config {
        DestinationConfig::Alertmanager(config) => {
            ("alertmanager", config.limits(table)?, Arc::new(config.open(table)?))
        }
        DestinationConfig::Webhook(config) => {
            ("webhook", config.limits(table)?, Arc::new(config.open(table)?))
        }
        DestinationConfig::Otlp(config) => ("otlp", config.limits(table)?, Arc::new(config.open(table)?)),
        DestinationConfig::Mail(config) => ("mail", config.limits(table)?, config.open(table)?),
        DestinationConfig::Exec(config) => ("exec", config.limits(table)?, Arc::new(config.open(table)?)),
    };
    Ok(Configured { name: name.into(), kind, limits, destination })
}

#[cfg(test)]
mod tests;
