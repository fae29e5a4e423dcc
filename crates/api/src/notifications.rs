//! The destinations of notifications: what became of their messages, and a test of one. They are set in the configuration file alone.

use crate::Api;
use axum::{
    Extension, Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use oasis_http::{Problem, permissions::Caller};
use oasis_notify::{DestinationState, TestError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Refusal of a page of another site that tries to send a test.
const FOREIGN_ORIGIN_DETAIL: &str = "pages of other sites may not test destinations (doors.allowed_origins)";

#[derive(Debug, Serialize, ToSchema)]
pub struct DestinationList {
    destinations: Vec<DestinationView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DestinationView {
    /// Its name in the configuration, `[notify.NAME]`.
    name: String,
    /// `alertmanager`, `webhook`, `mail` or `exec`
    kind: &'static str,
    /// `ok`, or `failing`: the last attempt failed
    state: &'static str,
    /// Notifications that wait.
    waiting: u64,
    /// Age of the oldest of them in whole seconds; `null` if none waits.
    oldest_seconds: Option<u64>,
    /// Notifications that a newer state of the same alarm replaced before they were sent.
    coalesced: u64,
    /// Notifications that it has accepted.
    delivered: u64,
    /// Notifications that were given up, or dropped because too many waited.
    failed: u64,
    /// Why the last attempt failed.
    last_error: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TestRequest {
    /// Its name.
    destination: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TestAnswer {
    /// Its name. It has accepted the test.
    destination: String,
}

impl From<DestinationState> for DestinationView {
    fn from(state: DestinationState) -> Self {
        let DestinationState {
            name,
            kind,
            state,
            waiting,
            oldest_seconds,
            coalesced,
            delivered,
            failed,
            last_error,
        } = state;
        let state = state.name();
        Self { name, kind, state, waiting, oldest_seconds, coalesced, delivered, failed, last_error }
    }
}

/// Destinations of notifications, in the order of their names.
#[utoipa::path(get, path = "/api/v1/notifications", responses((status = 200, body = DestinationList)))]
pub async fn list(State(api): State<Api>) -> Json<DestinationList> {
    let all = api.notifications.iter().flat_map(|handler| handler.list());
    Json(DestinationList { destinations: all.map(DestinationView::from).collect() })
}

/// Sends a test to a destination. Answers when that has answered, or after its timeout of 10 s. 6 tests a minute are allowed.
#[utoipa::path(post, path = "/api/v1/notifications/test", request_body = TestRequest,
    responses((status = 200, body = TestAnswer), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 422, body = Problem), (status = 429, body = Problem), (status = 502, body = Problem)))]
pub async fn test(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<TestAnswer>, Problem> {
    api.doors.admit(&headers, FOREIGN_ORIGIN_DETAIL)?;
    let TestRequest { destination } = super::body(&body)?;
    let (handler, name) = (api.notifications.clone(), destination.clone());
    let test = move || match handler {
        Some(handler) => handler.test(&name),
        None => Err(TestError::Unknown { name, known: "none".into() }),
    };
    let testing = async move {
        let tested = tokio::task::spawn_blocking(test).await;
        let ended = tested
            .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "test", error.to_string()))?;
        ended.map_err(refused)
    };
    let permissions = &api.doors.permissions;
    permissions.recorded(&caller, "notification:test", destination.clone(), Value::Null, testing).await?;
    Ok(Json(TestAnswer { destination }))
}

fn refused(error: TestError) -> Problem {
    let (status, code) = match error {
        TestError::Unknown { .. } => (StatusCode::NOT_FOUND, "unknown_destination"),
        TestError::Limited(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many_tests"),
        TestError::Failed { .. } => (StatusCode::BAD_GATEWAY, "not_delivered"),
    };
    Problem::new(status, code, error.to_string())
}
