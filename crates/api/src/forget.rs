//! Forgets a node or an instance with all its data, while the DAC runs.
//!
//! The registry forgets it first. Then the archive stops for a moment, its files are written again without it, and the archive continues. Meanwhile samples of
//! others wait in the topic logs.

use crate::{Api, archive::blocking};
use axum::{
    Extension, Json,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
};
use oasis_access::{Target, Verb};
use oasis_archive::{Archive, NotForgotten};
use oasis_handler::{Condition, HandlerError, Supervisor};
use oasis_http::{Problem, permissions::Caller};
use oasis_store::{Forgotten, Removed};
use oasis_wire::quantity::TopicId;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// The handler that writes to the archive.
const ARCHIVE: &str = "archive";

#[derive(Debug, Serialize, ToSchema)]
pub struct ForgottenView {
    /// Node name.
    node: String,
    /// Instance name; null for all of the node.
    instance: Option<String>,
    /// Topics of this epoch that are gone.
    topics: usize,
    /// Stored samples that were removed.
    samples: u64,
    /// Segment files that had nothing else.
    files_removed: u64,
    /// Segment files that were written again without it.
    files_rewritten: u64,
    /// Annotations, commands and causes of losses that were removed.
    rows: u64,
}

/// Forgets a node that is not connected, with all its data.
#[utoipa::path(delete, path = "/api/v1/nodes/{node}", params(("node" = String, Path, description = "its name")),
    responses((status = 200, body = ForgottenView), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 503, body = Problem), (status = 507, body = Problem)))]
pub async fn node(
    api: State<Api>,
    caller: Extension<Caller>,
    headers: HeaderMap,
    Path(node): Path<String>,
) -> Result<Json<ForgottenView>, Problem> {
    forget(api, caller, &headers, Forgotten { node, instance: None }).await
}

/// Forgets an instance of a node that is not connected, with all its data.
#[utoipa::path(delete, path = "/api/v1/instances/{id}", params(("id" = u32, Path, description = "topic number")),
    responses((status = 200, body = ForgottenView), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 503, body = Problem), (status = 507, body = Problem)))]
pub async fn instance(
    api: State<Api>,
    caller: Extension<Caller>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<ForgottenView>, Problem> {
    let found = id.parse().ok().and_then(|topic| api.doors.dac.registry.instance(TopicId(topic)));
    let found = found.filter(|found| caller.sees(&found.node, &found.name)).ok_or_else(|| {
        let detail = format!("no instance has the number {id:?}: GET /api/v1/instances lists them");
        Problem::new(StatusCode::NOT_FOUND, "unknown_instance", detail)
    })?;
    let (node, instance) = (found.node.to_string(), Some(found.name.to_string()));
    forget(api, caller, &headers, Forgotten { node, instance }).await
}

async fn forget(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: &HeaderMap,
    of: Forgotten,
) -> Result<Json<ForgottenView>, Problem> {
    api.doors.admit(headers, "pages of other sites may not forget anything (doors.allowed_origins)")?;
    caller.authorize(Verb::Administration, Target::Node(&of.node))?;
    if !is_known(&api, &of).await? {
        let detail = format!(
            "nothing is known of {of}: GET /api/v1/nodes and GET /api/v1/archive/instances list names"
        );
        return Err(Problem::new(StatusCode::NOT_FOUND, "unknown_node", detail));
    }
    let (target, permissions) = (of.to_string(), api.doors.permissions.clone());
    let forgetting = async move { forgotten(&api, of).await };
    Ok(Json(permissions.recorded(&caller, "forget", target, Value::Null, forgetting).await?))
}

/// Whether registry or archive have anything of it.
async fn is_known(api: &Api, of: &Forgotten) -> Result<bool, Problem> {
    let registry = &api.doors.dac.registry;
    let is_there = match &of.instance {
        None => registry.node(&of.node).is_some(),
        Some(instance) => registry.find(&of.node, instance).is_some(),
    };
    let Some(archive) = api.doors.archived.archive.clone().filter(|_| !is_there) else { return Ok(is_there) };
    let of = of.clone();
    let holdings = blocking(move || archive.history().0.catalogue().holdings(&of)).await?;
    let holdings = holdings.map_err(|error| crate::archive::catalogue_problem(&error))?;
    Ok(holdings != oasis_store::Holdings::default())
}

async fn forgotten(api: &Api, of: Forgotten) -> Result<ForgottenView, Problem> {
    let dac = &api.doors.dac;
    let topics = dac.registry.forget(&of.node, of.instance.as_deref());
    let topics =
        topics.map_err(|error| Problem::new(StatusCode::CONFLICT, "node_connected", error.to_string()))?;
    let count = topics.len();
    let removed = match api.doors.archived.archive.clone() {
        Some(archive) => {
            let (handlers, of) = (api.handlers.clone(), of.clone());
            blocking(move || between_runs(&handlers, &archive, &of, &topics)).await??
        }
        None => Removed::default(),
    };
    dac.commands.forget(&of.node, of.instance.as_deref());
    let (settings, names) = (dac.settings.clone(), of.clone());
    let forgotten = blocking(move || settings.forget(&names.node, names.instance.as_deref())).await?;
    forgotten.map_err(|error| crate::labels::settings_problem(&error))?;
    let Forgotten { node, instance } = of;
    let Removed { holdings, rewritten, removed: emptied, .. } = removed;
    Ok(ForgottenView {
        node,
        instance,
        topics: count,
        samples: holdings.samples,
        files_removed: emptied,
        files_rewritten: rewritten,
        rows: holdings.annotations + holdings.commands + holdings.losses,
    })
}

/// Forgets it between two runs of the archive. One that was stopped stays so.
fn between_runs(
    handlers: &Supervisor,
    archive: &Arc<Archive>,
    of: &Forgotten,
    topics: &[TopicId],
) -> Result<Removed, Problem> {
    let failed = |error: HandlerError| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "archive_busy", error.to_string())
    };
    let was_stopped = handlers.status(ARCHIVE).map_err(failed)?.condition == Condition::Stopped;
    handlers.stop(ARCHIVE).map_err(failed)?;
    let removed = archive.forget(of, topics);
    if !was_stopped {
        handlers.start(ARCHIVE).map_err(failed)?;
    }
    removed.map_err(|error| {
        let status = match error {
            NotForgotten::Running => StatusCode::SERVICE_UNAVAILABLE,
            NotForgotten::Failed(_) => StatusCode::INSUFFICIENT_STORAGE,
        };
        Problem::new(status, "not_forgotten", error.to_string())
    })
}
