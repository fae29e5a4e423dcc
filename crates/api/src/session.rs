//! Sign-in of people over HTTP: a session is a cookie, and a CSRF token beside it.

use crate::Api;
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{ConnectInfo, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use oasis_access::{
    Event, Kind, LINK_SECONDS, LOCAL, Moment, Principal, STRANGER, Secret, SignInError, SignedIn, Target,
    Verb, decide,
};
use oasis_doors::Doors;
use oasis_http::{
    Problem, Proxied,
    permissions::{Caller, NotRecorded, cookie_name, forgotten, session_cookie},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{fmt::Display, net::SocketAddr};
use utoipa::ToSchema;

/// Refusal of a page of another site that tries to sign in.
const FOREIGN_ORIGIN_DETAIL: &str = "pages of other sites may not sign in (doors.allowed_origins)";

/// The caller and its permissions.
#[derive(Debug, Serialize, ToSchema)]
pub struct Who {
    /// `local` (this host), `person` (signed in), `program` (with a token), or `stranger`
    kind: &'static str,
    /// Name of the user or token; empty for the others.
    name: String,
    /// Roles of a user; empty for the others.
    roles: Vec<String>,
    /// Verbs that it has on something; docs/reference/permissions.md lists them.
    #[schema(value_type = Vec<String>)]
    verbs: Vec<&'static str>,
    /// Whether it may read everything.
    reads_everything: bool,
    /// Text of the button for sign-in by a provider of identity (`/sign-in/oidc`); absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    /// Whether this DAC keeps alarms (`/api/v1/alarms`); absent if it does not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    alarms: bool,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// Name of the user.
    name: String,
    /// At most 1,024 bytes.
    password: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Session {
    #[serde(flatten)]
    who: Who,
    /// To be sent in `X-CSRF-Token` with each request of this session that changes something.
    csrf_token: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CsrfToken {
    /// As in the answer of the sign-in; the one before is not valid any more.
    csrf_token: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordChange {
    /// The present password.
    present: String,
    /// At least 12 characters, at most 1,024 bytes.
    new: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkCode {
    /// Code after `#sign-in=` in the link.
    code: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Link {
    /// For `/#sign-in=CODE`; good once.
    code: String,
    /// Lifetime in seconds.
    seconds: u64,
}

/// Returns the caller. Without valid credentials it is a stranger, or a user on this host.
#[utoipa::path(get, path = "/api/v1/session", responses((status = 200, body = Who)))]
pub async fn who(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Response {
    let provider = api.provider.as_ref().map(|provider| provider.label().to_owned());
    let alarms = api.alarms.is_some() || api.relays_alarms();
    let who = Who { provider, alarms, ..who_is(&api.doors, caller.principal()) };
    let mut response = Json(who).into_response();
    let has_old_cookie = session_cookie(&headers).is_some() && caller.principal().kind() == Kind::Stranger;
    if let Some(removal) = forgotten(&headers).filter(|_| has_old_cookie) {
        response.headers_mut().append(header::SET_COOKIE, removal);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn who_is(doors: &Doors, principal: &Principal) -> Who {
    let may = |verb, target| decide(principal, verb, target).is_allowed();
    let is_permitted = |verb: &&Verb| may(**verb, Target::SomeOfDac);
    Who {
        kind: principal.kind().word(),
        name: principal.name().to_owned(),
        roles: roles(doors, principal),
        verbs: Verb::ALL.iter().filter(is_permitted).map(|verb| verb.word()).collect(),
        reads_everything: may(Verb::ReadLive, Target::Dac) || may(Verb::ReadPast, Target::Dac),
        provider: None,
        alarms: false,
    }
}

fn roles(doors: &Doors, principal: &Principal) -> Vec<String> {
    if principal.kind() != Kind::Person {
        return Vec::new();
    }
    let accounts = doors.permissions.access.document();
    let user = accounts.users().iter().find(|(name, _)| name.as_str() == principal.name());
    user.map(|(_, user)| user.roles.iter().map(|role| role.as_str().to_owned()).collect()).unwrap_or_default()
}

/// Starts a session with a password. The answer sets its cookie.
#[utoipa::path(post, path = "/api/v1/session", request_body = Credentials,
    responses((status = 200, body = Session), (status = 401, body = Problem), (status = 403, body = Problem), (status = 422, body = Problem),
        (status = 429, body = Problem), (status = 503, body = Problem)))]
pub async fn sign_in(
    State(doors): State<Doors>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    proxied: Option<Extension<Proxied>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    doors.admit(&headers, FOREIGN_ORIGIN_DETAIL)?;
    let Credentials { name, password } = super::body(&body)?;
    let (access, user) = (doors.permissions.access.clone(), name.clone());
    let checked = tokio::task::spawn_blocking(move || {
        access.sign_in(&user, &password, peer.ip().to_canonical(), Moment::now())
    });
    let signed_in = checked.await.map_err(|error| failed(&error))?;
    let result = signed_in.as_ref().map_or_else(ToString::to_string, |_| "done".to_owned());
    // Slowed-down attempts are not recorded: otherwise an attacker could fill the audit log.
    let is_recorded = !matches!(signed_in, Err(SignInError::Slow(_) | SignInError::Busy));
    let recorded = match is_recorded {
        true if signed_in.is_ok() => doors.permissions.record(event(&name, peer, "sign-in", &result)).await,
        // This name is not authenticated: it is an argument, not the principal.
        true => {
            let attempt = Event { principal: STRANGER.into(), ..event("", peer, "sign-in", &result) };
            doors.permissions.record(Event { arguments: json!({"name": name}), ..attempt }).await
        }
        false => Ok(()),
    };
    let is_encrypted = is_encrypted(&doors, proxied);
    started(&doors, &headers, is_encrypted, (signed_in.map_err(|error| refused(&error))?, recorded))
}

/// The answer to a sign-in that was recorded; without a record there is no session.
fn started(
    doors: &Doors,
    headers: &HeaderMap,
    is_encrypted: bool,
    (signed_in, recorded): (SignedIn, Result<(), NotRecorded>),
) -> Result<Response, Problem> {
    let SignedIn { principal, cookie, csrf_token } = signed_in;
    if let Err(error) = recorded {
        doors.permissions.access.sign_out(cookie.reveal());
        return Err(error.into());
    }
    let session = Session { who: who_is(doors, &principal), csrf_token: csrf_token.reveal().to_owned() };
    let cookie = replaced_cookie(doors, headers, is_encrypted, &cookie)?;
    let no_store = HeaderValue::from_static("no-store");
    Ok(([(header::SET_COOKIE, cookie), (header::CACHE_CONTROL, no_store)], Json(session)).into_response())
}

/// Whether the browser has asked by TLS, of this DAC or of its proxy.
pub fn is_encrypted(doors: &Doors, proxied: Option<Extension<Proxied>>) -> bool {
    doors.is_encrypted() || proxied.is_some_and(|proxied| proxied.is_encrypted)
}

/// The header that gives a session to a browser. The session that the browser had before ends.
pub fn replaced_cookie(
    doors: &Doors,
    headers: &HeaderMap,
    is_encrypted: bool,
    cookie: &Secret,
) -> Result<HeaderValue, Problem> {
    if let Some(before) = session_cookie(headers) {
        doors.permissions.access.sign_out(before);
    }
    // A browser sends it back over TLS only, if it came so.
    let secure = if is_encrypted { "; Secure" } else { "" };
    let cookie =
        format!("{}={}; Path=/; HttpOnly; SameSite=Lax{secure}", cookie_name(headers), cookie.reveal());
    HeaderValue::try_from(cookie).map_err(|error| failed(&error))
}

/// Starts a session of the DAC's own user with the code of a link. The answer sets its cookie.
#[utoipa::path(post, path = "/api/v1/session/link", request_body = LinkCode,
    responses((status = 200, body = Session), (status = 401, body = Problem), (status = 403, body = Problem), (status = 422, body = Problem),
        (status = 503, body = Problem)))]
pub async fn sign_in_by_link(
    State(doors): State<Doors>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    proxied: Option<Extension<Proxied>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    doors.admit(&headers, FOREIGN_ORIGIN_DETAIL)?;
    let LinkCode { code } = super::body(&body)?;
    let event = |result: &str| Event { principal: LOCAL.into(), ..event("", peer, "sign-in:link", result) };
    match doors.permissions.access.sign_in_by_link(&code, Moment::now()) {
        Ok(signed_in) => {
            let recorded = doors.permissions.record(event("done")).await;
            started(&doors, &headers, is_encrypted(&doors, proxied), (signed_in, recorded))
        }
        Err(error) => {
            let event = Event { principal: STRANGER.into(), ..event(&error.to_string()) };
            doors.permissions.record_bounded(event).await;
            Err(refused(&error))
        }
    }
}

/// Makes the code of a link to the page, `/#sign-in=CODE`. Only for the DAC's own user, with `access.local = "token"`.
#[utoipa::path(post, path = "/api/v1/sign-in-links",
    responses((status = 200, body = Link), (status = 403, body = Problem), (status = 503, body = Problem)))]
pub async fn make_link(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    if !caller.principal().has_host_token() {
        let detail = "only the DAC's own user makes links, with the token in its access folder (oasis user sign-in-link), if access.local is \"token\"";
        return Err(Problem::new(StatusCode::FORBIDDEN, "host_token_required", detail));
    }
    let permissions = &doors.permissions;
    permissions
        .record(Event { principal: LOCAL.into(), ..event("", caller.peer(), "sign-in-link", "done") })
        .await?;
    let link = permissions.access.link(Moment::now()).map_err(|error| failed(&error))?;
    let code = link.ok_or_else(|| failed(&"this host needs no link"))?.reveal().to_owned();
    let link = Link { code, seconds: LINK_SECONDS };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(link)).into_response())
}

/// Ends the session of the request's cookie. The answer removes the cookie.
#[utoipa::path(delete, path = "/api/v1/session",
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem), (status = 503, body = Problem)))]
pub async fn sign_out(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let cookie = own_session(&doors, &caller, &headers)?;
    doors.permissions.check_csrf(&caller, &headers)?;
    // Signed out even if that cannot be recorded.
    doors.permissions.access.sign_out(cookie);
    doors.permissions.record(event(caller.principal().name(), caller.peer(), "sign-out", "done")).await?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Some(removal) = forgotten(&headers) {
        response.headers_mut().append(header::SET_COOKIE, removal);
    }
    Ok(response)
}

