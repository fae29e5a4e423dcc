//! Values of the settings of an instance.

use oasis_wire::{
    command::{Command, SettingName},
    quantity::{DemandRange, Hertz},
};
use serde::{Deserialize, Serialize};

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
    pub(crate) fn command(self, name: &SettingName) -> Command {
        match (self, name) {
            (Self::Hertz(hertz), _) => Command::Hertz { hertz },
            (Self::Demand(range), _) => Command::Demand(range),
            (Self::Enabled(true), _) => Command::Enable,
            (Self::Enabled(false), _) => Command::Disable,
            (Self::Deadband(deadband), SettingName::Deadband(metric)) => {
                Command::Deadband { metric: metric.clone(), deadband }
            }
            (Self::Deadband(deadband), _) => Command::Deadband { metric: String::new(), deadband },
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

/// Returns the setting that a command changes, with its value; none for a command that changes none, or whose value its outcome decides.
pub(crate) fn setting_of(command: &Command) -> Option<(SettingName, Option<SettingValue>)> {
    Some(match command {
        Command::Hertz { hertz } => (SettingName::Rate, Some(SettingValue::Hertz(*hertz))),
        Command::Demand(range) => (SettingName::Rate, Some(SettingValue::Demand(*range))),
        // The rate that it has then.
        Command::DemandOff => (SettingName::Rate, None),
        Command::Enable => (SettingName::Enabled, Some(SettingValue::Enabled(true))),
        Command::Disable => (SettingName::Enabled, Some(SettingValue::Enabled(false))),
        Command::Deadband { metric, deadband } => {
            (SettingName::Deadband(metric.clone()), Some(SettingValue::Deadband(*deadband)))
        }
        Command::SampleNow | Command::Trigger | Command::Reset { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
