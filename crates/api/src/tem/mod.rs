//! The TEM over HTTP: DACs send heartbeats, and tools ask which DACs there are.

pub mod beats;
mod others;
mod report;
mod service;

pub use report::{Registrant, Reporter};
pub use service::Tem;

use crate::Api;
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::{HeaderMap, StatusCode},
};
use oasis_access::{Event, Target, Verb};
use oasis_http::{Problem, permissions::Caller};
use oasis_tem::{
    Beaten, DacName, Heartbeat, Kind, MAX_HEARTBEAT_BYTES, MovedNode, OtherPage, Refusal, TemView, order,
};
use oasis_wire::quantity::Epoch;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Refusal of a page of another site that tries to change the list.
const FOREIGN_ORIGIN_DETAIL: &str = "pages of other sites may not list DACs (doors.allowed_origins)";

#[derive(Debug, Deserialize, IntoParams)]
pub struct TemFilter {
    /// `position` of the answer before: only what changed since.
    after: Option<String>,
    /// All DACs, without relays, in the order in which this node tries them.
    node: Option<String>,
    /// `name` (the default), or `load`: the least loaded DAC first.
    #[serde(default)]
    #[param(inline)]
    order: Order,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    #[default]
    Name,
    Load,
}

/// The DACs that have sent a heartbeat here, as far as the caller may know of them.
#[utoipa::path(get, path = "/api/v1/tem", params(TemFilter),
    responses((status = 200, body = TemView), (status = 400, body = Problem)))]
pub async fn list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<TemFilter>, QueryRejection>,
) -> Result<Json<TemView>, Problem> {
    let Query(TemFilter { after, node, order }) = super::understood(query)?;
    let epoch = api.doors.dac.epoch();
    // A caller that sees a part cannot be told what left that part: it receives all of it.
    let after = after.filter(|_| caller.sees_everything() && node.is_none());
    let mut view = api.tem.view(epoch, after.as_deref())?;
    match &node {
        Some(node) if !caller.sees_node(node) => {
            let detail = format!("{} may not read the node {node:?}", caller.principal());
            return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", detail));
        }
        Some(node) => {
            // No node connects to a relay.
            view.dacs.retain(|dac| dac.kind == Kind::Dac);
            order::for_node(&mut view.dacs, node);
        }
        None => {}
    }
    // Before loads are left out.
    if order == Order::Load {
        order::by_load(&mut view.dacs);
    }
    if !caller.sees_everything() {
        reduce(&mut view, &caller, epoch, node.is_some());
    }
    Ok(Json(view))
}

/// Leaves out what the caller may not know of.
fn reduce(view: &mut TemView, caller: &Caller, epoch: Epoch, has_node: bool) {
    view.counters = None;
    view.tems.iter_mut().for_each(|tem| tem.problem = None);
    // Revisions count changes of others, and the next answer has everything anyway.
    view.position = format!("{epoch}:0");
    for dac in &mut view.dacs {
        dac.nodes.retain(|node| caller.sees_node(node));
        dac.attached.retain(|node, _| caller.sees_node(node));
        dac.offline_nodes.retain(|node| caller.sees_node(node));
        // Both count nodes of others.
        (dac.load, dac.left_out) = (None, 0);
    }
    view.dacs.retain(|dac| has_node || !dac.nodes.is_empty() || !dac.offline_nodes.is_empty());
}

/// The answer to a heartbeat.
#[derive(Debug, Serialize, ToSchema)]
pub struct BeatAnswer {
    /// Whether the next heartbeat must have `names`.
    wants_names: bool,
    /// Nodes that this DAC lists as connected or `left`, and that have made a later connection to another DAC.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moved: Vec<MovedNode>,
    /// Pages where readers of this DAC continue when it has ended; absent if they have not changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_pages: Option<Vec<OtherPage>>,
}

/// Lists a DAC under a name, or keeps it in the list. To be repeated every 0.5 s: after 1.5 s without, the DAC is late.
#[utoipa::path(put, path = "/api/v1/tem/dacs/{name}", params(("name" = String, Path)), request_body = Heartbeat,
    responses((status = 200, body = BeatAnswer), (status = 403, body = Problem), (status = 409, body = Problem), (status = 413, body = Problem),
        (status = 422, body = Problem), (status = 503, body = Problem)))]
