//! `send_command`: changes a probe, after a person has confirmed it.

use super::{
    Tool,
    instance::{self, InstanceName},
    parsed,
};
use crate::api::{ApiError, ApiRequest, DacApi};
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub const TOOL: Tool = Tool {
    name: "send_command",
    title: "Send a command to a probe",
    description: "Changes a probe: its rate (hertz), whether it samples (enable, disable), one sample now (sample-now), its flight recorder (trigger), a metric's \
deadband, or its settings (reset). Without confirmation it does nothing, and returns the text that a person has to agree to; call it again with that text.",
    properties: || {
        let mut properties = instance::properties();
        properties["command"] = json!({"type": "string", "enum": COMMANDS});
        properties["hertz"] =
            json!({"type": "number", "exclusiveMinimum": 0, "description": "samples a second, for hertz"});
        properties["metric"] = json!({"type": "string", "description": "for deadband"});
        properties["deadband"] =
            json!({"type": "number", "description": "for deadband: smaller changes are not sent"});
        properties["min"] = json!({"type": "number", "description": "for demand: least samples a second"});
        properties["max"] = json!({"type": "number", "description": "for demand: most samples a second"});
        properties["keep"] = json!({"type": "boolean", "default": false, "description": "keep it for the next runs of the node"});
        properties["confirmation"] = json!({"type": "string", "description": "the text that the first call has returned, after a person has agreed"});
        properties
    },
    required: &["node", "instance", "command"],
    changes: true,
};

const COMMANDS: [&str; 9] =
    ["hertz", "enable", "disable", "sample-now", "trigger", "deadband", "demand", "demand-off", "reset"];

#[derive(Debug, Deserialize)]
struct Arguments {
    node: String,
    instance: String,
    command: String,
    confirmation: Option<String>,
    /// Fields of the command; the DAC refuses those that it does not know.
    #[serde(flatten)]
    fields: Map<String, Value>,
}

pub async fn run(api: &impl DacApi, arguments: Value) -> Result<Value, ApiError> {
    let wanted: Arguments = parsed(arguments)?;
    let text = confirmation(&wanted);
    match wanted.confirmation.as_deref() {
        None => check(api, &wanted).await.map(|()| json!({
            "done": false,
            "confirmation": text,
            "next": "show the confirmation to the person you work for; if the person agrees, call send_command again with the same arguments and this confirmation",
        })),
        Some(given) if given != text => {
            Err(ApiError(format!("nothing was done: the confirmation of this command is {text:?}")))
        }
        Some(_) => {
            let mut body = Value::Object(wanted.fields);
            body["node"] = wanted.node.into();
            body["instance"] = wanted.instance.into();
            body["command"] = wanted.command.into();
            api.send(ApiRequest::post("/commands", body)).await
        }
    }
}

/// Refuses what cannot be done before a person is asked for it.
async fn check(api: &impl DacApi, wanted: &Arguments) -> Result<(), ApiError> {
    let needed: &[&str] = match wanted.command.as_str() {
        "hertz" => &["hertz"],
        "deadband" => &["metric", "deadband"],
        "demand" => &["min", "max"],
        _ => &[],
    };
    if let Some(missing) = needed.iter().find(|name| !wanted.fields.contains_key(**name)) {
        return Err(ApiError(format!("{} needs {missing}", wanted.command)));
    }
    let name = InstanceName { node: wanted.node.clone(), instance: wanted.instance.clone() };
    instance::detail(api, &name).await?;
    let session = api.send(ApiRequest::get("/session")).await?;
    let verb = format!("command:{}", wanted.command);
    let verbs = session["verbs"].as_array().into_iter().flatten();
    match verbs.filter_map(Value::as_str).any(|known| known == verb) {
        true => Ok(()),
        false => Err(ApiError(format!("your token has no permission {verb}"))),
    }
}

/// Returns the command in words, with all that it does.
fn confirmation(wanted: &Arguments) -> String {
    let mut text = format!("{} of {}/{}", wanted.command, wanted.node, wanted.instance);
    for (name, value) in &wanted.fields {
        text += &format!(", {name} = {value}");
    }
    text
}
