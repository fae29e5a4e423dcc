//! Which web pages may act here: our own, and those the configuration names.
//!
//! Browsers send `Origin` and scripts cannot forge it there, so it keeps other sites' pages out of a DAC that their visitor can reach
//! (RFC 6455 10.2). Programs that are not browsers send none and are let through. The own page is one whose origin is the host
//! asked for, if that is an IP address or `localhost`: any other name could be an attacker's that resolves to us for this one
//! visit (DNS rebinding), so names have to be configured.

use crate::config::DoorsConfig;
use axum::http::{HeaderMap, header, uri::Authority};
use std::net::IpAddr;

/// Whether the request comes from no page, from our own page or from an allowed one.
pub fn allowed(headers: &HeaderMap, config: &DoorsConfig) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let (Ok(origin), Some(Ok(host))) = (origin.to_str(), headers.get(header::HOST).map(|host| host.to_str()))
    else {
        return false;
    };
    let own = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    own.is_some_and(|own| own.eq_ignore_ascii_case(host) && cannot_be_rebound(host))
        || config.allowed_origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
}

fn cannot_be_rebound(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(origin: Option<&str>, host: &str) -> bool {
        let config =
            DoorsConfig { allowed_origins: vec!["https://ops.example.org".into()], ..Default::default() };
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        allowed(&headers, &config)
    }

    #[test]
    fn only_the_own_page_and_named_ones_get_in() {
        assert!(verdict(None, "127.0.0.1:7070"));
        assert!(verdict(Some("http://127.0.0.1:7070"), "127.0.0.1:7070"));
        assert!(verdict(Some("https://ops.example.org"), "127.0.0.1:7070"));
        assert!(!verdict(Some("http://127.0.0.1:8080"), "127.0.0.1:7070"));
        assert!(!verdict(Some("http://evil.example"), "127.0.0.1:7070"));
        assert!(!verdict(Some("null"), "127.0.0.1:7070"));
        assert!(verdict(Some("http://[::1]:7070"), "[::1]:7070"));
        assert!(verdict(Some("http://localhost:7070"), "localhost:7070"));
        assert!(!verdict(Some("http://rebound.example:7070"), "rebound.example:7070"));
    }
}
