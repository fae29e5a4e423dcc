//! The registry as changes since a revision, for clients that ask for them.
//!
//! A message has 64 KiB at most, and a client gets the next one when it has taken the one before: a picture of 20,000 instances comes in pieces, and samples
//! pass between them. Clients that are at the same place share the bytes.

use super::{client::DeltaReader, messages::Answer};
use crate::delta::{self, RegistryDeltaView};
use bytes::Bytes;
use oasis_dac::{Dac, RegistryCursor};
use oasis_http::permissions::Caller;
use oasis_websocket::{Opcode, frame};
use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

/// Upper bound of the messages that are kept for clients at the same position.
const MAX_CACHED_MESSAGES: usize = 64;
/// Time that a message is kept. It stays true for longer, but a newer one spares clients entries that have changed
/// again.
const MAX_MESSAGE_AGE: Duration = Duration::from_secs(1);

/// Changes as the clients of a shard receive them.
#[derive(Debug, Default)]
pub struct Deltas {
    /// By the place of the reader.
    made: HashMap<RegistryCursor, Message>,
    /// Keys of the clients that get one before the next rest.
    pub(super) turn: VecDeque<usize>,
    /// Bytes of the longest one since the last rest.
    pub(super) longest: usize,
    /// Time that the messages since then have taken.
    pub(super) worked: Duration,
    /// When the next ones may be sent.
    pub(super) not_before: Option<Instant>,
    /// Whether a client waits for one.
    pub(super) is_due: bool,
}

/// A message with changes.
#[derive(Debug, Clone)]
pub(super) struct Message {
    /// None if the client sees nothing of it.
    pub frame: Option<Bytes>,
    /// The place of a client that has it.
    pub next: RegistryCursor,
    made: Instant,
}

impl Deltas {
    /// Returns when a client that waits for changes can get them.
    pub fn due(&self) -> Option<Instant> {
        let due = if self.turn.is_empty() { self.not_before } else { None };
        self.is_due.then(|| due.unwrap_or_else(Instant::now))
    }

    /// Returns the changes after a place, made at most once in a while, and whether they had to be made now.
    pub(super) fn after(&mut self, dac: &Dac, cursor: RegistryCursor, now: Instant) -> (Message, bool) {
        let made = &mut self.made;
        // A message without changes leads nowhere once there are some.
        let is_useful = |message: &&Message| now < message.made + MAX_MESSAGE_AGE && message.next != cursor;
        if let Some(message) = made.get(&cursor).filter(is_useful) {
            return (message.clone(), false);
        }
        made.retain(|_, message| now < message.made + MAX_MESSAGE_AGE);
        if made.len() >= MAX_CACHED_MESSAGES {
            made.clear();
        }
        let (delta, next) = delta::next(&dac.registry, dac.epoch(), cursor);
        let message = Message { frame: Some(written(delta)), next, made: now };
        made.insert(cursor, message.clone());
        (message, true)
    }
}

/// Returns the changes after a position that a client with limited rights may see. They are not shared.
pub(super) fn visible_to(caller: &Caller, dac: &Dac, reader: DeltaReader) -> Message {
    let (delta, next) = delta::visible(&dac.registry, dac.epoch(), reader.cursor, caller);
    let is_news = reader.is_new || !delta.is_nothing();
    Message { frame: is_news.then(|| written(delta)), next, made: Instant::now() }
}

fn written(delta: RegistryDeltaView) -> Bytes {
    let mut out = Vec::new();
    frame::write_message(Opcode::Text, &Answer::RegistryDelta(Box::new(delta)).json(), &mut out);
    out.into()
}
