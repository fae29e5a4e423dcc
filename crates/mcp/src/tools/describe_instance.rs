//! `describe_instance`: types, units, newest values and losses of one instance.

use super::{
    Tool, fields,
    instance::{self, InstanceName},
    parsed,
};
use crate::{
    api::{ApiError, DacApi},
    bounded::BoundedList,
};
use serde_json::Value;

pub const TOOL: Tool = Tool {
    name: "describe_instance",
    title: "Describe a probe instance",
    description: "Returns the metrics of an instance with type, unit and meaning, its newest sample with time, its rate and state, and how many \
samples were received, are missing, and why.",
    properties: instance::properties,
    required: &["node", "instance"],
    changes: false,
};

/// Most metrics; a type may have thousands.
const MAX_METRICS: usize = 500;

pub async fn run(api: &impl DacApi, arguments: Value) -> Result<Value, ApiError> {
    let name: InstanceName = parsed(arguments)?;
    let mut found = instance::detail(api, &name).await?;
    let mut answer = fields(
        &found,
        &["node", "instance", "type", "version", "state", "enabled", "kind", "hertz", "demand", "latest"],
    );
    answer["about"] = found["schema"]["doc"].take();
    answer["ledger"] = fields(
        &found["ledger"],
        &["received", "first_sequence", "last_sequence", "missing", "unexplained", "causes"],
    );
    let metrics = super::taken(&mut found["schema"], "metrics");
    let remedy = "this type has more metrics than one answer holds: list_tables names their columns";
    BoundedList::first(metrics, MAX_METRICS).put(&mut answer, "metrics", remedy);
    Ok(answer)
}
