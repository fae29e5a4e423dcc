//! The alarms and states of rules of this DAC, for others that may become the home of its nodes.

use super::query_alarms;
use crate::Api;
use axum::{
    Extension, Json,
    extract::{Query, State, rejection::QueryRejection},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use oasis_access::{Target, Verb};
use oasis_alarms::Handover;
use oasis_http::{Problem, permissions::Caller};
use oasis_wire::quantity::Epoch;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
pub struct HandoverQuery {
    /// `epoch` of the answer before. Of another life of this DAC, `after` means nothing.
    #[param(value_type = Option<String>)]
    epoch: Option<Epoch>,
    /// `position` of the answer before: only nodes that have changed since. It also says that these have arrived.
    after: Option<u64>,
}

/// Changes since a position.
#[derive(Debug, Serialize)]
struct Answer {
    /// The life of this DAC.
    epoch: Epoch,
    /// `after` of the next request.
    position: u64,
    /// Whether the next request has more at once.
    has_more: bool,
    /// Nodes with all their alarms and the states of their rules.
    nodes: Vec<Handover>,
}

/// The alarms of nodes and the states of their rules, as far as the caller may read the instances now and in the past: for a DAC that may become the
/// home of these nodes.
#[utoipa::path(get, path = "/api/v1/rules/handover", params(HandoverQuery),
    responses((status = 200, description = "`epoch`, `position`, `has_more`, and the `nodes` that have changed"), (status = 400, body = Problem), (status = 404, body = Problem), (status = 500, body = Problem)))]
pub async fn list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<HandoverQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(HandoverQuery { epoch: known, after }) = crate::understood(query)?;
    let epoch = api.doors.dac.epoch();
    let after = after.filter(|_| known == Some(epoch)).unwrap_or_default();
    let reader = caller.clone();
    let may_read = move |node: &str, instance: &str| {
        let target = || Target::Instance { node, instance };
        reader.may(Verb::ReadLive, target()) && reader.may(Verb::ReadPast, target())
    };
    let mut page = query_alarms(&api, move |alarms| alarms.handovers(after, may_read)).await?;
    page.nodes.retain(|handover| caller.sees_node(&handover.node));
    let answer = Answer { epoch, position: page.position, has_more: page.has_more, nodes: page.nodes };
    let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(([no_store], Json(answer)).into_response())
}
