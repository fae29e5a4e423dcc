//! The address of a DAC on the command line.

use clap::Args;
use std::{fmt, str::FromStr};

/// The flag that names the DAC.
#[derive(Debug, Args)]
pub struct Server {
    /// Address of the DAC: http://HOST:PORT of its page, or ws://HOST:PORT/ws.
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://127.0.0.1:7070",
        env = "OASIS_URL",
        global = true
    )]
    pub url: DacAddress,
}

/// The address of a DAC, for its page, API and WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DacAddress {
    typed: String,
    /// `HOST:PORT`.
    authority: String,
    /// Path of the WebSocket.
    path: String,
}

impl DacAddress {
    /// The HTTP API.
    pub fn api(&self) -> String {
        format!("http://{}/api/v1", self.authority)
    }

    /// The WebSocket.
    pub fn websocket(&self) -> String {
        format!("ws://{}{}", self.authority, self.path)
    }
}

impl fmt::Display for DacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.typed)
    }
}

impl FromStr for DacAddress {
    type Err = String;

    /// A path is the WebSocket's: what follows `http://HOST:PORT`, such as the address of the page, is left out.
    fn from_str(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = match (scheme, path) {
            ("http", _) | ("ws", "" | "/") => "/ws",
            ("ws", path) => path,
            _ => return Err(remedy()),
        };
        if !is_authority(authority) {
            return Err(remedy());
        }
        Ok(Self { typed: text.into(), authority: authority.into(), path: path.into() })
    }
}

/// Whether this is a host, with a port or without.
fn is_authority(text: &str) -> bool {
    let is_host = |host: &str| !host.is_empty() && !host.contains([' ', '@', '?', '#']);
    match text.rsplit_once(':') {
        // A colon within brackets belongs to an IPv6 address.
        Some((host, port)) if !port.ends_with(']') => is_host(host) && port.parse::<u16>().is_ok(),
        _ => is_host(text),
    }
}

fn remedy() -> String {
    "use http://HOST:PORT, the address of the DAC's page, such as http://127.0.0.1:7070, or ws://HOST:PORT/ws (--url, OASIS_URL)".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_names_the_api_and_the_websocket() {
        for text in [
            "ws://127.0.0.1:7070/ws",
            "ws://127.0.0.1:7070",
            "http://127.0.0.1:7070",
            "http://127.0.0.1:7070/",
            "http://127.0.0.1:7070/#/plant",
        ] {
            let address: DacAddress = text.parse().unwrap();
            assert_eq!(address.api(), "http://127.0.0.1:7070/api/v1", "{text}");
            assert_eq!(address.websocket(), "ws://127.0.0.1:7070/ws", "{text}");
            assert_eq!(address.to_string(), text);
        }
        let of = |text: &str| text.parse::<DacAddress>().unwrap().websocket();
        assert_eq!(of("ws://gate/plant-7/ws"), "ws://gate/plant-7/ws");
        assert_eq!(of("http://[::1]:80"), "ws://[::1]:80/ws");
        assert_eq!(of("http://[::1]"), "ws://[::1]/ws");
    }

    #[test]
    fn an_invalid_address_is_refused_with_an_example() {
        for text in [
            "",
            "not a url",
            "127.0.0.1:7070",
            "ws:///ws",
            "http://",
            "http://host:port",
            "http://:7070",
            "http://a b:1",
            "ftp://x",
            "https://dac.local",
        ] {
            assert!(text.parse::<DacAddress>().unwrap_err().contains("http://127.0.0.1:7070"), "{text}");
        }
    }
}
