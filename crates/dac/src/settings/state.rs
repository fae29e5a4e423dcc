//! Labels and settings of an instance as tools show them.

use super::{LabelMap, SettingValue, labels::are_valid};
use oasis_wire::{command::SettingName, quantity::Nanos};
use serde::{Deserialize, Serialize};

/// Most settings of an instance that another DAC lists.
const MOST_RELAYED: usize = 1_000;

/// Labels and settings of an instance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelsAndSettings {
    /// Its own labels, without those of its node.
    #[serde(default, skip_serializing_if = "LabelMap::is_empty")]
    pub labels: LabelMap,
    /// The settings that are kept, or differ from what the program has declared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingState>,
}

/// A setting: its value, and where that comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingState {
    /// `rate`, `enabled`, `deadband:METRIC`
    pub setting: SettingName,
    /// The value now; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<SettingValue>,
    /// Declaration of the program; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<SettingValue>,
    /// The kept value; absent if a command has set it for this run only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptState>,
}

/// A kept setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptState {
    /// Its value.
    pub value: SettingValue,
    /// Principal that keeps it.
    pub by: String,
    /// Since when, on the DAC's clock.
    pub at: Nanos,
    /// Whether the present run of the node has it.
    pub state: KeptCondition,
    /// Why the node has refused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Whether a run has a kept setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeptCondition {
    /// The run has it.
    Applied,
    /// The run had it, until a command set another value for this run.
    Replaced,
    /// The node is not connected, or has not answered yet.
    Waiting,
    /// The node has refused it.
    Refused,
}

impl LabelsAndSettings {
    /// Returns whether this DAC would have listed it: it comes from another one.
    pub fn is_valid(&self) -> bool {
        are_valid(&self.labels) && self.settings.len() <= MOST_RELAYED
    }
}
