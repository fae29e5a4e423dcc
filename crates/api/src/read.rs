//! Requests that only look.

use axum::{
    Extension, Json,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::StatusCode,
    response::Response,
};
use oasis_access::Verb;
use oasis_dac::{AdmissionCounters, Evicted, Instance};
use oasis_doors::{
    Doors,
    view::{self, DerivedView, InstanceDetail, InstanceLedger, NodeView},
};
use oasis_http::{Problem, permissions::Caller, streamed_list};
use oasis_wire::{
    loss::Cause,
    quantity::{Epoch, Nanos, TopicId},
};
use serde::{
    Deserialize, Serialize,
    de::{IntoDeserializer, value},
};
use std::{collections::BTreeMap, sync::Arc};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Serialize, ToSchema)]
pub struct Nodes {
    nodes: Vec<NodeView>,
}

/// All nodes this DAC has met in its epoch.
#[utoipa::path(get, path = "/api/v1/nodes", responses((status = 200, body = Nodes)))]
pub async fn nodes(State(doors): State<Doors>, Extension(caller): Extension<Caller>) -> Json<Nodes> {
    Json(Nodes { nodes: view::nodes(&doors.dac.registry, &caller) })
}

#[derive(Debug, Deserialize, IntoParams)]
pub struct InstanceFilter {
    /// Only instances of the node with this name.
    node: Option<String>,
    /// Only instances with this name.
    instance: Option<String>,
}

impl InstanceFilter {
    /// A filter by node and name.
    pub fn of(node: Option<String>, instance: Option<String>) -> Self {
        Self { node, instance }
    }

    /// Node and name, if a single instance is requested.
    pub fn one(&self) -> Option<(&str, &str)> {
        self.node.as_deref().zip(self.instance.as_deref())
    }

    /// Whether the node of this name itself is requested, besides its instances.
    pub fn wants_node(&self, node: &str) -> bool {
        self.instance.is_none() && self.node.as_deref().is_none_or(|wanted| wanted == node)
    }

    /// Whether the instance of this name on this node is requested.
    pub fn wants(&self, node: &str, instance: &str) -> bool {
        self.node.as_deref().is_none_or(|wanted| wanted == node)
            && self.instance.as_deref().is_none_or(|wanted| wanted == instance)
    }
}

/// One instance: schema, latest sample, ledger.
#[utoipa::path(get, path = "/api/v1/instances/{id}", params(("id" = u32, Path, description = "topic number")),
    responses((status = 200, body = InstanceDetail), (status = 404, body = Problem)))]
pub async fn instance(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<InstanceDetail>, Problem> {
    let registry = &doors.dac.registry;
    let found = id.parse().ok().and_then(|topic| registry.instance(TopicId(topic)));
    let missing = || {
        Problem::new(
            StatusCode::NOT_FOUND,
            "unknown_instance",
            format!("no instance has the number {id:?}: GET /api/v1/instances lists them"),
        )
    };
    let found = found.filter(|found| caller.sees(&found.node, &found.name)).ok_or_else(missing)?;
    // The answer contains the newest sample.
    caller.authorize_instance(Verb::ReadLive, &found.node, &found.name)?;
    Ok(Json(view::detail(&doors.dac.registry, doors.archived.archive.as_deref(), &found)))
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LedgerBook {
    #[schema(value_type = String)]
    epoch: Epoch,
    /// When the DAC started, nanoseconds since 1970 on its clock: ledgers count from then on.
    #[schema(value_type = u64)]
    since: Nanos,
    /// Bytes of all topic logs.
    log_bytes: usize,
    instances: Vec<InstanceLedger>,
    /// Counters of the data channel.
    #[schema(value_type = Object)]
    channel: AdmissionCounters,
    /// Counters of the doors.
    #[schema(value_type = Object)]
    doors: AdmissionCounters,
    /// Readers at each text door now.
    #[schema(value_type = Object)]
    readers: BTreeMap<&'static str, usize>,
    /// Derived streams.
    derived: Vec<DerivedView>,
    /// Offline nodes and instances that were evicted for others.
    #[schema(value_type = Object)]
    evicted: Evicted,
}

#[derive(Debug, Deserialize, IntoParams)]
pub struct LedgerFilter {
    /// Only ledgers of the node with this name.
    node: Option<String>,
    /// Only ledgers of instances with this name.
    instance: Option<String>,
    /// Only ledgers with samples missing for this cause, with only its gaps.
    cause: Option<String>,
}

impl LedgerFilter {
    fn cause(&self) -> Result<Option<Cause>, Problem> {
        let parse = |text: &str| Cause::deserialize(text.into_deserializer());
        self.cause.as_deref().map(parse).transpose().map_err(|wrong: value::Error| {
            Problem::new(StatusCode::BAD_REQUEST, "unknown_cause", format!("cause: {wrong}"))
        })
    }
}

/// Every instance's loss ledger, and the counts of refused clients.
#[utoipa::path(get, path = "/api/v1/ledger", params(LedgerFilter),
    responses((status = 200, body = LedgerBook), (status = 400, body = Problem)))]
pub async fn ledger(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<LedgerFilter>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(filter) = super::understood(query)?;
    let cause = filter.cause()?;
    let chosen = chosen(&doors, &caller, &InstanceFilter::of(filter.node, filter.instance));
    let book = LedgerBook {
        epoch: doors.dac.epoch(),
        since: doors.dac.epoch().began(),
        log_bytes: doors.dac.budget.used(),
        instances: Vec::new(),
        channel: doors.dac.admission.counters(),
        doors: doors.admission.counters(),
        readers: doors.readers(),
        derived: view::derived(&doors.dac.derived, &caller),
        evicted: doors.dac.registry.evicted(),
    };
    // Ledgers are copied one after another, when the client takes them: together they can have hundreds of megabytes.
    let archive = doors.archived.archive.clone();
    let ledgers =
        chosen.into_iter().filter_map(move |instance| view::ledger_of(archive.as_deref(), &instance, cause));
    let mut fields = fields_besides(&book, "instances");
    if !caller.sees_everything() {
        // The other fields count what the caller may not see.
        fields.retain(|name, _| matches!(name.as_str(), "epoch" | "since" | "derived"));
    }
    Ok(streamed_list(fields, "instances", ledgers))
}

/// Returns all fields of an answer but its list.
fn fields_besides(answer: &impl Serialize, list: &str) -> serde_json::Map<String, serde_json::Value> {
    match serde_json::to_value(answer) {
        Ok(serde_json::Value::Object(mut fields)) => {
            fields.remove(list);
            fields
        }
        _ => serde_json::Map::new(),
    }
}

/// Returns the instances that a filter wants and the caller may see, by topic.
pub fn chosen(doors: &Doors, caller: &Caller, filter: &InstanceFilter) -> Vec<Arc<Instance>> {
    let mut instances = doors.dac.registry.instances();
    instances.retain(|known| filter.wants(&known.node, &known.name) && caller.sees(&known.node, &known.name));
    instances
}
