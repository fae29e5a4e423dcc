//! The address of a broker.

use std::{fmt, net::IpAddr};

/// The port of brokers without TLS, as registered at IANA.
const PLAIN_PORT: u16 = 1883;
/// The port of brokers with TLS.
const TLS_PORT: u16 = 8883;
/// Most characters of an address in an error.
const MAX_QUOTED_CHARACTERS: usize = 200;

/// The address of a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Name or IP address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Whether the connection has TLS.
    pub is_encrypted: bool,
}

/// Why an address cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    /// Addresses appear in logs.
    #[error("it has a user or password, and addresses appear in logs: set user and password_file")]
    Secret,
    /// Another form.
    #[error("{0:?} is no address such as mqtt://broker:1883 or mqtts://broker:8883")]
    Form(String),
}

impl Address {
    /// Parses an address.
    ///
    /// # Errors
    /// If it has another form, or a password.
    pub fn parse(url: &str) -> Result<Self, BadAddress> {
        if url.contains('@') {
            return Err(BadAddress::Secret);
        }
        let bad = || BadAddress::Form(url.chars().take(MAX_QUOTED_CHARACTERS).collect());
        let (is_encrypted, rest) = match url.split_once("://").ok_or_else(bad)? {
            ("mqtt", rest) => (false, rest),
            ("mqtts", rest) => (true, rest),
            _ => return Err(bad()),
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let default_port = if is_encrypted { TLS_PORT } else { PLAIN_PORT };
        let (host, port) = match authority.strip_prefix('[') {
            Some(bracketed) => {
                let (host, port) = bracketed.split_once(']').ok_or_else(bad)?;
                host.parse::<std::net::Ipv6Addr>().map_err(|_| bad())?;
                (host, if port.is_empty() { None } else { Some(port.strip_prefix(':').ok_or_else(bad)?) })
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        let port = port.map_or(Ok(default_port), |port| port.parse().map_err(|_| bad()))?;
        let is_name =
            |name: &str| !name.contains(['/', '?', '#', ' ']) && !name.chars().any(char::is_control);
        if host.is_empty() || !is_name(host) || port == 0 {
            return Err(bad());
        }
        Ok(Self { host: host.into(), port, is_encrypted })
    }

    /// Whether both lead to one broker, as far as the addresses show that.
    pub fn is_same_broker(&self, other: &Self) -> bool {
        let is_same_host = self.host.eq_ignore_ascii_case(&other.host) || self.is_local() && other.is_local();
        is_same_host && self.port == other.port
    }

    /// Whether it is an address of this host.
    pub fn is_local(&self) -> bool {
        self.host.parse::<IpAddr>().map_or(self.host == "localhost", |address| address.is_loopback())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_encrypted { "mqtts" } else { "mqtt" };
        if self.host.contains(':') {
            write!(f, "{scheme}://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{scheme}://{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_never_a_password() {
        for (url, shown) in [
            ("mqtt://localhost", "mqtt://localhost:1883"),
            ("mqtts://broker.example.org/", "mqtts://broker.example.org:8883"),
            ("mqtt://[::1]:1", "mqtt://[::1]:1"),
            ("mqtt://127.0.0.1:9", "mqtt://127.0.0.1:9"),
        ] {
            assert_eq!(Address::parse(url).unwrap().to_string(), shown);
        }
        for url in
            ["", "localhost", "tcp://a", "mqtt://", "mqtt://a:0", "mqtt://a:b", "mqtt://[a]", "mqtt://a/b"]
        {
            assert_eq!(Address::parse(url), Err(BadAddress::Form(url.into())));
        }
        assert_eq!(Address::parse("mqtt://ada:secret@broker"), Err(BadAddress::Secret));
        assert!(Address::parse("mqtt://[::1]").unwrap().is_local());
        assert!(!Address::parse("mqtt://192.0.2.1").unwrap().is_local());
    }

    #[test]
    fn addresses_of_one_broker_are_written_in_several_ways() {
        let is_same =
            |one, other| Address::parse(one).unwrap().is_same_broker(&Address::parse(other).unwrap());
        assert!(is_same("mqtt://localhost", "mqtt://[::1]:1883"));
        assert!(is_same("mqtt://Broker", "mqtt://broker:1883"));
        assert!(!is_same("mqtt://broker", "mqtt://broker:1884"));
        assert!(!is_same("mqtt://broker", "mqtt://other"));
    }
}
