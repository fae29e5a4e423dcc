//! `read_samples`: samples of now and of the past, with their gaps.

use super::{
    Tool,
    instance::{self, InstanceName},
    parsed, taken,
};
use crate::{
    api::{ApiError, ApiRequest, DacApi},
    bounded::BoundedList,
};
use serde::Deserialize;
use serde_json::{Value, json};

const MAX_SAMPLES: u64 = 1_000;
const DEFAULT_SAMPLES: u64 = 20;
const MAX_POINTS: u64 = 500;

pub const TOOL: Tool = Tool {
    name: "read_samples",
    title: "Read samples",
    description: "Returns the newest samples of an instance, oldest first, with sequence numbers, times and gaps with their causes. With points, a long time \
comes as minimum, maximum, mean and last value of at most that many intervals. Counters count up: their rate is the difference.",
    properties: || {
        let mut properties = instance::properties();
        properties["last"] = json!({"type": "integer", "minimum": 1, "maximum": MAX_SAMPLES, "default": DEFAULT_SAMPLES,
            "description": "number of newest samples, of those between from and to"});
        properties["from"] = json!({"type": "string", "description": "time: -1h, -90s, 2026-11-21T09:00:00Z, or nanoseconds since 1970"});
        properties["to"] = json!({"type": "string", "description": "time, which is not included itself"});
        properties["points"] = json!({"type": "integer", "minimum": 1, "maximum": MAX_POINTS,
            "description": "aggregate all samples since from to this number of intervals, in place of samples"});
        properties["metrics"] =
            json!({"type": "array", "items": {"type": "string"}, "description": "only these metrics"});
        properties
    },
    required: &["node", "instance"],
    changes: false,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    node: String,
    instance: String,
    last: Option<u64>,
    from: Option<String>,
    to: Option<String>,
    points: Option<u64>,
    metrics: Option<Vec<String>>,
}

pub async fn run(api: &impl DacApi, arguments: Value) -> Result<Value, ApiError> {
    let wanted: Arguments = parsed(arguments)?;
    check(api, &wanted).await?;
    let request = ApiRequest::get("/samples").with("node", &wanted.node).with("instance", &wanted.instance);
    let request = match wanted.points {
        Some(points) => request.with("points", points),
        None => request.with("last", wanted.last.unwrap_or(DEFAULT_SAMPLES)),
    };
    let request = request.with_some("from", wanted.from.as_ref()).with_some("to", wanted.to.as_ref());
    let mut document = api.send(request).await?;
    let messages = taken(&mut document, "messages");
    let entries = messages.into_iter().flat_map(|message| entries(message, wanted.metrics.as_deref()));
    let mut answer = json!({"node": wanted.node, "instance": wanted.instance});
    let remedy = "ask for fewer metrics, a shorter time, or points";
    BoundedList::last(entries.collect(), usize::MAX).put(&mut answer, "samples", remedy);
    Ok(answer)
}

/// Refuses numbers beyond the limits, and metrics that the instance does not have: an answer without them would look like one without data.
async fn check(api: &impl DacApi, wanted: &Arguments) -> Result<(), ApiError> {
    if wanted.points.is_some() && wanted.from.is_none() {
        return Err(ApiError("points needs from, such as \"from\": \"-1h\"".into()));
    }
    for (name, value, most) in [("last", wanted.last, MAX_SAMPLES), ("points", wanted.points, MAX_POINTS)] {
        if value.is_some_and(|value| value == 0 || value > most) {
            return Err(ApiError(format!("{name} is from 1 to {most}")));
        }
    }
    let Some(metrics) = &wanted.metrics else { return Ok(()) };
    let name = InstanceName { node: wanted.node.clone(), instance: wanted.instance.clone() };
    let mut detail = instance::detail(api, &name).await?;
    let known = taken(&mut detail["schema"], "metrics");
    let known: Vec<&str> = known.iter().filter_map(|metric| metric["name"].as_str()).collect();
    // A member of a struct is called after it: `pose.x`.
    let is_known = |metric: &str| known.contains(&metric.split(['.', '[']).next().unwrap_or_default());
    match metrics.iter().find(|metric| !is_known(metric)) {
        Some(unknown) => Err(ApiError(format!("there is no metric {unknown:?}: {}", known.join(", ")))),
        None => Ok(()),
    }
}

/// Returns the samples of a message one by one, so that an answer can be cut between them, or the message itself if it has none, such as a gap.
fn entries(mut message: Value, metrics: Option<&[String]>) -> Vec<Value> {
    if message["event"] == "samples" {
        let mut samples = taken(&mut message, "samples");
        samples.iter_mut().for_each(|sample| keep(sample, metrics));
        return samples;
    }
    if let Some(fields) = message.as_object_mut() {
        fields.remove("node");
        fields.remove("instance");
    }
    keep(&mut message, metrics);
    vec![message]
}

/// Removes the metrics that were not asked for.
fn keep(from: &mut Value, metrics: Option<&[String]>) {
    if let (Some(metrics), Some(found)) = (metrics, from.get_mut("metrics").and_then(Value::as_object_mut)) {
        found.retain(|name, _| metrics.contains(name));
    }
}
