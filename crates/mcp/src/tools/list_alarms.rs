//! `list_alarms`: alarms that stand.

use super::{Tool, parsed, taken};
use crate::{
    api::{ApiError, ApiRequest, DacApi},
    bounded::BoundedList,
};
use serde::Deserialize;
use serde_json::{Value, json};

const MAX_ALARMS: usize = 200;

pub const TOOL: Tool = Tool {
    name: "list_alarms",
    title: "List alarms",
    description: "Lists the alarms of rules with state, severity, instance, value and times.",
    properties: || {
        json!({
            "node": {"type": "string", "description": "only of this node"},
            "instance": {"type": "string", "description": "only of instances with this name"},
            "state": {"type": "string", "enum": ["standing", "all"], "default": "standing", "description": "all: those that are over too"},
            "severity": {"type": "string", "enum": ["low", "medium", "high", "critical"]},
        })
    },
    required: &[],
    changes: false,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    node: Option<String>,
    instance: Option<String>,
    state: Option<String>,
    severity: Option<String>,
}

pub async fn run(api: &impl DacApi, arguments: Value) -> Result<Value, ApiError> {
    let Arguments { node, instance, state, severity } = parsed(arguments)?;
    let request = ApiRequest::get("/alarms")
        .with_some("node", node)
        .with_some("instance", instance)
        .with_some("state", state)
        .with_some("severity", severity)
        .with("limit", MAX_ALARMS);
    let mut document = api.send(request).await?;
    let mut answer = json!({});
    BoundedList::first(taken(&mut document, "alarms"), MAX_ALARMS).put(
        &mut answer,
        "alarms",
        "name a node or a severity",
    );
    if !document["next"].is_null() {
        answer["more"] = "the DAC has more alarms: name a node, a state or a severity".into();
    }
    Ok(answer)
}
