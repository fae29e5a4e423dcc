//! Test runs over HTTP: times with a name, in the archive's catalogue.

use super::archive::{archive, blocking, catalogue_problem};
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::{HeaderMap, StatusCode},
};
use oasis_dac::now;
use oasis_doors::Doors;
use oasis_http::{Problem, permissions::Caller};
use oasis_store::{Description, TestRun, TestRunError, TestRunFilter, TestRuns};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// Test runs in one answer by default.
const DEFAULT_LIMIT: usize = 100;
/// Most of them in one answer, because they may have long notes.
const MAX_LIMIT: usize = 1_000;

/// A test run.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestRunView {
    /// Its number; names may change.
    id: u64,
    name: String,
    /// When it was started, nanoseconds since 1970 on the DAC's clock.
    started: u64,
    /// When it was stopped; null while it is running.
    stopped: Option<u64>,
    notes: String,
    /// In alphabetical order.
    tags: Vec<String>,
    /// Whether retention leaves its samples alone.
    pinned: bool,
    /// Its author; with the address only for callers that may read everything.
    who: String,
}

impl TestRunView {
    /// A test run as the caller may see it.
    pub fn new(run: TestRun, caller: &Caller) -> Self {
        let TestRun { id, name, started, stopped, notes, tags, pinned, who } = run;
        let (started, stopped) = (started.0, stopped.map(|stopped| stopped.0));
        let who = caller.shown_author(&who).to_owned();
        Self { id, name, started, stopped, notes, tags, pinned, who }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TestRunList {
    /// Newest first.
    test_runs: Vec<TestRunView>,
    /// `before` for the next test runs; null after the last one.
    next: Option<u64>,
}

#[derive(Debug, Deserialize, IntoParams)]
pub struct TestRunQuery {
    /// Only the one with this name.
    name: Option<String>,
    /// Only test runs with this tag.
    tag: Option<String>,
    /// Only test runs with smaller numbers: `next` of an earlier answer.
    before: Option<u64>,
    /// Most test runs in the answer, 1 to 1000; 100 by default.
    limit: Option<usize>,
}

/// Test runs, newest first.
#[utoipa::path(get, path = "/api/v1/test-runs", params(TestRunQuery),
    responses((status = 200, body = TestRunList), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub async fn list(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<TestRunQuery>, QueryRejection>,
) -> Result<Json<TestRunList>, Problem> {
    let Query(TestRunQuery { name, tag, before, limit }) = super::understood(query)?;
    let limit = limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let filter = TestRunFilter { before, name, tag };
    let mut runs = of(&doors, move |runs| runs.list(&filter, limit + 1)).await?;
    let next = super::last_of_more(&mut runs, limit).map(|last| last.id);
    let test_runs = runs.into_iter().map(|run| TestRunView::new(run, &caller)).collect();
    Ok(Json(TestRunList { test_runs, next }))
}

/// A test run.
#[utoipa::path(get, path = "/api/v1/test-runs/{test_run}", params(("test_run" = u64, Path, description = "its number")),
    responses((status = 200, body = TestRunView), (status = 404, body = Problem)))]
pub async fn get(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<TestRunView>, Problem> {
    let id = number(&id)?;
    Ok(Json(TestRunView::new(of(&doors, move |runs| runs.get(id)).await?, &caller)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTestRun {
    /// 1 to 256 bytes, without control characters. No other test run may have it.
    name: String,
    /// At most 16 KiB.
    #[serde(default)]
    notes: String,
    /// At most 32, of at most 64 bytes each.
    #[serde(default)]
    tags: Vec<String>,
    /// Whether retention leaves its samples alone.
    #[serde(default)]
    pinned: bool,
}

/// Starts a test run. Several may overlap.
#[utoipa::path(post, path = "/api/v1/test-runs", request_body = NewTestRun,
    responses((status = 201, body = TestRunView), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 422, body = Problem), (status = 507, body = Problem)))]
pub async fn start(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<TestRunView>), Problem> {
    admit(&doors, &headers)?;
    let NewTestRun { name, notes, tags, pinned } = super::body(&body)?;
    let description = Description { name, notes, tags, pinned };
    let (target, who, on) = (description.name.clone(), caller.author("http"), doors.clone());
    let start = async move { of(&on, move |runs| runs.start(description, &who, now())).await };
    let run = doors.permissions.recorded(&caller, "test-run:start", target, Value::Null, start).await?;
    Ok((StatusCode::CREATED, Json(TestRunView::new(run, &caller))))
}

/// Stops a test run.
#[utoipa::path(post, path = "/api/v1/test-runs/{test_run}/stop", params(("test_run" = u64, Path, description = "its number")),
    responses((status = 200, body = TestRunView), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 507, body = Problem)))]
