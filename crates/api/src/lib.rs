//! The HTTP API of a DAC, and the page that uses it.
//!
//! An [`Api`] answers requests about nodes, instances, ledgers, the archive, commands, test runs, annotations, alarms, handlers and
//! layouts of the page, the TEM and the threads of the doors, and serves the page's files. It stands above [`oasis_doors`], which has the WebSockets and text doors:
//! [`Api::router`] composes both. `/openapi.json` describes all of it:
//!
//! ```
//! let document = oasis_api::openapi();
//! for path in ["/api/v1/nodes", "/api/v1/commands", "/api/v1/samples/stream"] {
//!     assert!(document.paths.paths.contains_key(path), "{path}");
//! }
//! ```

#![cfg_attr(
    not(feature = "openapi"),
    allow(
        unused_imports,
        dead_code,
        reason = "what only the OpenAPI document names; checked with the feature on"
    )
)]

// Routes and schemas describe themselves only for the test of the OpenAPI document.
#[cfg(not(feature = "openapi"))]
extern crate oasis_no_openapi as utoipa;

mod accounts;
mod alarms;
mod annotations;
mod archive;
mod audit;
mod audit_log;
mod commands;
mod comparison;
mod enrollment;
mod forget;
mod handlers;
mod health;
mod imports;
mod influxdb_refusals;
mod inlets;
mod instances;
mod labels;
mod layout_store;
mod layout_versions;
mod layouts;
mod mcp;
mod notifications;
mod openid;
mod other_pages;
mod page;
mod plain_refusals;
mod read;
mod registry;
mod request_body;
mod rules;
mod search;
#[cfg(feature = "openapi")]
mod security;
mod session;
mod settings;
mod shards;
mod sql;
mod static_files;
mod tem;
mod test_runs;
mod tickets;
mod whole_file;

use axum::{
    Extension, Router,
    extract::{ConnectInfo, FromRef, Query, Request, State, rejection::QueryRejection},
    http::{HeaderMap, StatusCode, header},
    middleware::{Next, from_fn, map_response},
    response::{IntoResponse, Response},
};
pub use enrollment::Enrollment;
use layout_store::LayoutStore;
use oasis_access::Verb;
use oasis_alarms::{Alarms, RelayedAlarms};
use oasis_doors::Doors;
use oasis_handler::Supervisor;
#[cfg(feature = "grpc")]
use oasis_http::GrpcMethod;
use oasis_http::{
    Problem,
    permissions::{COMMANDS, READ_VERBS, Requirement, Routes},
};
use oasis_notify::NotifyHandler;
use oasis_oidc::OpenId;
use oasis_rules::RulesState;
use request_body::body;
pub use sql::Queries;
use std::{io, net::SocketAddr, sync::Arc};
pub use tem::{Registrant, Reporter, Tem};
use tokio::{net::TcpListener, sync::Semaphore};
#[cfg(feature = "openapi")]
use utoipa::OpenApi;

/// Verbs of single actions.
const ADMINISTRATION: &[Verb] = &[Verb::Administration];
const PAST: &[Verb] = &[Verb::ReadPast];
const ENROLL: &[Verb] = &[Verb::Enroll];
const REGISTER: &[Verb] = &[Verb::Register];
const FOLLOW: &[Verb] = &[Verb::Follow];
const RUNS: &[Verb] = &[Verb::Runs];
const LIVE: &[Verb] = &[Verb::ReadLive];
const RULES: &[Verb] = &[Verb::Rules];
const SQL: &[Verb] = &[Verb::Sql];
const ANNOTATIONS: &[Verb] = &[Verb::Annotations];
const ALARMS: &[Verb] = &[Verb::Alarms];
const LABELS: &[Verb] = &[Verb::Labels];
const WRITE: &[Verb] = &[Verb::Write];
/// Paths of OTLP over HTTP.
const OTLP_PATHS: [&str; 3] = ["/v1/metrics", "/v1/logs", "/v1/traces"];
/// Methods of OTLP over gRPC; their messages are those of the paths.
#[cfg(feature = "grpc")]
const OTLP_METHODS: &[GrpcMethod] = &[
    GrpcMethod {
        name: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
        route: OTLP_PATHS[0],
    },
    GrpcMethod { name: "/opentelemetry.proto.collector.logs.v1.LogsService/Export", route: OTLP_PATHS[1] },
    GrpcMethod { name: "/opentelemetry.proto.collector.trace.v1.TraceService/Export", route: OTLP_PATHS[2] },
];
/// The error for a page of another site that tries to send samples.
const FOREIGN_WRITE: &str = "pages of other sites may not send samples (doors.allowed_origins)";

