//! The secret that binds a node's run to the process that began it.

use serde::{Deserialize, Serialize};
use std::fmt;
use uuid::Uuid;

/// A random value that a node sends with each `hello` of a run. The run itself is public (pages show it); only the
/// owner of the run knows the secret, and so can resume it.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResumeSecret(Uuid);

impl ResumeSecret {
    /// Returns a new one: 122 random bits of the operating system.
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }

    /// Returns the secret itself, to derive from.
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for ResumeSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResumeSecret(hidden)")
    }
}

/// Tests compare messages. A DAC compares digests.
impl PartialEq for ResumeSecret {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_survives_json_and_is_not_printed() {
        let secret = ResumeSecret::random();
        let json = serde_json::to_string(&secret).unwrap();
        let again: ResumeSecret = serde_json::from_str(&json).unwrap();
        assert!(secret == again && secret != ResumeSecret::random());
        assert_eq!(format!("{secret:?}"), "ResumeSecret(hidden)");
    }
}
