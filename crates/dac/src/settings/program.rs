//! Declaration of the program of an instance, and changes of it by commands in this run.

use super::SettingValue;
use oasis_channel::{Declared, InstanceState, RegisteredInstance};
use oasis_wire::{command::SettingName, quantity::DemandRange};
use std::collections::BTreeMap;

/// The program's values, as far as they are known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    declared: Option<Declared>,
    demand: Option<DemandRange>,
    /// Whether the node has said them itself: then it has said all deadbands.
    is_reported: bool,
    /// Deadbands that commands have set in this run of the node.
    deadbands: BTreeMap<String, Option<f64>>,
}

impl Program {
    /// Returns what a node says when it registers an instance for the first time.
    pub fn of(announced: &RegisteredInstance) -> Self {
        let mut program = Self::default();
        program.registered(announced, true);
        program
    }

    /// Handles an instance that registers, perhaps in a new run of its node. A node that does not report what its program has declared
    /// begins each run with that.
    pub fn registered(&mut self, announced: &RegisteredInstance, is_new_run: bool) {
        let InstanceState { hertz, enabled, .. } = announced.state;
        if is_new_run {
            self.deadbands.clear();
            self.declared = Some(Declared { hertz, enabled, deadbands: BTreeMap::new() });
        }
        self.is_reported = announced.declared.is_some();
        if let Some(declared) = &announced.declared {
            self.declared = Some(declared.clone());
        }
        self.demand = announced.demand;
    }

    /// Notes a deadband that a command has set.
    pub fn note_deadband(&mut self, metric: &str, deadband: Option<f64>) {
        self.deadbands.insert(metric.into(), deadband);
    }

    /// Metrics whose deadbands commands have set in this run.
    pub fn changed_deadbands(&self) -> impl Iterator<Item = &str> {
        self.deadbands.keys().map(String::as_str)
    }

    /// Returns what the program has declared; none if that is unknown, or if no command sets it.
    pub fn declared(&self, name: &SettingName) -> Option<SettingValue> {
        let declared = self.declared.as_ref()?;
        match name {
            SettingName::Rate => {
                self.demand.map(SettingValue::Demand).or(declared.hertz.map(SettingValue::Hertz))
            }
            SettingName::Enabled => Some(SettingValue::Enabled(declared.enabled)),
            SettingName::Deadband(metric) => {
                self.is_reported.then(|| SettingValue::Deadband(declared.deadbands.get(metric).copied()))
            }
        }
    }

    /// Returns the deadband of a metric in this run; none if it is unknown.
    pub fn deadband(&self, metric: &str) -> Option<SettingValue> {
        let set = self.deadbands.get(metric).map(|deadband| SettingValue::Deadband(*deadband));
        set.or_else(|| self.declared(&SettingName::Deadband(metric.into())))
    }
}
