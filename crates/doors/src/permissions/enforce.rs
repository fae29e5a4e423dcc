//! The check before each handler.

use super::{
    Caller, Permissions,
    identify::{BAD_TICKET, cookie_name, session_cookie},
    routes::Requirement,
};
use crate::{
    Doors,
    problem::Problem,
    rate_limits::{self, Cost, TooSoon},
};
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
    pub doors: Doors,
    pub requires: Requirement,
    pub cost: Cost,
}

/// Gives the request its caller, and answers in place of the handler if the caller may not use the route.
pub async fn enforce(State(point): State<Arc<Point>>, mut request: Request, next: Next) -> Response {
    match point.admit(&request) {
        Ok(caller) => drop(request.extensions_mut().insert(caller)),
        Err(refusal) => {
            if let Some((nobody, problem)) = refusal.bad_ticket {
                point.doors.permissions.record_attempt(&nobody, "ticket", &problem).await;
            }
            return refusal.answer;
        }
    }
    next.run(request).await
}

/// The answer in place of a handler.
struct Refused {
    answer: Response,
    /// Who has shown a ticket that is not good, and why it is not.
    bad_ticket: Option<(Caller, String)>,
}

impl Refused {
    fn of(answer: Response) -> Box<Self> {
        Box::new(Self { answer, bad_ticket: None })
    }
}

impl Point {
    /// Returns the caller, if it may use the route.
    ///
    /// # Errors
    /// The answer otherwise.
    fn admit(&self, request: &Request) -> Result<Caller, Box<Refused>> {
        let identified = self.doors.permissions.identify(request);
        let nobody = || self.doors.permissions.nobody(request);
        self.count(identified.as_ref().ok(), nobody)
            .map_err(|too_soon| Refused::of(too_soon.into_response()))?;
        let caller = match (identified, self.requires) {
            (Ok(caller), _) => caller,
            (Err(_), Requirement::Nothing) => nobody(),
            (Err(problem), _) => {
                let bad_ticket = problem.is(BAD_TICKET).then(|| (nobody(), problem.to_string()));
                return Err(Box::new(Refused { answer: refused(problem, request.headers()), bad_ticket }));
            }
        };
        self.check(&caller, request).map_err(|problem| Refused::of(refused(problem, request.headers())))?;
        Ok(caller)
    }

    /// Counts the request, before anything else is done for it. One with bad credentials counts as a stranger's.
    fn count(&self, caller: Option<&Caller>, nobody: impl FnOnce() -> Caller) -> Result<(), TooSoon> {
        let counted = match caller {
            Some(caller) => self.doors.limits.count(Some(caller.principal()), caller.peer().ip(), self.cost),
            None => self.doors.limits.count(None, nobody().peer().ip(), self.cost),
        };
        counted.inspect_err(|_| self.doors.admission.count_refused(rate_limits::CODE))
    }

    fn check(&self, caller: &Caller, request: &Request) -> Result<(), Problem> {
        let Some(first) = self.requires.verbs().first() else { return Ok(()) };
        let target = self.requires.target();
        if !self.requires.verbs().iter().any(|verb| caller.may(*verb, target)) {
            caller.ask_for(*first, target)?;
        }
        let is_change = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        if is_change { self.doors.permissions.check_csrf(caller, request.headers()) } else { Ok(()) }
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
