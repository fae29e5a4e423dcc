//! The HTTP API of a DAC, and the page that uses it.
//!
//! An [`Api`] answers requests about nodes, instances, ledgers, the archive, commands, test runs, annotations, handlers and
//! layouts of the page and the threads of the doors, and serves the page's files. It stands above [`oasis_doors`], which has the WebSockets and text doors:
//! [`Api::router`] composes both. `/openapi.json` describes all of it:
//!
//! ```
//! let document = oasis_api::openapi();
//! for path in ["/api/v1/nodes", "/api/v1/commands", "/api/v1/samples/stream"] {
//!     assert!(document.paths.paths.contains_key(path), "{path}");
//! }
//! ```

mod annotations;
mod archive;
mod audit;
mod commands;
mod comparison;
mod handlers;
mod health;
mod instances;
mod layout_store;
mod layouts;
mod page;
mod read;
mod registry;
mod shards;
mod test_runs;

use axum::{
    Json, Router,
    extract::{ConnectInfo, FromRef, Query, Request, State, rejection::QueryRejection},
    http::{StatusCode, header},
    middleware::map_response,
    response::Response,
    routing::{delete, get, post},
};
use layout_store::LayoutStore;
use oasis_doors::{Doors, Problem};
use oasis_handler::Supervisor;
use serde::de::DeserializeOwned;
use std::{io, net::SocketAddr, sync::Arc};
use tokio::net::TcpListener;
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(
    info(title = "OASIS", description = "Watch distributed real-time and embedded systems while they run."),
    paths(
        audit::audit,
        health::healthz,
        health::readyz,
        health::health,
        read::nodes,
        instances::instances,
        read::instance,
        read::ledger,
        registry::changes,
        registry::schema,
        archive::state,
        archive::flush,
        archive::confirm_retention,
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
        handlers::list,
        handlers::start,
        handlers::stop,
        handlers::metrics,
        shards::list,
        shards::choose,
        layouts::list,
        layouts::get,
        layouts::put,
        layouts::delete
    )
)]
struct Description;

/// The OpenAPI document of the API and of the text doors.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Description::openapi();
    document.merge(oasis_doors::openapi());
    document
}

/// The API and the page of a DAC.
#[derive(Debug, Clone)]
pub struct Api {
    doors: Doors,
    layouts: Arc<LayoutStore>,
    handlers: Arc<Supervisor>,
}

/// Most requests need only the doors.
impl FromRef<Api> for Doors {
    fn from_ref(api: &Api) -> Self {
        api.doors.clone()
    }
}

impl Api {
    /// An API over `doors` that lists and controls these handlers. Reads the layouts of the page.
    ///
    /// # Errors
    /// If the directory of layouts cannot be read or created.
    pub fn new(doors: Doors, handlers: Arc<Supervisor>) -> io::Result<Self> {
        let config = &doors.config;
        let layouts = LayoutStore::open(config.layouts_dir(), config.max_layouts, config.max_layout_bytes)?;
        Ok(Self { layouts: Arc::new(layouts), handlers, doors })
    }

    /// The API, the doors and the page.
    pub fn router(self) -> Router {
        paths()
            .route("/", get(websocket_or_page))
            .merge(self.doors.router())
            .fallback(page::asset)
            .layer(map_response(page::harden))
            .with_state(self)
    }
}

/// Serves until `ended` completes and every client was notified.
///
/// # Errors
/// Those of the listener.
pub async fn serve(
    api: Api,
    listener: TcpListener,
    ended: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let doors = api.doors.clone();
    oasis_doors::serve(&doors, api.router(), listener, ended).await
}

/// `GET /`: the page, or a WebSocket for clients of 2012, which use no path.
async fn websocket_or_page(doors: State<Doors>, peer: ConnectInfo<SocketAddr>, request: Request) -> Response {
    if request.headers().contains_key(header::UPGRADE) {
        return oasis_doors::upgrade(doors, peer, request).await;
    }
    page::index()
}

/// All paths below `/api/v1`, and those that tools expect at the root.
fn paths() -> Router<Api> {
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/openapi.json", get(|| async { Json(openapi()) }))
        .route("/api/v1/health", get(health::health))
        .route("/api/v1/nodes", get(read::nodes))
        .route("/api/v1/instances", get(instances::instances))
        .route("/api/v1/instances/{id}", get(read::instance))
        .route("/api/v1/registry", get(registry::changes))
        .route("/api/v1/schemas/{hash}", get(registry::schema))
        .route("/api/v1/ledger", get(read::ledger))
        .route("/api/v1/audit", get(audit::audit))
        .route("/api/v1/handlers", get(handlers::list))
        .route("/api/v1/handlers/{name}/start", post(handlers::start))
        .route("/api/v1/handlers/{name}/stop", post(handlers::stop))
        .route("/metrics", get(handlers::metrics))
        .route("/api/v1/shards", get(shards::list).put(shards::choose))
        .route("/api/v1/layouts", get(layouts::list))
        .route("/api/v1/layouts/{name}", get(layouts::get).put(layouts::put).delete(layouts::delete))
        .route("/api/v1/archive", get(archive::state))
        .route("/api/v1/archive/instances", get(archive::instances))
        .route("/api/v1/archive/flush", post(archive::flush))
        .route("/api/v1/archive/retention/confirm", post(archive::confirm_retention))
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

/// Parses the body of a request.
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
