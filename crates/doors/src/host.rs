//! Checks which host names requests may use, and that other sites' pages cause nothing.
//!
//! A page of another site can let its own name resolve to this DAC (DNS rebinding): for the browser, page and DAC are then one origin. Only the
//! `Host` of the request still contains the foreign name. So a request must name an IP address, `localhost`, or a configured name
//! (RFC 9110 7.4). One that names none, several, or something else than a host and a port is answered 400 (RFC 9112 3.2). HTTP/1.0 has no `Host`:
//! such a request is let through, but never counts as one of this host.

use crate::{
    Doors, Problem,
    origin::{self, RefusalLog},
};
use axum::{
    extract::{Request, State},
    http::{StatusCode, Version, header, uri::Authority},
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
    let named = Named::of(request).map_err(|error| doors.refuse_bad_host(error))?;
    if !named.hosts().all(|host| is_allowed(host, &doors.config.allowed_hosts)) {
        return Err(doors.refuse_host(headers));
    }
    let is_guarded = GUARDED.iter().any(|path| request.uri().path().starts_with(path));
    if is_guarded && origin::is_foreign_fetch(headers) {
        doors.admit(headers, "pages of other sites may not read (doors.allowed_origins)")?;
    }
    Ok(())
}

/// The hosts that a request names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// In the header `Host`; none in HTTP/1.0.
    header: Option<String>,
    /// In the request line, which may contain it as well (RFC 9112 3.2.2).
    line: Option<String>,
}

/// Why the host of a request is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The header is missing.
    #[error("the request has no Host: HTTP/1.1 requires one")]
    Missing,
    /// The header is repeated.
    #[error("the request has more than one Host")]
    Several,
    /// The header has a user, or is no host.
    #[error("the Host of the request is not HOST or HOST:PORT")]
    Invalid,
}

impl Named {
    /// Reads the hosts of a request.
    ///
    /// # Errors
    /// If the header is missing, repeated or invalid.
    pub fn of<B>(request: &Request<B>) -> Result<Self, HostError> {
        let mut headers = request.headers().get_all(header::HOST).iter();
        let header = match (headers.next(), headers.next()) {
            (None, _) if request.version() > Version::HTTP_10 => return Err(HostError::Missing),
            (None, _) => None,
            (Some(_), Some(_)) => return Err(HostError::Several),
            (Some(host), None) => Some(host_of(host.to_str().map_err(|_| HostError::Invalid)?)?),
        };
        let line = request.uri().authority().map(|authority| host_of(authority.as_str())).transpose()?;
        Ok(Self { header, line })
    }

    /// All of them, without ports, in lower case.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.header.iter().chain(&self.line).map(String::as_str)
    }

    /// Whether the request names this host, and no other one.
    pub fn is_loopback(&self) -> bool {
        self.header.is_some() && self.hosts().all(is_loopback)
    }
}

/// The host of `HOST` or `HOST:PORT`, in lower case.
fn host_of(authority: &str) -> Result<String, HostError> {
    let parsed: Authority = authority.parse().map_err(|_| HostError::Invalid)?;
    // A user stands before an `@`: what follows it is the host for some readers, and what precedes it for others.
    if authority.contains('@') {
        return Err(HostError::Invalid);
    }
    let host = parsed.host().trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    if host.is_empty() { Err(HostError::Invalid) } else { Ok(host.to_ascii_lowercase()) }
}

fn is_localhost(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

fn is_loopback(host: &str) -> bool {
    is_localhost(host) || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Whether a host in lower case cannot be rebound, or is one of `names`.
fn is_allowed(host: &str, names: &[String]) -> bool {
    is_localhost(host)
        || host.parse::<IpAddr>().is_ok()
        || names.iter().any(|name| name.trim_end_matches('.').eq_ignore_ascii_case(host))
}

/// Whether the host of `authority` (`HOST` or `HOST:PORT`) cannot be rebound, or is one of `names`.
pub fn is_allowed_authority(authority: &str, names: &[String]) -> bool {
    host_of(authority).is_ok_and(|host| is_allowed(&host, names))
}

impl Doors {
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
            assert!(is_allowed_authority(host, &names), "{host}");
        }
        for host in [
            "evil.example:7070",
            "",
            "dac.example.evil.example",
            "evil-localhost",
            "127.0.0.1.evil.example",
            "a b",
            "dac.example@evil.example",
            "evil.example@127.0.0.1:7070",
        ] {
            assert!(!is_allowed_authority(host, &names), "{host}");
        }
    }

    fn named(version: Version, hosts: &[&str], target: &str) -> Result<Named, HostError> {
        let mut request = axum::http::Request::builder().version(version).uri(target);
        for host in hosts {
            request = request.header(header::HOST, *host);
        }
        Named::of(&request.body(()).unwrap())
    }

    #[test]
    fn a_request_names_one_host_without_a_user() {
        let of = |hosts: &[&str]| named(Version::HTTP_11, hosts, "/x");
        assert!(of(&["127.0.0.1:7070"]).unwrap().is_loopback());
        assert!(!of(&["10.1.2.3"]).unwrap().is_loopback());
        assert_eq!(of(&[]), Err(HostError::Missing));
        assert_eq!(of(&["localhost", "localhost"]), Err(HostError::Several));
        for host in ["", "evil.example@127.0.0.1:7070", "@127.0.0.1", "a b", "a/b", ":7070"] {
            assert_eq!(of(&[host]), Err(HostError::Invalid), "{host:?}");
        }
    }

    #[test]
    fn a_request_of_http_1_0_may_name_no_host_and_is_then_not_local() {
        assert!(!named(Version::HTTP_10, &[], "/x").unwrap().is_loopback());
        assert!(named(Version::HTTP_10, &["localhost"], "/x").unwrap().is_loopback());
    }

    #[test]
    fn a_host_in_the_request_line_counts_too() {
        let of = |target| named(Version::HTTP_11, &["localhost"], target);
        assert!(of("http://127.0.0.1:7070/x").unwrap().is_loopback());
        assert!(!of("http://evil.example/x").unwrap().is_loopback());
        assert_eq!(of("http://evil.example@127.0.0.1/x"), Err(HostError::Invalid));
    }
}
