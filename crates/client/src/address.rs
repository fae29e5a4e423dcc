//! The address of a DAC or a TEM, as users write it.

use oasis_tls::ClientFiles;
use std::{fmt, net::IpAddr, path::PathBuf, str::FromStr};

/// The DAC to talk to, and whom to trust. With the feature `clap`, the flags that name it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Server {
    /// Address of the DAC: http://HOST:PORT of its page, or ws://HOST:PORT/ws; https:// or wss:// if it has a certificate.
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "URL", default_value = DEFAULT_URL, env = "OASIS_URL", global = true)
    )]
    pub url: DacAddress,
    /// CA of the DAC's certificate, with https:// or wss:// [default: those that this system trusts].
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", env = "OASIS_CA", global = true))]
    pub ca: Option<PathBuf>,
}

/// Default address of a DAC.
pub const DEFAULT_URL: &str = "http://127.0.0.1:7070";

impl Server {
    /// Certificates that the command trusts.
    pub fn trusted(&self) -> ClientFiles {
        ClientFiles { ca: self.ca.clone(), ..ClientFiles::default() }
    }
}

/// The address of a DAC, for its page, API and WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DacAddress {
    typed: String,
    /// Whether it has a certificate.
    pub is_encrypted: bool,
    /// `HOST:PORT`, or only `HOST`.
    authority: String,
    /// Path of the WebSocket.
    path: String,
}

impl DacAddress {
    /// The HTTP API.
    pub fn api(&self) -> String {
        format!("http{}://{}/api/v1", self.letter(), self.authority)
    }

    /// The page.
    pub fn page(&self) -> String {
        format!("http{}://{}", self.letter(), self.authority)
    }

    /// Returns the letter that distinguishes schemes with encryption.
    fn letter(&self) -> &'static str {
        if self.is_encrypted { "s" } else { "" }
    }

    /// Host and port to connect to.
    pub fn socket(&self) -> (&str, u16) {
        let usual = if self.is_encrypted { 443 } else { 80 };
        let (host, port) = match self.authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().unwrap_or(usual)),
            _ => (self.authority.as_str(), usual),
        };
        (host.trim_start_matches('[').trim_end_matches(']'), port)
    }

    /// Whether it is on this host.
    pub fn is_loopback(&self) -> bool {
        let (host, _) = self.socket();
        host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.to_canonical().is_loopback())
    }

    /// The WebSocket.
    pub fn websocket(&self) -> String {
        format!("ws{}://{}{}", self.letter(), self.authority, self.path)
    }
}

impl fmt::Display for DacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.typed)
    }
}

impl FromStr for DacAddress {
    type Err = String;

    /// A path is the WebSocket's. Page and API are at the root: of a copied address of the page, what follows `#` or `?` is left out, and a path is refused.
    fn from_str(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find(['/', '#', '?']).unwrap_or(rest.len()));
        let (page, _) = path.split_at(path.find(['#', '?']).unwrap_or(path.len()));
        let path = match (scheme, path) {
            ("http" | "https", _) if !matches!(page, "" | "/") => {
                return Err(no_path(scheme, authority, page));
            }
            ("http" | "https", _) | ("ws" | "wss", "" | "/") => "/ws",
            ("ws" | "wss", path) => path,
            _ => return Err(remedy()),
        };
        if !is_authority(authority) {
            return Err(remedy());
        }
        let is_encrypted = scheme.ends_with('s') && scheme != "ws";
        Ok(Self { typed: text.into(), is_encrypted, authority: authority.into(), path: path.into() })
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

/// Parses the address of a data channel, `HOST:PORT` or `tls://HOST:PORT`. Returns it as typed.
///
/// # Errors
/// Says what to write instead.
pub fn data_channel(text: &str) -> Result<String, String> {
    let is_address =
        |(host, port): (&str, &str)| !host.is_empty() && !host.contains('/') && port.parse::<u16>().is_ok();
    let plain = text.strip_prefix("tls://").unwrap_or(text);
    match plain.rsplit_once(':').is_some_and(is_address) {
        true => Ok(text.into()),
        false => Err("use HOST:PORT of the data channel, such as 127.0.0.1:7071, or tls://HOST:PORT, not the address of the page (http://) or the WebSocket (ws://)".into()),
    }
}

/// Refuses the path of an address: leaving it out could ask another server than the one that is meant.
fn no_path(scheme: &str, authority: &str, path: &str) -> String {
    format!("a DAC answers at the root of its address, not at {path}: use {scheme}://{authority}")
}

fn remedy() -> String {
    "use http://HOST:PORT, the address of the DAC's page, such as http://127.0.0.1:7070, or ws://HOST:PORT/ws; with a certificate https:// or wss://".into()
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
            "http://127.0.0.1:7070?token=1",
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
        assert_eq!(of("https://dac.local"), "wss://dac.local/ws");
        assert_eq!(of("wss://dac.local/x/ws"), "wss://dac.local/x/ws");
        let encrypted: DacAddress = "https://dac.local:7070/".parse().unwrap();
        assert_eq!(encrypted.api(), "https://dac.local:7070/api/v1");
        let socket = |text: &str| {
            let address: DacAddress = text.parse().unwrap();
            let (host, port) = address.socket();
            format!("{host} {port}")
        };
        assert_eq!(socket("https://[::1]:7070"), "::1 7070");
        assert_eq!((socket("wss://dac").as_str(), socket("ws://[::1]").as_str()), ("dac 443", "::1 80"));
    }

    #[test]
    fn a_data_channel_is_no_url() {
        for address in ["127.0.0.1:7071", "dac.local:1", "[::1]:7071", "tls://dac.local:7071"] {
            assert_eq!(data_channel(address).as_deref(), Ok(address));
        }
        for other in ["", "127.0.0.1", ":7071", "dac:port", "ws://127.0.0.1:7070/ws", "http://127.0.0.1:7070"]
        {
            assert!(data_channel(other).unwrap_err().contains("HOST:PORT"), "{other}");
        }
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
            "http://127.0.0.1:7070/path",
            "http://127.0.0.1:7070/api/v1#x",
        ] {
            assert!(text.parse::<DacAddress>().unwrap_err().contains("http://127.0.0.1:7070"), "{text}");
        }
    }
}