pub async fn stop(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<TestRunView>, Problem> {
    admit(&doors, &headers)?;
    let id = number(&id)?;
    let on = doors.clone();
    let stop = async move { of(&on, move |runs| runs.stop(id, now())).await };
    let stopped = doors.permissions.recorded(&caller, "test-run:stop", id.to_string(), Value::Null, stop);
    Ok(Json(TestRunView::new(stopped.await?, &caller)))
}

/// Changes of a test run; absent members stay unchanged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TestRunChange {
    name: Option<String>,
    notes: Option<String>,
    /// Replaces its tags.
    tags: Option<Vec<String>>,
    pinned: Option<bool>,
}

/// Changes a test run's name, notes or tags, or whether it is pinned.
#[utoipa::path(patch, path = "/api/v1/test-runs/{test_run}", params(("test_run" = u64, Path, description = "its number")),
    request_body = TestRunChange,
    responses((status = 200, body = TestRunView), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem), (status = 507, body = Problem)))]
pub async fn change(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<TestRunView>, Problem> {
    admit(&doors, &headers)?;
    let id = number(&id)?;
    let arguments = super::body(&body)?;
    let change: TestRunChange = super::body(&body)?;
    let on = doors.clone();
    let apply = move |description: &mut Description| {
        description.name = change.name.unwrap_or(std::mem::take(&mut description.name));
        description.notes = change.notes.unwrap_or(std::mem::take(&mut description.notes));
        description.tags = change.tags.unwrap_or(std::mem::take(&mut description.tags));
        description.pinned = change.pinned.unwrap_or(description.pinned);
    };
    let change = async move { of(&on, move |runs| runs.change(id, apply)).await };
    let changed = doors.permissions.recorded(&caller, "test-run:change", id.to_string(), arguments, change);
    Ok(Json(TestRunView::new(changed.await?, &caller)))
}

/// Deletes a test run. Its samples stay for as long as retention keeps them.
#[utoipa::path(delete, path = "/api/v1/test-runs/{test_run}", params(("test_run" = u64, Path, description = "its number")),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem), (status = 507, body = Problem)))]
pub async fn delete(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    admit(&doors, &headers)?;
    let id = number(&id)?;
    let on = doors.clone();
    let delete = async move { of(&on, move |runs| runs.delete(id)).await };
    doors.permissions.recorded(&caller, "test-run:delete", id.to_string(), Value::Null, delete).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn admit(doors: &Doors, headers: &HeaderMap) -> Result<(), Problem> {
    doors.admit(headers, "pages of other sites may not change test runs (doors.allowed_origins)")
}

/// The number of a test run in a path.
pub fn number(id: &str) -> Result<u64, Problem> {
    id.parse().map_err(|_| {
        let detail = format!("{id:?} is not the number of a test run: list them with GET /api/v1/test-runs");
        Problem::new(StatusCode::NOT_FOUND, "unknown_test_run", detail)
    })
}

/// Runs a query on a thread that may block.
async fn of<T: Send + 'static>(
    doors: &Doors,
    ask: impl FnOnce(&TestRuns) -> Result<T, TestRunError> + Send + 'static,
) -> Result<T, Problem> {
    let runs = archive(doors)?.test_runs();
    blocking(move || ask(&runs)).await?.map_err(|error| test_run_problem(&error))
}

/// The problem of a test run that cannot be read or written.
pub fn test_run_problem(error: &TestRunError) -> Problem {
    let (status, code) = match error {
        TestRunError::Text(_) | TestRunError::TooManyTags(_) => {
            (StatusCode::UNPROCESSABLE_ENTITY, "bad_request")
        }
        TestRunError::TooMany => (StatusCode::CONFLICT, "too_many_test_runs"),
        TestRunError::Taken(_) => (StatusCode::CONFLICT, "test_run_name_taken"),
        TestRunError::Stopped(_) => (StatusCode::CONFLICT, "test_run_stopped"),
        TestRunError::Unknown(_) | TestRunError::UnknownName(_) => {
            (StatusCode::NOT_FOUND, "unknown_test_run")
        }
        TestRunError::Catalogue(error) => return catalogue_problem(error),
    };
    Problem::new(status, code, error.to_string())
}
