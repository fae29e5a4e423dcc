//! `list_instances`: what is watched.

use super::{Tool, fields, parsed, taken};
use crate::{
    api::{ApiError, ApiRequest, DacApi},
    bounded::BoundedList,
};
use oasis_wire::pattern;
use serde::Deserialize;
use serde_json::{Value, json};

/// Instances of one request to the API.
const PAGE_SIZE: usize = 1_000;
/// Requests of one call; a DAC with more instances is asked with `after`.
const MAX_PAGES: usize = 20;
const MAX_INSTANCES: usize = 500;
const DEFAULT_INSTANCES: usize = 100;

pub const TOOL: Tool = Tool {
    name: "list_instances",
    title: "List probe instances",
    description: "Lists probe instances by NODE/INSTANCE with type, state (online, offline, …), kind, rate and the number of missing samples. Begin here.",
    properties: || {
        json!({
            "pattern": {"type": "string", "description": "only NODE/INSTANCE that match, such as plant-*/pump; a * stands for any text"},
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_INSTANCES, "default": DEFAULT_INSTANCES},
        })
    },
    required: &[],
    changes: false,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: Option<String>,
    limit: Option<usize>,
}

pub async fn run(api: &impl DacApi, arguments: Value) -> Result<Value, ApiError> {
    let Arguments { pattern, limit } = parsed(arguments)?;
    let pattern = pattern.unwrap_or_else(|| "*".into());
    let (mut found, mut after) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let page = ApiRequest::get("/instances").with("limit", PAGE_SIZE).with_some("after", after.take());
        let mut page = api.send(page).await?;
        found.extend(taken(&mut page, "instances").iter().filter(|one| matches(&pattern, one)).map(shown));
        after = page["next"].as_str().map(str::to_owned);
        if after.is_none() {
            break;
        }
    }
    found.sort_by_cached_key(|one| (one["node"].to_string(), one["instance"].to_string()));
    let mut answer = json!({});
    let limit = limit.unwrap_or(DEFAULT_INSTANCES).min(MAX_INSTANCES);
    BoundedList::first(found, limit).put(
        &mut answer,
        "instances",
        "give a narrower pattern, or a higher limit",
    );
    if after.is_some() {
        answer["incomplete"] =
            "the DAC has more instances than one call looks at: ask SQL for the table instances".into();
    }
    Ok(answer)
}

fn matches(wanted: &str, instance: &Value) -> bool {
    let name = |field: &str| instance[field].as_str().unwrap_or_default();
    pattern::matches(wanted, &format!("{}/{}", name("node"), name("instance")))
}

fn shown(instance: &Value) -> Value {
    fields(instance, &["node", "instance", "type", "state", "enabled", "kind", "hertz", "missing", "labels"])
}