#[cfg(feature = "openapi")]
#[derive(OpenApi)]
#[openapi(
    info(title = "OASIS", description = "Watch distributed real-time and embedded systems while they run."),
    paths(
        audit::audit,
        audit_log::list,
        audit_log::check,
        health::healthz,
        health::readyz,
        health::health,
        health::alive,
        other_pages::list,
        other_pages::scout,
        session::who,
        session::sign_in,
        session::sign_out,
        session::renew_csrf_token,
        session::sign_in_by_link,
        session::make_link,
        tickets::make,
        session::change_password,
        accounts::copy::copy,
        accounts::users::list,
        accounts::users::add,
        accounts::users::set,
        accounts::users::remove,
        accounts::users::end_sessions,
        accounts::tokens::list,
        accounts::tokens::create,
        accounts::tokens::revoke,
        accounts::roles::list,
        accounts::roles::put,
        accounts::roles::remove,
        accounts::roles::preview,
        tem::list,
        tem::beat,
        tem::leave,
        tem::beats::open,
        read::nodes,
        enrollment::enroll,
        instances::instances,
        read::instance,
        read::ledger,
        registry::changes,
        registry::schema,
        archive::state,
        archive::flush,
        archive::confirm_retention,
        archive::instances,
        imports::create,
        imports::upload,
        imports::describe,
        imports::store,
        imports::show,
        imports::cancel,
        forget::node,
        forget::instance,
        commands::send,
        commands::journal,
        settings::list,
        labels::list,
        labels::change,
        rules::list::list,
        rules::files::get,
        rules::files::put,
        rules::files::delete,
        rules::check::check,
        rules::complete::complete,
        rules::preview::preview,
        search::find,
        sql::query,
        sql::tables,
        mcp::answer,
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
        alarms::list::list,
        alarms::actions::act,
        alarms::events::follow,
        alarms::journal::list,
        alarms::statistics::show,
        alarms::handover::list,
        handlers::list,
        handlers::start,
        handlers::stop,
        handlers::metrics,
        notifications::list,
        notifications::test,
        shards::list,
        shards::choose,
        layouts::list,
        layouts::get,
        layouts::versions,
        layouts::put,
        layouts::delete
    )
)]
struct Description;

/// The OpenAPI document of the API and of the text doors, from their sources. A DAC serves `docs/reference/openapi.json`, which is the same: the
/// code that makes it would be a megabyte of the program.
#[cfg(feature = "openapi")]
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Description::openapi();
    document.merge(oasis_doors::openapi());
    security::describe(&mut document);
    document
}

