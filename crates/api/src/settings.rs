//! Kept settings over HTTP. Commands with `"keep": true` keep them, and `reset` forgets them: see [`crate::commands`].

use crate::{Api, read::InstanceFilter, understood};
use axum::{
    Extension, Json,
    extract::{Query, State, rejection::QueryRejection},
};
use oasis_dac::{
    Instance,
    settings::{KeptCondition, KeptSetting, KeptState, SettingState},
};
use oasis_http::{Problem, permissions::Caller};
use oasis_wire::command::SettingName;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct SettingList {
    /// `disk`, or `memory` if what is kept is lost when the DAC ends.
    kept_in: &'static str,
    /// Settings that are kept, or differ from what the program has declared, by node and instance.
    settings: Vec<SettingView>,
}

/// A setting: its value, and where that comes from.
#[derive(Debug, Serialize, ToSchema)]
pub struct SettingView {
    /// Node name.
    node: String,
    /// Instance name.
    instance: String,
    /// Whether this DAC knows the instance.
    known: bool,
    /// `setting`: `rate`, `enabled` or `deadband:METRIC`; `value`: now; `program`: what the program has declared; `kept`: `value`, `by`, `at` in nanoseconds
    /// since 1970, `state` (`applied`, `replaced`, `waiting`, `refused`) and `problem`. What is unknown is absent.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    setting: SettingState,
}

/// Settings that are kept for the next runs of nodes, and those that commands have changed for this run.
#[utoipa::path(get, path = "/api/v1/settings", params(InstanceFilter),
    responses((status = 200, body = SettingList), (status = 400, body = Problem)))]
pub async fn list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    filter: Result<Query<InstanceFilter>, QueryRejection>,
) -> Result<Json<SettingList>, Problem> {
    let Query(filter) = understood(filter)?;
    let dac = &api.doors.dac;
    let mut instances = crate::read::chosen(&api.doors, &caller, &filter);
    instances.sort_by(|one, other| (&one.node, &one.name).cmp(&(&other.node, &other.name)));
    let of_known = |instance: &Arc<Instance>| {
        let states = dac.registry.shown(instance).settings.into_iter();
        let (node, name) = (instance.node.to_string(), instance.name.to_string());
        let view =
            move |setting| SettingView { node: node.clone(), instance: name.clone(), known: true, setting };
        states.map(view).collect::<Vec<_>>()
    };
    let mut settings: Vec<_> = instances.iter().flat_map(of_known).collect();
    for (node, of) in dac.settings.all() {
        let is_unknown = |instance: &&String| dac.registry.find(&node, instance).is_none();
        let is_wanted = |instance: &&String| filter.wants(&node, instance) && caller.sees(&node, instance);
        for (name, of) in of.instances.iter().filter(|(name, _)| is_wanted(name) && is_unknown(name)) {
            settings.extend(of.kept.iter().map(|(setting, kept)| SettingView {
                node: node.to_string(),
                instance: name.clone(),
                known: false,
                setting: waiting(setting, kept),
            }));
        }
    }
    let kept_in = if dac.settings.is_on_disk() { "disk" } else { "memory" };
    Ok(Json(SettingList { kept_in, settings }))
}

/// A setting of an instance that has not registered.
fn waiting(setting: &SettingName, kept: &KeptSetting) -> SettingState {
    let KeptSetting { value, by, at, .. } = kept.clone();
    let kept = KeptState { value, by, at, state: KeptCondition::Waiting, problem: None };
    SettingState { setting: setting.clone(), value: None, program: None, kept: Some(kept) }
}
