//! The secret of a node's run, as a DAC remembers it.

use oasis_channel::ResumeSecret;
use sha2::{Digest, Sha256};
use std::fmt;

/// The SHA-256 of a run's secret, by which the DAC recognizes the owner. The secret has 122 random bits, and cannot be derived
/// from the DAC's memory or archive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RunOwner([u8; 32]);

impl RunOwner {
    /// Returns the owner who knows a secret.
    pub fn of(secret: ResumeSecret) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Returns the owner with these bytes, as the archive contains them.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns its bytes, for the archive.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns whether this is the owner's secret. Takes the same time wherever the digests differ.
    pub(crate) fn knows(&self, secret: ResumeSecret) -> bool {
        let other = Self::of(secret);
        let differing = self.0.iter().zip(other.0).fold(0, |bits, (a, b)| bits | (a ^ b));
        std::hint::black_box(differing) == 0
    }
}

impl fmt::Debug for RunOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunOwner(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_knows_the_secret() {
        let secret = ResumeSecret::random();
        let owner = RunOwner::from_bytes(*RunOwner::of(secret).as_bytes());
        assert!(owner.knows(secret) && !owner.knows(ResumeSecret::random()));
    }
}
