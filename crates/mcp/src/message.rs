//! Messages of JSON-RPC 2.0.

use serde_json::{Value, json};

/// A message that is not JSON.
pub const PARSE_ERROR: i64 = -32_700;
/// A message that is no request of JSON-RPC.
pub const INVALID_REQUEST: i64 = -32_600;
/// A method that the server does not have.
pub const METHOD_NOT_FOUND: i64 = -32_601;
/// Parameters that do not fit the method.
pub const INVALID_PARAMS: i64 = -32_602;
/// A header that contradicts the message (MCP 2026-07-28).
pub const HEADER_MISMATCH: i64 = -32_020;
/// A version of the protocol that the server does not speak (MCP 2026-07-28).
pub const UNSUPPORTED_VERSION: i64 = -32_022;

/// An error of the protocol, as opposed to that of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl RpcError {
    /// An error with a message for people.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Parameters that do not fit.
    pub fn params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    /// Returns the response with this error.
    pub fn response(&self, id: &Value) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        json!({"jsonrpc": "2.0", "id": id, "error": error})
    }
}

/// A message of a client.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// A request, which wants a response.
    Request { id: Value, method: String, params: Value },
    /// A notification, or a response to a request that the server never sends.
    Silent,
    /// Bytes that are no message.
    Invalid { id: Value, error: RpcError },
}

/// Reads a message.
pub fn parse(bytes: &[u8]) -> Message {
    let mut message: Value = match serde_json::from_slice(bytes) {
        Ok(message) => message,
        Err(error) => {
            let error = RpcError::new(PARSE_ERROR, format!("the message is not JSON: {error}"));
            return Message::Invalid { id: Value::Null, error };
        }
    };
    if message.is_array() {
        let why = "several messages in one: send them one by one, as versions since 2025-06-18 do";
        return Message::Invalid { id: Value::Null, error: RpcError::new(INVALID_REQUEST, why) };
    }
    let id = message.get_mut("id").map(Value::take).unwrap_or_default();
    let invalid = |why: &str| Message::Invalid { id: id.clone(), error: RpcError::new(INVALID_REQUEST, why) };
    if message["jsonrpc"] != "2.0" {
        return invalid("the message has no \"jsonrpc\": \"2.0\"");
    }
    let Some(method) = message["method"].as_str() else {
        return match message.get("result").or(message.get("error")) {
            Some(_) => Message::Silent,
            None => invalid("the message has no method"),
        };
    };
    let method = method.to_owned();
    let params = message.get_mut("params").map(Value::take).unwrap_or_default();
    match id {
        Value::Null => Message::Silent,
        Value::String(_) | Value::Number(_) => Message::Request { id, method, params },
        _ => Message::Invalid {
            id: Value::Null,
            error: RpcError::new(INVALID_REQUEST, "the id is neither a text nor a number"),
        },
    }
}
