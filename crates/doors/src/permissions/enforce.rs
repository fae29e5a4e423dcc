//! The check before each handler.

use super::{
    Caller, Permissions,
    identify::{cookie_name, session_cookie},
    routes::Requirement,
};
use crate::problem::Problem;
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::sync::Arc;

/// The header with the CSRF token of a session.
const CSRF: &str = "x-csrf-token";

/// What is checked at a route.
#[derive(Debug)]
pub struct Point {
    pub permissions: Arc<Permissions>,
    pub requires: Requirement,
}

/// Gives the request its caller, and answers in place of the handler if the caller may not use the route.
pub async fn enforce(State(point): State<Arc<Point>>, mut request: Request, next: Next) -> Response {
    let caller = match (point.permissions.identify(&request), point.requires) {
        (Ok(caller), _) => caller,
        (Err(_), Requirement::Nothing) => point.permissions.nobody(&request),
        (Err(problem), _) => return refused(problem, request.headers()),
    };
    if let Err(problem) = point.check(&caller, &request) {
        return refused(problem, request.headers());
    }
    request.extensions_mut().insert(caller);
    next.run(request).await
}

impl Point {
    fn check(&self, caller: &Caller, request: &Request) -> Result<(), Problem> {
        let Some(first) = self.requires.verbs().first() else { return Ok(()) };
        let target = self.requires.target();
        if !self.requires.verbs().iter().any(|verb| caller.may(*verb, target)) {
            caller.ask_for(*first, target)?;
        }
        let is_change = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        if is_change { self.permissions.check_csrf(caller, request.headers()) } else { Ok(()) }
    }
}

impl Permissions {
    /// Refuses a request that changes something with a cookie alone, which another site's page can make a browser send.
    ///
    /// # Errors
    /// Status 403 if the caller has a session, and the request not its CSRF token.
    pub fn check_csrf(&self, caller: &Caller, headers: &HeaderMap) -> Result<(), Problem> {
        let shown = headers.get(CSRF).and_then(|token| token.to_str().ok());
        let is_right = || {
            let (cookie, token) = session_cookie(headers).zip(shown)?;
            Some(self.access.is_csrf_token(cookie, token))
        };
        if !caller.principal().needs_csrf_token() || is_right() == Some(true) {
            return Ok(());
        }
        let detail = "send the session's CSRF token in X-CSRF-Token: POST /api/v1/session returns it, and POST /api/v1/session/csrf another one";
        Err(Problem::new(StatusCode::FORBIDDEN, "csrf", detail))
    }
}

/// The answer. A cookie that is not valid any more is removed, so that the next request needs none.
fn refused(problem: Problem, headers: &HeaderMap) -> Response {
    let removal = (problem.is("session_ended")).then(|| forgotten(headers)).flatten();
    let mut response = problem.into_response();
    if let Some(removal) = removal {
        response.headers_mut().append(header::SET_COOKIE, removal);
    }
    response
}

/// Returns the header that removes the cookie of a session from the browser.
pub fn forgotten(headers: &HeaderMap) -> Option<HeaderValue> {
    let name = cookie_name(headers);
    HeaderValue::try_from(format!("{name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax")).ok()
}
