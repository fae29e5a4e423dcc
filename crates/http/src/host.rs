//! Checks which host names requests may use, and that other sites' pages cause nothing.
//!
//! A page of another site can let its own name resolve to this DAC (DNS rebinding): for the browser, page and DAC are then one origin. Only the
//! `Host` of the request still contains the foreign name. So a request must name an IP address, `localhost`, or a configured name
//! (RFC 9110 7.4). One that names none, several, or something else than a host and a port is answered 400 (RFC 9112 3.2). HTTP/1.0 has no `Host`:
//! such a request is let through, but never counts as one of this host.

use crate::{
    HttpContext, Problem,
    named_host::{HostError, Named, is_allowed},
    origin::{self, RefusalLog},
};
use axum::{
    extract::{Request, State},
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::time::Instant;

/// Paths that answer with data or cause work. Others are the page's files and health.
const GUARDED: [&str; 3] = ["/api/", "/metrics", "/ws"];

/// Refuses requests for foreign host names, and those that another site's page has caused.
pub async fn guard(State(context): State<HttpContext>, request: Request, next: Next) -> Response {
    match check(&context, &request) {
        Ok(()) => next.run(request).await,
        Err(problem) => {
            let (nobody, asked) =
                (context.permissions.nobody(&request), (request.method(), request.uri().path()));
            context.permissions.record_refused_request(&nobody, asked, &problem).await;
            problem.recorded().into_response()
        }
    }
}

fn check(context: &HttpContext, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let named = Named::of(request).map_err(|error| context.refuse_bad_host(error))?;
    if !named.hosts().all(|host| is_allowed(host, &context.config.allowed_hosts)) {
        return Err(context.refuse_host(headers));
    }
    let is_guarded = GUARDED.iter().any(|path| request.uri().path().starts_with(path));
    if is_guarded && origin::is_foreign_fetch(headers) {
        context.admit(headers, "pages of other sites may not read (doors.allowed_origins)")?;
    }
    Ok(())
}

impl HttpContext {
    /// Counts a request whose host is not known.
    fn refuse_bad_host(&self, error: HostError) -> Problem {
        self.admission.count_refused("bad_host");
        Problem::new(StatusCode::BAD_REQUEST, "bad_host", error.to_string())
    }

    /// Logs and counts a request for a host name that is not allowed.
    fn refuse_host(&self, headers: &axum::http::HeaderMap) -> Problem {
        self.admission.count_refused("host");
        self.refused_hosts.warn(headers, Instant::now());
        let detail = "this DAC does not answer for the requested host name: use its IP address, \
                      or add the name to doors.allowed_hosts";
        Problem::new(StatusCode::MISDIRECTED_REQUEST, "host", detail)
    }
}

/// The log of refused host names.
pub fn refusal_log() -> RefusalLog {
    RefusalLog::new(
        "request refused: its host name is not allowed; add it to doors.allowed_hosts if it is this DAC's",
    )
}