/// The API and the page of a DAC.
#[derive(Debug, Clone)]
pub struct Api {
    doors: Doors,
    layouts: Arc<LayoutStore>,
    handlers: Arc<Supervisor>,
    notifications: Option<Arc<NotifyHandler>>,
    enrollment: Option<Arc<Enrollment>>,
    provider: Option<Arc<openid::Provider>>,
    sql: sql::Turns,
    rules: rules::Rules,
    tem: Arc<Tem>,
    alarms: Option<Arc<Alarms>>,
    /// One reader of alarms at a time has its text written.
    alarm_texts: Arc<Semaphore>,
    imports: Arc<imports::Imports>,
    inlets: inlets::InletPermits,
    relayed_alarms: Option<Arc<RelayedAlarms>>,
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
        let (enrollment, provider, sql, tem) = (None, None, sql::Turns::default(), Arc::default());
        let (layouts, rules, notifications) = (Arc::new(layouts), rules::Rules::default(), None);
        let (alarms, relayed_alarms, alarm_texts) = (None, None, Arc::new(Semaphore::new(1)));
        let archive = doors.archived.archive.as_ref().map(|archive| archive.directory());
        let imports = Arc::new(imports::Imports::new(archive, config.max_import_bytes));
        Ok(Self {
            layouts,
            handlers,
            notifications,
            doors,
            enrollment,
            provider,
            sql,
            rules,
            tem,
            alarms,
            alarm_texts,
            imports,
            inlets: inlets::InletPermits::default(),
            relayed_alarms,
        })
    }

    /// Lists and tests the destinations of notifications too.
    pub fn with_notifications(self, notifications: Option<Arc<NotifyHandler>>) -> Self {
        Self { notifications, ..self }
    }

    /// Enrolls nodes too.
    pub fn enrolling(self, enrollment: Option<Enrollment>) -> Self {
        Self { enrollment: enrollment.map(Arc::new), ..self }
    }

    /// Lets people sign in by a provider of identity too.
    pub fn with_openid(self, openid: Option<OpenId>) -> Self {
        Self { provider: openid.map(|openid| Arc::new(openid::Provider::new(openid))), ..self }
    }

    /// Shows the files and rules of an engine, and changes them as far as it permits.
    pub fn with_rules(self, state: Option<Arc<RulesState>>) -> Self {
        Self { rules: rules::Rules::new(state), ..self }
    }

    /// Shows these alarms, and takes actions of operators on them.
    pub fn with_alarms(self, alarms: Option<Arc<Alarms>>) -> Self {
        Self { alarms, ..self }
    }

    /// Shows the alarms of the DACs that this one relays too, and sends actions on them there.
    pub fn with_relayed_alarms(self, relayed_alarms: Option<Arc<RelayedAlarms>>) -> Self {
        Self { relayed_alarms, ..self }
    }

    /// Whether this DAC shows alarms of others.
    fn relays_alarms(&self) -> bool {
        self.relayed_alarms.as_ref().is_some_and(|relayed| relayed.may_have())
    }

    /// Serves this TEM in place of an empty one.
    pub fn with_tem(self, tem: Arc<Tem>) -> Self {
        Self { tem, ..self }
    }

    /// All routes with what they require, those of the doors included. Everything else is a file of the page, for everybody.
    pub fn routes(&self) -> Routes<Self> {
        let page = Routes::new(&self.doors.http).get("/", Requirement::Nothing, websocket_or_page).get(
            "/d/{name}",
            Requirement::Nothing,
            page::dashboard,
        );
        paths(&self.doors).merge(page).merge(self.doors.routes())
    }

    /// The API, the doors and the page.
    pub fn router(self) -> Router {
        let (own, relayed) = (self.alarms.clone(), self.relayed_alarms.clone());
        self.doors.show_alarms(Arc::new(alarms::standing::AllStanding { own, relayed }));
        let routes = Router::new().merge(self.routes().into_router()).fallback(page::asset);
        let routes = routes.layer(map_response(plain_refusals::explained));
        let routes = routes.layer(from_fn(influxdb_refusals::reworded)).with_state(self);
        let calls = mcp::ApiRoutes::new(routes.clone());
        routes.layer(Extension(calls))
    }
}

/// Serves until `ended` completes and every client was notified.
///
/// # Errors
/// Errors of the listener.
pub async fn serve(
    api: Api,
    listener: TcpListener,
    ended: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let doors = api.doors.clone();
    oasis_doors::serve(&doors, api.router(), listener, ended).await
}

/// Serves the paths of OTLP alone, with the checks and limits of [`serve`], until `ended` completes and every request has its answer.
pub async fn serve_otlp(api: Api, listener: TcpListener, ended: impl Future<Output = ()>) {
    let doors = api.doors.clone();
    let router = api.router().layer(from_fn(only_otlp));
    oasis_http::serve(&doors.http, router, listener, ended).await;
}

