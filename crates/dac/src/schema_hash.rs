//! Names a schema by its content: equal schemas have equal names, on every DAC.

use oasis_wire::schema::ProbeType;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    fmt,
    str::FromStr,
    sync::{Arc, Weak},
};
use uuid::Uuid;

/// Types of one UUID that are remembered.
const TYPES_KEPT: usize = 16;

/// The SHA-256 of a schema's JSON, as text 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SchemaHash([u8; 32]);

impl SchemaHash {
    /// Returns the hash of a type's schema.
    pub fn of(probe_type: &ProbeType) -> Self {
        // A schema contains only text, numbers and lists, so JSON cannot fail.
        Self(Sha256::digest(serde_json::to_vec(probe_type).unwrap_or_default()).into())
    }
}

impl fmt::Display for SchemaHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for SchemaHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SchemaHash({self})")
    }
}

impl Serialize for SchemaHash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// A text that is no hash of a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no hash of a schema: write its 64 hexadecimal digits, as in `schema` of an instance")]
pub struct SchemaHashError(String);

impl FromStr for SchemaHash {
    type Err = SchemaHashError;

    fn from_str(text: &str) -> Result<Self, SchemaHashError> {
        let refuse = || SchemaHashError(text.into());
        if text.len() != 64 {
            return Err(refuse());
        }
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair =
                str::from_utf8(pair).ok().filter(|pair| pair.bytes().all(|digit| digit.is_ascii_hexdigit()));
            *byte = u8::from_str_radix(pair.ok_or_else(refuse)?, 16).map_err(|_| refuse())?;
        }
        Ok(Self(hash))
    }
}

/// Hashes of the types that instances have, so that thousands of instances of a type cost one.
#[derive(Debug, Default)]
pub(crate) struct SchemaHashes {
    known: HashMap<Uuid, Vec<(Weak<ProbeType>, SchemaHash)>>,
    /// Number of UUIDs after the last cleanup.
    kept: usize,
}

impl SchemaHashes {
    /// Returns the hash of a type.
    pub(crate) fn of(&mut self, probe_type: &Arc<ProbeType>) -> SchemaHash {
        if self.known.len() > 2 * self.kept + TYPES_KEPT {
            self.known.retain(|_, types| types.iter().any(|(known, _)| known.strong_count() > 0));
            self.kept = self.known.len();
        }
        let types = self.known.entry(probe_type.uuid).or_default();
        types.retain(|(known, _)| known.strong_count() > 0);
        let is_same = |known: &Weak<ProbeType>| known.upgrade().is_some_and(|known| known == *probe_type);
        if let Some((_, hash)) = types.iter().find(|(known, _)| is_same(known)) {
            return *hash;
        }
        let hash = SchemaHash::of(probe_type);
        if types.len() < TYPES_KEPT {
            types.push((Arc::downgrade(probe_type), hash));
        }
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe_type(version: &str) -> Arc<ProbeType> {
        let json =
            format!(r#"{{"name":"Beat","uuid":"{}","version":"{version}","metrics":[]}}"#, Uuid::nil());
        Arc::new(serde_json::from_str(&json).unwrap())
    }

    #[test]
    fn the_hash_is_of_the_json_that_clients_receive() {
        let json = serde_json::to_string(&*probe_type("1.0")).unwrap();
        let hash: String = Sha256::digest(json).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(SchemaHash::of(&probe_type("1.0")).to_string(), hash);
        assert_eq!(hash.parse(), Ok(SchemaHash::of(&probe_type("1.0"))));
        assert!("é".repeat(32).parse::<SchemaHash>().is_err());
        assert!("+1".repeat(32).parse::<SchemaHash>().is_err());
    }

    #[test]
    fn equal_types_have_one_hash_and_dead_types_are_forgotten() {
        let mut hashes = SchemaHashes::default();
        let (one, other) = (probe_type("1.0"), probe_type("1.1"));
        assert_eq!(hashes.of(&one), hashes.of(&probe_type("1.0")));
        assert_ne!(hashes.of(&one), hashes.of(&other));
        assert_eq!(hashes.known[&Uuid::nil()].len(), 2);
        drop(other);
        hashes.of(&one);
        assert_eq!(hashes.known[&Uuid::nil()].len(), 1);
    }
}
