//! The HTTP API: what is there, its latest samples and ledgers, commands, and layouts of the page. Described by `/openapi.json`.

mod archive;
mod commands;
mod layouts;
mod read;

use crate::Doors;
use axum::{
    Json, Router,
    routing::{get, post},
};
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
        commands::send,
        commands::journal,
        layouts::list,
        layouts::get,
        layouts::put,
        layouts::delete,
        crate::text::poll_at_once,
        crate::text::long_poll,
        crate::text::stream_lines,
        crate::text::events
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
        .route("/api/v1/layouts", get(layouts::list))
        .route("/api/v1/layouts/{name}", get(layouts::get).put(layouts::put).delete(layouts::delete))
        .route("/api/v1/archive", get(archive::state))
        .route("/api/v1/archive/flush", post(archive::flush))
        .route("/api/v1/commands", post(commands::send).get(commands::journal))
}
