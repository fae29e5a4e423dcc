//! SQL over HTTP: one SELECT over what its author may read of the archive's past.
//!
//! A query has a thread of its own, of low priority, so that doors and ingest find a processor. It ends when its limits are reached or its client leaves.

mod answer;
mod queries;
mod turns;

pub use queries::Queries;
pub use turns::{Turn, Turns};

use super::archive::{archive, catalogue_problem};
use crate::{Api, alarms::tables as alarm_tables};
use answer::{Answer, Collected};
use axum::{
    Extension, Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use oasis_access::{Target, Verb};
use oasis_alarms::Alarms;
use oasis_doors::view::Integers;
use oasis_http::{Problem, permissions::Caller};
use oasis_query::{GuardedSql, Sight, SqlError, SqlLimits, audit_log};
use oasis_store::{History, OpenError, ReadError};
use oasis_thread_priority::{BACKGROUND, lower_priority};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
    fmt::Display,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};
use tokio::sync::oneshot;
use utoipa::ToSchema;

/// Longest text of a query, bytes.
const MAX_QUERY_BYTES: usize = 64 * 1024;
/// Upper bound of the time of a query.
const QUERY_TIMEOUT: Duration = Duration::from_secs(10);
/// Memory of SQLite in this process at which queries end.
const MAX_MEMORY_BYTES: u64 = 256 * 1024 * 1024;
/// Upper bound of the bytes that a query may copy of the catalogue.
const MAX_CATALOGUE_BYTES: u64 = 256 * 1024 * 1024;
/// Characters of a query in the audit log.
const MAX_RECORDED_CHARS: usize = 1_000;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// `{"columns", "rows", "more"}`
    #[default]
    Json,
    /// RFC 4180; the header `X-Oasis-More` says whether it is cut.
    Csv,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// One SELECT of SQLite's SQL, at most 65,536 bytes.
    query: String,
    #[serde(default)]
    format: Form,
    /// `string`: integers in JSON as strings, because JavaScript rounds those beyond 2^53.
    #[serde(default)]
    #[schema(value_type = String)]
    integers: WrittenIntegers,
}

/// Format of integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WrittenIntegers {
    #[default]
    Number,
    String,
}

impl From<WrittenIntegers> for Integers {
    fn from(written: WrittenIntegers) -> Self {
        match written {
            WrittenIntegers::Number => Self::Number,
            WrittenIntegers::String => Self::String,
        }
    }
}

/// The rows of a query.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Answered)]
pub struct QueryResult {
    columns: Vec<String>,
    /// A value for each column: null, a number or a string; infinities are strings.
    #[schema(value_type = Vec<Vec<Object>>)]
    rows: Vec<Vec<serde_json::Value>>,
    /// Whether there are more than these: an answer has at most 100,000 rows and 8 MiB.
    more: bool,
}

/// Runs one SELECT over the archive. Its tables have what the caller may read of the past, and nothing else is there.
#[utoipa::path(post, path = "/api/v1/sql", request_body = Query,
    responses((status = 200, body = QueryResult), (status = 403, body = Problem), (status = 404, body = Problem), (status = 413, body = Problem),
        (status = 422, body = Problem), (status = 429, body = Problem), (status = 500, body = Problem), (status = 503, body = Problem),
        (status = 504, body = Problem)))]
pub async fn query(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let doors = &api.doors;
    doors.admit(&headers, "pages of other sites may not send SQL (doors.allowed_origins)")?;
    let Query { query, format, integers } = super::body(&body)?;
    if query.len() > MAX_QUERY_BYTES {
        let detail = format!("the query has {} bytes, more than {MAX_QUERY_BYTES}", query.len());
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "query_too_long", detail));
    }
    let on = Archived::of(&api, &caller)?;
    let turn = api.sql.take_for(&caller)?;
    let leaving = Leaving::default();
    let has_left = leaving.has_left();
    let recorded: String = query.chars().take(MAX_RECORDED_CHARS).collect();
    let by = caller.clone();
    let run = async move {
        on_own_thread(move || {
            let _turn = turn;
            collected(on, by, has_left, &query, Answer::new(format, integers.into()))
        })
        .await?
    };
    let arguments = json!({"query": recorded});
    let collected = doors.permissions.recorded(&caller, "sql", String::new(), arguments, run).await?;
    Ok(response(collected))
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SqlTables {
    tables: Vec<SqlTable>,
}

/// A table that queries can use.
#[derive(Debug, Serialize, ToSchema)]
pub struct SqlTable {
    name: String,
    /// Meaning of a row.
    about: String,
    columns: Vec<SqlColumn>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SqlColumn {
    name: String,
    /// Its unit; null without one.
    unit: Option<String>,
}

/// The tables that the caller may query.
#[utoipa::path(get, path = "/api/v1/sql", responses((status = 200, body = SqlTables), (status = 404, body = Problem),
    (status = 429, body = Problem), (status = 500, body = Problem)))]
