//! Users.

use super::{admit, bad_password, change, edit, list as texts_of, name, names};
use crate::Api;
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
};
use oasis_access::{Access, HashCost, LOCAL, Moment, STRANGER, StoredPassword};
use oasis_http::{Problem, permissions::Caller};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct Users {
    users: Vec<UserView>,
}

/// A user, or `local` or `stranger`: those who have not signed in.
#[derive(Debug, Serialize, ToSchema)]
pub struct UserView {
    name: String,
    roles: Vec<String>,
    /// Whether it can be removed, and can have a password.
    is_account: bool,
    has_password: bool,
    /// Subject: the user's identifier at the identity provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    /// When it was added; absent for `local` and `stranger`.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    /// Its sessions now.
    sessions: usize,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    name: String,
    /// Absent for a user who signs in by a provider of identity.
    password: Option<String>,
    roles: Vec<String>,
}

/// Changes to a user.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UserChange {
    roles: Option<Vec<String>>,
    /// Its sessions end.
    password: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Ended {
    /// Number of sessions that have ended.
    sessions: usize,
}

/// All users with their roles, and those of callers who have not signed in.
#[utoipa::path(get, path = "/api/v1/users", responses((status = 200, body = Users)))]
pub async fn list(State(api): State<Api>) -> Json<Users> {
    let access = &api.doors.permissions.access;
    let accounts = access.document();
    let (local, stranger) = accounts.implicit_roles();
    let implicit = [(LOCAL, local), (STRANGER, stranger)].map(|(name, roles)| UserView {
        name: name.into(),
        roles: texts_of(roles),
        is_account: false,
        has_password: false,
        subject: None,
        created: None,
        sessions: access.sessions_of(name),
    });
    let users = accounts.users().iter().map(|(name, user)| UserView {
        name: name.to_string(),
        roles: texts_of(&user.roles),
        is_account: true,
        has_password: user.password.is_some(),
        subject: user.subject.clone(),
        created: Some(user.created.to_string()),
        sessions: access.sessions_of(name.as_str()),
    });
    Json(Users { users: implicit.into_iter().chain(users).collect() })
}

/// Adds a user.
#[utoipa::path(post, path = "/api/v1/users", request_body = NewUser,
    responses((status = 204), (status = 403, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub async fn add(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    let NewUser { name: user, password, roles } = crate::body(&body)?;
    let (user, roles) = (name(&user)?, names(&roles)?);
    let action = ("user:add", user.to_string(), json!({"roles": roles}));
    let add = move |access: &Arc<Access>| {
        let password = password.map(|text| StoredPassword::new(user.as_str(), &text, HashCost::default()));
        let password = password.transpose().map_err(|error| bad_password(&error))?;
        edit(access, |accounts| accounts.add_user(user, password, roles, Moment::now().wall))
    };
    change(&api, &caller, &headers, action, add).await.map(|()| StatusCode::NO_CONTENT)
}

/// Changes roles or password of a user, or the roles of `local` or `stranger`.
#[utoipa::path(patch, path = "/api/v1/users/{name}", params(("name" = String, Path)), request_body = UserChange,
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn set(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(user): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    let UserChange { roles, password } = crate::body(&body)?;
    let user = name(&user)?;
    admit(&api, &headers)?;
    check_known(&api, user.as_str())?;
    if let Some(roles) = roles {
        let roles = names(&roles)?;
        let action = ("user:set-roles", user.to_string(), json!({"roles": roles}));
        let user = user.clone();
        let set =
            move |access: &Arc<Access>| edit(access, |accounts| accounts.set_roles(user.as_str(), roles));
        change(&api, &caller, &headers, action, set).await?;
    }
    if let Some(password) = password {
        let action = ("user:set-password", user.to_string(), Value::Null);
        let set = move |access: &Arc<Access>| {
            let stored = StoredPassword::new(user.as_str(), &password, HashCost::default());
            let stored = stored.map_err(|error| bad_password(&error))?;
            edit(access, |accounts| accounts.set_password(user.as_str(), stored))
        };
        change(&api, &caller, &headers, action, set).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a user and its tokens; its sessions end.
#[utoipa::path(delete, path = "/api/v1/users/{name}", params(("name" = String, Path)),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub async fn remove(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(user): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let action = ("user:remove", user.clone(), Value::Null);
    let remove = move |access: &Arc<Access>| edit(access, |accounts| accounts.remove_user(&user).map(|_| ()));
    change(&api, &caller, &headers, action, remove).await.map(|()| StatusCode::NO_CONTENT)
}

/// Ends the sessions of a user; its streams end within 5 s.
#[utoipa::path(delete, path = "/api/v1/users/{name}/sessions", params(("name" = String, Path)),
    responses((status = 200, body = Ended), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub async fn end_sessions(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(user): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Ended>, Problem> {
    admit(&api, &headers)?;
    check_known(&api, &user)?;
    let action = ("user:end-sessions", user.clone(), Value::Null);
    let end = move |access: &Arc<Access>| Ok(access.end_sessions_of(&user));
    let sessions = change(&api, &caller, &headers, action, end).await?;
    Ok(Json(Ended { sessions }))
}

/// Checks that a user exists, or stands for callers who have not signed in. An empty change needs a user, too.
fn check_known(api: &Api, user: &str) -> Result<(), Problem> {
    let document = api.doors.permissions.access.document();
    let is_known =
        [LOCAL, STRANGER].contains(&user) || document.users().iter().any(|(name, _)| name.as_str() == user);
    if is_known {
        return Ok(());
    }
    let detail = format!("there is no user {user:?}: list them with GET /api/v1/users");
    Err(Problem::new(StatusCode::NOT_FOUND, "unknown_account", detail))
}
