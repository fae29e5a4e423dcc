//! The archive over HTTP: its state, and storing what was received.

use super::read::InstanceFilter;
use axum::{
    Extension, Json,
    extract::{Query, State, rejection::QueryRejection},
    http::{HeaderMap, StatusCode},
};
use oasis_access::Verb;
use oasis_archive::{Archive, NotStored};
use oasis_dac::{Instance, PastMessage, Question};
use oasis_doors::Doors;
use oasis_http::{Problem, permissions::Caller};
use oasis_store::{CatalogueError, ClockJump, Counters, History, Reaches, ReadError};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct ArchiveState {
    /// Its folder on the DAC's host.
    directory: String,
    /// See docs/reference/http-api.md.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    counters: Counters,
}

/// State of the archive: whether it stores, its contents, and problems with its files.
#[utoipa::path(get, path = "/api/v1/archive", responses((status = 200, body = ArchiveState), (status = 404, body = Problem)))]
pub async fn state(State(doors): State<Doors>) -> Result<Json<ArchiveState>, Problem> {
    let archive = archive(&doors)?;
    let directory = archive.directory().to_string_lossy().into_owned();
    Ok(Json(ArchiveState { directory, counters: archive.counters() }))
}

#[derive(Debug, Serialize, ToSchema)]
pub struct StoredInstances {
    instances: Vec<StoredInstance>,
}

/// The stored samples or roll-ups of an instance.
#[derive(Debug, Serialize, ToSchema)]
pub struct StoredInstance {
    node: String,
    instance: String,
    /// Time of the oldest of it, nanoseconds since 1970 on the node's clock.
    oldest_time: u64,
    /// Time of the newest of it.
    newest_time: u64,
}

/// Instances with stored samples, by name, and the times of these. For one, by `node` and `instance`, the cost does not depend on the others. The answer is
/// empty if nothing of it is stored.
#[utoipa::path(get, path = "/api/v1/archive/instances", params(InstanceFilter),
    responses((status = 200, body = StoredInstances), (status = 400, body = Problem), (status = 404, body = Problem), (status = 503, body = Problem)))]
pub async fn instances(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    filter: Result<Query<InstanceFilter>, QueryRejection>,
) -> Result<Json<StoredInstances>, Problem> {
    let Query(filter) = super::understood(filter)?;
    let relayed = filter.one().and_then(|(node, name)| doors.dac.registry.find(node, name));
    if let Some(relayed) = relayed.filter(|instance| instance.is_relayed()) {
        return stored_upstream(&relayed, &caller).await.map(Json);
    }
    let archive = archive(&doors)?;
    let history = archive.history();
    let reaches = doors.archived.read(move || wanted(&history, &filter)).await;
    let reaches = reaches.map_err(|error| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "archive_error", error.to_string())
    })?;
    let may_read = |(node, instance): &(String, String)| {
        caller.authorize_instance(Verb::ReadPast, node, instance).is_ok()
    };
    let reaches = reaches.into_iter().filter(|(names, _)| may_read(names));
    let instances = reaches.map(|((node, instance), (oldest_time, newest_time))| StoredInstance {
        node,
        instance,
        oldest_time,
        newest_time,
    });
    Ok(Json(StoredInstances { instances: instances.collect() }))
}

/// Returns what the upstream of a relayed instance has stored.
async fn stored_upstream(instance: &Instance, caller: &Caller) -> Result<StoredInstances, Problem> {
    let mut instances = Vec::new();
    if caller.authorize_instance(Verb::ReadPast, &instance.node, &instance.name).is_err() {
        return Ok(StoredInstances { instances });
    }
    let asked = instance.ask_upstream(Question::Stored);
    let answer = match asked {
        Some(mut answer) => answer.recv().await,
        None => None,
    };
    match answer {
        Some(PastMessage::Stored(times)) => {
            let (node, name) = (&instance.node, &instance.name);
            instances.extend(times.map(|(oldest_time, newest_time)| StoredInstance {
                node: node.to_string(),
                instance: name.to_string(),
                oldest_time,
                newest_time,
            }));
            Ok(StoredInstances { instances })
        }
        Some(PastMessage::Failed(reason)) => Err(upstream_failed(&reason)),
        _ => Err(upstream_failed("its upstream has gone")),
    }
}

