//! The check before each handler.

use super::{
    Caller, Permissions,
    identify::{cookie_name, session_cookie},
    routes::Requirement,
};
use crate::{
    HttpContext,
    problem::{Problem, Unrecorded},
    rate_limits::{self, Cost, TooSoon},
};
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::sync::Arc;

/// The header with the CSRF token of a session.
const CSRF: &str = "x-csrf-token";

/// The check at a route.
#[derive(Debug)]
pub struct Point {
    pub context: HttpContext,
    pub requires: Requirement,
    pub cost: Cost,
}

/// Gives the request its caller, and answers in place of the handler if the caller may not use the route.
pub async fn enforce(State(point): State<Arc<Point>>, mut request: Request, next: Next) -> Response {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let (caller, answer) = match point.admit(&request) {
        Ok(caller) => {
            request.extensions_mut().insert(caller.clone());
            (caller, next.run(request).await)
        }
        Err(refused) => *refused,
    };
    if let Some(Unrecorded(problem)) = answer.extensions().get() {
        point.context.permissions.record_refused_request(&caller, (&method, uri.path()), problem).await;
    }
    answer
}

/// A caller, and its answer in place of the handler's.
type RefusalResponse = (Caller, Response);

impl Point {
    /// Returns the caller, if it may use the route.
    ///
    /// # Errors
    /// The answer otherwise.
    fn admit(&self, request: &Request) -> Result<Caller, Box<RefusalResponse>> {
        let identified = self.context.permissions.identify(request);
        let nobody = || self.context.permissions.nobody(request);
        self.count(identified.as_ref().ok(), nobody)
            .map_err(|too_soon| Box::new((nobody(), too_soon.into_response())))?;
        let caller = match (identified, self.requires) {
            (Ok(caller), _) => caller,
            (Err(_), Requirement::Nothing) => nobody(),
            (Err(problem), _) => return Err(Box::new((nobody(), refused(problem, request.headers())))),
        };
        match self.check(&caller, request) {
            Ok(()) => Ok(caller),
            Err(problem) => Err(Box::new((caller, refused(problem, request.headers())))),
        }
    }

    /// Counts the request, before anything else is done for it. One with bad credentials counts as a stranger's.
    fn count(&self, caller: Option<&Caller>, nobody: impl FnOnce() -> Caller) -> Result<(), TooSoon> {
        let counted = match caller {
            Some(caller) => {
                self.context.limits.count(Some(caller.principal()), caller.peer().ip(), self.cost)
            }
            None => self.context.limits.count(None, nobody().peer().ip(), self.cost),
        };
        counted.inspect_err(|_| self.context.admission.count_refused(rate_limits::CODE))
    }

    fn check(&self, caller: &Caller, request: &Request) -> Result<(), Problem> {
        if self.requires == Requirement::Nothing {
            return Ok(());
        }
        caller.authorize_one_of(self.requires.verbs(), self.requires.target())?;
        if !request.method().is_safe() {
            self.context.permissions.check_csrf(caller, request.headers())
        } else {
            Ok(())
        }
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
