//! Labels over HTTP: free `key=value` pairs of nodes and instances. The last writer of a label wins.

use crate::{Api, archive::blocking, body, read::InstanceFilter, understood};
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Query, State, rejection::QueryRejection},
    http::{HeaderMap, StatusCode},
};
use oasis_access::{Target, Verb};
use oasis_dac::{
    Dac, NodeHome, now,
    settings::{Label, LabelMap, SettingsError},
};
use oasis_http::{Problem, permissions::Caller};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc};
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct LabelList {
    /// By node, instance and key.
    labels: Vec<LabelView>,
}

/// A label.
#[derive(Debug, Serialize, ToSchema)]
pub struct LabelView {
    /// Node name.
    node: String,
    /// Instance name; null for the node itself.
    instance: Option<String>,
    key: String,
    value: String,
    /// Principal that set it.
    by: String,
    /// When, nanoseconds since 1970 on the DAC's clock.
    at: u64,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LabelChange {
    /// Node name.
    node: String,
    /// Instance name; absent for the node itself.
    instance: Option<String>,
    /// Values by key; null removes a label. Others stay.
    labels: BTreeMap<String, Option<String>>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LabelsNow {
    /// All labels of the node or instance after the change, by key.
    labels: LabelMap,
}

/// The labels that this DAC keeps.
#[utoipa::path(get, path = "/api/v1/labels", params(InstanceFilter),
    responses((status = 200, body = LabelList), (status = 400, body = Problem)))]
pub async fn list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    filter: Result<Query<InstanceFilter>, QueryRejection>,
) -> Result<Json<LabelList>, Problem> {
    let Query(filter) = understood(filter)?;
    let mut labels = Vec::new();
    for (node, of) in api.doors.dac.settings.all() {
        let view = |instance: Option<&String>, key: &String, label: &Label| LabelView {
            node: node.to_string(),
            instance: instance.cloned(),
            key: key.clone(),
            value: label.value.clone(),
            by: label.by.clone(),
            at: label.at.0,
        };
        if filter.wants_node(&node) && caller.sees_node(&node) {
            labels.extend(of.labels.iter().map(|(key, label)| view(None, key, label)));
        }
        for (name, of) in &of.instances {
            if filter.wants(&node, name) && caller.sees(&node, name) {
                labels.extend(of.labels.iter().map(|(key, label)| view(Some(name), key, label)));
            }
        }
    }
    Ok(Json(LabelList { labels }))
}

/// Sets and removes labels of a node or an instance; those that are not named stay.
#[utoipa::path(patch, path = "/api/v1/labels", request_body = LabelChange,
    responses((status = 200, body = LabelsNow), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem), (status = 507, body = Problem)))]
pub async fn change(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Json<LabelsNow>, Problem> {
    api.doors.admit(&headers, "pages of other sites may not set labels (doors.allowed_origins)")?;
    let change: LabelChange = body(&bytes)?;
    let dac = api.doors.dac.clone();
    let arguments = json!({"labels": change.labels});
    let target = match &change.instance {
        None => Target::Node(&change.node),
        Some(instance) => Target::Instance { node: &change.node, instance },
    };
    let of = match &change.instance {
        None => change.node.clone(),
        Some(instance) => format!("{}/{instance}", change.node),
    };
    if let Err(refusal) = caller.authorize(Verb::Labels, target) {
        api.doors.permissions.record_refusal(&caller, "labels", &of, arguments, &refusal).await;
        return Err(Problem::from(refusal).recorded());
    }
    check_target(&dac, &change)?;
    let by = caller.principal().to_string();
    let set = async move { blocking(move || set(&dac, &change, &by)).await? };
    let labels = api.doors.permissions.recorded(&caller, "labels", of, arguments, set).await?;
    Ok(Json(LabelsNow { labels }))
}

/// Labels belong to the DAC that a node is connected to: others show those. Labels of what has not come back can be removed.
fn check_target(dac: &Dac, LabelChange { node, instance, .. }: &LabelChange) -> Result<(), Problem> {
    let kept = dac.settings.of_node(node);
    match dac.registry.home_of(node) {
        None if kept.is_some() => {}
        None => {
            let detail = format!("no node is called {node:?}: GET /api/v1/nodes lists them");
            return Err(Problem::new(StatusCode::NOT_FOUND, "unknown_node", detail));
        }
        Some(NodeHome::Relayed(hop)) => {
            let detail = format!("node {node:?} is connected to the DAC {:?}: set its labels there", hop.dac);
            return Err(Problem::new(StatusCode::CONFLICT, "node_elsewhere", detail));
        }
        Some(NodeHome::Here | NodeHome::Unreachable) => {}
    }
    let Some(instance) = instance else { return Ok(()) };
    let is_kept = kept.is_some_and(|kept| kept.instances.contains_key(instance));
    if is_kept || dac.registry.find(node, instance).is_some() {
        return Ok(());
    }
    let detail = format!("node {node:?} has no instance {instance:?}: GET /api/v1/instances lists them");
    Err(Problem::new(StatusCode::NOT_FOUND, "unknown_instance", detail))
}

fn set(dac: &Arc<Dac>, change: &LabelChange, by: &str) -> Result<LabelMap, Problem> {
    let LabelChange { node, instance, labels } = change;
    let changed = dac.registry.set_labels((node, instance.as_deref()), labels, (by, now()));
    changed.map_err(|error| settings_problem(&error))
}

/// The problem of settings or labels that cannot be kept.
pub fn settings_problem(error: &SettingsError) -> Problem {
    let (status, code) = match error {
        SettingsError::Label(_) => (StatusCode::UNPROCESSABLE_ENTITY, "bad_request"),
        SettingsError::Full | SettingsError::TooMany => (StatusCode::CONFLICT, "too_many_settings"),
        SettingsError::Storage { .. } => (StatusCode::INSUFFICIENT_STORAGE, "not_kept"),
    };
    Problem::new(status, code, error.to_string())
}
