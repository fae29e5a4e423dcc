//! The time at which a source acknowledges samples to their sender.

use serde::{Deserialize, Serialize};

/// When samples are acknowledged to their sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Acknowledge {
    /// Once the archive has stored them; as `received` without an archive.
    #[default]
    Stored,
    /// Once the DAC has them.
    Received,
}