/// Makes another CSRF token, for a page that was loaded again. Only pages of this DAC can read the answer.
#[utoipa::path(post, path = "/api/v1/session/csrf",
    responses((status = 200, body = CsrfToken), (status = 401, body = Problem), (status = 403, body = Problem)))]
pub async fn renew_csrf_token(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let cookie = own_session(&doors, &caller, &headers)?;
    let renewed = doors.permissions.access.renew_csrf_token(cookie).map_err(|error| failed(&error))?;
    let csrf_token = renewed.ok_or_else(no_session)?.reveal().to_owned();
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(CsrfToken { csrf_token })).into_response())
}

/// Gives the caller another password. All its sessions end, this one too.
#[utoipa::path(put, path = "/api/v1/session/password", request_body = PasswordChange,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem), (status = 422, body = Problem),
        (status = 429, body = Problem), (status = 503, body = Problem)))]
pub async fn change_password(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    own_session(&doors, &caller, &headers)?;
    doors.permissions.check_csrf(&caller, &headers)?;
    if caller.principal().kind() != Kind::Person {
        return Err(no_session());
    }
    let PasswordChange { present, new } = super::body(&body)?;
    let (access, name) = (doors.permissions.access.clone(), caller.principal().name().to_owned());
    let address = caller.peer().ip().to_canonical();
    let target = name.clone();
    let change = async move {
        let changed = tokio::task::spawn_blocking(move || {
            access.change_password(&name, (&present, &new), address, Moment::now())
        });
        changed.await.map_err(|error| failed(&error))?.map_err(|error| refused(&error))
    };
    doors.permissions.recorded(&caller, "user:change-password", target, Value::Null, change).await?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Some(removal) = forgotten(&headers) {
        response.headers_mut().append(header::SET_COOKIE, removal);
    }
    Ok(response)
}

