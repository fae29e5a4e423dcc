//! Reverse proxies that are trusted to say for whom they ask (`doors.trusted_proxies`).
//!
//! A proxy appends the address of its own client to the header, so only the entries on the right of it were written by trusted proxies. The client is the
//! rightmost address that is not one of theirs; what stands further left, the client may have made up. One header alone is believed: proxies set one of
//! both, and pass the other on as the client wrote it.

use crate::config::HttpConfig;
use axum::http::{HeaderMap, HeaderValue};
use ipnet::IpNet;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

const X_FORWARDED_FOR: &str = "x-forwarded-for";
const X_FORWARDED_PROTO: &str = "x-forwarded-proto";
const FORWARDED: &str = "forwarded";

/// Addresses of proxies: one, or those of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network(IpNet);

/// A text that is neither an address nor a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a network: write an address such as 10.1.2.3, or a network such as 10.1.2.0/24 or 2001:db8::/32"
)]
pub struct NetworkError(String);

impl FromStr for Network {
    type Err = NetworkError;
    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let address = || text.parse::<IpAddr>().map(IpNet::from);
        let network = text.parse::<IpNet>().or_else(|_| address());
        network.map(Self).map_err(|_| NetworkError(text.chars().take(60).collect()))
    }
}

impl Network {
    /// Whether an address, however it is written, belongs to it.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Network {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// The header by which trusted proxies say for whom they ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedHeader {
    /// `X-Forwarded-For` and `X-Forwarded-Proto`, as most proxies write them.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

/// Marks a request that a trusted proxy has sent: it is never local.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proxied {
    /// Whether the client of the proxy used TLS.
    pub is_encrypted: bool,
}

/// Statement of one proxy about its client.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hop {
    address: Option<IpAddr>,
    is_encrypted: bool,
}

/// Returns the client of a request, if a trusted proxy has sent it; its port is 0. The address is that of the proxy if the header says none.
pub fn client(config: &HttpConfig, peer: SocketAddr, headers: &HeaderMap) -> Option<(SocketAddr, Proxied)> {
    let is_trusted = |address: IpAddr| config.trusted_proxies.iter().any(|network| network.contains(address));
    if !is_trusted(peer.ip()) {
        return None;
    }
    let hops = match config.forwarded_header {
        ForwardedHeader::XForwardedFor => x_forwarded(headers),
        ForwardedHeader::Forwarded => forwarded(headers),
    };
    let is_encrypted = hops.last().is_some_and(|hop| hop.is_encrypted);
    let mut found = peer;
    for hop in hops.iter().rev() {
        // An address that cannot be read ends what is known.
        let Some(address) = hop.address else { break };
        found = (address.to_canonical(), 0).into();
        if !is_trusted(address) {
            break;
        }
    }
    Some((found, Proxied { is_encrypted }))
}

/// All values of a header as one list: several lines of it are one list (RFC 9110 5.3). A line that is not text counts as one unreadable entry.
fn values<'a>(headers: &'a HeaderMap, name: &'static str) -> impl Iterator<Item = &'a str> {
    headers.get_all(name).into_iter().map(|line: &HeaderValue| line.to_str().unwrap_or_default())
}

fn x_forwarded(headers: &HeaderMap) -> Vec<Hop> {
    let entries = values(headers, X_FORWARDED_FOR).flat_map(|line| line.split(','));
    let mut hops: Vec<Hop> =
        entries.map(|entry| Hop { address: address(entry.trim()), is_encrypted: false }).collect();
    let schemes = values(headers, X_FORWARDED_PROTO).flat_map(|line| line.split(','));
    if let (Some(hop), Some(scheme)) = (hops.last_mut(), schemes.last()) {
        hop.is_encrypted = scheme.trim().eq_ignore_ascii_case("https");
    }
    hops
}

/// RFC 7239 4: elements separated by commas, pairs by semicolons; both can stand in quotes too.
fn forwarded(headers: &HeaderMap) -> Vec<Hop> {
    let elements = values(headers, FORWARDED).flat_map(|line| split(line, ','));
    let hop = |element: &str| {
        let mut hop = Hop::default();
        for (name, value) in split(element, ';').into_iter().filter_map(|pair| pair.split_once('=')) {
            let value = value.trim().trim_matches('"');
            match name.trim().to_ascii_lowercase().as_str() {
                "for" => hop.address = address(value),
                "proto" => hop.is_encrypted = value.eq_ignore_ascii_case("https"),
                _ => {}
            }
        }
        hop
    };
    elements.map(hop).collect()
}

/// Splits a text at a character that is not within quotes.
fn split(text: &str, at: char) -> Vec<&str> {
    let mut is_quoted = false;
    let is_end = |letter: char| {
        is_quoted ^= letter == '"';
        letter == at && !is_quoted
    };
    text.split(is_end).collect()
}

