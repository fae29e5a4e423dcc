//! Connections that move from one shard to another.
//!
//! A connection is on one shard, or in one inbox. It takes its socket, what waits for it, what it has sent so far, and its positions in the topic logs. The
//! logs keep every sample for the next shard, so none is lost, sent twice or sent out of order.

use super::{
    end::End,
    inbox::{IncomingConnection, MigratingConnection},
    shard::{INTEREST, Shard},
};
use mio::Token;
use oasis_dac::Seat;
use std::mem;

/// Connections that move in one turn: those that stay wait for them.
const MAX_MOVES: usize = 256;

impl Shard {
    /// Sends connections to other shards: idle ones if it should shed some, all that can move if it leaves.
    pub(super) fn hand_over(&mut self) {
        self.is_moving = false;
        if self.is_ending || !(self.is_leaving || self.to_shed > 0) {
            return;
        }
        let wanted = if self.is_leaving { MAX_MOVES } else { self.to_shed.min(MAX_MOVES) };
        let may_move = |(_, connection): &(usize, &super::connection::Connection)| {
            connection.can_move() && (self.is_leaving || connection.is_idle())
        };
        let keys: Vec<usize> =
            self.connections.iter().filter(may_move).map(|(key, _)| key).take(wanted).collect();
        self.is_moving = keys.len() == MAX_MOVES;
        // Connections that are busy now are not moved later: the next look decides anew.
        self.to_shed = if self.is_moving { self.to_shed.saturating_sub(MAX_MOVES) } else { 0 };
        for key in keys {
            if !self.send_away(key) {
                self.is_moving = false;
                return;
            }
        }
    }

    /// Moves a connection to the least loaded other shard. Keeps it, and returns false, if there is none.
    fn send_away(&mut self, key: usize) -> bool {
        let Some(moved) = self.take_out(key) else { return true };
        let Err(back) =
            self.roster.board(IncomingConnection::Migrating(Box::new(moved)), Some(self.home.number))
        else {
            return true;
        };
        if let IncomingConnection::Migrating(moved) = back {
            self.take_over(*moved, self.home.meter.seat());
        }
        false
    }

    /// Removes a connection, with everything that another shard needs to serve it.
    pub(super) fn take_out(&mut self, key: usize) -> Option<MigratingConnection> {
        let mut connection = self.connections.try_remove(key)?;
        if let Err(error) = self.poll.registry().deregister(connection.socket()) {
            tracing::debug!(%error, "a connection that moves was not watched");
        }
        let mut subscriptions = Vec::new();
        for subscription in mem::take(&mut connection.subscriptions) {
            let topic = self.topics.get(subscription.topic);
            subscriptions.extend(topic.map(|topic| (topic.instance.clone(), subscription)));
        }
        // Only now: a topic without readers is forgotten.
        subscriptions.iter().for_each(|(_, subscription)| self.forget_reader(subscription));
        Some(MigratingConnection { connection, subscriptions })
    }

    /// Serves a connection from where another shard has left it.
    pub(super) fn take_over(&mut self, moved: MigratingConnection, seat: Seat) {
        let MigratingConnection { mut connection, subscriptions } = moved;
        self.next_serial += 1;
        connection.settle_in(self.next_serial, seat);
        let entry = self.connections.vacant_entry();
        let key = entry.key();
        let connection = entry.insert(connection);
        if let Err(error) = self.poll.registry().register(connection.socket(), Token(key), INTEREST) {
            tracing::error!(%error, "a connection that moved cannot be watched");
            self.connections.remove(key);
            return;
        }
        for (instance, mut subscription) in subscriptions {
            let Some((topic, place)) = self.add_reader(key, &instance) else { continue };
            (subscription.topic, subscription.place) = (topic, place);
            if let Some(connection) = self.connections.get_mut(key) {
                connection.subscriptions.push(subscription);
            }
        }
        if self.is_ending {
            return self.end(key, &End::ShuttingDown);
        }
        self.watch_on(key);
        self.read_past(key);
        // Events during the move, at the socket and in the logs, were not reported.
        self.enqueue_read(key);
        self.enqueue(key);
    }
}

#[cfg(test)]
mod tests;
