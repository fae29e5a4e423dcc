//! The list of alarms.

use super::{
    all::{AllAlarms, Page},
    bad_parameter,
    view::AlarmJson,
};
use crate::Api;
use axum::{
    Extension, Json,
    extract::{Query, State, rejection::QueryRejection},
};
use oasis_alarms::{AlarmKey, Filter, names};
use oasis_http::{Problem, permissions::Caller};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Alarms in one answer: by default, and at most.
const MAX_ALARMS: usize = 1_000;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AlarmList)]
pub struct Alarms {
    /// The newest revision that the list shows.
    revision: u64,
    /// By rule, node and instance.
    alarms: Vec<AlarmJson>,
    /// `after` for the next alarms; null after the last one.
    next: Option<String>,
}

impl Alarms {
    pub fn new(page: Page) -> Self {
        let Page { at, alarms, next } = page;
        Self { revision: at.revision(), alarms, next: next.map(|key| place(&key)) }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
pub struct AlarmQuery {
    /// `standing` (the default): active, latched, or silenced by an operator; `all`: normal ones too.
    state: Option<String>,
    /// Alarms of this rule.
    rule: Option<String>,
    /// Alarms of this node.
    node: Option<String>,
    /// Alarms of instances with this name.
    instance: Option<String>,
    /// Alarms of this severity: `low`, `medium`, `high` or `critical`.
    severity: Option<String>,
    /// The next alarms: `next` of an earlier answer.
    after: Option<String>,
    /// Most alarms in the answer, 1 to 1000; 1000 by default.
    limit: Option<usize>,
}

/// Alarms of instances that the caller may see, by rule, node and instance.
#[utoipa::path(get, path = "/api/v1/alarms", params(AlarmQuery),
    responses((status = 200, body = Alarms), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub async fn list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<AlarmQuery>, QueryRejection>,
) -> Result<Json<Alarms>, Problem> {
    let Query(query) = crate::understood(query)?;
    let filter = filter(query)?;
    Ok(Json(Alarms::new(AllAlarms::of(&api)?.list(&filter, &caller))))
}

fn filter(query: AlarmQuery) -> Result<Filter, Problem> {
    let is_standing = match query.state.as_deref() {
        None | Some("standing") => true,
        Some("all") => false,
        Some(other) => return Err(bad_parameter(format!("state is {other:?}: write standing or all"))),
    };
    let severity = query.severity.map(|name| {
        let named = names::severity(&name);
        named.ok_or_else(|| {
            bad_parameter(format!("severity is {name:?}: write low, medium, high or critical"))
        })
    });
    Ok(Filter {
        is_standing,
        rule: query.rule,
        node: query.node,
        instance: query.instance,
        severity: severity.transpose()?,
        after: query.after.map(|after| key(&after)).transpose()?,
        most: query.limit.unwrap_or(MAX_ALARMS).clamp(1, MAX_ALARMS),
    })
}

/// An alarm as a text that is opaque to clients.
fn place(key: &AlarmKey) -> String {
    serde_json::to_string(&[&key.rule, &key.node, &key.instance]).unwrap_or_default()
}

fn key(text: &str) -> Result<AlarmKey, Problem> {
    let parts: Result<[String; 3], _> = serde_json::from_str(text);
    let [rule, node, instance] = parts
        .map_err(|_| bad_parameter(format!("after is {text:?}: take it from next of an earlier answer")))?;
    Ok(AlarmKey { rule, node, instance })
}