/// An address with or without a port: `10.1.2.3`, `10.1.2.3:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`.
fn address(text: &str) -> Option<IpAddr> {
    let bare = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    text.parse().ok().or_else(with_port).or_else(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(header: ForwardedHeader) -> HttpConfig {
        let trusted_proxies = ["10.0.0.0/24", "127.0.0.2", "2001:db8:1::/48"];
        let trusted_proxies = trusted_proxies.map(|network| network.parse().unwrap()).into();
        HttpConfig { trusted_proxies, forwarded_header: header, ..HttpConfig::default() }
    }

    fn found(header: ForwardedHeader, peer: &str, lines: &[(&str, &str)]) -> Option<(String, bool)> {
        let peer: IpAddr = peer.parse().unwrap();
        let lines = lines.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let headers: HeaderMap = lines
            .collect::<Vec<(axum::http::HeaderName, HeaderValue)>>()
            .into_iter()
            .fold(HeaderMap::new(), |mut headers, (name, value)| {
                headers.append(name, value);
                headers
            });
        let (client, proxied) = client(&config(header), (peer, 9).into(), &headers)?;
        Some((client.ip().to_string(), proxied.is_encrypted))
    }

    fn usual(peer: &str, lines: &[(&str, &str)]) -> Option<(String, bool)> {
        found(ForwardedHeader::XForwardedFor, peer, lines)
    }

    const NAME: &str = "x-forwarded-for";

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        assert_eq!(usual("192.0.2.1", &[(NAME, "198.51.100.1")]), None);
        assert_eq!(usual("127.0.0.1", &[(NAME, "198.51.100.1")]), None);
        assert_eq!(usual("10.0.0.1", &[(NAME, "198.51.100.1")]), Some(("198.51.100.1".into(), false)));
        assert_eq!(usual("::ffff:10.0.0.1", &[(NAME, "198.51.100.1")]).unwrap().0, "198.51.100.1");
    }

    #[test]
    fn the_client_is_the_rightmost_address_that_is_no_proxy() {
        let client = |value: &str| usual("10.0.0.1", &[(NAME, value)]).unwrap().0;
        assert_eq!(client("198.51.100.1, 10.0.0.7"), "198.51.100.1");
        assert_eq!(client("127.0.0.1, 198.51.100.1, 10.0.0.7, 127.0.0.2"), "198.51.100.1");
        assert_eq!(client("203.0.113.9,198.51.100.1"), "198.51.100.1", "the client made the first one up");
        assert_eq!(client("10.0.0.9, 10.0.0.8"), "10.0.0.9", "a proxy asks for itself");
        assert_eq!(client("198.51.100.1:443"), "198.51.100.1");
        assert_eq!(client("[2001:db8::7]:443, 2001:db8:1::1"), "2001:db8::7");
        assert_eq!(client("::ffff:198.51.100.1"), "198.51.100.1");
    }

    #[test]
    fn what_cannot_be_read_counts_as_the_proxy_before_it() {
        let client = |value: &str| usual("10.0.0.1", &[(NAME, value)]).unwrap().0;
        assert_eq!(client("198.51.100.1, unknown"), "10.0.0.1");
        assert_eq!(client("198.51.100.1, , 10.0.0.7"), "10.0.0.7");
        assert_eq!(client(""), "10.0.0.1");
        assert_eq!(usual("10.0.0.1", &[]).unwrap().0, "10.0.0.1");
    }

    #[test]
    fn several_lines_are_one_list() {
        let lines = [(NAME, "203.0.113.9"), (NAME, "198.51.100.1"), (NAME, "10.0.0.7")];
        assert_eq!(usual("10.0.0.1", &lines).unwrap().0, "198.51.100.1");
    }

    #[test]
    fn the_other_header_is_what_the_client_wrote() {
        let lines = [("forwarded", "for=203.0.113.9;proto=https"), (NAME, "198.51.100.1")];
        assert_eq!(usual("10.0.0.1", &lines), Some(("198.51.100.1".into(), false)));
        let lines =
            [("forwarded", "for=198.51.100.1"), (NAME, "203.0.113.9"), ("x-forwarded-proto", "https")];
        let found = found(ForwardedHeader::Forwarded, "10.0.0.1", &lines);
        assert_eq!(found, Some(("198.51.100.1".into(), false)));
    }

    #[test]
    fn the_proxy_says_whether_its_client_used_tls() {
        let lines = [(NAME, "198.51.100.1"), ("x-forwarded-proto", "https")];
        assert!(usual("10.0.0.1", &lines).unwrap().1);
        let lines = [(NAME, "198.51.100.1"), ("x-forwarded-proto", "https, http")];
        assert!(!usual("10.0.0.1", &lines).unwrap().1);
    }

    #[test]
    fn an_element_of_rfc_7239_is_read_with_its_quotes() {
        let client =
            |value: &str| found(ForwardedHeader::Forwarded, "10.0.0.1", &[("forwarded", value)]).unwrap();
        assert_eq!(client("for=198.51.100.1;proto=https;by=10.0.0.1"), ("198.51.100.1".into(), true));
        assert_eq!(client("For=\"[2001:db8::7]:4711\""), ("2001:db8::7".into(), false));
        assert_eq!(client("for=\"x,for=203.0.113.9\", for=198.51.100.1").0, "198.51.100.1");
        assert_eq!(client("for=198.51.100.1, for=_hidden").0, "10.0.0.1");
        assert_eq!(client("for=203.0.113.9, for=198.51.100.1;proto=https, for=10.0.0.8").0, "198.51.100.1");
    }

    #[test]
    fn a_bad_network_says_what_to_write() {
        let refused = "10.0.0.0/33".parse::<Network>().unwrap_err().to_string();
        assert!(refused.contains("10.1.2.0/24"), "{refused}");
        assert_eq!("10.1.2.3".parse::<Network>().unwrap().to_string(), "10.1.2.3/32");
        let toml = |text: &str| serde_json::from_str::<HttpConfig>(text);
        assert!(toml(r#"{"trusted_proxies": ["proxy.example"]}"#).is_err());
        assert!(toml(r#"{"trusted_proxies": ["10.0.0.0/8"], "forwarded_header": "forwarded"}"#).is_ok());
    }
}
