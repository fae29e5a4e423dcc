//! The section of the configuration file that commands over an archive need.

use oasis_store::ArchiveConfig;
use serde::Deserialize;

/// The section. Others belong to programs that talk to a DAC, and are not read.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Config {
    pub archive: ArchiveConfig,
}
