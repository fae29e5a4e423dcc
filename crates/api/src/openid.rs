//! Sign-in by a provider of identity: the browser leaves for it, and comes back.

use crate::{
    Api,
    session::{event, is_encrypted, replaced_cookie},
};
use axum::{
    Extension,
    extract::{ConnectInfo, Query, State, rejection::QueryRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use oasis_access::{Event, Moment, STRANGER, SignInError, SignedIn};
use oasis_doors::Doors;
use oasis_http::{
    Problem, Proxied,
    permissions::{cookie_name, named_cookie},
};
use oasis_oidc::{LIFE_SECONDS, OpenId, SignInFailure, SignInReturn};
use serde::Deserialize;
use std::{net::SocketAddr, sync::Arc};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Path to which the page sends a browser.
pub const BEGIN: &str = "/sign-in/oidc";
/// Path to which the provider sends it back.
pub const CALLBACK: &str = "/sign-in/oidc/callback";
/// Upper bound of concurrent sign-ins that wait for the provider.
const MAX_PENDING_SIGN_INS: usize = 16;

/// The provider, and how many may wait for it.
#[derive(Debug)]
pub struct Provider {
    openid: Arc<OpenId>,
    waiting: Semaphore,
}

impl Provider {
    pub fn new(openid: OpenId) -> Self {
        Self { openid: Arc::new(openid), waiting: Semaphore::new(MAX_PENDING_SIGN_INS) }
    }

    /// The text of the button.
    pub fn label(&self) -> &str {
        &self.openid.config().label
    }

    fn enter(&self) -> Option<SemaphorePermit<'_>> {
        self.waiting.try_acquire().ok()
    }
}

/// Parameters that the provider adds to the URL.
#[derive(Debug, Default, Deserialize)]
pub struct Answer {
    #[serde(default)]
    state: String,
    #[serde(default)]
    code: String,
    error: Option<String>,
}

/// Sends the browser to the provider.
pub async fn begin(
    State(api): State<Api>,
    proxied: Option<Extension<Proxied>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let is_encrypted = is_encrypted(&api.doors, proxied);
    let provider = provider(&api)?;
    let Some(_waiting) = provider.enter() else { return Ok(back_with(PAGE_OF_BEGIN, "busy")) };
    let derived = derived_url(&headers, is_encrypted);
    let openid = provider.openid.clone();
    let begun = tokio::task::spawn_blocking(move || {
        openid.begin(openid.redirect_url(&derived), Moment::now().steady)
    });
    match begun.await.map_err(|error| failed(&error.to_string()))? {
        Ok(begun) => {
            let cookie = flow_cookie(&headers, is_encrypted, &begun.cookie, LIFE_SECONDS)?;
            let url = HeaderValue::try_from(begun.url).map_err(|error| failed(&error.to_string()))?;
            let answer = [(header::LOCATION, url), (header::SET_COOKIE, cookie)];
            Ok((StatusCode::SEE_OTHER, no_store(), answer).into_response())
        }
        Err(failure) => {
            tracing::warn!(%failure, "nobody can sign in by the provider of identity");
            Ok(back_with(PAGE_OF_BEGIN, failure.code()))
        }
    }
}

/// Signs in whom the provider vouches for, and sends the browser to the page; the page explains a failure.
pub async fn callback(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    proxied: Option<Extension<Proxied>>,
    headers: HeaderMap,
    answer: Result<Query<Answer>, QueryRejection>,
) -> Result<Response, Problem> {
    let is_encrypted = is_encrypted(&api.doors, proxied);
    let provider = provider(&api)?;
    let Some(_waiting) = provider.enter() else { return Ok(back_with(PAGE_PATH, "busy")) };
    let answer = answer.map(|Query(answer)| answer).unwrap_or_default();
    let cookie = named_cookie(&headers, &flow_name(&headers)).unwrap_or_default().to_owned();
    let derived = derived_url(&headers, is_encrypted);
    let (openid, access) = (provider.openid.clone(), api.doors.permissions.access.clone());
    let checked = tokio::task::spawn_blocking(move || {
        let Answer { state, code, error } = &answer;
        let back = SignInReturn { cookie: &cookie, state, code, error: error.as_deref() };
        let now = Moment::now();
        let identity = openid.complete(back, openid.redirect_url(&derived), now.steady)?;
        let vouched = identity.vouched(openid.config());
        let name = vouched.name.to_string();
        let has_role = vouched.roles.as_ref().is_none_or(|roles| !roles.is_empty());
        if !has_role {
            return Err(SignInRefusal::NoRole(name));
        }
        let signed_in = access.sign_in_vouched(vouched, now);
        signed_in
            .map(|signed_in| (name.clone(), signed_in))
            .map_err(|error| SignInRefusal::Account(name, error))
    });
    let checked = checked.await.map_err(|error| failed(&error.to_string()))?;
    let forgotten = flow_cookie(&headers, is_encrypted, "", 0)?;
    let mut response = match checked {
        Ok((name, signed_in)) => {
            welcome(&api.doors, &headers, is_encrypted, (peer, &name, signed_in)).await?
        }
        Err(refused) => {
            let (who, code) = refused.who_and_code();
            tracing::info!(%peer, reason = %refused, "sign-in by the provider of identity refused");
            let event = Event { principal: who, ..event("", peer, "sign-in:oidc", &refused.to_string()) };
            api.doors.permissions.record_bounded(event).await;
            back_with(PAGE_PATH, code)
        }
    };
    // The code is of no use any more.
    response.headers_mut().append(header::SET_COOKIE, forgotten);
    Ok(response)
}

/// Reason for which a sign-in was refused.
#[derive(Debug, thiserror::Error)]
enum SignInRefusal {
    #[error(transparent)]
    Failure(#[from] SignInFailure),
    #[error("none of the groups of {0} has a role (access.oidc.roles)")]
    NoRole(String),
    #[error("{1}")]
    Account(String, SignInError),
}

impl SignInRefusal {
    /// The principal for the audit log, and the code for the page.
    fn who_and_code(&self) -> (String, &'static str) {
        match self {
            Self::Failure(failure) => (STRANGER.into(), failure.code()),
            Self::NoRole(name) => (format!("person:{name}"), "no_role"),
            Self::Account(name, _) => (format!("person:{name}"), "no_account"),
        }
    }
}

async fn welcome(
    doors: &Doors,
    headers: &HeaderMap,
    is_encrypted: bool,
    (peer, name, signed_in): (SocketAddr, &str, SignedIn),
) -> Result<Response, Problem> {
    if let Err(error) = doors.permissions.record(event(name, peer, "sign-in:oidc", "done")).await {
        doors.permissions.access.sign_out(signed_in.cookie.reveal());
        return Err(error.into());
    }
    let cookie = replaced_cookie(doors, headers, is_encrypted, &signed_in.cookie)?;
    let answer = [(header::LOCATION, HeaderValue::from_static(PAGE_PATH)), (header::SET_COOKIE, cookie)];
    Ok((StatusCode::SEE_OTHER, no_store(), answer).into_response())
}

/// The page, seen from the beginning and from the callback: both may be below the path of a proxy.
const PAGE_OF_BEGIN: &str = "../";
const PAGE_PATH: &str = "../../";

/// To the page, which explains a code.
fn back_with(page: &str, code: &str) -> Response {
    let location = format!("{page}#sign-in-failed={code}");
    (StatusCode::SEE_OTHER, no_store(), [(header::LOCATION, location)]).into_response()
}

fn no_store() -> [(header::HeaderName, HeaderValue); 1] {
    [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))]
}

fn provider(api: &Api) -> Result<&Provider, Problem> {
    let detail = "people do not sign in so at this DAC (access.oidc)";
    api.provider.as_deref().ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "no_provider", detail))
}

/// The callback at the address that the browser has asked for; other hosts were refused before.
fn derived_url(headers: &HeaderMap, is_encrypted: bool) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    format!("http{}://{host}{CALLBACK}", if is_encrypted { "s" } else { "" })
}

fn flow_name(headers: &HeaderMap) -> String {
    cookie_name(headers).replacen("session", "oidc", 1)
}

/// The cookie that binds the callback to its beginning. `Lax`: the provider's site sends the browser back.
fn flow_cookie(
    headers: &HeaderMap,
    is_encrypted: bool,
    value: &str,
    seconds: u64,
) -> Result<HeaderValue, Problem> {
    let (name, secure) = (flow_name(headers), if is_encrypted { "; Secure" } else { "" });
    let cookie = format!("{name}={value}; Max-Age={seconds}; Path=/; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::try_from(cookie).map_err(|error| failed(&error.to_string()))
}

fn failed(error: &str) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "session", error)
}
