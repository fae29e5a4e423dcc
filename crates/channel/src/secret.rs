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

    /// Returns whether both are the same. Takes the same time wherever they differ.
    pub fn matches(self, other: Self) -> bool {
        let differing =
            self.0.as_bytes().iter().zip(other.0.as_bytes()).fold(0, |bits, (a, b)| bits | (a ^ b));
        std::hint::black_box(differing) == 0
    }
}

impl fmt::Debug for ResumeSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResumeSecret(hidden)")
    }
}

/// Tests and message comparisons need equality.
impl PartialEq for ResumeSecret {
    fn eq(&self, other: &Self) -> bool {
        self.matches(*other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_secret_matches_and_none_is_printed() {
        let secret = ResumeSecret::random();
        let json = serde_json::to_string(&secret).unwrap();
        let again: ResumeSecret = serde_json::from_str(&json).unwrap();
        assert!(secret.matches(again) && !secret.matches(ResumeSecret::random()));
        assert_eq!(format!("{secret:?}"), "ResumeSecret(hidden)");
    }
}
