//! Data handlers over HTTP: how each is that acts on samples besides the doors.

use crate::Api;
use axum::{Json, extract::State};
use serde::Serialize;
use serde_json::Value;
use std::{fmt, sync::Arc};
use utoipa::ToSchema;

/// A data handler, by how it is asked.
#[derive(Clone)]
pub struct Handler {
    name: &'static str,
    state: Arc<dyn Fn() -> Value + Send + Sync>,
}

impl Handler {
    /// Called so, and asked so; `state` must neither wait nor take long.
    pub fn new(name: &'static str, state: impl Fn() -> Value + Send + Sync + 'static) -> Self {
        Self { name, state: Arc::new(state) }
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handler").field(&self.name).finish()
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct HandlerList {
    handlers: Vec<HandlerView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct HandlerView {
    /// `postgresql`
    name: &'static str,
    /// See docs/guides/keep-samples-in-postgresql.md.
    #[schema(value_type = Object)]
    state: Value,
}

/// The DAC's data handlers, and how each of them is.
#[utoipa::path(get, path = "/api/v1/handlers", responses((status = 200, body = HandlerList)))]
pub async fn list(State(api): State<Api>) -> Json<HandlerList> {
    let view = |handler: &Handler| HandlerView { name: handler.name, state: (handler.state)() };
    Json(HandlerList { handlers: api.handlers.iter().map(view).collect() })
}
