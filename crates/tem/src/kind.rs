//! Kind of a member.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Kind of a member.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
#[schema(as = DacKind)]
pub enum Kind {
    /// Nodes connect to it.
    #[default]
    Dac,
    /// A member without nodes of its own, which serves those of DACs to readers.
    Relay,
}

impl Kind {
    /// The word that is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dac => "dac",
            Self::Relay => "relay",
        }
    }
}
