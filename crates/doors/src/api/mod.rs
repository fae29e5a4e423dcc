//! The HTTP API: what is there, its latest samples and ledgers, commands, test runs, annotations, and layouts of the page. Described by `/openapi.json`.

mod annotations;
mod archive;
mod commands;
mod comparison;
mod layouts;
mod read;
mod test_runs;

use crate::{Doors, problem::Problem};
use axum::{
    Json, Router,
    extract::{Query, rejection::QueryRejection},
    http::StatusCode,
    routing::{delete, get, post},
};
use serde::de::DeserializeOwned;
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(
    info(title = "OASIS", description = "Watch distributed real-time and embedded systems while they run."),
    paths(
        read::healthz,
        read::nodes,
        read::instances,
        read::instance,
        read::ledger,
        archive::state,
        archive::flush,
        archive::instances,
        commands::send,
        commands::journal,
        test_runs::list,
        test_runs::get,
        test_runs::start,
        test_runs::stop,
        test_runs::change,
        test_runs::delete,
        comparison::compare,
        annotations::list,
        annotations::add,
        annotations::delete,
        crate::handlers::list,
        layouts::list,
        layouts::get,
        layouts::put,
        layouts::delete,
        crate::text::poll_at_once,
        crate::text::long_poll,
        crate::text::stream_lines,
        crate::text::events,
        crate::text::history
    )
)]
struct Description;

/// All paths below `/api/v1`, and the two that tools expect at the root.
pub fn router() -> Router<Doors> {
    Router::new()
        .route("/healthz", get(read::healthz))
        .route("/openapi.json", get(|| async { Json(Description::openapi()) }))
        .route("/api/v1/nodes", get(read::nodes))
        .route("/api/v1/instances", get(read::instances))
        .route("/api/v1/instances/{id}", get(read::instance))
        .route("/api/v1/ledger", get(read::ledger))
        .route("/api/v1/handlers", get(crate::handlers::list))
        .route("/api/v1/layouts", get(layouts::list))
        .route("/api/v1/layouts/{name}", get(layouts::get).put(layouts::put).delete(layouts::delete))
        .route("/api/v1/archive", get(archive::state))
        .route("/api/v1/archive/instances", get(archive::instances))
        .route("/api/v1/archive/flush", post(archive::flush))
        .route("/api/v1/commands", post(commands::send).get(commands::journal))
        .route("/api/v1/test-runs", get(test_runs::list).post(test_runs::start))
        .route(
            "/api/v1/test-runs/{test_run}",
            get(test_runs::get).patch(test_runs::change).delete(test_runs::delete),
        )
        .route("/api/v1/test-runs/{test_run}/stop", post(test_runs::stop))
        .route("/api/v1/test-runs/{test_run}/comparison", get(comparison::compare))
        .route("/api/v1/annotations", get(annotations::list).post(annotations::add))
        .route("/api/v1/annotations/{annotation}", delete(annotations::delete))
}

/// What a request's body says.
fn body<T: DeserializeOwned>(json: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(json)
        .map_err(|error| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_request", error.to_string()))
}

/// A request's parameters, or which of them is wrong.
fn understood<T>(query: Result<Query<T>, QueryRejection>) -> Result<Query<T>, Problem> {
    query.map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", error.body_text()))
}

/// Cuts what was found with one more than the limit down to it; the last that stays, if more follow.
fn last_of_more<T>(found: &mut Vec<T>, limit: usize) -> Option<&T> {
    let is_more = found.len() > limit;
    found.truncate(limit);
    found.last().filter(|_| is_more)
}
