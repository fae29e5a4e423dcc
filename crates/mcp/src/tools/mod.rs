//! The tools of an assistant: a file a tool.

mod describe_instance;
mod explain_gaps;
pub mod instance;
mod list_alarms;
mod list_instances;
mod query_sql;
mod read_samples;
mod send_command;

use crate::{
    api::{ApiError, ApiRequest, DacApi},
    bounded,
    message::RpcError,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A tool as clients see it.
struct Tool {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Properties of its arguments, as JSON Schema.
    properties: fn() -> Value,
    required: &'static [&'static str],
    /// Whether it changes anything.
    changes: bool,
}

const TOOLS: [Tool; 8] = [
    list_instances::TOOL,
    describe_instance::TOOL,
    read_samples::TOOL,
    query_sql::TABLES,
    query_sql::TOOL,
    explain_gaps::TOOL,
    list_alarms::TOOL,
    send_command::TOOL,
];

impl Tool {
    fn description(&self) -> Value {
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": (self.properties)(),
                "required": self.required,
                "additionalProperties": false,
            },
            "annotations": {
                "readOnlyHint": !self.changes,
                "destructiveHint": self.changes,
                "openWorldHint": false,
            },
        })
    }
}

/// Returns the tools that the caller may use: those that change something only if a role permits it.
pub async fn list(api: &impl DacApi) -> Vec<Value> {
    let session = api.send(ApiRequest::get("/session")).await.unwrap_or_default();
    let verbs = session["verbs"].as_array().into_iter().flatten();
    let may_command = verbs.filter_map(Value::as_str).any(|verb| verb.starts_with("command:"));
    TOOLS.iter().filter(|tool| may_command || !tool.changes).map(Tool::description).collect()
}

/// Calls a tool. What goes wrong within it is a result as well, so that the assistant can mend its arguments.
///
/// # Errors
/// If there is no such tool.
pub async fn call(api: &impl DacApi, params: &Value) -> Result<Value, RpcError> {
    let name = params["name"].as_str().ok_or_else(|| RpcError::params("the call names no tool"))?;
    let arguments = match &params["arguments"] {
        Value::Null => json!({}),
        given => given.clone(),
    };
    let called = match name {
        "list_instances" => list_instances::run(api, arguments).await,
        "describe_instance" => describe_instance::run(api, arguments).await,
        "read_samples" => read_samples::run(api, arguments).await,
        "list_tables" => query_sql::tables(api, arguments).await,
        "query_sql" => query_sql::run(api, arguments).await,
        "explain_gaps" => explain_gaps::run(api, arguments).await,
        "list_alarms" => list_alarms::run(api, arguments).await,
        "send_command" => send_command::run(api, arguments).await,
        other => return Err(RpcError::params(format!("there is no tool {other:?}: tools/list names all"))),
    };
    let (text, is_error) = match called {
        Ok(answer) => (answer.to_string(), false),
        Err(error) => (error.to_string(), true),
    };
    Ok(json!({"content": [{"type": "text", "text": bounded::text(text)}], "isError": is_error}))
}

/// Reads the arguments of a call.
fn parsed<T: DeserializeOwned>(arguments: Value) -> Result<T, ApiError> {
    serde_json::from_value(arguments).map_err(|error| ApiError(format!("the arguments are wrong: {error}")))
}

/// Takes a list out of a document.
fn taken(document: &mut Value, name: &str) -> Vec<Value> {
    document[name].as_array_mut().map(std::mem::take).unwrap_or_default()
}

/// Copies some fields of a document.
fn fields(document: &Value, names: &[&str]) -> Value {
    let present = names.iter().filter(|name| !document[**name].is_null());
    present.map(|name| ((*name).to_owned(), document[*name].clone())).collect()
}
