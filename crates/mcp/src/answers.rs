//! Answers with their status of HTTP.

use crate::message::{
    HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, RpcError,
    UNSUPPORTED_VERSION,
};
use serde_json::{Value, json};

/// The answer to a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// A response of JSON-RPC; none to a notification.
    pub message: Option<Value>,
}

impl Answer {
    /// The answer to a message that wants none.
    pub fn accepted() -> Self {
        Self { status: 202, message: None }
    }

    /// A result.
    pub fn result(id: &Value, result: &Value) -> Self {
        Self { status: 200, message: Some(json!({"jsonrpc": "2.0", "id": id, "result": result})) }
    }

    /// An error of a message that cannot be understood.
    pub fn unreadable(id: &Value, error: &RpcError) -> Self {
        Self { status: 400, message: Some(error.response(id)) }
    }

    /// An error. Versions with a handshake have it with the status 200.
    pub fn error(id: &Value, error: &RpcError, is_stateless: bool) -> Self {
        let status = match error.code {
            _ if !is_stateless => 200,
            METHOD_NOT_FOUND => 404,
            PARSE_ERROR | INVALID_REQUEST | INVALID_PARAMS | HEADER_MISMATCH | UNSUPPORTED_VERSION => 400,
            _ => 200,
        };
        Self { status, message: Some(error.response(id)) }
    }
}