fn upstream_failed(reason: &str) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "upstream_failed", format!("a relayed instance: {reason}"))
}

fn wanted(history: &History, filter: &InstanceFilter) -> Result<Reaches, ReadError> {
    if let Some((node, instance)) = filter.one() {
        let reach = history.reach_of(node, instance)?;
        return Ok(reach.map(|reach| ((node.to_owned(), instance.to_owned()), reach)).into_iter().collect());
    }
    let mut reaches = history.reaches()?;
    reaches.retain(|(node, instance), _| filter.wants(node, instance));
    Ok(reaches)
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FlushResult {
    /// `stored`
    status: &'static str,
}

/// Stores all that was received before the request, and answers when it is stored.
#[utoipa::path(post, path = "/api/v1/archive/flush",
    responses((status = 200, body = FlushResult), (status = 403, body = Problem), (status = 404, body = Problem), (status = 507, body = Problem)))]
pub async fn flush(State(doors): State<Doors>, headers: HeaderMap) -> Result<Json<FlushResult>, Problem> {
    doors.admit(&headers, "pages of other sites may not write (doors.allowed_origins)")?;
    let stored = archive(&doors)?.flush().await;
    stored.map(|()| Json(FlushResult { status: "stored" })).map_err(|error| {
        let code = match error {
            NotStored::DiskFull(_) => "disk_full",
            NotStored::DiskError(_) => "disk_error",
            NotStored::Stopped | NotStored::Unfinished => "archive_stopped",
            NotStored::Hangs(_) => "archive_hangs",
            NotStored::Gone(_) => "archive_gone",
        };
        Problem::new(StatusCode::INSUFFICIENT_STORAGE, code, error.to_string())
    })
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RetentionConfirmed {
    /// `confirmed`; `unchanged` if the clock had not jumped.
    status: &'static str,
    /// `{"seconds"}`: by how much the wall clock had jumped; null if it had not.
    #[schema(value_type = Option<Object>)]
    clock_jump: Option<ClockJump>,
}

/// Confirms that the wall clock is right after it has jumped, so that samples are evicted by age again.
#[utoipa::path(post, path = "/api/v1/archive/retention/confirm",
    responses((status = 200, body = RetentionConfirmed), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub async fn confirm_retention(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Json<RetentionConfirmed>, Problem> {
    doors.admit(&headers, "pages of other sites may not write (doors.allowed_origins)")?;
    let archive = archive(&doors)?.clone();
    let confirm = async move { Ok::<_, Problem>(archive.confirm_clock()) };
    let recorded =
        doors.permissions.recorded(&caller, "retention:confirm", String::new(), Value::Null, confirm);
    let clock_jump = recorded.await?;
    let status = if clock_jump.is_some() { "confirmed" } else { "unchanged" };
    Ok(Json(RetentionConfirmed { status, clock_jump }))
}

/// Returns the archive, if there is one.
pub fn archive(doors: &Doors) -> Result<&Arc<Archive>, Problem> {
    doors.archived.archive.as_ref().ok_or_else(|| {
        let detail = "this DAC has no archive: start it with --archive DIR, or with archive.directory in its configuration";
        Problem::new(StatusCode::NOT_FOUND, "no_archive", detail)
    })
}

/// Waits for the disk on a thread that may block.
pub async fn blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    tokio::task::spawn_blocking(act)
        .await
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "catalogue", error.to_string()))
}

/// The problem of a catalogue that cannot be read or written.
pub fn catalogue_problem(error: &CatalogueError) -> Problem {
    let (status, code) = match error {
        CatalogueError::Gone(_) => (StatusCode::INSUFFICIENT_STORAGE, "archive_gone"),
        error if error.is_disk_full() => (StatusCode::INSUFFICIENT_STORAGE, "disk_full"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "catalogue"),
    };
    Problem::new(status, code, error.to_string())
}