/// Serves the methods of OTLP over gRPC, with the checks and limits of [`serve`], until `ended` completes and every call has its answer.
#[cfg(feature = "grpc")]
pub async fn serve_otlp_grpc(api: Api, listener: TcpListener, ended: impl Future<Output = ()>) {
    let doors = api.doors.clone();
    oasis_http::serve_grpc(&doors.http, api.router(), OTLP_METHODS, listener, ended).await;
}

/// Refuses all paths but those of OTLP.
async fn only_otlp(request: Request, next: Next) -> Response {
    if OTLP_PATHS.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    let detail = format!("this address takes {} only: the page has another", OTLP_PATHS.join(", "));
    Problem::new(StatusCode::NOT_FOUND, "not_found", detail).into_response()
}

/// `GET /`: the page, or a WebSocket for clients of 2012, which use no path.
async fn websocket_or_page(doors: State<Doors>, peer: ConnectInfo<SocketAddr>, request: Request) -> Response {
    if request.headers().contains_key(header::UPGRADE) {
        return oasis_doors::upgrade(doors, peer, request).await;
    }
    page::index(request.headers())
}

/// All paths below `/api/v1`, and those that tools expect at the root, each with what its caller needs.
fn paths(doors: &Doors) -> Routes<Api> {
    use Requirement::{Everywhere, Nothing, Somewhere};
    Routes::new(&doors.http)
        .get("/healthz", Nothing, health::healthz)
        .get("/readyz", Nothing, health::readyz)
        .get("/alive", Nothing, health::alive)
        .get("/openapi.json", Nothing, async |headers: HeaderMap| {
            static_files::answer("openapi.json", &headers)
        })
        .get("/api/v1/health", Nothing, health::health)
        .get("/api/v1/session", Nothing, session::who)
        .post("/api/v1/session", Nothing, session::sign_in)
        .delete("/api/v1/session", Nothing, session::sign_out)
        .post("/api/v1/session/csrf", Nothing, session::renew_csrf_token)
        .get(openid::BEGIN, Nothing, openid::begin)
        .get(openid::CALLBACK, Nothing, openid::callback)
        .post("/api/v1/session/link", Nothing, session::sign_in_by_link)
        .post("/api/v1/sign-in-links", Nothing, session::make_link)
        .post("/api/v1/tickets", Somewhere(READ_VERBS), tickets::make)
        .put("/api/v1/session/password", Nothing, session::change_password)
        .get("/api/v1/accounts/copy", Everywhere(FOLLOW), accounts::copy::copy)
        .get("/api/v1/users", Everywhere(ADMINISTRATION), accounts::users::list)
        .post("/api/v1/users", Everywhere(ADMINISTRATION), accounts::users::add)
        .patch("/api/v1/users/{name}", Everywhere(ADMINISTRATION), accounts::users::set)
        .delete("/api/v1/users/{name}", Everywhere(ADMINISTRATION), accounts::users::remove)
        .delete("/api/v1/users/{name}/sessions", Everywhere(ADMINISTRATION), accounts::users::end_sessions)
        .get("/api/v1/tokens", Everywhere(ADMINISTRATION), accounts::tokens::list)
        .post("/api/v1/tokens", Everywhere(ADMINISTRATION), accounts::tokens::create)
        .delete("/api/v1/tokens/{id}", Everywhere(ADMINISTRATION), accounts::tokens::revoke)
        .get("/api/v1/roles", Everywhere(ADMINISTRATION), accounts::roles::list)
        .put("/api/v1/roles/{name}", Everywhere(ADMINISTRATION), accounts::roles::put)
        .delete("/api/v1/roles/{name}", Everywhere(ADMINISTRATION), accounts::roles::remove)
        .post("/api/v1/roles/preview", Everywhere(ADMINISTRATION), accounts::roles::preview)
        .get("/api/v1/tem", Somewhere(READ_VERBS), tem::list)
        .put("/api/v1/tem/dacs/{name}", Somewhere(REGISTER), tem::beat)
        .delete("/api/v1/tem/dacs/{name}", Somewhere(REGISTER), tem::leave)
        .get("/api/v1/tem/dacs/{name}/beats", Somewhere(REGISTER), tem::beats::open)
        .get("/api/v1/other-pages", Somewhere(READ_VERBS), other_pages::list)
        .get("/api/v1/other-pages/scout.js", Somewhere(READ_VERBS), other_pages::scout)
        .get("/api/v1/nodes", Somewhere(READ_VERBS), read::nodes)
        .post("/api/v1/nodes/enroll", Somewhere(ENROLL), enrollment::enroll)
        .delete("/api/v1/nodes/{node}", Somewhere(ADMINISTRATION), forget::node)
        .get("/api/v1/instances", Somewhere(READ_VERBS), instances::instances)
        .get("/api/v1/instances/{id}", Somewhere(READ_VERBS), read::instance)
        .delete("/api/v1/instances/{id}", Somewhere(ADMINISTRATION), forget::instance)
        .post("/api/v1/imports", Everywhere(ADMINISTRATION), imports::create)
        .put("/api/v1/imports/{id}/files/{file}", Everywhere(ADMINISTRATION), imports::upload)
        .post("/api/v1/imports/{id}/describe", Everywhere(ADMINISTRATION), imports::describe)
        .post("/api/v1/imports/{id}/store", Everywhere(ADMINISTRATION), imports::store)
        .get("/api/v1/imports/{id}", Everywhere(ADMINISTRATION), imports::show)
        .delete("/api/v1/imports/{id}", Everywhere(ADMINISTRATION), imports::cancel)
        .get("/api/v1/registry", Somewhere(READ_VERBS), registry::changes)
        .get("/api/v1/schemas/{hash}", Somewhere(READ_VERBS), registry::schema)
        .get("/api/v1/ledger", Somewhere(READ_VERBS), read::ledger)
        .get("/api/v1/audit", Somewhere(READ_VERBS), audit::audit)
        .get("/api/v1/audit-log", Everywhere(ADMINISTRATION), audit_log::list)
        .get("/api/v1/audit-log/check", Everywhere(ADMINISTRATION), audit_log::check)
        // Handlers, shards and /metrics describe all instances and cannot be filtered for a caller.
        .get("/api/v1/handlers", Everywhere(READ_VERBS), handlers::list)
        .post("/api/v1/handlers/{name}/start", Everywhere(ADMINISTRATION), handlers::start)
        .post("/api/v1/handlers/{name}/stop", Everywhere(ADMINISTRATION), handlers::stop)
        .get("/api/v1/notifications", Everywhere(ADMINISTRATION), notifications::list)
        .post("/api/v1/notifications/test", Everywhere(ADMINISTRATION), notifications::test)
        .get("/metrics", Everywhere(LIVE), handlers::metrics)
        // Paths of InfluxDB. The handler asks for each instance.
        .get("/ping", Nothing, inlets::receive)
        .get("/health", Nothing, inlets::receive)
        .get("/query", Somewhere(WRITE), inlets::receive)
        .post("/query", Somewhere(WRITE), inlets::receive)
        .post("/write", Somewhere(WRITE), inlets::receive)
        .post("/api/v2/write", Somewhere(WRITE), inlets::receive)
        .post("/api/v3/write_lp", Somewhere(WRITE), inlets::receive)
        .post("/mcp", Somewhere(READ_VERBS), mcp::answer)
        // The path of Prometheus's own receiver of remote write.
        .post("/api/v1/write", Somewhere(WRITE), inlets::receive)
        // Paths of OTLP over HTTP.
        .post(OTLP_PATHS[0], Somewhere(WRITE), inlets::receive)
        .post(OTLP_PATHS[1], Somewhere(WRITE), inlets::receive)
        .post(OTLP_PATHS[2], Somewhere(WRITE), inlets::receive)
        .get("/api/v1/shards", Everywhere(READ_VERBS), shards::list)
        .put("/api/v1/shards", Everywhere(ADMINISTRATION), shards::choose)
        // A layout names instances.
        .get("/api/v1/layouts", Everywhere(READ_VERBS), layouts::list)
        .get("/api/v1/layouts/{name}", Everywhere(READ_VERBS), layouts::get)
        .get("/api/v1/layouts/{name}/versions", Everywhere(READ_VERBS), layouts::versions)
        .put("/api/v1/layouts/{name}", Everywhere(&[Verb::Layouts]), layouts::put)
        .delete("/api/v1/layouts/{name}", Everywhere(&[Verb::Layouts]), layouts::delete)
        .get("/api/v1/archive", Everywhere(READ_VERBS), archive::state)
        .get("/api/v1/archive/instances", Somewhere(PAST), archive::instances)
        .post("/api/v1/archive/flush", Everywhere(ADMINISTRATION), archive::flush)
        .post("/api/v1/archive/retention/confirm", Everywhere(ADMINISTRATION), archive::confirm_retention)
        .post("/api/v1/commands", Somewhere(COMMANDS), commands::send)
        .get("/api/v1/commands", Somewhere(READ_VERBS), commands::journal)
        .get("/api/v1/settings", Somewhere(READ_VERBS), settings::list)
        .get("/api/v1/labels", Somewhere(READ_VERBS), labels::list)
        .patch("/api/v1/labels", Somewhere(LABELS), labels::change)
        // A file names instances, and its rules are about all that match.
        .get("/api/v1/rules", Everywhere(LIVE), rules::list::list)
        .get("/api/v1/rules/handover", Somewhere(PAST), alarms::handover::list)
        .get("/api/v1/rules/files/{name}", Everywhere(LIVE), rules::files::get)
        .put("/api/v1/rules/files/{name}", Everywhere(RULES), rules::files::put)
        .delete("/api/v1/rules/files/{name}", Everywhere(RULES), rules::files::delete)
        .post("/api/v1/rules/check", Somewhere(LIVE), rules::check::check)
        .post("/api/v1/rules/complete", Somewhere(LIVE), rules::complete::complete)
        .post("/api/v1/rules/preview", Somewhere(PAST), rules::preview::preview)
        .post("/api/v1/search", Somewhere(PAST), search::find)
        .get("/api/v1/sql", Somewhere(SQL), sql::tables)
        .post("/api/v1/sql", Somewhere(SQL), sql::query)
        .get("/api/v1/test-runs", Somewhere(READ_VERBS), test_runs::list)
        .post("/api/v1/test-runs", Everywhere(RUNS), test_runs::start)
        .get("/api/v1/test-runs/{test_run}", Somewhere(READ_VERBS), test_runs::get)
        .patch("/api/v1/test-runs/{test_run}", Everywhere(RUNS), test_runs::change)
        .delete("/api/v1/test-runs/{test_run}", Everywhere(RUNS), test_runs::delete)
        .post("/api/v1/test-runs/{test_run}/stop", Everywhere(RUNS), test_runs::stop)
        .get("/api/v1/test-runs/{test_run}/comparison", Somewhere(PAST), comparison::compare)
        .get("/api/v1/annotations", Somewhere(READ_VERBS), annotations::list)
        .post("/api/v1/annotations", Somewhere(ANNOTATIONS), annotations::add)
        .delete("/api/v1/annotations/{annotation}", Somewhere(ANNOTATIONS), annotations::delete)
        .get("/api/v1/alarms", Somewhere(LIVE), alarms::list::list)
        .post("/api/v1/alarms/actions", Somewhere(ALARMS), alarms::actions::act)
        .get("/api/v1/alarms/events", Somewhere(LIVE), alarms::events::follow)
        .get("/api/v1/alarms/journal", Somewhere(PAST), alarms::journal::list)
        .get("/api/v1/alarms/statistics", Somewhere(LIVE), alarms::statistics::show)
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
