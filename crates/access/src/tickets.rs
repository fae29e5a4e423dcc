//! Tickets: a browser cannot send a header with a WebSocket, so it fetches a ticket and puts that into the URL. A ticket
//! is good for one use within 30 s, so a URL in a log opens nothing.

use crate::{
    principal::Principal,
    secret::{Digest, Secret},
};
use oasis_wire::quantity::Nanos;
use std::{
    collections::{HashMap, VecDeque},
    io,
};

/// How long a ticket is good, nanoseconds.
const LIFE: u64 = 30_000_000_000;
/// Most unused tickets: of all principals, and of one.
const MOST: usize = 4_096;
const MOST_OF_ONE: usize = 64;

/// Why there is no ticket.
#[derive(Debug, thiserror::Error)]
pub enum TicketError {
    /// This principal fetches tickets and does not use them.
    #[error("{MOST_OF_ONE} tickets are unused: use them, or wait 30 s")]
    TooManyOfOne,
    /// All principals together do.
    #[error("{MOST} tickets are unused: wait 30 s")]
    TooMany,
    /// No random numbers.
    #[error("no ticket can be made: {0}")]
    Random(#[from] io::Error),
}

/// Unused tickets.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    unused: HashMap<Digest, Principal>,
    /// When each was made, oldest first; used ones included until they are 30 s old.
    by_age: VecDeque<(Nanos, Digest)>,
}

impl Tickets {
    /// Makes a ticket. Tickets of others are never evicted for it.
    pub(crate) fn make(&mut self, principal: &Principal, now: Nanos) -> Result<Secret, TicketError> {
        self.purge(now);
        // Used ones count until they are old: the list is bounded too.
        if self.by_age.len() >= MOST {
            return Err(TicketError::TooMany);
        }
        let is_same =
            |other: &&Principal| other.kind() == principal.kind() && other.name() == principal.name();
        if self.unused.values().filter(is_same).count() >= MOST_OF_ONE {
            return Err(TicketError::TooManyOfOne);
        }
        let ticket = Secret::random()?;
        let digest = Digest::of(ticket.reveal());
        self.unused.insert(digest, principal.clone());
        self.by_age.push_back((now, digest));
        Ok(ticket)
    }

    /// Takes a ticket; nobody can use it again.
    pub(crate) fn take(&mut self, ticket: &str, now: Nanos) -> Option<Principal> {
        self.purge(now);
        self.unused.remove(&Digest::of(ticket))
    }

    fn purge(&mut self, now: Nanos) {
        while let Some((made, digest)) = self.by_age.front() {
            if now.0.saturating_sub(made.0) < LIFE {
                return;
            }
            self.unused.remove(digest);
            self.by_age.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{principal::Kind, rights::Rights};

    fn principal(name: &str) -> Principal {
        Principal::with_rights(Kind::Person, name, Rights::default())
    }

    #[test]
    fn a_ticket_is_good_once_and_for_30_s() {
        let mut tickets = Tickets::default();
        let [used, old] = [0, 1].map(|_| tickets.make(&principal("ada"), Nanos(5)).unwrap());
        assert_eq!(tickets.take(used.reveal(), Nanos(LIFE + 4)).unwrap().name(), "ada");
        assert!(tickets.take(used.reveal(), Nanos(LIFE + 4)).is_none());
        assert!(tickets.take(old.reveal(), Nanos(LIFE + 5)).is_none());
        assert!(tickets.take("", Nanos(0)).is_none());
    }

    #[test]
    fn unused_tickets_are_bounded() {
        let mut tickets = Tickets::default();
        for _ in 0..MOST_OF_ONE {
            tickets.make(&principal("ada"), Nanos(0)).unwrap();
        }
        assert!(matches!(tickets.make(&principal("ada"), Nanos(0)), Err(TicketError::TooManyOfOne)));
        for at in 0..MOST - MOST_OF_ONE {
            tickets.make(&principal(&format!("user-{at}")), Nanos(1)).unwrap();
        }
        assert!(matches!(tickets.make(&principal("eve"), Nanos(1)), Err(TicketError::TooMany)));
        assert!(tickets.make(&principal("eve"), Nanos(LIFE + 1)).is_ok());
    }
}
