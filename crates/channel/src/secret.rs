//! The secret that binds a node's run to the process that began it.

use oasis_wire::stored::RunOwner;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use uuid::{Builder, Uuid};

/// Purpose that runs are derived from, besides the secret.
const PURPOSE: &[u8] = b"OASIS run of a node";

/// Purpose that secrets are derived from, besides another secret.
const DERIVED: &[u8] = b"OASIS secret of a run behind a gateway";

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

    /// Returns the secret of one of several runs that this one stands for: the same for the same parts. It cannot be derived without this one.
    pub fn derive(&self, parts: &[&[u8]]) -> Self {
        let mut digest = Sha256::new().chain_update(DERIVED).chain_update(self.as_bytes());
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest.finalize()[..16]);
        Self(Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// Returns the run that only the owner of this secret can begin and resume: a UUID of version 8 (RFC 9562, section 5.8) with 122 bits of a
    /// SHA-256. The secret cannot be derived from it.
    pub fn run(&self) -> Uuid {
        let digest = Sha256::new().chain_update(PURPOSE).chain_update(self.as_bytes()).finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Builder::from_custom_bytes(bytes).into_uuid()
    }

    /// Returns the owner of a run who knows this secret.
    pub fn owner(&self) -> RunOwner {
        RunOwner::from_bytes(Sha256::digest(self.as_bytes()).into())
    }

    /// Returns whether this is the secret of an owner. Takes the same time wherever the digests differ.
    pub fn is_of(&self, owner: &RunOwner) -> bool {
        let own = self.owner();
        let bytes = own.as_bytes().iter().zip(owner.as_bytes());
        let differing = bytes.fold(0, |bits, (a, b)| bits | (a ^ b));
        std::hint::black_box(differing) == 0
    }

    /// Returns whether a run proves its owner: it is derived from a secret.
    pub fn is_derived(run: Uuid) -> bool {
        run.get_version_num() == 8
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
    fn a_run_that_is_derived_belongs_to_one_secret() {
        let secret: ResumeSecret = serde_json::from_str(r#""00000000-0000-0000-0000-000000000001""#).unwrap();
        assert_eq!(secret.run(), secret.run());
        assert_ne!(secret.run(), ResumeSecret::random().run());
        assert!(ResumeSecret::is_derived(secret.run()) && !ResumeSecret::is_derived(Uuid::new_v4()));
        // Written down, so that nodes and DACs of all releases agree.
        assert_eq!(secret.run().to_string(), "cb8c9558-d2d6-8bd9-ae19-3fb9300a5b34");
    }

    #[test]
    fn a_secret_survives_json_and_is_not_printed() {
        let secret = ResumeSecret::random();
        let json = serde_json::to_string(&secret).unwrap();
        let again: ResumeSecret = serde_json::from_str(&json).unwrap();
        assert!(secret == again && secret != ResumeSecret::random());
        assert_eq!(format!("{secret:?}"), "ResumeSecret(hidden)");
    }

    #[test]
    fn only_the_owner_knows_the_secret() {
        let secret = ResumeSecret::random();
        let owner = RunOwner::from_bytes(*secret.owner().as_bytes());
        assert!(secret.is_of(&owner) && !ResumeSecret::random().is_of(&owner));
    }

    #[test]
    fn derived_secrets_are_the_same_for_the_same_parts_only() {
        let secret = ResumeSecret::random();
        let derived = secret.derive(&[b"pump", &[7]]);
        assert_eq!(derived, secret.derive(&[b"pump", &[7]]));
        assert_ne!(derived, secret.derive(&[b"pum", &[b'p', 7]]));
        assert_ne!(derived, ResumeSecret::random().derive(&[b"pump", &[7]]));
        assert!(ResumeSecret::is_derived(derived.run()));
    }
}
