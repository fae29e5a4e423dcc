//! Messages whose acknowledgment the broker may have missed.
//!
//! After a lost connection, the broker sends these again. It has an acknowledgment for sure once it answers a ping that was sent later.

use std::collections::HashMap;
use uuid::Uuid;

/// Messages that were pushed, by packet identifier. Identifiers have 16 bits, which bounds their number.
#[derive(Debug, Default)]
pub struct Unconfirmed {
    since_ping: HashMap<u16, Uuid>,
    before_ping: HashMap<u16, Uuid>,
}

impl Unconfirmed {
    /// Returns the digest of a message.
    pub fn digest(topic: &str, payload: &[u8]) -> Uuid {
        Uuid::new_v5(&Uuid::new_v5(&Uuid::NAMESPACE_OID, topic.as_bytes()), payload)
    }

    /// Whether the message was pushed before, and the broker may not know.
    pub fn has(&self, id: u16, digest: Uuid) -> bool {
        [&self.since_ping, &self.before_ping].into_iter().any(|known| known.get(&id) == Some(&digest))
    }

    /// Notes a message that was pushed.
    pub fn note(&mut self, id: u16, digest: Uuid) {
        self.before_ping.remove(&id);
        self.since_ping.insert(id, digest);
    }

    /// Whether messages were pushed since the newest ping.
    pub fn has_since_ping(&self) -> bool {
        !self.since_ping.is_empty()
    }

    /// Notes that a ping is sent.
    pub fn on_ping(&mut self) {
        self.before_ping.extend(self.since_ping.drain());
    }

    /// Notes the answer to the ping: the broker has all acknowledgments that were sent before it.
    pub fn on_answer(&mut self) {
        self.before_ping.clear();
    }

    /// Forgets all: the broker has lost the session.
    pub fn clear(&mut self) {
        self.since_ping.clear();
        self.before_ping.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_forgotten_once_the_broker_has_its_acknowledgment() {
        let mut unconfirmed = Unconfirmed::default();
        let digest = Unconfirmed::digest("a", b"1");
        unconfirmed.note(1, digest);
        unconfirmed.on_ping();
        unconfirmed.note(2, digest);
        assert!(unconfirmed.has(1, digest) && unconfirmed.has(2, digest));
        assert!(!unconfirmed.has(1, Unconfirmed::digest("a", b"2")));
        unconfirmed.on_answer();
        assert!(!unconfirmed.has(1, digest) && unconfirmed.has(2, digest));
        unconfirmed.clear();
        assert!(!unconfirmed.has(2, digest));
    }
}
