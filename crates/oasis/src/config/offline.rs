//! The sections of the configuration file that commands without a DAC need.

use oasis_access::AccessConfig;
use oasis_nats::NatsConfig;
use oasis_store::ArchiveConfig;
use serde::Deserialize;

/// The sections. Others belong to programs that talk to a DAC, and are not read.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Config {
    pub access: AccessConfig,
    pub archive: ArchiveConfig,
    pub nats: NatsConfig,
}
