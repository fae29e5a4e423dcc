//! The participant: joins a domain and writes samples on topics.

use crate::{DdsConfig, InstanceKey, TopicName, sample::encode_key};
use bytes::Bytes;
use rustdds::{
    DataWriterStatus, DomainParticipant, DomainParticipantBuilder, Duration as DdsDuration, Key, Keyed,
    Publisher, QosPolicies, QosPolicyBuilder, RepresentationIdentifier, StatusEvented, Timestamp, TopicKind,
    dds::{
        CreateError, WriteError,
        adapters::{no_key, with_key},
        key::{CdrEncodingMaxSize, CdrEncodingSize},
    },
    policy::{Durability, History, Reliability, ResourceLimits},
    with_key::DataWriter,
};
use serde::{Serialize, Serializer};
use std::{convert::Infallible, fmt, time::Duration};

/// Interval at which a writer frees what every subscriber has acknowledged. RustDDS 0.15.1 has 6 s (`cache_cleaning_period`); the rest is for a timer that is late.
pub const CLEANING: Duration = Duration::from_secs(9);
/// Samples of a topic that may wait for an acknowledgement.
const MOST_SAMPLES: i32 = 8_192;
/// Samples that are kept after that, and for subscribers that acknowledge nothing.
const DEPTH: i32 = 256;

/// Why DDS does not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DdsError(pub String);

impl DdsError {
    pub(crate) fn at(what: &str, error: &dyn fmt::Display) -> Self {
        Self(format!("{what}: {error}"))
    }
}

/// Events of a writer about its subscribers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// Number of subscribers that receive its samples now.
    Subscribers(usize),
    /// A subscriber asks for a quality of service that it does not offer, and receives nothing.
    Incompatible(String),
}

/// A member of a domain.
pub struct Participant {
    participant: DomainParticipant,
    publisher: Publisher,
    qos: QosPolicies,
}

impl fmt::Debug for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Participant").field("domain", &self.participant.domain_id()).finish_non_exhaustive()
    }
}

impl Participant {
    /// Joins the domain. It takes the sockets and threads of a participant.
    ///
    /// # Errors
    /// If the system refuses sockets or threads.
    pub fn join(config: &DdsConfig) -> Result<Self, DdsError> {
        let refused = |error: CreateError| DdsError::at("cannot join the DDS domain", &error);
        let participant = join(config)?;
        let qos = quality();
        let publisher = participant.create_publisher(&qos).map_err(refused)?;
        Ok(Self { participant, publisher, qos })
    }

    /// Creates a writer on a topic.
    ///
    /// # Errors
    /// If the participant cannot.
    pub fn writer(&self, topic: &TopicName) -> Result<Writer, DdsError> {
        let refused =
            |error: CreateError| DdsError::at(&format!("cannot create topic {}", topic.name), &error);
        let (name, type_name) = (topic.name.clone(), topic.type_name.clone());
        let created = self.participant.create_topic(name, type_name, &self.qos, TopicKind::WithKey);
        let writer = self.publisher.create_datawriter(&created.map_err(refused)?, None).map_err(refused)?;
        Ok(Writer { writer })
    }
}

/// Joins the domain on the configured interfaces.
pub(crate) fn join(config: &DdsConfig) -> Result<DomainParticipant, DdsError> {
    let mut builder = DomainParticipantBuilder::new(config.domain);
    if !config.interfaces.is_empty() {
        builder = builder.with_only_networks(config.interfaces.iter().copied());
    }
    builder.build().map_err(|error| DdsError::at("cannot join the DDS domain", &error))
}

/// Reliable, so that a subscriber that wants each sample gets it; volatile, because RustDDS keeps the newest samples of a topic and not those of each key.
fn quality() -> QosPolicies {
    QosPolicyBuilder::new()
        // A write never blocks: the caller tries again.
        .reliability(Reliability::Reliable { max_blocking_time: DdsDuration::ZERO })
        .durability(Durability::Volatile)
        .history(History::KeepLast { depth: DEPTH })
        .resource_limits(ResourceLimits {
            max_samples: MOST_SAMPLES,
            max_instances: i32::MAX,
            max_samples_per_instance: i32::MAX,
        })
        .build()
}

/// Writes samples on a topic.
pub struct Writer {
    writer: DataWriter<Encoded, Cdr>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl Writer {
    /// Writes a sample of an instance, as [`encode`](crate::encode) makes it. Returns whether there was room; without it nothing has happened.
    ///
    /// # Errors
    /// If the participant no longer works.
    pub fn write(&self, key: &InstanceKey, time: u64, cdr: Vec<u8>) -> Result<bool, DdsError> {
        let sample = Encoded { key: key.clone(), cdr: cdr.into() };
        match self.writer.write(sample, Some(timestamp(time))) {
            Ok(()) => Ok(true),
            Err(WriteError::WouldBlock { .. }) => Ok(false),
            Err(error) => Err(DdsError::at("cannot write to DDS", &error)),
        }
    }

    /// Returns whether all reliable subscribers have all that was written.
    pub fn is_acknowledged(&self, patience: Duration) -> bool {
        self.writer.wait_for_acknowledgments(patience).unwrap_or(false)
    }

    /// Returns what has become of its subscribers since the last call.
    pub fn matches(&self) -> impl Iterator<Item = Match> + '_ {
        let next = || self.writer.try_recv_status();
        std::iter::from_fn(next).filter_map(|status| match status {
            DataWriterStatus::PublicationMatched { current, .. } => {
                Some(Match::Subscribers(usize::try_from(current.count()).unwrap_or_default()))
            }
            DataWriterStatus::OfferedIncompatibleQos { last_policy_id, .. } => {
                Some(Match::Incompatible(format!("{last_policy_id:?}")))
            }
            _ => None,
        })
    }
}

/// Nanoseconds since 1970 as the protocol has them: seconds and a binary fraction (DDSI-RTPS 2.5, 9.3.2.1).
fn timestamp(nanos: u64) -> Timestamp {
    let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    Timestamp::from_ticks((seconds << 32) | ((rest << 32) / 1_000_000_000))
}

/// A sample that is CDR already.
struct Encoded {
    key: InstanceKey,
    cdr: Bytes,
}

impl Keyed for Encoded {
    type K = InstanceKey;

    fn key(&self) -> InstanceKey {
        self.key.clone()
    }
}

impl CdrEncodingSize for InstanceKey {
    fn cdr_encoding_max_size() -> CdrEncodingMaxSize {
        CdrEncodingMaxSize::Unbounded
    }
}

impl Serialize for InstanceKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&*self.node, &*self.instance).serialize(serializer)
    }
}

impl Key for InstanceKey {}

/// Passes CDR on.
struct Cdr;

impl no_key::SerializerAdapter<Encoded> for Cdr {
    type Error = Infallible;

    fn output_encoding() -> RepresentationIdentifier {
        RepresentationIdentifier::CDR_LE
    }

    fn to_bytes(sample: &Encoded) -> Result<Bytes, Infallible> {
        Ok(sample.cdr.clone())
    }
}

impl with_key::SerializerAdapter<Encoded> for Cdr {
    fn key_to_bytes(key: &InstanceKey) -> Result<Bytes, Infallible> {
        Ok(encode_key(key).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_seconds_and_a_binary_fraction() {
        assert_eq!(timestamp(1_500_000_000).to_ticks(), (1 << 32) | (1 << 31));
        let now = 1_764_000_000_123_456_789_u64;
        assert_eq!(timestamp(now).to_ticks() >> 32, now / 1_000_000_000);
    }
}
