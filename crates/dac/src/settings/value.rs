//! The settings of an instance: their names and values.

use crate::request::ProbeRequest;
use oasis_wire::quantity::{DemandRange, Hertz};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{fmt, str::FromStr};

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

/// The value of a setting, such as `{"hertz": 5}`, `{"demand": {"min": 1, "max": 100}}`, `{"enabled": false}`, `{"deadband": null}`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingValue {
    /// A rate.
    Hertz(Hertz),
    /// A range in which the rate follows readers.
    Demand(DemandRange),
    /// Whether it takes samples.
    Enabled(bool),
    /// A deadband in the metric's unit; none if every change counts.
    Deadband(Option<f64>),
}

impl SettingValue {
    /// Returns the request that sets it.
    pub(crate) fn request(self, name: &SettingName) -> ProbeRequest {
        match (self, name) {
            (Self::Hertz(hertz), _) => ProbeRequest::Hertz { hertz },
            (Self::Demand(range), _) => ProbeRequest::Demand(range),
            (Self::Enabled(true), _) => ProbeRequest::Enable,
            (Self::Enabled(false), _) => ProbeRequest::Disable,
            (Self::Deadband(deadband), SettingName::Deadband(metric)) => {
                ProbeRequest::Deadband { metric: metric.clone(), deadband }
            }
            (Self::Deadband(deadband), _) => ProbeRequest::Deadband { metric: String::new(), deadband },
        }
    }

    /// Whether the name can have it: a file may have been edited.
    pub(super) fn is_of(self, name: &SettingName) -> bool {
        match name {
            SettingName::Rate => matches!(self, Self::Hertz(_) | Self::Demand(_)),
            SettingName::Enabled => matches!(self, Self::Enabled(_)),
            SettingName::Deadband(_) => matches!(self, Self::Deadband(_)),
        }
    }
}

impl ProbeRequest {
    /// Returns the setting that it changes, with its value; none for a request that changes none, or whose value its outcome decides.
    pub(crate) fn setting(&self) -> Option<(SettingName, Option<SettingValue>)> {
        Some(match self {
            Self::Hertz { hertz } => (SettingName::Rate, Some(SettingValue::Hertz(*hertz))),
            Self::Demand(range) => (SettingName::Rate, Some(SettingValue::Demand(*range))),
            // The rate that it has then.
            Self::DemandOff => (SettingName::Rate, None),
            Self::Enable => (SettingName::Enabled, Some(SettingValue::Enabled(true))),
            Self::Disable => (SettingName::Enabled, Some(SettingValue::Enabled(false))),
            Self::Deadband { metric, deadband } => {
                (SettingName::Deadband(metric.clone()), Some(SettingValue::Deadband(*deadband)))
            }
            Self::SampleNow | Self::Trigger | Self::Reset { .. } => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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

    #[test]
    fn a_value_has_one_key_that_says_what_it_is() {
        let hertz = Hertz::new(5.0).unwrap();
        for (value, json) in [
            (SettingValue::Hertz(hertz), json!({"hertz": 5.0})),
            (
                SettingValue::Demand(DemandRange::new(hertz, hertz).unwrap()),
                json!({"demand": {"min": 5.0, "max": 5.0}}),
            ),
            (SettingValue::Enabled(false), json!({"enabled": false})),
            (SettingValue::Deadband(None), json!({"deadband": null})),
            (SettingValue::Deadband(Some(0.5)), json!({"deadband": 0.5})),
        ] {
            assert_eq!(serde_json::to_value(value).unwrap(), json);
            assert_eq!(serde_json::from_value::<SettingValue>(json).unwrap(), value);
        }
        assert!(serde_json::from_value::<SettingValue>(json!({"hertz": 0})).is_err());
    }
}
