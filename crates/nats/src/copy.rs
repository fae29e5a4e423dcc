//! The form of a copy: a length, a JSON head, and a batch.

use crate::InstanceId;
use bytes::Bytes;
use oasis_wire::{batch::Header, loss::Cause, probe_kind::ProbeKind, schema::ProbeType};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{fmt::Write as _, sync::Arc};
use uuid::Uuid;

/// Longest head, in bytes: two names and [`MAX_LOST`] losses.
const MAX_HEAD: usize = 64 * 1024;
/// Most losses in one copy.
const MAX_LOST: usize = 256;
/// Longest name of a node or an instance, in bytes: the bound of the DAC.
const MAX_NAME: usize = 1_024;

/// A message in JetStream: a batch, losses, or both.
#[derive(Debug, Clone, PartialEq)]
pub struct Copy {
    /// Instance that the batch belongs to.
    pub head: Head,
    /// The batch as its topic log has it; empty if the message only declares losses.
    pub batch: Bytes,
}

/// Data that a reader needs in addition to a batch to make it part of an archive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub instance: Arc<str>,
    /// Trigger of a sample.
    pub kind: ProbeKind,
    /// The run of the sequence numbers.
    pub run: Uuid,
    /// Key of the schema in the bucket of schemas.
    pub schema: Arc<str>,
    /// Losses of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Lost>,
}

/// Sequence numbers that are lost: first, last, and the word of the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost(pub u64, pub u64, #[serde(deserialize_with = "oasis_wire::loss::lenient")] pub Cause);

/// Why a message is no copy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// The copy ends too early.
    #[error("message of {0} bytes ends in its head")]
    Short(usize),
    /// Its head is too long.
    #[error("head of {0} bytes: at most {MAX_HEAD} are allowed")]
    Long(usize),
    /// Its head is not what this version understands.
    #[error("head cannot be read: {0}")]
    Head(String),
    /// A name that no DAC accepts.
    #[error("name of {0} bytes: node and instance names have 1 to {MAX_NAME} bytes")]
    Name(usize),
    /// Too many losses.
    #[error("{0} losses in one message: at most {MAX_LOST} are allowed")]
    Losses(usize),
    /// Its batch is damaged.
    #[error("batch cannot be read: {0}")]
    Batch(String),
}

impl Copy {
    /// Losses that fit into one copy.
    pub const MAX_LOST: usize = MAX_LOST;

    /// Returns the id of its instance.
    pub fn instance_id(&self) -> InstanceId {
        InstanceId::of(&self.head.node, &self.head.instance)
    }

    /// Returns the first sequence number of its batch; `None` if it has none.
    pub fn first_sequence(&self) -> Option<u64> {
        Header::parse(&self.batch).ok().map(|header| header.first_sequence)
    }

    /// Returns the message.
    pub fn encode(&self) -> Bytes {
        // Names, numbers and words: JSON cannot fail.
        let head = serde_json::to_vec(&self.head).unwrap_or_default();
        let mut bytes = Vec::with_capacity(4 + head.len() + self.batch.len());
        bytes.extend_from_slice(&u32::try_from(head.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(&self.batch);
        bytes.into()
    }

    /// Parses a message. Does not decode the values of the batch.
    ///
    /// # Errors
    /// If it is no copy.
    pub fn decode(message: &Bytes) -> Result<Self, CopyError> {
        let short = || CopyError::Short(message.len());
        let length = u32::from_le_bytes(*message.first_chunk::<4>().ok_or_else(short)?) as usize;
        if length > MAX_HEAD {
            return Err(CopyError::Long(length));
        }
        let head = message.get(4..4 + length).ok_or_else(short)?;
        let head: Head = serde_json::from_slice(head).map_err(|error| CopyError::Head(error.to_string()))?;
        if let Some(name) =
            [&head.node, &head.instance].iter().find(|name| !(1..=MAX_NAME).contains(&name.len()))
        {
            return Err(CopyError::Name(name.len()));
        }
        if head.lost.len() > MAX_LOST {
            return Err(CopyError::Losses(head.lost.len()));
        }
        let batch = message.slice(4 + length..);
        if !batch.is_empty() {
            Header::parse(&batch).map_err(|error| CopyError::Batch(error.to_string()))?;
        }
        Ok(Self { head, batch })
    }
}

/// Returns the key of a schema: the SHA-256 of its JSON.
pub fn schema_key(json: &[u8]) -> String {
    Sha256::digest(json).iter().fold(String::with_capacity(64), |mut key, byte| {
        // A text grows without errors.
        let _ = write!(key, "{byte:02x}");
        key
    })
}

/// Parses a schema that was fetched by its key.
#[cfg_attr(not(feature = "client"), allow(dead_code, reason = "only a connection fetches schemas"))]
pub(crate) fn parse_schema(key: &str, json: &[u8]) -> Option<ProbeType> {
    let probe_type: ProbeType = serde_json::from_slice(json).ok().filter(|_| schema_key(json) == key)?;
    probe_type.validate().ok().map(|()| probe_type)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn copy(node: &str, instance: &str, lost: Vec<Lost>) -> Copy {
        let head = Head {
            node: node.into(),
            instance: instance.into(),
            kind: ProbeKind::Pushed,
            run: Uuid::from_u128(7),
            schema: "ab".into(),
            lost,
        };
        Copy { head, batch: Bytes::new() }
    }

    #[test]
    fn a_message_names_its_losses_by_their_words() {
        let encoded = copy("plant", "boiler", vec![Lost(3, 5, Cause::RingFull)]).encode();
        let text = String::from_utf8(encoded[4..].to_vec()).unwrap();
        assert!(text.ends_with(r#""lost":[[3,5,"ring_full"]]}"#), "{text}");
    }

    #[test]
    fn a_message_without_names_or_with_a_damaged_batch_is_refused() {
        assert_eq!(Copy::decode(&copy("", "boiler", vec![]).encode()), Err(CopyError::Name(0)));
        let damaged = Copy { batch: Bytes::from_static(b"no batch"), ..copy("plant", "boiler", vec![]) };
        assert!(matches!(Copy::decode(&damaged.encode()), Err(CopyError::Batch(_))));
        assert_eq!(Copy::decode(&Bytes::from_static(&[255; 8])), Err(CopyError::Long(u32::MAX as usize)));
        assert_eq!(Copy::decode(&Bytes::from_static(&[9, 0, 0, 0, 1])), Err(CopyError::Short(5)));
    }

    proptest! {
        #[test]
        fn a_copy_comes_out_as_it_went_in(node in ".{1,40}", instance in ".{1,40}", lost in proptest::collection::vec((0_u64..9, 0_u64..9), 0..5)) {
            let lost = lost.into_iter().map(|(from, to)| Lost(from, to, Cause::Network)).collect();
            let copy = copy(&node, &instance, lost);
            prop_assert_eq!(Copy::decode(&copy.encode()), Ok(copy));
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Copy::decode(&bytes.into());
        }
    }
}