pub async fn beat(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<BeatAnswer>, Problem> {
    api.doors.admit(&headers, FOREIGN_ORIGIN_DETAIL)?;
    let name = permitted(&caller, &name)?;
    if body.len() > MAX_HEARTBEAT_BYTES {
        let detail = format!("the heartbeat has {} bytes: send at most {MAX_HEARTBEAT_BYTES}", body.len());
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail));
    }
    let heartbeat: Heartbeat = super::body(&body)?;
    let accepted = api.tem.beat(&name, heartbeat).map_err(|refusal| problem(&refusal))?;
    match accepted.beaten {
        Beaten::Heard => {}
        Beaten::Joined => record(&api, &caller, "tem:join", &name).await,
        Beaten::TookOver => record(&api, &caller, "tem:take-over", &name).await,
    }
    let other_pages = api.tem.other_pages_since(&name, None).map(|(_, pages)| pages);
    Ok(Json(BeatAnswer { wants_names: accepted.wants_names, moved: accepted.moved, other_pages }))
}

#[derive(Debug, Deserialize, IntoParams)]
pub struct Departure {
    /// The life of the process that ends, as in its heartbeats.
    #[param(value_type = String)]
    epoch: Epoch,
    /// A number greater than that of all its heartbeats.
    beat: u64,
}

/// Removes a DAC that ends. Its own heartbeats that are still under way do not bring it back.
#[utoipa::path(delete, path = "/api/v1/tem/dacs/{name}", params(("name" = String, Path), Departure),
    responses((status = 204), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn leave(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    headers: HeaderMap,
    query: Result<Query<Departure>, QueryRejection>,
) -> Result<StatusCode, Problem> {
    api.doors.admit(&headers, FOREIGN_ORIGIN_DETAIL)?;
    let name = permitted(&caller, &name)?;
    let Query(Departure { epoch, beat }) = super::understood(query)?;
    if !api.tem.leave(&name, (epoch, beat)) {
        let detail = format!("no DAC of this epoch has the name {name}");
        return Err(Problem::new(StatusCode::NOT_FOUND, "unknown_dac", detail));
    }
    record(&api, &caller, "tem:leave", &name).await;
    Ok(StatusCode::NO_CONTENT)
}

/// The name, if the caller may register it.
fn permitted(caller: &Caller, name: &str) -> Result<DacName, Problem> {
    let name: DacName = name
        .parse()
        .map_err(|error| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_name", format!("{error}")))?;
    // In rules the name of a DAC stands where that of a node does.
    if caller.may(Verb::Register, Target::Node(name.as_str())) {
        return Ok(name);
    }
    let detail = format!(
        "{} may not list a DAC under the name {name}: make a token for it (oasis token create {name} --role registrar --scope 'register {name}/*')",
        caller.principal()
    );
    Err(Problem::new(StatusCode::FORBIDDEN, "register_forbidden", detail))
}

fn problem(refusal: &Refusal) -> Problem {
    let (status, code) = match refusal {
        Refusal::Old { .. } => (StatusCode::CONFLICT, "old_heartbeat"),
        Refusal::Invalid(_) => (StatusCode::UNPROCESSABLE_ENTITY, "bad_heartbeat"),
        Refusal::NameTaken { .. } => (StatusCode::CONFLICT, "name_taken"),
        Refusal::Unknown(_) => (StatusCode::CONFLICT, "unknown_dac"),
        Refusal::Full(_) => (StatusCode::SERVICE_UNAVAILABLE, "tem_full"),
    };
    Problem::new(status, code, refusal.to_string())
}

/// Records who comes and goes, not each heartbeat. A disk that fails must not make DACs late.
async fn record(api: &Api, caller: &Caller, action: &str, name: &DacName) {
    let address = caller.peer().ip().to_canonical().to_string();
    let event = Event {
        address,
        target: name.to_string(),
        ..Event::new(caller.principal().to_string(), action, "done")
    };
    if let Err(error) = api.doors.permissions.record(event).await {
        tracing::warn!(%error, action, "a change of the list of DACs is not in the audit log");
    }
}
