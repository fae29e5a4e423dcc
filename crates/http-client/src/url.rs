//! Addresses of servers, as people write them into the configuration.

use std::net::IpAddr;
use ureq::http::Uri;

/// Why a text is no address of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    /// The text has a user, or a password.
    #[error("write it without user and password, which belong into files")]
    Credentials,
    /// The text is no address.
    #[error("write https://HOST/PATH")]
    Form,
}

/// Parses an address with `http://` or `https://`, without user and password.
///
/// # Errors
/// If it is none. [`visible_url`] is what an error may repeat of it.
pub fn parse_url(text: &str) -> Result<Uri, BadUrl> {
    let uri = text.parse::<Uri>().map_err(|_| BadUrl::Form)?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    if !is_http || uri.host().is_none_or(str::is_empty) {
        return Err(BadUrl::Form);
    }
    let has_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
    if has_user { Err(BadUrl::Credentials) } else { Ok(uri) }
}

/// Returns what an error may repeat of an address: no password.
pub fn visible_url(text: &str) -> &str {
    if text.contains('@') { "…@…" } else { text }
}

/// Returns the part of an address that a log may have: without user, password and query.
pub fn logged_url(text: &str) -> &str {
    visible_url(text.split(['?', '#']).next().unwrap_or_default())
}

/// Returns whether what goes to an address is encrypted.
pub fn is_encrypted(uri: &Uri) -> bool {
    uri.scheme_str() == Some("https")
}

/// Returns whether an address names this host, whatever a name server says.
pub fn is_loopback(uri: &Uri) -> bool {
    uri.host().is_some_and(is_loopback_host)
}

/// Returns whether a host, as in an address, is this one.
pub fn is_loopback_host(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or(host == "localhost", |address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_a_host_and_no_password() {
        for good in ["http://127.0.0.1:4318", "https://collector/", "http://[::1]:4318/otlp"] {
            assert!(parse_url(good).is_ok(), "{good}");
        }
        for bad in ["", "127.0.0.1:4318", "grpc://x", "http://", "http://:4318", "http://a b"] {
            assert_eq!(parse_url(bad), Err(BadUrl::Form), "{bad}");
        }
        assert_eq!(parse_url("https://ada:hush@collector"), Err(BadUrl::Credentials));
        assert_eq!(visible_url("ada:hush@collector"), "…@…");
        assert_eq!(logged_url("https://collector/write?token=hush"), "https://collector/write");
        assert_eq!(logged_url("https://ada:hush@collector/write"), "…@…");
    }

    #[test]
    fn this_host_has_several_names() {
        for (text, is_this) in [
            ("http://127.0.0.1:4318", true),
            ("http://localhost/", true),
            ("http://[::1]:4318", true),
            ("http://localhost.example.org", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(&parse_url(text).unwrap()), is_this, "{text}");
        }
    }
}
