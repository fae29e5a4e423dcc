//! The seam to the HTTP API of a DAC.

use serde_json::Value;
use std::fmt;

/// A request of the API.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiRequest {
    /// The path below `/api/v1`, with its slash.
    pub path: String,
    /// Parameters, not encoded.
    pub query: Vec<(&'static str, String)>,
    /// The JSON body of a POST; a request without one is a GET.
    pub body: Option<Value>,
}

impl ApiRequest {
    /// A GET without parameters.
    pub fn get(path: impl Into<String>) -> Self {
        Self { path: path.into(), query: Vec::new(), body: None }
    }

    /// A POST.
    pub fn post(path: impl Into<String>, body: Value) -> Self {
        Self { path: path.into(), query: Vec::new(), body: Some(body) }
    }

    /// Adds a parameter.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    /// Adds a parameter if there is a value.
    #[must_use]
    pub fn with_some(self, name: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

/// The reason why the API did not do what it was asked for, in words for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError(pub String);

impl fmt::Display for ApiError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Sends requests to the HTTP API of a DAC, with the rights of the assistant.
pub trait DacApi: Sync {
    /// Sends a request. Returns the document of its answer; null if that is empty.
    fn send(&self, request: ApiRequest) -> impl Future<Output = Result<Value, ApiError>> + Send;
}
