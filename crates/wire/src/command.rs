//! Commands to probe instances, as clients, DACs and nodes write them.

use crate::quantity::{DemandRange, Hertz};
use alloc::string::String;
use core::{fmt, str::FromStr};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// A command to a probe instance. Its node executes all but demand and resets, which its DAC handles itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Command {
    /// Sample at this rate from now on, regardless of readers.
    Hertz {
        /// The rate.
        hertz: Hertz,
    },
    /// Resume sampling.
    Enable,
    /// Stop sampling.
    Disable,
    /// Take one sample now, regardless of the rate, and keep it, regardless of deadbands.
    SampleNow,
    /// Send the samples in the probe's flight recorder, and those of the following seconds.
    Trigger,
    /// For a probe on change: keep a sample if this metric has changed by more than this.
    Deadband {
        /// Metric name.
        metric: String,
        /// In the metric's unit, 0 or more; absent if every change counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadband: Option<f64>,
    },
    /// Sample at the rate that readers ask for, within this range.
    Demand(DemandRange),
    /// Keep the current rate, regardless of readers.
    DemandOff,
    /// Return to what the program has declared, and forget what is kept.
    Reset {
        /// The setting; absent for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        setting: Option<SettingName>,
    },
}

impl Command {
    /// Returns its name on the wire, in rules of permissions and on the command line.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Hertz { .. } => "hertz",
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::SampleNow => "sample-now",
            Self::Trigger => "trigger",
            Self::Deadband { .. } => "deadband",
            Self::Demand(_) => "demand",
            Self::DemandOff => "demand-off",
            Self::Reset { .. } => "reset",
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Hertz { hertz } => write!(f, " {hertz}"),
            Self::Deadband { metric, deadband: Some(deadband) } => write!(f, " {metric} {deadband}"),
            Self::Deadband { metric, deadband: None } => write!(f, " {metric} none"),
            Self::Demand(range) => write!(f, " {} to {}", range.min(), range.max()),
            Self::Reset { setting: Some(setting) } => write!(f, " {setting}"),
            Self::Enable
            | Self::Disable
            | Self::SampleNow
            | Self::Trigger
            | Self::DemandOff
            | Self::Reset { .. } => Ok(()),
        }
    }
}

/// A setting of an instance that can be kept. As text `rate`, `enabled`, `deadband:METRIC`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettingName {
    /// The rate, or the range in which it follows its readers.
    Rate,
    /// Whether it takes samples.
    Enabled,
    /// The deadband of a metric.
    Deadband(String),
}

const DEADBAND: &str = "deadband:";

impl fmt::Display for SettingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate => f.write_str("rate"),
            Self::Enabled => f.write_str("enabled"),
            Self::Deadband(metric) => write!(f, "{DEADBAND}{metric}"),
        }
    }
}

/// A text that names no setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no setting: write rate, enabled, or deadband:METRIC")]
pub struct SettingNameError(String);

impl FromStr for SettingName {
    type Err = SettingNameError;

    fn from_str(text: &str) -> Result<Self, SettingNameError> {
        match (text, text.strip_prefix(DEADBAND)) {
            ("rate", _) => Ok(Self::Rate),
            ("enabled", _) => Ok(Self::Enabled),
            (_, Some(metric)) if !metric.is_empty() => Ok(Self::Deadband(metric.into())),
            _ => Err(SettingNameError(text.chars().take(100).collect())),
        }
    }
}

impl Serialize for SettingName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SettingName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use serde_json::Value;

    #[test]
    fn each_command_has_the_name_that_it_has_on_the_wire() {
        for text in [
            r#"{"command":"hertz","hertz":1.0}"#,
            r#"{"command":"enable"}"#,
            r#"{"command":"disable"}"#,
            r#"{"command":"sample-now"}"#,
            r#"{"command":"trigger"}"#,
            r#"{"command":"deadband","metric":"x"}"#,
            r#"{"command":"demand","min":1.0,"max":2.0}"#,
            r#"{"command":"demand-off"}"#,
            r#"{"command":"reset"}"#,
            r#"{"command":"reset","setting":"deadband:x"}"#,
        ] {
            let command: Command = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&command).unwrap(), text);
            let written: Value = serde_json::from_str(text).unwrap();
            assert_eq!(written["command"], command.name());
            assert!(command.to_string().starts_with(command.name()));
        }
    }

    #[test]
    fn a_name_is_read_as_it_was_written_and_anything_else_is_refused() {
        for text in ["rate", "enabled", "deadband:temperature", "deadband:a:b"] {
            assert_eq!(text.parse::<SettingName>().unwrap().to_string(), text);
        }
        for text in ["", "deadband", "deadband:", "Rate", "colour"] {
            let refused = text.parse::<SettingName>().unwrap_err().to_string();
            assert!(refused.contains("write rate, enabled"), "{refused}");
        }
    }
}
