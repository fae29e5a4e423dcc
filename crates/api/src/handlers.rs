//! Handlers over HTTP: a list with their states, start and stop, and the documents that they serve.

use crate::Api;
use axum::{
    Extension, Json,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use oasis_handler::{Condition, HandlerError, Status, Supervisor};
use oasis_http::{Problem, permissions::Caller};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// Refusal of a page of another site that tries to switch a handler.
const FOREIGN_ORIGIN_DETAIL: &str = "pages of other sites may not control handlers (doors.allowed_origins)";

#[derive(Debug, Serialize, ToSchema)]
pub struct HandlerList {
    handlers: Vec<HandlerView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct HandlerView {
    /// `postgresql`
    name: &'static str,
    /// `running`, `backing_off` (it failed, and starts again after a pause), `stopping` or `stopped`
    #[schema(value_type = String)]
    condition: Condition,
    /// The last failure since it was started by hand.
    detail: Option<String>,
    /// Starts after a failure since it was started by hand.
    restarts: u64,
    /// Failures while the handler runs, and its warnings: a sentence each.
    warnings: Vec<String>,
    /// The handler's own report; its guide describes the fields.
    #[schema(value_type = Object)]
    state: Value,
}

impl From<Status> for HandlerView {
    fn from(Status { name, condition, detail, restarts, warnings, state }: Status) -> Self {
        Self { name, condition, detail, restarts, warnings, state }
    }
}

/// The DAC's handlers and their states.
#[utoipa::path(get, path = "/api/v1/handlers", responses((status = 200, body = HandlerList)))]
pub async fn list(State(api): State<Api>) -> Json<HandlerList> {
    Json(HandlerList { handlers: api.handlers.list().into_iter().map(HandlerView::from).collect() })
}

/// Starts a handler; nothing happens if it runs.
#[utoipa::path(post, path = "/api/v1/handlers/{name}/start", params(("name" = String, Path, description = "Its name")),
    responses((status = 200, body = HandlerView), (status = 403, body = Problem), (status = 404, body = Problem), (status = 503, body = Problem)))]
pub async fn start(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Path(name): Path<String>,
) -> Result<Json<HandlerView>, Problem> {
    control(&api, (&caller, "handler:start"), &headers, name, Supervisor::start).await
}

/// Stops a handler; nothing happens if it does not run. Answers when it has stopped, after its deadline at most: 5 s, 60 s for the archive.
#[utoipa::path(post, path = "/api/v1/handlers/{name}/stop", params(("name" = String, Path, description = "Its name")),
    responses((status = 200, body = HandlerView), (status = 403, body = Problem), (status = 404, body = Problem), (status = 503, body = Problem)))]
pub async fn stop(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Path(name): Path<String>,
) -> Result<Json<HandlerView>, Problem> {
    control(&api, (&caller, "handler:stop"), &headers, name, Supervisor::stop).await
}

async fn control(
    api: &Api,
    (caller, action): (&Caller, &'static str),
    headers: &HeaderMap,
    name: String,
    act: fn(&Supervisor, &str) -> Result<(), HandlerError>,
) -> Result<Json<HandlerView>, Problem> {
    api.doors.admit(headers, FOREIGN_ORIGIN_DETAIL)?;
    let handlers = api.handlers.clone();
    let target = name.clone();
    let act = move || act(&handlers, &name).and_then(|()| handlers.status(&name));
    let acting = async move { blocking(act).await?.map_err(problem) };
    let status = api.doors.permissions.recorded(caller, action, target, Value::Null, acting).await?;
    Ok(Json(status.into()))
}

/// Health, counters and newest values for Prometheus; 404 unless a handler serves them.
#[utoipa::path(get, path = "/metrics", responses((status = 200, body = String, content_type = "text/plain"), (status = 404, body = Problem)))]
pub async fn metrics(State(api): State<Api>, headers: HeaderMap) -> Result<Response, Problem> {
    let accept =
        headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default().to_owned();
    let handlers: Arc<Supervisor> = api.handlers.clone();
    let document = blocking(move || handlers.document("/metrics", &accept)).await?.ok_or_else(|| {
        let detail = "no running handler serves /metrics: set openmetrics.enabled in the configuration, or start it (oasis handlers start openmetrics)";
        Problem::new(StatusCode::NOT_FOUND, "no_metrics", detail)
    })?;
    Ok(([(header::CONTENT_TYPE, document.content_type)], document.body).into_response())
}

/// Waits for a handler's thread on a thread that may wait.
async fn blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(act).await;
    done.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "handler", error.to_string()))
}

fn problem(error: HandlerError) -> Problem {
    let (status, code) = match error {
        HandlerError::Unknown { .. } => (StatusCode::NOT_FOUND, "unknown_handler"),
        HandlerError::Thread { .. } => (StatusCode::SERVICE_UNAVAILABLE, "not_started"),
        HandlerError::Hangs(_) => (StatusCode::SERVICE_UNAVAILABLE, "hangs"),
        HandlerError::Slow { .. } => (StatusCode::SERVICE_UNAVAILABLE, "slow"),
    };
    Problem::new(status, code, error.to_string())
}
