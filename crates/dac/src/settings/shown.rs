//! Finds labels and settings of an instance as tools show them: each effective value with its source.

use super::{
    InstanceSettings, KeptSetting, Label, LabelMap, NodeSettings, SettingValue, SettingsError,
    state::{KeptCondition, KeptState, LabelsAndSettings, SettingState},
};
use crate::{instance::Instance, node::Node, registry::Registry};
use oasis_wire::{command::SettingName, quantity::Nanos};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

impl Registry {
    /// Returns labels and settings of an instance. Locks its ledger.
    pub fn shown(&self, instance: &Instance) -> LabelsAndSettings {
        let instance = instance.source();
        if instance.is_relayed() {
            return instance.relayed_settings().as_ref().clone();
        }
        let node = self.settings.of_node(&instance.node);
        let of = node.as_ref().and_then(|node| node.instances.get(&*instance.name));
        let labels = of.map(|of| values(&of.labels)).unwrap_or_default();
        LabelsAndSettings { labels, settings: settings_of(instance, of) }
    }

    /// Sets labels of a node, or of one of its instances, and shows them; those without a value are removed. Returns all that it has then.
    /// Blocks while a file is written.
    ///
    /// # Errors
    /// If a label is refused, there is no room, or it cannot be written.
    pub fn set_labels(
        &self,
        (node, instance): (&str, Option<&str>),
        labels: &BTreeMap<String, Option<String>>,
        author: (&str, Nanos),
    ) -> Result<LabelMap, SettingsError> {
        self.settings.label((node, instance), labels, author)?;
        let of = self.settings.of_node(node);
        let Some(instance) = instance else {
            self.node_changed(node);
            return Ok(of.map(|of| values(&of.labels)).unwrap_or_default());
        };
        if let Some(known) = self.find(node, instance) {
            self.instance_changed(&known);
        }
        let of = of.as_ref().and_then(|of| of.instances.get(instance));
        Ok(of.map(|of| values(&of.labels)).unwrap_or_default())
    }

    /// Returns the labels of a node.
    pub fn node_labels(&self, node: &Node) -> LabelMap {
        match node.relayed_labels() {
            Some(labels) => labels.as_ref().clone(),
            None => {
                self.settings.of_node(&node.identity.name).map(|of| values(&of.labels)).unwrap_or_default()
            }
        }
    }

    /// Returns the labels of an instance with those of its node, which its own replace.
    pub fn all_labels(&self, instance: &Instance) -> LabelMap {
        let mut labels = if instance.is_relayed() {
            self.node(&instance.node).map(|node| self.node_labels(&node)).unwrap_or_default()
        } else {
            // Most nodes have no kept labels.
            let Some(node) = self.settings.of_node(&instance.node) else { return LabelMap::new() };
            values(&node.labels)
        };
        labels.extend(self.labels_of(instance));
        labels
    }

    fn labels_of(&self, instance: &Instance) -> LabelMap {
        if instance.is_relayed() {
            return instance.source().relayed_settings().labels.clone();
        }
        let node: Option<Arc<NodeSettings>> = self.settings.of_node(&instance.node);
        let of = node.as_ref().and_then(|node| node.instances.get(&*instance.name));
        of.map(|of| values(&of.labels)).unwrap_or_default()
    }
}

fn values(labels: &BTreeMap<String, Label>) -> LabelMap {
    labels.iter().map(|(key, label)| (key.clone(), label.value.clone())).collect()
}

/// Returns the settings of an instance that are kept, or differ from the program's.
pub(super) fn settings_of(instance: &Instance, kept: Option<&InstanceSettings>) -> Vec<SettingState> {
    let program = instance.program();
    let mut names = BTreeSet::from([SettingName::Rate, SettingName::Enabled]);
    names.extend(program.changed_deadbands().map(|metric| SettingName::Deadband(metric.into())));
    names.extend(kept.iter().flat_map(|of| of.kept.keys().cloned()));
    drop(program);
    let state = |setting: SettingName| {
        let value = current(instance, &setting);
        let program = instance.program().declared(&setting);
        let kept = kept.and_then(|of| of.kept.get(&setting)).map(|kept| kept_state(instance, kept, value));
        let is_shown = kept.is_some() || (program.is_some() && value.is_some() && value != program);
        is_shown.then_some(SettingState { setting, value, program, kept })
    };
    names.into_iter().filter_map(state).collect()
}

/// Returns the value that an instance has now.
pub(super) fn current(instance: &Instance, name: &SettingName) -> Option<SettingValue> {
    let state = instance.state();
    match name {
        SettingName::Rate => {
            let range = instance.demand.state().map(|demand| SettingValue::Demand(demand.range));
            range.or(state.hertz.map(SettingValue::Hertz))
        }
        SettingName::Enabled => Some(SettingValue::Enabled(state.enabled)),
        SettingName::Deadband(metric) => instance.program().deadband(metric),
    }
}

fn kept_state(instance: &Instance, kept: &KeptSetting, value: Option<SettingValue>) -> KeptState {
    let is_applied = kept.applied.is_some() && kept.applied == instance.ledger().run();
    let state = match &kept.problem {
        Some(_) => KeptCondition::Refused,
        None if !is_applied => KeptCondition::Waiting,
        // A DAC that has started since does not know the deadbands of a run.
        None if value == Some(kept.value)
            || matches!(kept.value, SettingValue::Deadband(_)) && value.is_none() =>
        {
            KeptCondition::Applied
        }
        None => KeptCondition::Replaced,
    };
    let problem = kept.problem.as_ref().map(|problem| problem.message.clone());
    KeptState { value: kept.value, by: kept.by.clone(), at: kept.at, state, problem }
}
