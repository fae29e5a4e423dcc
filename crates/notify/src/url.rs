//! Addresses in the configuration.

use crate::setting::{ConfigError, Table};
use oasis_http_client::{Uri, parse_url, visible_url};

/// Reads an address with `http://` or `https://`, without user and password.
pub fn parse(table: Table<'_>, key: &str, text: &str) -> Result<Uri, ConfigError> {
    parse_url(text).map_err(|error| table.value(key, visible_url(text), error.to_string()))
}

/// Reads the address of the page for links; empty: none.
pub fn page(table: Table<'_>, text: &str) -> Result<String, ConfigError> {
    if text.is_empty() {
        return Ok(String::new());
    }
    parse(table, "page", text)?;
    Ok(text.trim_end_matches('/').to_owned())
}
