//! The configuration file: TOML, with the names of the flags. `docs/reference/oasis.toml` documents every key by being the default.

#[cfg(feature = "live")]
mod live;
#[cfg(not(feature = "live"))]
mod offline;

#[cfg(feature = "live")]
pub use live::Config;
#[cfg(not(feature = "live"))]
pub use offline::Config;

use anyhow::Context;
use std::{fs, path::Path};

impl Config {
    /// A file, or the defaults.
    pub fn read(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let text = fs::read_to_string(path)
            .with_context(|| format!("cannot read the configuration {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("in the configuration {}", path.display()))
    }
}
