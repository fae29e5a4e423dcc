//! One end of the channel in the domain: a participant that reads one topic and writes the other.

use super::{
    TYPE,
    message::{Message, NoMessage},
    pace::{MayWrite, Pace},
};
use crate::{DdsConfig, DdsError, participant::join};
use bytes::Bytes;
use futures_util::StreamExt;
use oasis_wire::cdr::ByteOrder;
use rustdds::{
    DomainParticipant, Duration as DdsDuration, GUID, QosPolicies, QosPolicyBuilder,
    RepresentationIdentifier, TopicKind,
    dds::{
        CreateError, ReadError, WriteError,
        adapters::no_key::{Decode, DefaultDecoder, DeserializerAdapter, SerializerAdapter},
    },
    no_key::{DataWriter, SimpleDataReader},
    policy::{Durability, History, Reliability, ResourceLimits},
};
use std::{
    convert::Infallible,
    io,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Messages of all peers that RustDDS keeps until they are taken, and after that. With [`WINDOW`](super::WINDOW) they have 8 MiB at most.
const UNREAD: i32 = 1_024;
/// Messages that the writer keeps although all readers have them, or there is none.
const DEPTH: i32 = 64;
/// Messages that may wait for an acknowledgement. [`Pace`] bounds their bytes.
const MOST_MESSAGES: i32 = 65_536;
/// Pause before a writer without room is tried again.
const FULL: Duration = Duration::from_millis(5);
/// A writer that is full for so long stays so: a reader does not acknowledge.
const STALLED: Duration = Duration::from_secs(5);
/// Longest wait for acknowledgements at the end of a connection.
const LAST_CALL: Duration = Duration::from_millis(500);

/// Writer of a message. DDS does not prove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriterId(pub [u8; 16]);

impl WriterId {
    /// Returns whether both writers belong to one participant.
    pub fn is_beside(self, other: Self) -> bool {
        self.0[..12] == other.0[..12]
    }
}

impl From<GUID> for WriterId {
    fn from(guid: GUID) -> Self {
        Self(guid.to_bytes())
    }
}

/// A message that has arrived.
#[derive(Debug)]
pub struct Incoming {
    pub from: WriterId,
    pub message: Result<Message, NoMessage>,
}

/// One end of the channel.
pub struct Endpoint {
    reader: SimpleDataReader<Decoded, Cdr>,
    pub out: Outgoing,
    /// Ends with this value: reader and writer do not keep it.
    _participant: DomainParticipant,
}

impl Endpoint {
    /// Joins the domain. It takes the sockets and threads of a participant.
    ///
    /// # Errors
    /// If the system refuses sockets or threads.
    pub fn join(config: &DdsConfig, reads: &str, writes: &str) -> Result<Self, DdsError> {
        let refused =
            |error: CreateError| DdsError::at("cannot create the topics of the DDS channel", &error);
        let participant = join(config)?;
        let topic = |name: &str, qos: &QosPolicies| {
            participant.create_topic(name.to_owned(), TYPE.to_owned(), qos, TopicKind::NoKey).map_err(refused)
        };
        let (incoming, outgoing) = (quality(UNREAD, UNREAD), quality(DEPTH, MOST_MESSAGES));
        let subscriber = participant.create_subscriber(&incoming).map_err(refused)?;
        let reads = topic(reads, &incoming)?;
        let reader = subscriber.create_simple_datareader_no_key(&reads, None).map_err(refused)?;
        let publisher = participant.create_publisher(&outgoing).map_err(refused)?;
        let writes = topic(writes, &outgoing)?;
        let writer = publisher.create_datawriter_no_key(&writes, None).map_err(refused)?;
        let out = Out { writer, pace: Pace::new(Instant::now()), full_since: None };
        Ok(Self { reader, out: Outgoing(Arc::new(Mutex::new(out))), _participant: participant })
    }

    /// Returns the next message. Loses none if the future is dropped before it is ready.
    ///
    /// # Errors
    /// If the participant no longer works.
    pub async fn next(&self) -> Result<Incoming, DdsError> {
        let mut changes = pin!(self.reader.as_async_stream());
        match changes.next().await {
            Some(Ok(change)) => {
                Ok(Incoming { from: change.writer_guid().into(), message: change.into_value() })
            }
            Some(Err(ReadError::Deserialization { .. } | ReadError::UnknownKey { .. })) => {
                Ok(Incoming { from: WriterId([0; 16]), message: Err(NoMessage::Encoding) })
            }
            Some(Err(error)) => Err(DdsError::at("cannot read from DDS", &error)),
            None => Err(DdsError("the participant of DDS has ended".into())),
        }
    }
}

/// Reliable and volatile: a reader that joins later receives nothing of the past, and opens a connection of its own.
fn quality(depth: i32, max_samples: i32) -> QosPolicies {
    QosPolicyBuilder::new()
        // A write never blocks: the caller tries again.
        .reliability(Reliability::Reliable { max_blocking_time: DdsDuration::ZERO })
        .durability(Durability::Volatile)
        .history(History::KeepLast { depth })
        .resource_limits(ResourceLimits {
            max_samples,
            max_instances: i32::MAX,
            max_samples_per_instance: i32::MAX,
        })
        .build()
}

/// The writing side, shared by all connections of the participant.
#[derive(Clone)]
pub struct Outgoing(Arc<Mutex<Out>>);

/// Guarded by a lock that is held for one write, which never waits.
struct Out {
    writer: DataWriter<Bytes, Cdr>,
    pace: Pace,
    full_since: Option<Instant>,
}

impl Outgoing {
    fn lock(&self) -> MutexGuard<'_, Out> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message if there is room. Returns whether there was.
    ///
    /// # Errors
    /// If the participant no longer works.
    pub fn try_send(&self, message: &Message) -> Result<bool, DdsError> {
        self.lock().try_send(message)
    }

    /// Sends a message, and waits for room if there is none.
    ///
    /// # Errors
    /// If there is no room for a long time, or the participant no longer works.
    pub async fn send(&self, message: &Message) -> io::Result<()> {
        loop {
            if self.try_send(message).map_err(io::Error::other)? {
                return Ok(());
            }
            if self.is_stalled() {
                return Err(io::Error::new(io::ErrorKind::TimedOut, Self::STALL));
            }
            tokio::time::sleep(FULL).await;
        }
    }

    /// Why a writer that is stalled is given up.
    pub const STALL: &str = "a reader of the DDS channel has acknowledged nothing for 5 s";

    /// Returns whether the writer has been full for a long time.
    pub fn is_stalled(&self) -> bool {
        self.lock().full_since.is_some_and(|since| since.elapsed() >= STALLED)
    }

    /// Waits until all readers have all that was sent, but not for long.
    pub async fn flush(&self) {
        let deadline = Instant::now() + LAST_CALL;
        while !self.lock().is_acknowledged() && Instant::now() < deadline {
            tokio::time::sleep(FULL).await;
        }
    }
}

impl Out {
    fn try_send(&mut self, message: &Message) -> Result<bool, DdsError> {
        let now = Instant::now();
        let Self { writer, pace, full_since } = self;
        let is_acknowledged = || writer.wait_for_acknowledgments(Duration::ZERO).unwrap_or(false);
        let mut may_write = pace.may_write(now, is_acknowledged);
        if may_write == MayWrite::Now {
            let cdr = Bytes::from(message.encode());
            let length = cdr.len();
            match writer.write(cdr, None) {
                Ok(()) => pace.take(length),
                Err(WriteError::WouldBlock { .. }) => may_write = MayWrite::Full,
                Err(error) => return Err(DdsError::at("cannot write to DDS", &error)),
            }
        }
        if may_write == MayWrite::Full {
            full_since.get_or_insert(now);
        } else {
            *full_since = None;
        }
        Ok(may_write == MayWrite::Now)
    }

    fn is_acknowledged(&self) -> bool {
        self.writer.wait_for_acknowledgments(Duration::ZERO).unwrap_or(true)
    }
}

/// Meaning of a message's bytes.
type Decoded = Result<Message, NoMessage>;

/// Between RustDDS and [`Message`].
struct Cdr;

impl DeserializerAdapter<Decoded> for Cdr {
    type Error = Infallible;
    type Decoded = Decoded;

    fn supported_encodings() -> &'static [RepresentationIdentifier] {
        &[RepresentationIdentifier::CDR_LE, RepresentationIdentifier::CDR_BE]
    }

    fn transform_decoded(decoded: Decoded) -> Decoded {
        decoded
    }
}

impl DefaultDecoder<Decoded> for Cdr {
    type Decoder = Decoder;
    const DECODER: Decoder = Decoder;
}

#[derive(Clone)]
struct Decoder;

impl<'de> Decode<'de, Decoded> for Decoder {
    type Error = Infallible;

    fn decode_bytes(
        self,
        bytes: &'de [u8],
        encoding: RepresentationIdentifier,
    ) -> Result<Decoded, Infallible> {
        let is_big = encoding == RepresentationIdentifier::CDR_BE;
        Ok(Message::decode(bytes, if is_big { ByteOrder::Big } else { ByteOrder::Little }))
    }
}

impl SerializerAdapter<Bytes> for Cdr {
    type Error = Infallible;

    fn output_encoding() -> RepresentationIdentifier {
        RepresentationIdentifier::CDR_LE
    }

    fn to_bytes(cdr: &Bytes) -> Result<Bytes, Infallible> {
        Ok(cdr.clone())
    }
}
