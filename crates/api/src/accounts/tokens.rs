//! Tokens. A token is in the answer that makes it, and nowhere else.

use super::{change, edit, list as texts_of, name, names, rules, texts};
use crate::Api;
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use oasis_access::{Access, Moment, NewToken};
use oasis_http::{Problem, permissions::Caller};
use oasis_wire::{quantity::Nanos, time};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct Tokens {
    tokens: Vec<TokenView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TokenView {
    /// Its number, 8 hexadecimal digits.
    id: String,
    name: String,
    roles: Vec<String>,
    /// The user that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// Whether it only reads, in pages that other sites embed.
    embed: bool,
    /// Rules that limit it; none for no limit.
    scope: Vec<String>,
    created: String,
    /// When it expires; absent for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    /// When it was used last; absent for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_use: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    name: String,
    roles: Vec<String>,
    owner: Option<String>,
    #[serde(default)]
    embed: bool,
    /// Rules as `VERB,VERB NODE/INSTANCE`.
    #[serde(default)]
    scope: Vec<String>,
    /// A date and time, as RFC 3339 writes it; absent for never.
    expires: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct CreatedToken {
    id: String,
    /// Shown once.
    token: String,
}

/// All tokens; the tokens themselves are not known.
#[utoipa::path(get, path = "/api/v1/tokens", responses((status = 200, body = Tokens)))]
pub async fn list(State(api): State<Api>) -> Json<Tokens> {
    let access = &api.doors.permissions.access;
    let accounts = access.document();
    let tokens = accounts.tokens().iter().map(|(id, token)| TokenView {
        id: id.to_string(),
        name: token.name.to_string(),
        roles: texts_of(&token.roles),
        owner: token.owner.as_ref().map(ToString::to_string),
        embed: token.embed,
        scope: texts(&token.scope),
        created: token.created.to_string(),
        expires: token.expires.map(|time| time.to_string()),
        last_use: access.last_use(*id).map(|time| time.to_string()),
    });
    Json(Tokens { tokens: tokens.collect() })
}

/// Makes a token. The answer is the only one that contains it.
#[utoipa::path(post, path = "/api/v1/tokens", request_body = TokenRequest,
    responses((status = 200, body = CreatedToken), (status = 403, body = Problem), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn create(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let TokenRequest { name: called, roles, owner, embed, scope, expires } = crate::body(&body)?;
    let arguments =
        json!({"roles": roles, "owner": owner, "embed": embed, "scope": scope, "expires": expires});
    let new = NewToken {
        name: name(&called)?,
        roles: names(&roles)?,
        owner: owner.as_deref().map(name).transpose()?,
        embed,
        scope: rules(&scope)?,
        expires: expires.as_deref().map(expiry).transpose()?,
    };
    let create =
        move |access: &Arc<Access>| edit(access, |accounts| accounts.create_token(new, Moment::now().wall));
    let (id, secret) = change(&api, &caller, &headers, ("token:create", called, arguments), create).await?;
    let created = CreatedToken { id: id.to_string(), token: secret.reveal().to_owned() };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(created)).into_response())
}

/// Revokes a token; what it has opened ends within 5 s.
#[utoipa::path(delete, path = "/api/v1/tokens/{id}", params(("id" = String, Path)),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub async fn revoke(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let action = ("token:revoke", id.clone(), Value::Null);
    let revoke = move |access: &Arc<Access>| edit(access, |accounts| accounts.revoke_token(&id).map(|_| ()));
    change(&api, &caller, &headers, action, revoke).await.map(|()| StatusCode::NO_CONTENT)
}

/// A time in the future, in whole seconds as it is kept.
fn expiry(text: &str) -> Result<Nanos, Problem> {
    let time = time::parse_date(text).and_then(|time| u64::try_from(time).ok());
    let time = time.filter(|time| *time > Moment::now().wall.0);
    let time = time.ok_or_else(|| {
        super::bad_account(format!(
            "expires is {text:?}: write a date and time that is to come, such as 2030-05-04T12:00:00Z"
        ))
    })?;
    Ok(Nanos(time - time % 1_000_000_000))
}
