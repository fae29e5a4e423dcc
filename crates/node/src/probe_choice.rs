//! One choice of a ready-made probe, from a configuration file or a flag.

use crate::{
    Rate, ReadyMadeProbe, RecorderChoice, SettingsError,
    choice::{Choice, ChoiceError, Parameters},
};
use oasis_probe::{Importance, NodeBuilder};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// A chosen probe, with its rate and parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeChoice {
    /// Name of the ready-made probe.
    pub probe: String,
    /// Instance name. If absent, the probe's own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Rate.
    #[serde(default)]
    pub hertz: Rate,
    /// Whether it takes samples before a command enables it.
    #[serde(default = "enabled", skip_serializing_if = "is_enabled")]
    pub enabled: bool,
    /// Importance when the node lowers rates ([`NodeBuilder::importance`]).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub importance: u8,
    /// Its optional flight recorder ([`NodeBuilder::record`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecorderChoice>,
    /// Parameters of the probe. It refuses unknown ones.
    #[serde(flatten, deserialize_with = "parameters")]
    pub parameters: Parameters,
}

impl ProbeChoice {
    /// Returns a choice without parameters, at 1 Hz.
    pub fn new(probe: &str) -> Self {
        Self {
            probe: probe.into(),
            instance: None,
            hertz: Rate::default(),
            enabled: true,
            importance: 0,
            record: None,
            parameters: Parameters::default(),
        }
    }

    pub(crate) fn add_to(
        &self,
        node: &mut NodeBuilder,
        probes: &[ReadyMadeProbe],
    ) -> Result<(), SettingsError> {
        let probe =
            probes.iter().find(|probe| probe.name == self.probe).ok_or_else(|| self.unknown(probes))?;
        self.add(probe, node).map_err(|error| SettingsError::Probe { probe: self.probe.clone(), error })
    }

    fn add(&self, probe: &ReadyMadeProbe, node: &mut NodeBuilder) -> Result<(), ChoiceError> {
        let hertz = self.hertz.hertz();
        let choice = Choice { instance: self.instance.as_deref(), hertz, parameters: &self.parameters };
        let before = node.instances().count();
        probe.add(node, &choice)?;
        // One choice may add several instances: one per disk, one per network interface.
        let added: Vec<_> = node.instances().skip(before).map(str::to_owned).collect();
        for instance in added {
            node.importance(&instance, Importance(self.importance))?;
            self.hertz.apply(node, &instance)?;
            if !self.enabled {
                node.disabled(&instance)?;
            }
            if let Some(record) = &self.record {
                node.record(&instance, &record.recorder()?)?;
            }
        }
        Ok(())
    }

    fn unknown(&self, probes: &[ReadyMadeProbe]) -> SettingsError {
        let known: Vec<_> = probes.iter().map(|probe| probe.name).collect();
        SettingsError::UnknownProbe { probe: self.probe.clone(), known: known.join(", ") }
    }
}

/// Reads parameters as texts: `pid = 4711` equals `pid = "4711"`.
fn parameters<'de, D: Deserializer<'de>>(from: D) -> Result<Parameters, D::Error> {
    let values = BTreeMap::<String, toml::Value>::deserialize(from)?;
    let text = |(name, value)| match value {
        toml::Value::String(text) => Ok((name, text)),
        toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => {
            Ok((name, value.to_string()))
        }
        toml::Value::Datetime(_) | toml::Value::Array(_) | toml::Value::Table(_) => {
            Err(serde::de::Error::custom(format!("parameter {name} is neither a text nor a number")))
        }
    };
    values.into_iter().map(text).collect()
}

fn is_zero(importance: &u8) -> bool {
    *importance == 0
}

fn enabled() -> bool {
    true
}

fn is_enabled(enabled: &bool) -> bool {
    *enabled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_parameters_beside_name_and_rate() {
        let choice: ProbeChoice = toml::from_str("probe = \"process\"\npid = 4711\nhertz = 2\n").unwrap();
        assert_eq!(choice.parameters, Parameters::from([("pid".into(), "4711".into())]));
        assert_eq!(toml::from_str::<ProbeChoice>(&toml::to_string(&choice).unwrap()).unwrap(), choice);
    }

    #[test]
    fn a_file_lets_a_probe_run_as_fast_as_it_can_or_wait_for_a_command() {
        let choice: ProbeChoice =
            toml::from_str("probe = \"memory\"\nhertz = \"max\"\nenabled = false\n").unwrap();
        assert_eq!((choice.hertz, choice.enabled), (Rate::Max, false));
        assert_eq!(toml::from_str::<ProbeChoice>(&toml::to_string(&choice).unwrap()).unwrap(), choice);
        for wrong in ["\"fast\"", "0", "1001"] {
            let error = toml::from_str::<ProbeChoice>(&format!("probe = \"memory\"\nhertz = {wrong}\n"));
            let message = error.unwrap_err().to_string();
            assert!(message.contains("\"max\""), "{message}");
        }
    }
}
