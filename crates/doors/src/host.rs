//! Checks which host names requests may use, and that other sites' pages cause nothing.
//!
//! A page of another site can let its own name resolve to this DAC (DNS rebinding): for the browser, page and DAC are then one origin. Only the
//! `Host` of the request still contains the foreign name. So a request must name an IP address, `localhost`, or a configured name
//! (RFC 9110 7.4). Programs that send no `Host` are let through: browsers always send one.

use crate::{
    Doors, Problem,
    origin::{self, RefusalLog},
};
use axum::{
    extract::{Request, State},
    http::{StatusCode, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::{net::IpAddr, time::Instant};

/// Paths that answer with data or cause work. Others are the page's files and health.
const GUARDED: [&str; 3] = ["/api/", "/metrics", "/ws"];

/// Refuses requests for foreign host names, and those that another site's page has caused.
pub async fn guard(State(doors): State<Doors>, request: Request, next: Next) -> Response {
    match check(&doors, &request) {
        Ok(()) => next.run(request).await,
        Err(problem) => {
            let (nobody, asked) =
                (doors.permissions.nobody(&request), (request.method(), request.uri().path()));
            doors.permissions.record_refused_request(&nobody, asked, &problem).await;
            problem.recorded().into_response()
        }
    }
}

fn check(doors: &Doors, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let host = headers.get(header::HOST).map(|host| host.to_str().unwrap_or_default());
    // A request line may contain the authority as well (RFC 9112 3.2.2).
    let asked = request.uri().authority().map(Authority::as_str);
    if ![host, asked].into_iter().flatten().all(|host| is_allowed(host, &doors.config.allowed_hosts)) {
        return Err(doors.refuse_host(headers));
    }
    let is_guarded = GUARDED.iter().any(|path| request.uri().path().starts_with(path));
    if is_guarded && origin::is_foreign_fetch(headers) {
        doors.admit(headers, "pages of other sites may not read (doors.allowed_origins)")?;
    }
    Ok(())
}

/// Whether the host of `authority` (`host` or `host:port`) cannot be rebound, or is one of `names`.
pub fn is_allowed(authority: &str, names: &[String]) -> bool {
    let Ok(authority) = authority.parse::<Authority>() else { return false };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    let host = host.to_ascii_lowercase();
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok()
        || names.iter().any(|name| name.trim_end_matches('.').eq_ignore_ascii_case(&host))
}

impl Doors {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_cannot_be_rebound_and_configured_ones_are_answered() {
        let names = ["Dac.example".to_owned()];
        for host in [
            "127.0.0.1:7070",
            "10.1.2.3",
            "[::1]:7070",
            "localhost:7070",
            "LOCALHOST",
            "plant.localhost:1",
            "dac.example",
            "DAC.EXAMPLE.:7070",
        ] {
            assert!(is_allowed(host, &names), "{host}");
        }
        for host in [
            "evil.example:7070",
            "",
            "dac.example.evil.example",
            "evil-localhost",
            "127.0.0.1.evil.example",
            "a b",
            "dac.example@evil.example",
        ] {
            assert!(!is_allowed(host, &names), "{host}");
        }
    }
}
