//! Documents that a client can show or attach: files of rules, and the types of instances.

use crate::{
    api::{ApiError, ApiRequest, DacApi},
    bounded::{self, BoundedList},
    message::RpcError,
    tools::instance::{self, InstanceName},
};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};

const RULES: &str = "oasis://rules/";
const TYPES: &str = "oasis://types/";
/// Most resources of a list.
const MAX_RESOURCES: usize = 200;

/// Lists the files of rules, and the probe types of instances.
///
/// # Errors
/// If the DAC does not answer.
pub async fn list(api: &impl DacApi) -> Result<Value, RpcError> {
    let mut resources = rules(api).await;
    resources.extend(types(api).await.map_err(failed)?);
    let mut answer = json!({});
    BoundedList::first(resources, MAX_RESOURCES).put(
        &mut answer,
        "resources",
        "the addresses of other instances follow resources/templates/list",
    );
    Ok(answer)
}

/// Returns the files of rules; none if the caller may not read them.
async fn rules(api: &impl DacApi) -> Vec<Value> {
    let document = api.send(ApiRequest::get("/rules")).await.unwrap_or_default();
    let files = document["files"].as_array().into_iter().flatten();
    files.filter_map(|file| file["name"].as_str()).map(rule_file).collect()
}

fn rule_file(name: &str) -> Value {
    json!({
        "uri": format!("{RULES}{}", encoded(name)),
        "name": name,
        "description": "rules that raise alarms and derive values",
        "mimeType": "text/plain",
    })
}

async fn types(api: &impl DacApi) -> Result<Vec<Value>, ApiError> {
    let document = api.send(ApiRequest::get("/instances").with("limit", 1_000)).await?;
    let mut found: Vec<(&str, &Value)> = Vec::new();
    for instance in document["instances"].as_array().into_iter().flatten() {
        let Some(name) = instance["type"].as_str() else { continue };
        if !found.iter().any(|(known, _)| *known == name) {
            found.push((name, instance));
        }
    }
    Ok(found.into_iter().map(|(name, instance)| probe_type(name, instance)).collect())
}

/// The type of which this instance is one.
fn probe_type(name: &str, instance: &Value) -> Value {
    let part = |field: &str| encoded(instance[field].as_str().unwrap_or_default());
    json!({
        "uri": format!("{TYPES}{}/{}", part("node"), part("instance")),
        "name": name,
        "description": "probe type as its PDL declares it: metrics with types, units and documentation",
        "mimeType": "application/json",
    })
}

/// Returns the patterns of addresses.
pub fn templates() -> Value {
    json!({"resourceTemplates": [{
        "uriTemplate": format!("{TYPES}{{node}}/{{instance}}"),
        "name": "probe type of an instance",
        "mimeType": "application/json",
    }, {
        "uriTemplate": format!("{RULES}{{file}}"),
        "name": "file of rules",
        "mimeType": "text/plain",
    }]})
}

/// Reads a resource.
///
/// # Errors
/// If there is none at this address.
pub async fn read(api: &impl DacApi, params: &Value) -> Result<Value, RpcError> {
    let uri = params["uri"].as_str().ok_or_else(|| RpcError::params("the request names no uri"))?;
    let missing = || RpcError::params(format!("there is no resource {uri:?}: resources/list names all"));
    let (text, mime_type) = if let Some(file) = uri.strip_prefix(RULES) {
        // Encoded again, so that it stays one segment of the path.
        let path = format!("/rules/files/{}", encoded(&decoded(file)));
        let document = api.send(ApiRequest::get(path)).await.map_err(failed)?;
        (document["text"].as_str().unwrap_or_default().to_owned(), "text/plain")
    } else {
        let name = uri.strip_prefix(TYPES).and_then(|path| path.split_once('/'));
        let (node, instance) = name.ok_or_else(missing)?;
        let name = InstanceName { node: decoded(node), instance: decoded(instance) };
        let schema = instance::detail(api, &name).await.map_err(failed)?["schema"].take();
        (format!("{schema:#}"), "application/json")
    };
    Ok(json!({"contents": [{"uri": uri, "mimeType": mime_type, "text": bounded::text(text)}]}))
}

/// Encodes a name as a segment of an address.
fn encoded(name: &str) -> String {
    utf8_percent_encode(name, NON_ALPHANUMERIC).to_string()
}

fn decoded(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

fn failed(error: ApiError) -> RpcError {
    RpcError::params(error.0)
}
