//! The list of probe instances, whole or a page at a time.

use super::read::{InstanceFilter, chosen};
use axum::{
    Extension, Json,
    extract::{Query, State, rejection::QueryRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use oasis_dac::Instance;
use oasis_doors::{
    Doors,
    view::{self, InstanceView},
};
use oasis_http::{Problem, permissions::Caller, streamed_list};
use oasis_wire::quantity::{Epoch, TopicId};
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Most instances of a page.
const MAX_LIMIT: usize = 1_000;
/// Bytes at which a page ends, whatever its limit: names may be long.
const PAGE_BYTES: usize = 1024 * 1024;

#[derive(Debug, Serialize, ToSchema)]
pub struct Instances {
    /// By topic number.
    instances: Vec<ListedInstance>,
    /// Number of instances on all pages.
    total: usize,
    /// `after` for the next instances; null after the last one.
    next: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ListedInstance {
    #[serde(flatten)]
    view: InstanceView,
    /// Samples missing on the way to the DAC since it started; the ledger has the causes.
    missing: u64,
}

#[derive(Debug, Deserialize, IntoParams)]
pub struct InstanceQuery {
    /// Only instances of the node with this name.
    node: Option<String>,
    /// Only instances with this name.
    instance: Option<String>,
    /// Most instances in the answer, 1 to 1000; without it all of them. A page ends at 1 MiB too.
    limit: Option<usize>,
    /// The next instances: `next` of an earlier answer.
    after: Option<String>,
}

/// All probe instances, or a page of them.
#[utoipa::path(get, path = "/api/v1/instances", params(InstanceQuery),
    responses((status = 200, body = Instances), (status = 400, body = Problem)))]
pub async fn instances(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<InstanceQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(InstanceQuery { node, instance, limit, after }) = super::understood(query)?;
    let epoch = doors.dac.epoch();
    let after = after.map(|after| topic_in(epoch, &after)).transpose()?;
    let mut found = chosen(&doors, &caller, &InstanceFilter::of(node, instance));
    let total = found.len();
    if let Some(after) = after {
        found.retain(|known| known.topic > after);
    }
    let Some(limit) = limit else {
        let fields = Map::from_iter([("total".into(), total.into()), ("next".into(), None::<&str>.into())]);
        let views = found.into_iter().map(move |known| listed(&doors, &known));
        return Ok(streamed_list(fields, "instances", views));
    };
    let instances = page(&doors, &found, limit.clamp(1, MAX_LIMIT));
    let is_more = instances.len() < found.len();
    let last = instances.len().checked_sub(1).and_then(|last| found.get(last)).filter(|_| is_more);
    let next = last.map(|last| format!("{epoch}:{}", last.topic.0));
    Ok(Json(Instances { instances, total, next }).into_response())
}

/// The first instances: as many as are wanted and fit into a page, at least one if there are any.
fn page(doors: &Doors, found: &[Arc<Instance>], limit: usize) -> Vec<ListedInstance> {
    let (mut bytes, mut page) = (0, Vec::new());
    for known in found.iter().take(limit) {
        let view = listed(doors, known);
        bytes += serde_json::to_vec(&view).map_or(0, |json| json.len());
        if bytes > PAGE_BYTES && !page.is_empty() {
            break;
        }
        page.push(view);
    }
    page
}

fn listed(doors: &Doors, known: &Instance) -> ListedInstance {
    let missing = known.ledger().missing;
    ListedInstance { view: view::instance(&doors.dac.registry, known), missing }
}

/// The topic in `EPOCH:TOPIC`.
fn topic_in(epoch: Epoch, text: &str) -> Result<TopicId, Problem> {
    let refuse = |detail: String| Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", detail);
    let parts = text
        .split_once(':')
        .and_then(|(of, topic)| Some((of.parse::<Epoch>().ok()?, TopicId(topic.parse().ok()?))));
    match parts {
        Some((of, topic)) if of == epoch => Ok(topic),
        Some(_) => Err(refuse(format!(
            "after is {text:?}, of an earlier run of the DAC: begin again without it, its topic numbers are others"
        ))),
        None => Err(refuse(format!("after is {text:?}: take it from next of an earlier answer"))),
    }
}
