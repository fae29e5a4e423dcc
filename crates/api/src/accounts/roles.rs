//! Roles, and what a role would see.

use super::{change, edit, name, rules, texts};
use crate::Api;
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
};
use oasis_access::{Access, BUILT_IN, Rights, Target, Verb, VerbSet};
use oasis_http::{Problem, permissions::Caller};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa::ToSchema;

/// Most instances of a preview.
const MOST_SHOWN: usize = 200;
/// Most rules of a preview, as of a role.
const MOST_RULES: usize = 100;

#[derive(Debug, Serialize, ToSchema)]
pub struct Roles {
    roles: Vec<RoleView>,
    /// All verbs, with what each permits.
    verbs: Vec<VerbView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RoleView {
    name: String,
    /// Built-in roles cannot be changed.
    built_in: bool,
    /// `VERB,VERB NODE/INSTANCE`
    rules: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct VerbView {
    verb: &'static str,
    permits: &'static str,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleRules {
    /// `VERB,VERB NODE/INSTANCE`
    rules: Vec<String>,
}

/// The visibility that these rules grant.
#[derive(Debug, Serialize, ToSchema)]
pub struct Preview {
    /// Number of instances it may read.
    sees: usize,
    /// Number of all instances.
    total: usize,
    /// The first of them, as `NODE/INSTANCE`.
    instances: Vec<String>,
    /// Verbs that it has on something.
    verbs: Vec<&'static str>,
}

/// All roles, built-in ones included, and all verbs.
#[utoipa::path(get, path = "/api/v1/roles", responses((status = 200, body = Roles)))]
pub async fn list(State(api): State<Api>) -> Json<Roles> {
    let accounts = api.doors.permissions.access.document();
    let built_in = BUILT_IN.iter().map(|role| RoleView {
        name: role.name.into(),
        built_in: true,
        rules: texts(&role.rules()),
    });
    let custom = accounts.roles().iter().map(|(name, role)| RoleView {
        name: name.to_string(),
        built_in: false,
        rules: texts(&role.rules),
    });
    let verbs = Verb::ALL.iter().map(|verb| VerbView { verb: verb.word(), permits: verb.permits() });
    Json(Roles { roles: built_in.chain(custom).collect(), verbs: verbs.collect() })
}

/// Defines a role, in place of one of the same name.
#[utoipa::path(put, path = "/api/v1/roles/{name}", params(("name" = String, Path)), request_body = RoleRules,
    responses((status = 204), (status = 403, body = Problem), (status = 422, body = Problem)))]
pub async fn put(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(role): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    let RoleRules { rules: written } = crate::body(&body)?;
    let (role, rules) = (name(&role)?, rules(&written)?);
    let action = ("role:set", role.to_string(), json!({"rules": written}));
    let set = move |access: &Arc<Access>| edit(access, |accounts| accounts.set_role(role, rules));
    change(&api, &caller, &headers, action, set).await.map(|()| StatusCode::NO_CONTENT)
}

/// Removes a role that no user has.
#[utoipa::path(delete, path = "/api/v1/roles/{name}", params(("name" = String, Path)),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub async fn remove(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(role): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let role = name(&role)?;
    let action = ("role:remove", role.to_string(), Value::Null);
    let remove = move |access: &Arc<Access>| edit(access, |accounts| accounts.remove_role(&role));
    change(&api, &caller, &headers, action, remove).await.map(|()| StatusCode::NO_CONTENT)
}

/// Returns the visibility that these rules would grant, without granting them.
#[utoipa::path(post, path = "/api/v1/roles/preview", request_body = RoleRules,
    responses((status = 200, body = Preview), (status = 403, body = Problem), (status = 422, body = Problem)))]
pub async fn preview(State(api): State<Api>, body: Bytes) -> Result<Json<Preview>, Problem> {
    let RoleRules { rules: written } = crate::body(&body)?;
    if written.len() > MOST_RULES {
        return Err(super::bad_account(format!(
            "{} rules are more than the {MOST_RULES} that a role may have",
            written.len()
        )));
    }
    let rights = Rights::new(&rules(&written)?, VerbSet::ALL, &[]);
    let instances = api.doors.dac.registry.instances();
    let sees = |node: &str, instance: &str| {
        let target = Target::Instance { node, instance };
        rights.permit(Verb::ReadLive, target) || rights.permit(Verb::ReadPast, target)
    };
    let mut seen: Vec<_> = instances
        .iter()
        .filter(|instance| sees(&instance.node, &instance.name))
        .map(|instance| format!("{}/{}", instance.node, instance.name))
        .collect();
    seen.sort_unstable();
    let (sees, total) = (seen.len(), instances.len());
    seen.truncate(MOST_SHOWN);
    let verbs =
        Verb::ALL.iter().filter(|verb| rights.permit(**verb, Target::SomeOfDac)).map(|verb| verb.word());
    Ok(Json(Preview { sees, total, instances: seen, verbs: verbs.collect() }))
}
