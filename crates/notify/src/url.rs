//! Addresses in the configuration.

use crate::setting::{ConfigError, Table};
use std::net::IpAddr;
use ureq::http::Uri;

/// Reads an address with `http://` or `https://`, without user and password.
pub fn parse(table: Table<'_>, key: &str, text: &str) -> Result<Uri, ConfigError> {
    let uri = text.parse::<Uri>().ok().filter(|uri| {
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        is_http && uri.host().is_some_and(|host| !host.is_empty())
    });
    // An error must not repeat a password.
    let has_user = |uri: &Uri| uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
    match uri {
        Some(uri) if has_user(&uri) => {
            Err(table.value(key, "…@…", "write it without user and password, which belong into files"))
        }
        Some(uri) => Ok(uri),
        None if text.contains('@') => Err(table.value(key, "…@…", "write https://HOST/PATH")),
        None => Err(table.value(key, text, "write https://HOST/PATH")),
    }
}

/// Whether what goes to it is encrypted.
pub fn is_encrypted(uri: &Uri) -> bool {
    uri.scheme_str() == Some("https")
}

/// Reads the address of the page for links; empty: none.
pub fn page(table: Table<'_>, text: &str) -> Result<String, ConfigError> {
    if text.is_empty() {
        return Ok(String::new());
    }
    parse(table, "page", text)?;
    Ok(text.trim_end_matches('/').to_owned())
}

/// Whether it names this host, whatever a name server says.
pub fn is_loopback(uri: &Uri) -> bool {
    uri.host().is_some_and(is_loopback_host)
}

/// Whether a host, as in an address, is this one.
pub fn is_loopback_host(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or(host == "localhost", |address| address.is_loopback())
}