/// The cookie of a caller that has a session.
fn own_session<'a>(doors: &Doors, caller: &Caller, headers: &'a HeaderMap) -> Result<&'a str, Problem> {
    doors.admit(headers, FOREIGN_ORIGIN_DETAIL)?;
    session_cookie(headers).filter(|_| caller.principal().needs_csrf_token()).ok_or_else(no_session)
}

fn no_session() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "no_session",
        "this request has no session: POST /api/v1/session starts one",
    )
}

fn failed(error: &dyn Display) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "session", error.to_string())
}

fn refused(error: &SignInError) -> Problem {
    let (status, code) = match error {
        SignInError::Wrong => (StatusCode::UNAUTHORIZED, "wrong_password"),
        SignInError::Link => (StatusCode::UNAUTHORIZED, "bad_link"),
        SignInError::Password(_) => (StatusCode::UNPROCESSABLE_ENTITY, "bad_password"),
        SignInError::Vouched(_) => (StatusCode::FORBIDDEN, "no_account"),
        SignInError::Slow(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many_attempts"),
        SignInError::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
        SignInError::Random(_) => (StatusCode::INTERNAL_SERVER_ERROR, "session"),
    };
    // The audit log has each attempt with the name that was claimed.
    Problem::new(status, code, error.to_string()).recorded()
}

/// Creates the audit event of an action of a user.
pub fn event(name: &str, peer: SocketAddr, action: &str, result: &str) -> Event {
    let address = peer.ip().to_canonical().to_string();
    Event { address, ..Event::new(format!("person:{name}"), action, result) }
}
