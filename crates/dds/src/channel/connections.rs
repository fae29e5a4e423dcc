//! The connections of a DAC: which message belongs to which one.

use super::{WINDOW, endpoint::WriterId};
use oasis_channel::carried::StreamMessage;
use std::collections::HashMap;
use tokio::sync::mpsc;
use uuid::Uuid;

/// Connections of one participant. A node has one; those that it has lost may live for some seconds more.
const MOST_OF_PARTICIPANT: usize = 8;
/// Messages of a connection that wait: a window in both directions, each piece acknowledged by itself, and the end.
const MAX_WAITING_MESSAGES: usize = 2 * WINDOW.pieces as usize + 1;

/// The connections.
#[derive(Debug, Default)]
pub struct Connections(HashMap<Uuid, Connection>);

#[derive(Debug)]
struct Connection {
    /// Messages of others are none of it.
    node: WriterId,
    pieces: mpsc::Sender<StreamMessage>,
}

impl Connections {
    /// Begins a connection. Returns what will arrive on it; nothing if it has begun before.
    ///
    /// # Errors
    /// If it belongs to another node, or the node has too many.
    pub fn begin(
        &mut self,
        id: Uuid,
        node: WriterId,
    ) -> Result<Option<mpsc::Receiver<StreamMessage>>, String> {
        self.remove_ended();
        if let Some(connection) = self.0.get(&id) {
            let taken = || "another node has a connection of this id".to_owned();
            return if connection.node == node { Ok(None) } else { Err(taken()) };
        }
        let of_participant = self.0.values().filter(|connection| connection.node.is_beside(node));
        if of_participant.count() >= MOST_OF_PARTICIPANT {
            return Err(format!("a participant of DDS has {MOST_OF_PARTICIPANT} connections at most"));
        }
        let (pieces, arriving) = mpsc::channel(MAX_WAITING_MESSAGES);
        self.0.insert(id, Connection { node, pieces });
        Ok(Some(arriving))
    }

    /// Delivers a piece. A peer that sends more than it may loses its connection.
    pub fn deliver(&mut self, id: Uuid, node: WriterId, piece: StreamMessage) {
        let connection = self.0.get(&id).filter(|connection| connection.node == node);
        if connection.is_some_and(|connection| connection.pieces.try_send(piece).is_err()) {
            self.0.remove(&id);
        }
    }

    /// Forgets the connections that have ended.
    pub fn remove_ended(&mut self) {
        self.0.retain(|_, connection| !connection.pieces.is_closed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: WriterId = WriterId([1; 16]);
    const STRANGER: WriterId = WriterId([2; 16]);

    #[test]
    fn messages_of_a_stranger_are_none_of_a_connection() {
        let (mut connections, id) = (Connections::default(), Uuid::from_u128(1));
        let mut arriving = connections.begin(id, NODE).unwrap().unwrap();
        connections.deliver(id, STRANGER, StreamMessage::End);
        connections.deliver(Uuid::from_u128(2), NODE, StreamMessage::End);
        assert!(connections.begin(id, STRANGER).unwrap_err().contains("another node"));
        assert!(connections.begin(id, NODE).unwrap().is_none(), "it asks again");
        connections.deliver(id, NODE, StreamMessage::Received(1));
        assert_eq!(arriving.try_recv(), Ok(StreamMessage::Received(1)));
        assert!(arriving.try_recv().is_err());
    }

    #[test]
    fn a_peer_that_sends_more_than_it_may_loses_its_connection() {
        let (mut connections, id) = (Connections::default(), Uuid::from_u128(1));
        let mut arriving = connections.begin(id, NODE).unwrap().unwrap();
        (0..=MAX_WAITING_MESSAGES).for_each(|_| connections.deliver(id, NODE, StreamMessage::Received(1)));
        let waiting = std::iter::from_fn(|| arriving.try_recv().ok()).count();
        assert_eq!(waiting, MAX_WAITING_MESSAGES);
        assert_eq!(arriving.try_recv(), Err(mpsc::error::TryRecvError::Disconnected));
    }

    #[test]
    fn a_participant_has_few_connections_and_those_that_ended_make_room() {
        let mut connections = Connections::default();
        let mut begin = |number: u128, node| connections.begin(Uuid::from_u128(number), node);
        let mut arriving: Vec<_> = (0..MOST_OF_PARTICIPANT as u128).map(|id| begin(id, NODE)).collect();
        assert!(begin(100, NODE).unwrap_err().contains("at most"));
        assert!(begin(101, STRANGER).is_ok());
        arriving.pop();
        assert!(begin(102, NODE).is_ok());
    }
}