pub async fn tables(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<SqlTables>, Problem> {
    let on = Archived::of(&api, &caller)?;
    let turn = api.sql.take_for(&caller)?;
    let leaving = Leaving::default();
    let has_left = leaving.has_left();
    let tables = on_own_thread(move || {
        let _turn = turn;
        let sql = open(on, caller, has_left)?;
        let column =
            |(name, unit): &(String, Option<String>)| SqlColumn { name: name.clone(), unit: unit.clone() };
        let tables = sql.tables().map(|table| SqlTable {
            name: table.name.clone(),
            about: table.about.clone(),
            columns: table.columns.iter().map(column).collect(),
        });
        Ok::<_, Problem>(tables.collect())
    });
    Ok(Json(SqlTables { tables: tables.await?? }))
}

/// Its drop means that the client no longer waits for the answer.
#[derive(Default)]
pub struct Leaving(Arc<AtomicBool>);

impl Leaving {
    /// Becomes true when it is dropped.
    pub fn has_left(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Visibility of a principal of the DAC.
#[derive(Debug)]
struct CallersSight(Caller);

impl Sight for CallersSight {
    fn instance(&self, node: &str, instance: &str) -> bool {
        self.0.may(Verb::ReadPast, Target::Instance { node, instance })
    }

    fn node(&self, node: &str) -> bool {
        self.0.may(Verb::ReadPast, Target::Node(node))
    }

    fn anything(&self) -> bool {
        self.0.may(Verb::ReadPast, Target::SomeOfDac)
    }

    fn author<'a>(&self, author: &'a str) -> &'a str {
        self.0.shown_author(author)
    }
}

/// Archive, audit log and alarms that a query reads.
struct Archived {
    history: History,
    /// The folder of the audit log, for those who may read it.
    audit: Option<PathBuf>,
    alarms: Option<Arc<Alarms>>,
}

impl Archived {
    fn of(api: &Api, caller: &Caller) -> Result<Self, Problem> {
        let doors = &api.doors;
        let history = archive(doors)?.history();
        let audit =
            doors.permissions.audit_folder().filter(|_| caller.may(Verb::Administration, Target::Dac));
        Ok(Self { history, audit: audit.map(PathBuf::from), alarms: api.alarms.clone() })
    }
}

fn open(on: Archived, caller: Caller, has_left: Arc<AtomicBool>) -> Result<GuardedSql, Problem> {
    open_for(on, caller, has_left, QUERY_TIMEOUT)
}

/// Prepares a query that may take this long.
fn open_for(
    on: Archived,
    caller: Caller,
    has_left: Arc<AtomicBool>,
    time: Duration,
) -> Result<GuardedSql, Problem> {
    let limits = SqlLimits { time, memory: MAX_MEMORY_BYTES, copied: MAX_CATALOGUE_BYTES, has_left };
    let of_alarms = on.alarms.iter().flat_map(|alarms| alarm_tables::tables(alarms, &caller));
    let more = on.audit.map(audit_log).into_iter().chain(of_alarms).collect();
    let opened = GuardedSql::open(&on.history, Arc::new(CallersSight(caller)), limits, more);
    opened.map_err(|error| problem(&error))
}

fn collected(
    on: Archived,
    caller: Caller,
    has_left: Arc<AtomicBool>,
    query: &str,
    mut answer: Answer,
) -> Result<Collected, Problem> {
    match open(on, caller, has_left)?.query(query, &mut answer) {
        Ok(()) => {}
        Err(SqlError::Output(_)) if answer.is_cut() => {}
        Err(error) => return Err(problem(&error)),
    }
    answer.collected().map_err(|error| problem(&SqlError::Output(error)))
}

fn response(collected: Collected) -> Response {
    match collected {
        Collected::Json { columns, rows, more } => Json(QueryResult { columns, rows, more }).into_response(),
        Collected::Csv { text, more } => {
            let more = if more { "true" } else { "false" };
            (
                [
                    (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
                    (header::HeaderName::from_static("x-oasis-more"), more),
                ],
                text,
            )
                .into_response()
        }
    }
}

/// Runs something that computes or reads files for long, on a thread that leaves the processors to all others.
pub async fn on_own_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    let (send, receive) = oneshot::channel();
    let failed = |error: &dyn Display| {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "archive_error",
            format!("the query has no thread: {error}"),
        )
    };
    let thread = thread::Builder::new().name("oasis-sql".into()).spawn(move || {
        lower_priority(BACKGROUND);
        let _ = send.send(work());
    });
    thread.map_err(|error| failed(&error))?;
    receive.await.map_err(|error| failed(&error))
}

/// The problem of a query.
fn problem(error: &SqlError) -> Problem {
    let (status, code) = match error {
        SqlError::Open(OpenError::Catalogue(error)) | SqlError::Read(ReadError::Catalogue(error)) => {
            return catalogue_problem(error);
        }
        SqlError::Open(_) | SqlError::Read(_) | SqlError::Output(_) | SqlError::Other(_) => {
            (StatusCode::INTERNAL_SERVER_ERROR, "archive_error")
        }
        SqlError::TimeUp(_) => (StatusCode::GATEWAY_TIMEOUT, "query_time"),
        SqlError::Left => (StatusCode::SERVICE_UNAVAILABLE, "query_ended"),
        SqlError::Memory(_) | SqlError::TooLarge(_) => (StatusCode::UNPROCESSABLE_ENTITY, "query_too_large"),
        SqlError::Sqlite(_)
        | SqlError::Statement { .. }
        | SqlError::Writes
        | SqlError::Forbidden
        | SqlError::UnknownTable(_) => (StatusCode::UNPROCESSABLE_ENTITY, "bad_query"),
    };
    Problem::new(status, code, error.to_string())
}
