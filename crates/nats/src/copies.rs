//! Reads all copies of a partition, from the oldest to the newest at the beginning of the read.

use crate::{Connection, Copy, NatsError, Schemas, stream_name};
use async_nats::jetstream::{
    self,
    consumer::{DeliverPolicy, pull},
};
use futures_util::StreamExt;
use oasis_wire::schema::ProbeType;
use std::{sync::Arc, time::Duration};

/// Longest time without the next copy.
const COPY_TIMEOUT: Duration = Duration::from_secs(10);
/// Messages that the server sends ahead: 64 MiB with messages of 1 MiB.
const AHEAD: i64 = 64;

/// Kind of a message of a stream.
#[derive(Debug)]
pub enum Copied {
    /// A copy of a batch whose schema is known.
    Copy(Box<Copy>, Arc<ProbeType>),
    /// A copy without a batch.
    Losses(Box<Copy>),
    /// A message that is no copy, and why.
    Unreadable(String),
}

/// The copies of one partition.
pub struct Copies {
    messages: Option<pull::Ordered>,
    schemas: Schemas,
    /// The last stream sequence to read.
    last: u64,
    reached: u64,
}

impl Copies {
    /// Begins to read a partition. A stream that does not exist has no copies.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn open(connection: &Connection, partition: u8) -> Result<Option<Self>, NatsError> {
        let name = stream_name(partition);
        let failed =
            |error: &dyn std::fmt::Display| NatsError::at(&format!("cannot read the stream {name}"), error);
        let mut stream = match connection.jetstream.get_stream(&name).await {
            Ok(stream) => stream,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        let info = stream.info().await.map_err(|error| failed(&error))?;
        let (first, last, count) = (info.state.first_sequence, info.state.last_sequence, info.state.messages);
        let schemas = match Schemas::open(connection).await {
            Ok(schemas) => schemas,
            Err(_) if count == 0 => return Ok(None),
            Err(error) => return Err(error),
        };
        let is_empty = count == 0 || first > last;
        let messages =
            if is_empty { None } else { Some(ordered(&stream).await.map_err(|error| failed(&error))?) };
        Ok(Some(Self { messages, schemas, last, reached: 0 }))
    }

    /// Returns the next copy; `None` after the last one.
    ///
    /// # Errors
    /// If the server sends nothing for ten seconds.
    pub async fn next(&mut self) -> Result<Option<Copied>, NatsError> {
        if self.reached >= self.last {
            return Ok(None);
        }
        let Some(messages) = &mut self.messages else { return Ok(None) };
        let next = tokio::time::timeout(COPY_TIMEOUT, messages.next()).await;
        let silent = |_| NatsError(format!("no copy for {} s", COPY_TIMEOUT.as_secs()));
        let Some(message) = next.map_err(silent)? else { return Ok(None) };
        let message = message.map_err(|error| NatsError::at("cannot read a stream", error))?;
        let info = message.info().map_err(|error| NatsError::at("a message without its place", error))?;
        self.reached = info.stream_sequence;
        if self.reached > self.last {
            return Ok(None);
        }
        let copy = match Copy::decode(&message.payload) {
            Ok(copy) => copy,
            Err(error) => return Ok(Some(Copied::Unreadable(error.to_string()))),
        };
        if copy.batch.is_empty() {
            return Ok(Some(Copied::Losses(Box::new(copy))));
        }
        Ok(Some(match self.schemas.get(&copy.head.schema).await? {
            Some(probe_type) => Copied::Copy(Box::new(copy), probe_type),
            None => Copied::Unreadable("no schema of its key".into()),
        }))
    }
}

fn is_missing(error: &jetstream::context::GetStreamError) -> bool {
    use jetstream::context::GetStreamErrorKind::JetStream;
    matches!(error.kind(), JetStream(error) if error.error_code() == jetstream::ErrorCode::STREAM_NOT_FOUND)
}

async fn ordered(stream: &jetstream::stream::Stream) -> Result<pull::Ordered, NatsError> {
    let config = pull::OrderedConfig {
        deliver_policy: DeliverPolicy::All,
        max_batch: AHEAD,
        ..pull::OrderedConfig::default()
    };
    let consumer = stream.create_consumer(config).await.map_err(|error| NatsError(error.to_string()))?;
    consumer.messages().await.map_err(|error| NatsError(error.to_string()))
}
