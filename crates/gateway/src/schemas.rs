//! Schemas that devices have sent, by type and checksum: a device that is known is not asked again.

use oasis_wire::schema::ProbeType;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};
use uuid::Uuid;

/// Most schemas that are remembered. Beyond it all are forgotten, and asked for again.
const MAX_CACHED_SCHEMAS: usize = 1_024;

/// A type and the CRC-32 of its text.
pub type Key = (Uuid, u32);

/// Schemas of all devices.
#[derive(Debug, Default)]
pub struct Schemas(Mutex<BTreeMap<Key, Arc<ProbeType>>>);

/// Why a text is not the schema that was announced.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// Other bytes than announced.
    #[error("the text has another checksum than the device has announced")]
    Checksum,
    /// Not a schema.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// No type that a DAC takes.
    #[error("{0}")]
    Type(#[from] oasis_wire::schema::InvalidType),
    /// Another type.
    #[error("the text is of type {0}")]
    OtherType(Uuid),
}

impl Schemas {
    /// Returns a known type.
    pub fn get(&self, key: Key) -> Option<Arc<ProbeType>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    /// Reads and remembers a type.
    ///
    /// # Errors
    /// If the text is not that of the type.
    pub fn add(&self, key: Key, text: &[u8]) -> Result<(), SchemaError> {
        if crc32fast::hash(text) != key.1 {
            return Err(SchemaError::Checksum);
        }
        let probe_type: ProbeType = serde_json::from_slice(text)?;
        probe_type.validate()?;
        if probe_type.uuid != key.0 {
            return Err(SchemaError::OtherType(probe_type.uuid));
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_CACHED_SCHEMAS {
            known.clear();
        }
        known.insert(key, Arc::new(probe_type));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_that_was_announced_is_remembered() {
        let schemas = Schemas::default();
        let text =
            br#"{"name":"P","uuid":"0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa","version":"1.0","metrics":[]}"#;
        let uuid: Uuid = "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa".parse().unwrap();
        let crc = crc32fast::hash(text);
        assert!(matches!(schemas.add((uuid, crc + 1), text), Err(SchemaError::Checksum)));
        assert!(matches!(schemas.add((Uuid::nil(), crc), text), Err(SchemaError::OtherType(_))));
        assert!(matches!(schemas.add((uuid, crc32fast::hash(b"{")), b"{"), Err(SchemaError::Json(_))));
        assert_eq!(schemas.get((uuid, crc)), None);
        schemas.add((uuid, crc), text).unwrap();
        assert_eq!(schemas.get((uuid, crc)).unwrap().name, "P");
    }
}
