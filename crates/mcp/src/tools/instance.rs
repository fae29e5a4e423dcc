//! The instance that a call is about.

use crate::api::{ApiError, ApiRequest, DacApi};
use serde::Deserialize;
use serde_json::{Value, json};

/// The name of an instance.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceName {
    pub node: String,
    pub instance: String,
}

/// Describes the two arguments.
pub fn properties() -> Value {
    json!({
        "node": {"type": "string", "description": "name of the node"},
        "instance": {"type": "string", "description": "name of the probe instance on the node"},
    })
}

/// Returns all that the DAC knows of an instance.
pub async fn detail(api: &impl DacApi, name: &InstanceName) -> Result<Value, ApiError> {
    let wanted = ApiRequest::get("/instances").with("node", &name.node).with("instance", &name.instance);
    let listed = api.send(wanted).await?;
    let Some(id) = listed["instances"][0]["id"].as_u64() else {
        let (node, instance) = (&name.node, &name.instance);
        return Err(ApiError(format!("there is no instance {node}/{instance}: list_instances names all")));
    };
    api.send(ApiRequest::get(format!("/instances/{id}"))).await
}
