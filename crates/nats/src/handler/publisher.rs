//! Sends messages until JetStream has acknowledged them, a bounded number at once.

use super::{
    state::{Condition, SharedState},
    topic::Message,
};
use crate::Connection;
use async_nats::jetstream::{
    self, ErrorCode,
    context::{PublishError, PublishErrorKind},
    message::PublishMessage,
};
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use oasis_wire::quantity::TopicId;
use std::{error::Error, sync::Arc, time::Duration};

/// Messages that wait for their acknowledgement.
const MAX_PENDING_MESSAGES: usize = 1_000;
/// Bytes of these messages.
const MAX_PENDING_BYTES: usize = 64 * 1024 * 1024;
/// Pause before a message is sent again.
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// Room that the server counts besides a message's payload: its header with the id.
const HEADER_BYTES: usize = 1_024;

/// Result of a message.
#[derive(Debug)]
pub struct Published {
    pub place: (TopicId, u64),
    /// `None` if JetStream has it, or why it will never take it.
    pub refused: Option<String>,
    bytes: usize,
}

/// Sends messages.
pub struct Publisher {
    connection: Connection,
    shared: Arc<SharedState>,
    in_flight: FuturesUnordered<BoxFuture<'static, Published>>,
    bytes: usize,
}

impl Publisher {
    pub fn new(connection: Connection, shared: Arc<SharedState>) -> Self {
        Self { connection, shared, in_flight: FuturesUnordered::new(), bytes: 0 }
    }

    /// Returns whether another message may be sent now.
    pub fn has_room(&self) -> bool {
        self.in_flight.len() < MAX_PENDING_MESSAGES && self.bytes < MAX_PENDING_BYTES
    }

    /// Returns the messages that wait, and their bytes.
    pub fn in_flight(&self) -> (usize, usize) {
        (self.in_flight.len(), self.bytes)
    }

    /// Returns the length of the longest payload.
    pub fn max_message(&self) -> usize {
        self.connection.client.max_payload().saturating_sub(HEADER_BYTES)
    }

    /// Sends a message.
    pub fn send(&mut self, message: Message) {
        self.bytes += message.payload.len();
        self.in_flight.push(Box::pin(publish(
            self.connection.jetstream.clone(),
            self.shared.clone(),
            message,
        )));
    }

    /// Returns the next message whose fate is known. Never completes while none waits.
    pub async fn next(&mut self) -> Published {
        if self.in_flight.is_empty() {
            return std::future::pending().await;
        }
        match self.in_flight.next().await {
            Some(published) => {
                self.bytes -= published.bytes;
                published
            }
            None => std::future::pending().await,
        }
    }
}

async fn publish(jetstream: jetstream::Context, shared: Arc<SharedState>, message: Message) -> Published {
    let Message { place, subject, id, payload } = message;
    let bytes = payload.len();
    loop {
        let publish = PublishMessage::build().payload(payload.clone()).message_id(&id);
        let sent = async { jetstream.send_publish(subject.clone(), publish).await?.await }.await;
        match sent {
            Ok(_) => return Published { place, refused: None, bytes },
            Err(error) if is_final(&error) => {
                return Published { place, refused: Some(error.to_string()), bytes };
            }
            Err(error) => {
                shared.note(Condition::Failing, Some(error.to_string()));
                shared.lock().retries += 1;
                tokio::time::sleep(RETRY_DELAY).await;
            }
        }
    }
}

/// Whether the server will never take the message, however often it is sent.
fn is_final(error: &PublishError) -> bool {
    if error.kind() == PublishErrorKind::MaxPayloadExceeded {
        return true;
    }
    let refused = error.source().and_then(|source| source.downcast_ref::<jetstream::Error>());
    refused.is_some_and(|refused| refused.error_code() == ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM)
}
