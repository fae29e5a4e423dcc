//! Parses the file: any bytes are its settings, or an error that says where and what to do. `fuzz` includes this file.

use super::{ranges, removed};
use anyhow::bail;
use serde::de::DeserializeOwned;

/// Longest configuration, in bytes: a device or a recording instead of a file would take all memory.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Parses settings.
///
/// # Errors
/// Names the place and what to write there.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> anyhow::Result<T> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        bail!("it is longer than 1 MiB: is this the right file?");
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        anyhow::anyhow!("line {line} is not UTF-8: save the file as UTF-8 text")
    })?;
    removed::check(text)?;
    let settings = toml::from_str(text)?;
    ranges::check(text)?;
    Ok(settings)
}
