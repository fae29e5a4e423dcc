//! The hosts that a request names: in the header `Host` and in its first line.

use axum::http::{Request, Version, header, uri::Authority};
use std::net::IpAddr;

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
pub fn is_allowed(host: &str, names: &[String]) -> bool {
    is_localhost(host)
        || host.parse::<IpAddr>().is_ok()
        || names.iter().any(|name| name.trim_end_matches('.').eq_ignore_ascii_case(host))
}

/// Whether the host of `authority` (`HOST` or `HOST:PORT`) cannot be rebound, or is one of `names`.
pub fn is_allowed_authority(authority: &str, names: &[String]) -> bool {
    host_of(authority).is_ok_and(|host| is_allowed(&host, names))
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
