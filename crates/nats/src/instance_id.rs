//! The place of an instance's copies in JetStream.

use sha2::{Digest, Sha256};
use std::fmt;

/// Streams that share all instances.
pub const PARTITIONS: u8 = 8;

/// 128 bits of the SHA-256 of the names of node and instance: equal on every DAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(u128);

impl InstanceId {
    /// Returns the id of an instance.
    pub fn of(node: &str, instance: &str) -> Self {
        let mut hash = Sha256::new();
        // The length separates them: both names are free texts.
        hash.update((node.len() as u64).to_le_bytes());
        hash.update(node);
        hash.update(instance);
        let bytes: [u8; 32] = hash.finalize().into();
        Self(bytes.iter().take(16).fold(0, |id, byte| (id << 8) | u128::from(*byte)))
    }

    /// Returns the number of its stream.
    pub fn partition(self) -> u8 {
        (self.0 % u128::from(PARTITIONS)) as u8
    }

    /// Returns the subject of its copies.
    pub fn subject(self) -> String {
        format!("oasis.v1.batch.{}.{self}", self.partition())
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Returns the name of the stream of a partition.
pub fn stream_name(partition: u8) -> String {
    format!("OASIS_B{partition}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_together_have_different_ids() {
        assert_ne!(InstanceId::of("ab", "c"), InstanceId::of("a", "bc"));
        assert_eq!(InstanceId::of("plant", "boiler").to_string(), "049ba55bebec2e57fb07f04a2f5dc41f");
    }

    #[test]
    fn all_partitions_are_used() {
        let mut used: Vec<_> =
            (0..200).map(|n| InstanceId::of("plant", &n.to_string()).partition()).collect();
        used.sort_unstable();
        used.dedup();
        assert_eq!(used, (0..PARTITIONS).collect::<Vec<_>>());
    }
}
