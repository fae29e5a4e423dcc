//! Origins of other DACs, for policies of this one: only an origin is accepted.

use axum::http::HeaderValue;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Longest origin, bytes: names of hosts have 253 at most (RFC 1035 2.3.4).
const MAX_ORIGIN_BYTES: usize = 253 + "https://:65535".len();
/// Most origins in a policy: 4 KiB of a header, which every proxy lets through.
pub const MAX_ORIGINS: usize = 16;

/// An origin at which the page of another DAC is: `https://hall-2.example.org:7070`.
///
/// Its host is a name or an IPv4 address: the grammar of a policy has no IPv6 addresses (W3C CSP 3, 2.3.1).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PageOrigin(String);

/// This text is no origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no origin: write http://HOST:PORT or https://HOST:PORT with a name or an IPv4 address, without a path"
)]
pub struct NoPageOrigin;

impl PageOrigin {
    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Host and port.
    pub fn authority(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, authority)| authority)
    }
}

impl fmt::Display for PageOrigin {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl FromStr for PageOrigin {
    type Err = NoPageOrigin;

    fn from_str(text: &str) -> Result<Self, NoPageOrigin> {
        let (scheme, authority) = text.split_once("://").ok_or(NoPageOrigin)?;
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        };
        let is_scheme = ["http", "https"].contains(&scheme);
        let is_port = port.is_none_or(|port| {
            port.bytes().all(|letter| letter.is_ascii_digit())
                && port.parse::<u16>().is_ok_and(|port| port > 0)
        });
        match is_scheme && is_host(host) && is_port && text.len() <= MAX_ORIGIN_BYTES {
            true => Ok(Self(text.to_ascii_lowercase())),
            false => Err(NoPageOrigin),
        }
    }
}

/// RFC 1123 2.1: labels of letters, digits and hyphens. A `*` would stand for other hosts too.
fn is_host(host: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-';
    !host.is_empty() && host.split('.').all(|label| !label.is_empty() && label.bytes().all(is_letter))
}

impl<'de> Deserialize<'de> for PageOrigin {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(|error| {
            let shown: String = text.chars().take(60).collect();
            serde::de::Error::custom(format!("{shown:?} is {error}"))
        })
    }
}

/// A policy for a script that may connect to these origins, 16 at most, and do nothing else.
pub fn connecting_policy<'a>(origins: impl IntoIterator<Item = &'a PageOrigin>) -> HeaderValue {
    let named: Vec<_> = origins.into_iter().take(MAX_ORIGINS).map(PageOrigin::as_str).collect();
    let named = if named.is_empty() { "'none'".to_owned() } else { named.join(" ") };
    // An origin has only letters that a header may have.
    HeaderValue::try_from(format!("default-src 'none'; connect-src {named}"))
        .unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(text: &str) -> Option<String> {
        text.parse::<PageOrigin>().ok().map(|origin| origin.to_string())
    }

    #[test]
    fn an_origin_is_a_scheme_a_host_and_a_port() {
        for text in ["http://127.0.0.1:7070", "https://hall-2.example.org", "https://HALL-2:443"] {
            assert_eq!(origin(text), Some(text.to_ascii_lowercase()));
        }
        assert_eq!("https://hall-2:443".parse::<PageOrigin>().unwrap().authority(), "hall-2:443");
    }

    #[test]
    fn nothing_else_gets_into_a_policy() {
        let long = format!("http://{}:7070", "n".repeat(300));
        for text in [
            "",
            "hall-2:7070",
            "javascript://hall-2:7070",
            "HTTP://hall-2:7070",
            "ws://hall-2:7070",
            "http://",
            "http://:7070",
            "http://hall-2:",
            "http://hall-2:0",
            "http://hall-2:70700",
            "http://hall-2:+7",
            "http://hall-2:7070/",
            "http://hall-2:7070 http://evil.example",
            "http://hall-2:7070; script-src *",
            "http://hall-2:7070;script-src",
            "http://hall-2:7070\r\nset-cookie: x=y",
            "http://hall-2,http://evil.example",
            "http://*",
            "http://*.example.org:7070",
            "http://'self'",
            "http://user@hall-2:7070",
            "http://user:secret@hall-2:7070",
            "http://hall_2:7070",
            "http://hall-2..org:7070",
            "http://[::1]:7070",
            "http://h\u{e4}ll-2:7070",
            &long,
        ] {
            assert_eq!(origin(text), None, "{text}");
        }
        let refused = serde_json::from_str::<PageOrigin>("\"http://a; script-src *\"").unwrap_err();
        assert!(refused.to_string().contains("write http://HOST:PORT"), "{refused}");
    }

    #[test]
    fn a_policy_names_a_bounded_number_of_origins() {
        let many: Vec<PageOrigin> =
            (1..=100).map(|port| format!("http://hall:{port}").parse().unwrap()).collect();
        let policy = connecting_policy(&many);
        let policy = policy.to_str().unwrap();
        assert!(
            policy.starts_with("default-src 'none'; connect-src http://hall:1 http://hall:2 "),
            "{policy}"
        );
        assert!(policy.ends_with(" http://hall:16"), "{policy}");
        assert_eq!(connecting_policy([]), "default-src 'none'; connect-src 'none'");
    }
}
