//! The accounts for DACs that follow this one.

use super::blocking;
use crate::Api;
use axum::{
    Extension, Json,
    extract::{Query, State, rejection::QueryRejection},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use oasis_access::{Access, Event, Kind, Position, StoreError, Target, Verb};
use oasis_http::{Problem, permissions::Caller};
use serde::Deserialize;
use std::time::Duration;
use tokio::time::Instant;
use utoipa::IntoParams;

/// Longest time that a request waits for a change.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Interval at which a waiting request polls the revision of the accounts.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Debug, Deserialize, IntoParams)]
pub struct CopyQuery {
    /// `position` of the answer before: only what changed since, as soon as something has changed.
    after: Option<String>,
    /// Longest time to wait for a change, milliseconds: 0 by default, 10,000 at most.
    wait_ms: Option<u64>,
}

/// The accounts with hashes of passwords and tokens, for a DAC that follows this one. Needs a token.
#[utoipa::path(get, path = "/api/v1/accounts/copy", params(CopyQuery),
    responses((status = 200, description = "`path`, `position`, and of `accounts` and `nodes` what has changed"), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem), (status = 503, body = Problem)))]
pub async fn copy(
    State(api): State<Api>,
    Extension(mut caller): Extension<Caller>,
    query: Result<Query<CopyQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(CopyQuery { after, wait_ms }) = crate::understood(query)?;
    // Neither the page nor a user of this host needs the hashes of passwords.
    if caller.principal().kind() != Kind::Program {
        let detail = "only a token may copy the accounts: oasis token create NAME --role follower";
        return Err(Problem::new(StatusCode::FORBIDDEN, "token_required", detail));
    }
    let after: Option<Position> = match after {
        Some(text) => Some(text.parse::<Position>().map_err(|error| bad_position(&error))?),
        None => None,
    };
    let permissions = &api.doors.permissions;
    let wait = Duration::from_millis(wait_ms.unwrap_or(0)).min(MAX_WAIT);
    let (begin, access) = (Instant::now(), permissions.access.clone());
    let copy = loop {
        let generation = access.generation();
        let (looked, since) = (access.clone(), after.clone());
        let copy =
            blocking(move || looked.copy_since(since.as_ref())).await?.map_err(|error| failed(&error))?;
        if copy.accounts.is_some() || copy.nodes.is_some() || begin.elapsed() >= wait {
            break copy;
        }
        if !until_changed(&access, generation, begin + wait).await {
            break copy;
        }
    };
    // The change may have been that this token is revoked.
    let refreshed = caller.refresh(permissions);
    refreshed.map_err(|ended| Problem::new(StatusCode::UNAUTHORIZED, "bad_token", ended.to_string()))?;
    caller.authorize(Verb::Follow, Target::Dac)?;
    if after.is_none() {
        // Every first copy, by whomever, is remembered; renewals are not.
        let address = caller.peer().ip().to_canonical().to_string();
        let event = Event { address, ..Event::new(caller.principal().to_string(), "accounts:copy", "done") };
        if let Err(error) = permissions.record(event).await {
            let detail = format!("the audit log cannot be written: {error}");
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_recorded", detail));
        }
    }
    let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(([no_store], Json(copy)).into_response())
}

/// Whether the number has changed before this time.
async fn until_changed(access: &Access, generation: u64, until: Instant) -> bool {
    let mut looks = tokio::time::interval(POLL_INTERVAL);
    while access.generation() == generation {
        if Instant::now() >= until {
            return false;
        }
        looks.tick().await;
    }
    true
}

fn bad_position(error: &oasis_access::PositionError) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", format!("after: {error}"))
}

fn failed(error: &StoreError) -> Problem {
    let (status, code) = match error {
        StoreError::InMemory => (StatusCode::NOT_FOUND, "no_accounts"),
        StoreError::CopyOfCopy { .. } => (StatusCode::CONFLICT, "accounts_copied"),
        _ => (StatusCode::SERVICE_UNAVAILABLE, "accounts"),
    };
    Problem::new(status, code, error.to_string())
}
